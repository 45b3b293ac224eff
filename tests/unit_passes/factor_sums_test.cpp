#include "compiler/passes/factor_sums.h"
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "catch.h"
#include "compiler/ir/shifted.h"
#include "compiler/passes/form_fma.h"
#include "compiler/passes/group_coefficients.h"
#include "compiler/passes/pipeline.h"
#include "printed.h"

using namespace halo;
using namespace halo::ir;
using passes::factor_sums;

namespace {

using WeightOf = std::function<Rational(const Offset&)>;

// v = the sum of weight * u over a box; weights of 0 are left out.
Term box_sum(ProgramMaker& make, FieldId u, int radius, const WeightOf& weight_of,
             Scalar type = Scalar::f32) {
    const int rank = make.program.rank();
    const auto reach = [&](int axis) { return axis < rank ? radius : 0; };
    std::optional<Term> sum;
    for (int z = -reach(2); z <= reach(2); ++z) {
        for (int y = -reach(1); y <= reach(1); ++y) {
            for (int x = -radius; x <= radius; ++x) {
                const Rational weight = weight_of({x, y, z});
                if (weight.is_zero()) continue;
                const Term term = make.number(weight, type) * make.read(u, {x, y, z});
                sum = sum ? *sum + term : term;
            }
        }
    }
    return *sum;
}

Program box_program(int rank, int radius, const WeightOf& weight_of, Scalar type = Scalar::f32) {
    ProgramMaker make(rank);
    const FieldId u = make.field("u", Role::state, BoundaryKind::periodic, type);
    make.assign(u, box_sum(make, u, radius, weight_of, type));
    return make.finish();
}

// A weight for each set of distances along the axes, whichever axes they are.
Rational symmetric(const Offset& offset) {
    std::array<int, 3> distances{std::abs(offset[0]), std::abs(offset[1]), std::abs(offset[2])};
    std::sort(distances.begin(), distances.end());
    static const std::map<std::array<int, 3>, Rational> kWeights{
        {{0, 0, 0}, {21, 200}}, {{0, 0, 1}, {13, 300}}, {{0, 1, 1}, {7, 300}},  {{1, 1, 1}, {3, 200}},
        {{0, 0, 2}, {11, 700}}, {{0, 1, 2}, {5, 700}},  {{1, 1, 2}, {3, 1100}}, {{0, 2, 2}, {2, 1300}},
        {{1, 2, 2}, {1, 1700}}, {{2, 2, 2}, {1, 1900}}};
    return kWeights.at(distances);
}
Rational different(const Offset& offset) {
    const int index = (offset[2] + 2) * 25 + (offset[1] + 2) * 5 + offset[0] + 2;
    return {2 * index + 101, 10007};
}

// Operations a cell of the optimised program where neighbours share theirs.
struct Count {
    int shared = 0;
    int alone = 0;
};
Count count_operations(Program program) {
    passes::form_fma(program);
    ShiftedShapes shapes(program);
    const std::vector<bool> uniform = uniform_exprs(program);
    std::set<std::uint32_t> different;
    Count count;
    for (std::uint32_t i = 0; i < program.exprs.size(); ++i) {
        const bool computes = std::holds_alternative<Binary>(program.exprs[i].node) ||
                              std::holds_alternative<Fma>(program.exprs[i].node);
        if (!computes || uniform[i]) continue;
        ++count.alone;
        different.insert(shapes.of({i}).shape);
    }
    count.shared = static_cast<int>(different.size());
    return count;
}

Count operations_of(Program program) {
    passes::optimize(program);
    CHECK(verify(program).empty());
    return count_operations(std::move(program));
}

// The statements after the pass; what they mean has not changed, and a second time changes nothing.
std::string factored(Program program) {
    passes::group_coefficients(program);
    const Program before = program;
    factor_sums(program);
    CHECK(verify(program).empty());
    CHECK(difference(run(before, Arithmetic::declared), run(program, Arithmetic::declared)) <= 2e-6);
    CHECK(difference(run(before, Arithmetic::f64), run(program, Arithmetic::f64)) <= 1e-14);
    const std::string once = statements_of(program);
    factor_sums(program);
    CHECK(statements_of(program) == once);
    return once;
}

void check_unchanged(Program program) {
    passes::group_coefficients(program);
    const std::string before = statements_of(program);
    factor_sums(program);
    CHECK(statements_of(program) == before);
}

}  // namespace

