// What is decided of a run on several devices, and what is refused.
#include "compiler/driver/planning/pieces_plan.h"

#include <algorithm>

#include "analyzed.h"
#include "catch.h"
#include "compiler/passes/part.h"
#include "compiler/support/error.h"
#include "runtime/core/error.h"

using namespace halo;
using namespace halo::driver;
using halo::test::analyze_text;

namespace {

constexpr const char* kTwoStages = R"(stencil two(x, y) {
    field c: f32 { boundary periodic }
    let mu = c^3 - c - laplacian(c)
    c[t+1] = c + 0.01 * laplacian(mu)
    reduce mass = sum(c[t+1])
}
)";

PiecesPlan plan_of(const ir::Program& program, const Extent& extent, int count,
                   std::optional<std::int64_t> interval = std::nullopt) {
    PiecesRequest request;
    request.count = count;
    request.interval = interval;
    return plan_pieces(program, extent, request, {});
}

}  // namespace

TEST_CASE("a step reaches through all of its stages") {
    const ir::StepReach reach = ir::step_reach(analyze_text(kTwoStages));
    CHECK(reach.states[0] == std::array<int, 2>{2, 2});
    CHECK(reach.states[1] == std::array<int, 2>{2, 2});
    CHECK(reach.results[1] == std::array<int, 2>{2, 2});  // the mass is of the new level
}

TEST_CASE("what past and last levels need counts apart from what the next step needs") {
    const ir::Program program = analyze_text(R"(stencil wave(x) {
        field u: f32 { boundary fixed 0 }
        field slope: f32
        u[t+1] = 2*u - u[t-1] + 0.1*(u[x-1] - 2*u + u[x+1])
        slope = u[t+1, x+3] - u[t+1]
    }
    )");
    const ir::StepReach reach = ir::step_reach(program);
    CHECK(reach.states[0] == std::array<int, 2>{1, 1});
    CHECK(reach.results[0] == std::array<int, 2>{1, 4});
    const CutRules rules = cut_rules(program, {100, 1, 1});
    CHECK(rules.ghosts(1)[0] == std::array<std::int64_t, 2>{1, 4});
    CHECK(rules.ghosts(3)[0] == std::array<std::int64_t, 2>{3, 6});
    CHECK(rules.carried_names() == std::vector<std::string>{"u"});
}

TEST_CASE("what a repeat leaves is exchanged after each iteration, and nothing else of it") {
    const ir::Program program = analyze_text(R"(stencil iterated(x, y) {
        field f: f64 { boundary clamp }
        field u: f64 { boundary clamp }
        field w: f32 { boundary clamp }
        let rhs { boundary clamp } = f + f[x+1]
        repeat k to 5 {
            let flux { boundary clamp } = u[k, y+1] - u[k]
            u[k+1] = u[k] + flux - flux[y-1] + rhs
            repeat j to 3 { w[j+1] = (w[j, x-1] + u[k+1, x+2]) / 2 }
        }
        reduce total = sum(u[t+1, y-3])
    }
    )");
    const auto names_in = [&](const ir::GhostsDue& due) {
        std::vector<std::string> names;
        for (const ir::Level& level : due.levels)
            names.push_back(program[level.field].name);
        return names;
    };
    const std::vector<ir::GhostsDue> due = ir::with_exchanges(program).ghosts_due;
    REQUIRE(due.size() == 2);
    CHECK(names_in(due[0]) == std::vector<std::string>{"u"});
    CHECK(names_in(due[1]) == std::vector<std::string>{"w"});
    // An iteration reads u beside a face's flux, and the right-hand side beside f.
    const CutRules rules = cut_rules(program, {64, 64, 1});
    CHECK(rules.reach.results[0] == std::array<int, 2>{1, 3});
    CHECK(rules.reach.results[1] == std::array<int, 2>{3, 1});
    REQUIRE(rules.iterated.size() == 2);
    CHECK(rules.iterated[0].times == 5);
    CHECK(rules.iterated[0].bytes == 8);
    CHECK(rules.iterated[1].times == 15);
    CHECK(rules.iterated[1].bytes == 4);
    const PiecesPlan plan = plan_of(program, {64, 64, 1}, 2);
    CHECK(plan.interval == 1);
    CHECK(plan.steps_at_once == 1);
    CHECK(plan.step_bytes > 0);
}

