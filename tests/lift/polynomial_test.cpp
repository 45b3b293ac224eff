#include "compiler/lift/polynomial.h"
#include "catch.h"

using halo::lift::Polynomial;

namespace {
const Polynomial nx = Polynomial::symbol(0), ny = Polynomial::symbol(1), i = Polynomial::symbol(2);
std::string text(const Polynomial& poly) {
    return poly.text([](int symbol) { return std::string(1, "nmi"[symbol]); });
}
}  // namespace

TEST_CASE("polynomials are added, multiplied and written", "[parts]") {
    CHECK(text(nx * ny - nx + 3) == "n*m - n + 3");
    CHECK((nx + 1) * (nx - 1) == nx * nx - 1);
    CHECK((nx - nx).is_zero());
    CHECK(Polynomial(7).constant() == 7);
    CHECK_FALSE((nx + 7).constant());
    CHECK((i * nx + i + 2).coefficient(2) == nx + 1);
    CHECK_FALSE((i * i).coefficient(2));
}

TEST_CASE("polynomials are divided", "[parts]") {
    CHECK((nx * ny).divided_by(nx) == ny);
    CHECK((nx * ny + 2 * 0 + nx).divided_by(nx) == ny + 1);
    CHECK_FALSE((nx * ny + 1).divided_by(nx));
    // A subscript by a padded stride: (j - 1) * (n + 2) - 1.
    const auto [quotient, rest] = (Polynomial(-1) * (nx + 2) - 1).divide(nx + 2);
    CHECK(quotient == Polynomial(-1));
    CHECK(rest == Polynomial(-1));
    // Of numbers the nearest: -63 is one row of 64 back and one cell on.
    CHECK(Polynomial(-63).divide(64).first == Polynomial(-1));
    CHECK(Polynomial(-63).divide(64).second == Polynomial(1));
    // Half of an odd number of halves ends.
    CHECK(i.divide(2).first.is_zero());
    CHECK(Polynomial(3).divide(2).first == Polynomial(1));
}