TEST_CASE("sums over symmetric boxes are done once for all cells that need them") {
    CHECK(operations_of(box_program(2, 1, symmetric)).shared == 6);
    CHECK(operations_of(box_program(3, 1, symmetric)).shared == 11);
    CHECK(operations_of(box_program(2, 2, symmetric)).shared == 14);
    CHECK(operations_of(box_program(3, 2, symmetric)).shared == 32);
    CHECK(operations_of(box_program(3, 1, symmetric, Scalar::f64)).shared == 11);
    // By itself a cell does hardly more than before.
    CHECK(operations_of(box_program(3, 1, symmetric)).alone == 28);
    CHECK(operations_of(box_program(3, 2, symmetric)).alone <= 135);
}

TEST_CASE("nine points with three weights: rows, and what rows share") {
    CHECK(factored(box_program(2, 1, symmetric)) ==
          "u[t+1] = 7/300 * (u[x-1, y-1] + u[x+1, y-1]) + 13/300 * u[y-1] + 13/300 * (u[x-1] + u[x+1]) + "
          "21/200 * u + (7/300 * (u[x-1, y+1] + u[x+1, y+1]) + 13/300 * u[y+1])\n");
}

TEST_CASE("27 points with four weights: what reads lower planes comes first") {
    const auto plane = [](const std::string& z, const std::string& corners, const std::string& faces,
                          const std::string& centre) {
        const auto at = [&](const std::string& beside) {
            const std::string place = beside.empty() || z.empty() ? beside + z : beside + ", " + z;
            return place.empty() ? "u" : "u[" + place + "]";
        };
        return corners + " * (" + at("x-1, y-1") + " + " + at("x+1, y-1") + " + (" + at("x-1, y+1") + " + " +
               at("x+1, y+1") + ")) + " + faces + " * (" + at("y-1") + " + (" + at("x-1") + " + " +
               at("x+1") + ") + " + at("y+1") + ") + " + centre + " * " + at("");
    };
    const std::string below = plane("z-1", "3/200", "7/300", "13/300");
    const std::string own = plane("", "7/300", "13/300", "21/200");
    const std::string above = plane("z+1", "3/200", "7/300", "13/300");
    CHECK(factored(box_program(3, 1, symmetric)) ==
          "u[t+1] = " + below + " + " + own + " + (" + above + ")\n");
}

TEST_CASE("stars, and weights that are all different, stay as they are") {
    const auto star = [](const Offset& offset) {
        return std::abs(offset[0]) + std::abs(offset[1]) + std::abs(offset[2]) > 1 ? Rational(0)
                                                                                   : symmetric(offset);
    };
    check_unchanged(box_program(3, 1, star));
    check_unchanged(box_program(2, 1, star));
    check_unchanged(heat_program(3));
    check_unchanged(box_program(3, 1, different));
    check_unchanged(box_program(1, 2, symmetric));
    CHECK(operations_of(box_program(3, 1, different)).shared == 27);
}

TEST_CASE("weights in proportion are multiplied along one axis after the other") {
    const auto binomial = [](const Offset& offset) {
        static constexpr int kRow[] = {6, 4, 1};
        return Rational(kRow[std::abs(offset[0])] * kRow[std::abs(offset[1])], 256);
    };
    CHECK(operations_of(box_program(2, 2, binomial)).shared == 9);
}

TEST_CASE("a factor in front of a sum of different weights stays there, and shares in it are found") {
    ProgramMaker make(2);
    const FieldId u = make.field("u", Role::state), v = make.field("v", Role::input);
    const Term k = make.convert(make.param("k", 0.1));
    const auto laplacian = [](const Offset& offset) {
        const int distance = std::abs(offset[0]) + std::abs(offset[1]);
        return Rational(distance == 0 ? -20 : distance == 1 ? 4 : 1);
    };
    make.assign(u, make.read(u) + k * box_sum(make, u, 1, laplacian) + make.read(v));
    CHECK(factored(make.finish()) ==
          "u[t+1] = u + v + f32(k) * (u[x-1, y-1] + u[x+1, y-1] + 4 * u[y-1] + 4 * (u[x-1] + u[x+1]) - 20 * "
          "u + "
          "(u[x-1, y+1] + u[x+1, y+1] + 4 * u[y+1]))\n");
}