TEST_CASE("what is read of other grids counts in cells of each, and ghosts are whole cells of all") {
    const ir::Program program = analyze_text(R"(stencil levels(x, y) {
        field u: f64 { boundary clamp }
        field e: f64 on coarse(2) { boundary clamp }
        field c: f32 on coarse(4) { boundary clamp }
        e = (u[2*x, 2*y] + u[2*x+1, 2*y+1]) / 2
        repeat k to 9 { c[k+1] = (c[k, y-1] + c[k, y+1]) / 4 + e[2*x, 2*y+1] / 4 }
        u[t+1] = u + c[x/4, (y-1)/4] + e[x/2, (y+1)/2] + u[y-1]
    }
    )");
    const CutRules rules = cut_rules(program, {64, 64, 1});
    CHECK(rules.grid.unit == 4);
    // c is read beside its own cell, and no exchange of u or e is needed with ghosts as deep as that.
    CHECK(rules.ghosts(1)[1] == std::array<std::int64_t, 2>{4, 4});
    CHECK(rules.ghosts(3)[1] == std::array<std::int64_t, 2>{12, 12});
    CHECK(rules.carried_names() == std::vector<std::string>{"u", "c"});
    REQUIRE(rules.iterated.size() == 1);
    CHECK(rules.iterated[0].factor == 4);
    CHECK(rules.iterated[0].times == 9);
    CHECK(rules.iterated[0].bytes == 4);
    const PiecesPlan plan = plan_of(program, {64, 64, 1}, 4);
    for (const rt::Piece& piece : plan.cut.pieces)
        CHECK(piece.begin[1] % 4 == 0);
    CHECK_THROWS_AS(plan_of(program, {8, 8, 1}, 3), rt::Error);
    CHECK(cut_rules(program, {8, 8, 1}).may[1]);
}

TEST_CASE("programs that share levels are cut alike, along axes that all may be cut along") {
    const ir::Program far = analyze_text(R"(stencil far(x, y) {
        field c: f32 { boundary periodic }
        c[t+1] = c / 2 + c[x-1] / 8 + c[y+2] / 4 + c[y-2] / 8
    }
    )"),
                      near = analyze_text(R"(stencil near(x, y) {
        field u: f32 { boundary x clamp, y periodic }
        u[t+1] = u[y-1] / 2 + u[x-1] / 4
    }
    )");
    PiecesRequest request;
    request.count = 4;
    request.cut_with = {&far, &near};
    const PiecesPlan one = plan_pieces(far, {32, 40, 1}, request, {}),
                     other = plan_pieces(near, {32, 40, 1}, request, {});
    for (const PiecesPlan& plan : {one, other}) {
        CHECK(plan.interval == 1);
        CHECK(plan.scheme == rt::ExchangeScheme::synchronous);
        CHECK(plan.cut.counts == halo::rt::Lengths{1, 4, 1});
        CHECK(plan.cut.pieces[1].ghosts[1] == std::array<std::int64_t, 2>{2, 2});
        CHECK(plan.cut.pieces[0].ghosts[1][0] == 2);  // around the end
    }
    CHECK(one.carried == std::vector<std::string>{"c"});
    CHECK(other.carried == std::vector<std::string>{"u"});
    // Along x the one is periodic, and the other is not.
    request.count = 40;
    CHECK_THROWS_AS(plan_pieces(near, {32, 40, 1}, request, {}), rt::Error);
    const CutRules rules = cut_rules(near, request.cut_with, {32, 40, 1});
    CHECK_FALSE(rules.may[0]);
    CHECK(std::ranges::count(rules.why_not, "x: `far` is periodic along it, and `near` is not") == 1);
}

TEST_CASE("a step reaches as far back as a mirror shows") {
    const ir::StepReach reach = ir::step_reach(analyze_text(R"(stencil up(x, y) {
        field a: f32 { boundary x.low mirror, x.high clamp, y.low clamp, y.high mirror }
        let g { boundary x clamp, y mirror } = a + a[y+2]
        a[t+1] = g + g[y+1] + a[x+1] + a[x-3]
    }
    )"));
    CHECK(reach.states[0] == std::array<int, 2>{3, 3});
    CHECK(reach.states[1] == std::array<int, 2>{3, 3});
}

