#include "runtime/core/plan_json.h"

#include <cmath>
#include <limits>
#include <string>

#include "catch.h"
#include "runtime/core/error.h"
#include "runtime/core/plan_check.h"
#include "runtime/core/plan_repeats.h"
#include "sample_plans.h"

using namespace halo::rt;

namespace {

// A plan with one of everything.
LaunchPlan full_plan() {
    LaunchPlan plan = heat_sample(3, ElementType::f32).plan;
    const LaunchPlan weights = weights_sample(true).plan;
    plan.coefs = weights.coefs;
    plan.fields.push_back(weights.fields[1]);
    plan.fields.back().role = Role::intermediate;
    Argument coefs;
    coefs.kind = Argument::Kind::coefs;
    plan.kernels[0].arguments.push_back(coefs);
    plan.kernels[0].dynamic_shared_bytes = std::int64_t{1} << 40;
    plan.kernels[0].arguments[0].use = ArrayUse{true, false, {4, 0, 2}};
    plan.reductions.push_back({"norm", ReductionPlan::Op::min, true, 0});
    plan.tables.push_back({"wind", ElementType::f64, {"value"}, 1, 1, 1, true});
    HostScalar all;  // never run: every operation by name
    for (int op = 0; op <= static_cast<int>(HostScalar::Op::round_f32); ++op)
        all.steps.push_back({static_cast<HostScalar::Op>(op), 0, 0});
    all.steps[0].value = 0.1;
    all.steps[static_cast<std::size_t>(HostScalar::Op::reduction)].index = 1;
    all.steps[static_cast<std::size_t>(HostScalar::Op::series)].index =
        static_cast<int>(plan.tables.size()) - 1;
    plan.reductions[1].initial = 0.25;
    plan.points = {
        {"shots", {"gain"}, {{"wavelet", false}, {"heard", true}}, PointsPlan::Interpolation::sinc, 4}};
    Argument points;
    points.kind = Argument::Kind::points;
    points.part = 13;
    plan.kernels[0].arguments.push_back(points);
    points.kind = Argument::Kind::count;
    points.part = 1;
    plan.kernels[0].arguments.push_back(points);
    plan.kernels.push_back(plan.kernels[0]);
    plan.kernels.back().domain.kind = Domain::Kind::cells;
    TimeBlock block;
    TimeBlock::Resident on_chip;
    on_chip.most_extent = {64, 12, TimeBlock::kAnyExtent};
    on_chip.divisors = {4, 8, 1};
    on_chip.remainders = {3, 0, 0};
    on_chip.exchanges = {1, 2};
    block.kind = on_chip;
    block.least_extent = {3, 2, 1};
    block.fixed_grid = FixedGrid{{63, 8, 5}, 96, 960, 0};
    block.kernel.name = "resident";
    Argument resident;
    for (const auto kind : {Argument::Kind::exchange, Argument::Kind::steps, Argument::Kind::sent}) {
        resident.kind = kind;
        block.kernel.arguments.push_back(resident);
    }
    block.kernel.arguments[0].index = block.kernel.arguments[0].part = 1;
    plan.time_block = block;
    plan.spacing[0] = all;
    plan.origin[0] = constant_scalar(-std::numeric_limits<double>::infinity());
    plan.origin[1] = constant_scalar(std::numeric_limits<double>::quiet_NaN());
    plan.origin[2] = constant_scalar(5e-324);
    return plan;
}

// Whose time block is told from where on planes are the upper neighbour's, too, and takes an array of it.
LaunchPlan plan_of_pieces() {
    LaunchPlan plan = full_plan();
    const Argument array = plan.kernels[0].arguments[0];
    plan.time_block = TimeBlock{};
    plan.time_block->kind = TimeBlock::OfPieces{3};
    plan.time_block->kernel.blocks = 12;
    plan.time_block->kernel.name = "several_steps";
    Argument given;
    given.kind = Argument::Kind::planes;
    given.part = static_cast<int>(PlanesPart::above_begin);
    plan.time_block->kernel.arguments = {given, array};
    Argument& neighbour = plan.time_block->kernel.arguments[1];
    neighbour.kind = Argument::Kind::neighbour;
    neighbour.part = 1;
    neighbour.use.reset();
    return plan;
}

// What is wrong with it; empty: nothing.
std::string why(const LaunchPlan& plan) {
    try {
        plan_from_json(plan_to_json(plan));
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a plan survives the way through JSON") {
    const LaunchPlan plan = full_plan();
    const std::string text = plan_to_json(plan);
    const LaunchPlan copy = plan_from_json(text);
    CHECK(plan_to_json(copy) == text);

    const LaunchPlan of_pieces = plan_of_pieces();
    const LaunchPlan copied = plan_from_json(plan_to_json(of_pieces));
    CHECK(plan_to_json(copied) == plan_to_json(of_pieces));
    REQUIRE(copied.time_block);
    REQUIRE(copied.time_block->of_pieces() != nullptr);
    CHECK(copied.time_block->of_pieces()->traversals == 3);
    CHECK(copied.time_block->kernel.arguments[0].part == static_cast<int>(PlanesPart::above_begin));
    CHECK(copied.time_block->kernel.arguments[1].kind == Argument::Kind::neighbour);

    REQUIRE(copy.time_block);
    REQUIRE(copy.time_block->fixed_grid);
    CHECK(copy.time_block->fixed_grid->extent == Extent{63, 8, 5});
    CHECK(copy.time_block->fixed_grid->pitch == 96);
    CHECK(copy.time_block->fixed_grid->slice == 960);
    const TimeBlock::Resident* const resident = copy.time_block->resident();
    REQUIRE(resident != nullptr);
    CHECK(resident->most_extent[1] == 12);
    CHECK(resident->divisors == halo::rt::Extent{4, 8, 1});
    CHECK(resident->remainders == std::array<std::int64_t, halo::rt::kMaxRank>{3});
    CHECK(resident->exchanges == std::vector<int>{1, 2});
    CHECK(copy.time_block->kernel.arguments[0].kind == Argument::Kind::exchange);
    CHECK(copy.time_block->kernel.arguments[0].part == 1);
    CHECK(copy.time_block->kernel.arguments[2].kind == Argument::Kind::sent);

    CHECK(copy.axes == plan.axes);
    CHECK(copy.spacing[0].steps.size() == plan.spacing[0].steps.size());
    for (std::size_t i = 0; i < plan.spacing[0].steps.size(); ++i)
        CHECK(copy.spacing[0].steps[i].op == plan.spacing[0].steps[i].op);
    CHECK(copy.spacing[0].steps[0].value == 0.1);
    CHECK(copy.spacing[0].steps[static_cast<std::size_t>(HostScalar::Op::reduction)].index == 1);
    CHECK(copy.reductions[0].initial == 0);
    REQUIRE(copy.points.size() == 1);
    CHECK(copy.points[0].columns == plan.points[0].columns);
    CHECK(copy.points[0].traces[1].name == "heard");
    CHECK(copy.points[0].traces[1].sampled);
    CHECK(copy.points[0].interpolation == PointsPlan::Interpolation::sinc);
    CHECK(copy.points[0].radius == 4);
    CHECK(copy.kernels.back().domain.kind == Domain::Kind::cells);
    CHECK(copy.reductions[1].initial == 0.25);
    CHECK(copy.origin[0].steps[0].value == -std::numeric_limits<double>::infinity());
    CHECK(std::isnan(copy.origin[1].steps[0].value));
    CHECK(copy.origin[2].steps[0].value == 5e-324);
    CHECK_FALSE(copy.params[0].default_value);
    CHECK(copy.params[1].default_value == 2.0);
    CHECK(copy.fields[0].role == Role::state);
    CHECK(copy.fields[1].role == Role::intermediate);
    CHECK(copy.fields[1].history == 1);
    CHECK(copy.fields[0].boundary[1][0].kind == BoundaryKind::fixed);
    CHECK(copy.fields[0].boundary[1][0].value.steps[0].index == 1);
    CHECK(copy.fields[0].boundary[2][1].kind == BoundaryKind::mirror);
    CHECK(copy.fields[0].halo == plan.fields[0].halo);
    CHECK(copy.halo == plan.halo);
    CHECK(copy.coefs[0].symbol == "w_constant");
    CHECK(copy.coefs[0].high == std::vector<int>{1});
    CHECK(copy.kernels[0].dynamic_shared_bytes == std::int64_t{1} << 40);
    CHECK(copy.kernels[0].tile == plan.kernels[0].tile);
    CHECK(copy.kernels[0].arguments.size() == plan.kernels[0].arguments.size());
    CHECK(copy.kernels[0].arguments[1].time == 0);
    CHECK(copy.kernels[0].arguments[0].time == 1);
    REQUIRE(copy.kernels[0].arguments[0].use);
    CHECK(copy.kernels[0].arguments[0].use->read);
    CHECK_FALSE(copy.kernels[0].arguments[0].use->written);
    CHECK(copy.kernels[0].arguments[0].use->reach == std::array<int, kMaxRank>{4, 0, 2});
    CHECK_FALSE(copy.kernels[0].arguments[1].use);
    CHECK(copy.kernels[0].refresh_halos[0].time == 1);
    CHECK(copy.reductions[2].square_root);
    CHECK(copy.reductions[0].op == ReductionPlan::Op::max);
}

TEST_CASE("a time block works on grids that are large enough, or on its own alone") {
    const std::array<std::array<int, 2>, kMaxRank> halo{};
    Geometry geometry = make_geometry(3, {63, 8, 5}, halo);
    TimeBlock block;
    block.least_extent = {63, 2, 1};
    CHECK(works_on(block, geometry));
    block.least_extent[0] = 64;
    CHECK_FALSE(works_on(block, geometry));
    block.least_extent[0] = 1;
    block.fixed_grid = FixedGrid{geometry.extent, geometry.pitch, geometry.slice, geometry.volume};
    CHECK(works_on(block, geometry));
    for (const int changed : {0, 1, 2, 3}) {
        Geometry other = geometry;
        if (changed < 2) ++other.extent[static_cast<std::size_t>(changed)];
        if (changed == 2) other.pitch += 32;
        if (changed == 3) other.slice += other.pitch;
        CHECK_FALSE(works_on(block, other));
    }
}

TEST_CASE("a time block takes no more of neighbours than pieces have") {
    const auto is_refused = [](auto&& damage) {
        LaunchPlan plan = plan_of_pieces();
        damage(*plan.time_block);
        try {
            plan_from_json(plan_to_json(plan));
        } catch (const Error&) {
            return true;
        }
        return false;
    };
    CHECK_FALSE(is_refused([](TimeBlock&) {}));
    CHECK(is_refused([](TimeBlock& block) { block.kind = TimeBlock::WholeGrid{}; }));
    CHECK(is_refused([](TimeBlock& block) { block.kind = TimeBlock::OfPieces{5}; }));  // of 12 blocks
    CHECK(is_refused([](TimeBlock& block) { block.kind = TimeBlock::OfPieces{-1}; }));
    CHECK(is_refused([](TimeBlock& block) { block.kernel.arguments[0].part = 4; }));
    CHECK(is_refused([](TimeBlock& block) { block.kernel.arguments[0].part = -1; }));
    CHECK(is_refused([](TimeBlock& block) { block.kernel.arguments[1].part = 2; }));
    CHECK(is_refused([](TimeBlock& block) { block.fixed_grid = FixedGrid{{63, 0, 5}, 96, 960, 0}; }));
    CHECK(is_refused([](TimeBlock& block) { block.kernel.arguments[1].part = -1; }));
}

TEST_CASE("kernels over faces survive the way through JSON, and are refused over none") {
    LaunchPlan plan = heat_sample(3, ElementType::f32).plan;
    KernelPlan fills = plan.kernels[0];
    fills.name = "fills";
    fills.fills_halo = KernelPlan::Written{0, 0};
    fills.fills_after_uploads = true;
    fills.domain.kind = Domain::Kind::faces;
    fills.domain.index = 3;
    plan.kernels.push_back(fills);
    const LaunchPlan copy = plan_from_json(plan_to_json(plan));
    CHECK(copy.kernels.back().domain.kind == Domain::Kind::faces);
    CHECK(copy.kernels.back().domain.index == 3);
    CHECK(copy.kernels.back().fills_after_uploads);
    CHECK_FALSE(copy.kernels.front().fills_after_uploads);
    for (const int axes : {-1, 0, 1, 4}) {
        plan.kernels.back().domain.index = axes;
        CHECK_THROWS_AS(plan_from_json(plan_to_json(plan)), Error);
    }
    plan.kernels.back() = fills;
    plan.kernels.back().fills_halo.reset();
    CHECK_THROWS_AS(plan_from_json(plan_to_json(plan)), Error);
}

TEST_CASE("text that is no plan is refused with the reason") {
    const std::string text = plan_to_json(heat_sample(2, ElementType::f64).plan);
    for (const std::string& bad :
         {std::string(), std::string("{"), std::string("[]"), std::string("{}"), std::string("null"),
          text.substr(0, text.size() / 2), replaced(text, "\"halocline_plan\": 1", "\"halocline_plan\": 99"),
          replaced(text, "\"periodic\"", "\"round\""), replaced(text, "\"f64\"", "\"f17\""),
          replaced(text, "\"rank\": 2", "\"rank\": \"two\""), replaced(text, "\"rank\": 2", "\"rank\": 9"),
          replaced(text, "\"kernels\"", "\"colonels\"")}) {
        INFO(bad.substr(0, 60));
        CHECK_THROWS_AS(plan_from_json(bad), Error);
    }
}

TEST_CASE("the reductions and earlier kernels of a time block survive the way through JSON") {
    LaunchPlan plan = damped_sample(4, false).plan;
    KernelPlan first = plan.time_block->kernel;
    first.name = "first_pass";
    std::erase_if(first.arguments,
                  [](const Argument& each) { return each.kind == Argument::Kind::step_partials; });
    plan.time_block->earlier = {first};
    const LaunchPlan copy = plan_from_json(plan_to_json(plan));
    REQUIRE(copy.time_block);
    CHECK(copy.time_block->reductions == std::vector<int>{0, 1});
    CHECK(copy.time_block->kernel_names() ==
          std::vector<std::string>{"first_pass", plan.time_block->kernel.name});
    CHECK_FALSE(copy.time_block->is_whole);
    CHECK(copy.time_block->kernel.arguments[6].kind == Argument::Kind::step_partials);
    CHECK(copy.time_block->kernel.arguments[6].index == 1);
    CHECK(plan_to_json(copy) == plan_to_json(plan));
}

TEST_CASE("a time block of a repeat goes on from the arrays that this exchanges") {
    LaunchPlan plan = full_plan();
    FieldPlan next = plan.fields[0];
    next.name = "next";
    next.role = Role::intermediate;
    next.history = 0;
    plan.fields.push_back(next);
    const int other = static_cast<int>(plan.fields.size()) - 1;
    plan.time_block = TimeBlock{};
    plan.time_block->kind = TimeBlock::OfRepeat{0};
    plan.time_block->steps = 3;
    plan.time_block->kernel = plan.kernels[0];
    std::erase_if(plan.time_block->kernel.arguments,
                  [](const Argument& each) { return each.kind == Argument::Kind::partials; });
    plan.repeats = {{0, 1, 8, {{0, 0, latest_time(plan.fields[0]), other}}}};
    const LaunchPlan good = plan;
    CHECK(why(good) == "");
    REQUIRE(plan_from_json(plan_to_json(good)).time_block->of_repeat() != nullptr);
    CHECK(blocks_of_repeat(*good.time_block, good.repeats[0]) == 2);
    CHECK(block_of_repeat(good, 0) == &*good.time_block);
    CHECK(block_of_repeat(good, 1) == nullptr);
    plan.time_block->kind = TimeBlock::OfRepeat{1};
    CHECK(why(plan).find("its time block is of repeat 1") != std::string::npos);
    plan = good;
    plan.repeats[0].exchanges.clear();
    CHECK(why(plan).find("does not go on from exchanged arrays alone") != std::string::npos);
    plan = good;
    Argument step;
    step.kind = Argument::Kind::scalar;
    step.scalar.steps = {{HostScalar::Op::step, 0, 0}};
    plan.time_block->kernel.arguments.push_back(step);
    CHECK(why(plan).find("takes what changes with the step") != std::string::npos);
    plan = good;
    plan.time_block->kind = TimeBlock::WholeGrid{};
    CHECK(why(plan).find("stand beside a repeat") != std::string::npos);
}

TEST_CASE("what takes part in an exchange is a resident block") {
    LaunchPlan plan = full_plan();
    CHECK(why(plan) == "");
    plan.time_block->kernel.arguments[0].index = 2;
    CHECK(why(plan).find("takes half 1 of exchange 2") != std::string::npos);
    plan = full_plan();
    std::get<TimeBlock::Resident>(plan.time_block->kind).exchanges[0] = 0;
    CHECK(why(plan).find("an exchange of its time block has 0 words") != std::string::npos);
    plan = full_plan();
    plan.kernels[0].arguments.push_back(plan.time_block->kernel.arguments[1]);
    CHECK(why(plan).find("takes part in an exchange, and is not resident") != std::string::npos);
}
