// What counts as a difference between two results.
#include "compiler/driver/tuning/tune_compare.h"

#include <cmath>

#include "catch.h"
#include "compiler/driver/spec/spec.h"

using namespace halo;
using namespace halo::driver;

namespace {

constexpr Extent kFourCells{2, 2, 1};

FieldLevel level(const std::vector<double>& values, rt::ElementType type = rt::ElementType::f32) {
    return {"u", 0, FieldValues::rounded(type, values)};
}

TuneResults results(const std::vector<double>& values, double sum = 10) {
    TuneResults results;
    results.fields = {level(values)};
    results.reductions = {{"total", sum, true}};
    return results;
}

ir::Program program(const std::string& statement) {
    const CheckedSpec spec =
        check_text("s.halo", "stencil s(x) {\n param k = 0.1\n field u: f64 { boundary periodic }\n" +
                                 statement + "\n}\n");
    REQUIRE(spec.ok);
    return choose_stencil(spec, "").program;
}

}  // namespace

TEST_CASE("results are compared bit for bit, and the first difference is named") {
    CHECK(first_difference(results({1, 2, 3, 4}), results({1, 2, 3, 4}), kFourCells, 0).empty());
    const std::string text =
        first_difference(results({1, 2, 3, 4}), results({1, 2, 3.0000005, 4}), kFourCells, 0);
    CHECK(text.find("u at t+0 differs at cell (0, 1, 0): 3.00000047") == 0);
    CHECK(first_difference(results({1, 2, 3, 4}), results({1, 2, 3.0000005, 4}), kFourCells, 1e-6).empty());
    CHECK_FALSE(first_difference(results({1, 2, 3, 4}), results({1, 2, NAN, 4}), kFourCells, 1e-6).empty());
}

TEST_CASE("a cell without a value agrees with all, but not all cells may be such") {
    CHECK(first_difference(results({1, NAN, 3, 4}), results({1, 7, 3, 4}), kFourCells, 0).empty());
    CHECK(has_numbers(results({NAN, NAN, 3, NAN})));
    CHECK_FALSE(has_numbers(results({NAN, NAN, NAN, NAN})));
    const CheckResult none = nothing_to_compare(3);
    CHECK(none.kind == CheckResult::Kind::unverified);
    CHECK(none.text.find("there is nothing to compare: no cell is a number after 3 steps") == 0);
}

TEST_CASE("integers are compared as they are stored") {
    TuneResults one, other;
    one.fields = {level({1, 2, 3, 4}, rt::ElementType::i32)};
    other.fields = {level({1, 2, 3, 5}, rt::ElementType::i32)};
    CHECK(first_difference(one, one, kFourCells, 0).empty());
    CHECK(first_difference(one, other, kFourCells, 1).find("cell (1, 1, 0)") != std::string::npos);
}

TEST_CASE("sums may differ by their order, extremes may not; traces are compared") {
    CHECK(first_difference(results({1, 2, 3, 4}, 10), results({1, 2, 3, 4}, 10 + 1e-14), kFourCells, 0)
              .empty());
    CHECK_FALSE(
        first_difference(results({1, 2, 3, 4}, 10), results({1, 2, 3, 4}, 10.1), kFourCells, 0).empty());
    TuneResults low = results({1, 2, 3, 4}, 1), high = results({1, 2, 3, 4}, 1 + 1e-14);
    low.reductions[0].is_sum = high.reductions[0].is_sum = false;
    CHECK_FALSE(first_difference(low, high, kFourCells, 0).empty());
    TuneResults with = results({1, 2, 3, 4}), without = with;
    with.traces = {{"phones.trace", {1, 2}}};
    without.traces = {{"phones.trace", {1, 3}}};
    CHECK(first_difference(with, without, kFourCells, 0).find("phones.trace: value 1") == 0);
    without.traces = {{"phones.trace", {1}}};
    CHECK_FALSE(first_difference(with, without, kFourCells, 0).empty());
}

TEST_CASE("only functions that a device rounds in its own way, and sums that are read, are given room") {
    CHECK(tolerance_of(program("u[t+1] = u + k * laplacian(u)")) == 0);
    CHECK(tolerance_of(program("u[t+1] = sqrt(u)")) == 0);
    CHECK(tolerance_of(program("u[t+1] = exp(u)")) > 0);
}