TEST_CASE("a difference is 0 in a constant field, whatever its factor") {
    const auto sobel = [](const Offset& offset) {
        return Rational(offset[0] * (2 - std::abs(offset[1])), 7);
    };
    CHECK(operations_of(box_program(2, 1, sobel)).shared == 4);
    for (const bool crosswise : {false, true}) {
        ProgramMaker make(2);
        const FieldId u = make.field("u", Role::input), v = make.field("v", Role::output);
        const auto derivative = [&](const Offset& offset) {
            const auto [along, across] =
                crosswise ? std::pair(offset[0], offset[1]) : std::pair(offset[1], offset[0]);
            static constexpr int kAlong[] = {0, 9, -2}, kAcross[] = {5, 3, 1};
            return Rational((along > 0 ? 1 : -1) * kAlong[std::abs(along)] * kAcross[std::abs(across)], 77);
        };
        make.assign(v, box_sum(make, u, 2, derivative));
        Program program = make.finish();
        passes::optimize(program);
        Interpreter interpreter(program, {6, 5, 1}, Arithmetic::declared);
        for (double& cell : interpreter.field("u"))
            cell = static_cast<float>(0.1234567);
        interpreter.step();
        for (const double cell : interpreter.field("v"))
            CHECK(cell == 0);
    }
}

namespace {

struct Random {
    std::uint64_t state;
    int between(int low, int high) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return low + static_cast<int>((state >> 33) % static_cast<std::uint64_t>(high - low + 1));
    }
};

// Weights from a few numbers and params, alike or opposite at mirrored places as chance has it.
Term random_box(ProgramMaker& make, Random& random, FieldId field, int time,
                const std::vector<Term>& factors) {
    const int rank = make.program.rank();
    const int radius = random.between(1, rank == 3 ? 2 : 3);
    std::array<int, 3> mirror{};  // 1: alike, -1: opposite, 0: neither
    for (int& each : mirror)
        each = random.between(-1, 1);
    std::map<Offset, int> kinds;
    std::optional<Term> sum;
    const auto reach = [&](int axis) { return axis < rank ? radius : 0; };
    const bool has_gaps = random.between(0, 2) == 0;
    for (int z = -reach(2); z <= reach(2); ++z) {
        for (int y = -reach(1); y <= reach(1); ++y) {
            for (int x = -radius; x <= radius; ++x) {
                Offset key{x, y, z};
                int sign = 1;
                for (int axis = 0; axis < 3; ++axis) {
                    if (mirror[axis] == 0 || key[axis] >= 0) continue;
                    key[axis] = -key[axis];
                    sign *= mirror[axis];
                }
                const int kind = kinds.emplace(key, random.between(0, 6)).first->second;
                if (kind == 0 && has_gaps) continue;
                const Term read = make.read(field, {x, y, z}, time);
                const Term factor = kind < 2 ? factors[static_cast<std::size_t>(kind)]
                                             : make.number(Rational(sign * (kind - 1), 8));
                const Term term = kind == 2 && sign > 0 ? read : factor * read;
                sum = !sum ? term : kind < 2 && sign < 0 ? *sum - term : *sum + term;
            }
        }
    }
    return *sum;
}

}  // namespace

TEST_CASE("random sums over boxes keep their values") {
    int changed = 0;
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        INFO("seed " << seed);
        Random random{seed * 977};
        const int rank = random.between(1, 3);
        ProgramMaker make(rank);
        const FieldId u = make.field("u", Role::state), v = make.field("v", Role::input);
        const FieldId w = make.field("w", Role::output);
        const std::vector<Term> factors{make.convert(make.param("c", 0.37)),
                                        make.convert(make.param("k", -0.21))};
        const Term small = make.number(Rational(1, 64));
        Term value = make.read(u) + small * random_box(make, random, u, 0, factors);
        if (random.between(0, 1)) value = value + small * random_box(make, random, v, 0, factors);
        if (random.between(0, 1)) value = value - random_box(make, random, v, 0, factors) * make.read(v);
        make.assign(u, make.number(Rational(1, 8)) * value);
        make.assign(w, random_box(make, random, v, 0, factors) + random_box(make, random, u, 0, factors));
        Program grouped = make.finish();
        passes::group_coefficients(grouped);
        Program program = grouped;
        factor_sums(program);
        CHECK(verify(program).empty());
        CHECK(difference(run(grouped, Arithmetic::f64), run(program, Arithmetic::f64)) <= 1e-13);
        CHECK(difference(run(grouped, Arithmetic::declared), run(program, Arithmetic::declared)) <= 2e-5);
        if (statements_of(program) == statements_of(grouped)) continue;
        ++changed;
        // Each sum by itself costs less; another may have shared with what it was before.
        CHECK(count_operations(program).shared <= count_operations(grouped).shared);
    }
    CHECK(changed > 100);
}

TEST_CASE("where nothing may be regrouped, sums stay as they are written") {
    Program program = box_program(3, 1, symmetric), strict = program;
    passes::optimize(strict, passes::FloatingPoint::strict());
    CHECK(statements_of(strict) == statements_of(program));
}