TEST_CASE("axes that cannot be cut are named with the reason") {
    const CutRules sums = cut_rules(analyze_text(kTwoStages), {64, 64, 1});
    CHECK_FALSE(sums.may[0]);
    CHECK(sums.may[1]);
    REQUIRE(sums.why_not.size() == 1);
    CHECK(sums.why_not[0].find("x: reductions are added up plane by plane along y") == 0);
    const CutRules mixed = cut_rules(analyze_text(R"(stencil mixed(x, y) {
        field u: f32 { boundary x periodic, y clamp }
        field v: f32 { boundary x clamp, y clamp }
        u[t+1] = u[x-1] + v[x+1] + u[y+1]
    }
    )"),
                                     {64, 64, 1});
    CHECK_FALSE(mixed.may[0]);
    CHECK(mixed.why_not[0].find("`v` is not periodic along x") != std::string::npos);
    const CutRules coarse = cut_rules(analyze_text(R"(stencil coarse(x, y) {
        field u: f32 { boundary x periodic, y clamp }
        field e: f32 on coarse(4)
        e = u[4*x-1, 4*y]
        u[t+1] = u[x-1] / 2
    }
    )"),
                                      {62, 62, 1});
    CHECK(coarse.may[1]);
    CHECK(coarse.why_not ==
          std::vector<std::string>{
              "x: it is periodic, and its 62 cells are no multiple of 4, as cells of all grids are"});
    const ir::Program line = analyze_text(R"(stencil line(x) {
        field u: f32 { boundary clamp }
        u[t+1] = u[x-1]
        reduce total = sum(u)
    }
    )");
    CHECK_THROWS_AS(plan_of(line, {64, 1, 1}, 2), UnsupportedError);
    CHECK(plan_of(line, {64, 1, 1}, 1).cut.count() == 1);
}

TEST_CASE("the interval is what several steps at once need, or what was asked for") {
    const ir::Program heat = analyze_text(R"(stencil heat(x, y, z) {
        field u: f32 { boundary fixed 0 }
        u[t+1] = u + 0.1 * laplacian(u)
    }
    )");
    const PiecesPlan plan = plan_of(heat, {1024, 1024, 1024}, 4);
    CHECK(plan.steps_at_once > 1);
    CHECK(plan.interval % plan.steps_at_once == 0);
    CHECK(plan.efficiency() > 0.9);
    CHECK(plan.efficiency() < 1);
    CHECK(plan_of(heat, {1024, 1024, 1024}, 4, 3).interval == 3);
    const auto refusal = [&](int count, std::int64_t interval) {
        try {
            plan_of(heat, {8, 8, 8}, count, interval);
        } catch (const rt::Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(refusal(2, 4) == "");
    CHECK(refusal(2, 5).find("exchange every 4 steps, or more often") != std::string::npos);
    CHECK(refusal(8, 5).find("exchange every 4 steps, or more often") != std::string::npos);  // 2 x 2 x 2
    CHECK(refusal(5, 5).ends_with("exchange every step"));
    CHECK(refusal(11, 5).find("cannot be cut into 11 pieces") != std::string::npos);
    // Pieces of two rows: no more than two steps, whatever would be faster.
    const ir::Program summed = analyze_text(R"(stencil summed(x, y) {
        field u: f32 { boundary fixed 0 }
        u[t+1] = u + 0.1 * laplacian(u)
        reduce total = sum(u)
    }
    )");
    CHECK(plan_of(summed, {64, 8, 1}, 4).interval <= 2);
    CHECK_THROWS_AS(plan_of(summed, {64, 8, 1}, 16), rt::Error);
}

TEST_CASE("regions of a part count from its own faces, or are empty") {
    const ir::Program program = analyze_text(R"(stencil edges(x) {
        field u: f32 { boundary clamp }
        u[t+1] = u[x-1]
        on x in 0..9 { u[t+1] = 1 }
        on x in -10..-1 { u[t+1] = 2 }
    }
    )");
    const auto ranges_of = [&](std::int64_t first, std::int64_t cells) {
        passes::Part part;
        part.whole = {100, 1, 1};
        part.first = {first, 0, 0};
        part.extent = {cells, 1, 1};
        part.cut = {true, false, false};
        const ir::Program piece = passes::program_of_part(program, part);
        std::vector<ir::Region::Range> ranges;
        for (const ir::Statement& statement : piece.statements)
            ranges.push_back(std::get<ir::Assign>(statement).region.ranges[0]);
        return ranges;
    };
    const ir::Region::Range whole{}, none{{false, 0}, {false, 0}};
    const auto low = ranges_of(0, 40), middle = ranges_of(40, 30), high = ranges_of(70, 30);
    CHECK(low == std::vector<ir::Region::Range>{whole, {{false, 0}, {false, 10}}, none});
    CHECK(middle == std::vector<ir::Region::Range>{whole, none, none});
    CHECK(high == std::vector<ir::Region::Range>{whole, none, {{true, -10}, {true, 0}}});
    // A part that begins and ends within regions.
    CHECK(ranges_of(4, 90) ==
          std::vector<ir::Region::Range>{whole, {{false, 0}, {false, 6}}, {{false, 86}, {true, 0}}});
}
