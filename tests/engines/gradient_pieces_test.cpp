// Gradients of random programs on grids that are cut into pieces: the bits of one piece.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzed.h"
#include "catch.h"
#include "compare_engines.h"
#include "compiler/adjoint/turns.h"
#include "compiler/driver/planning/compile.h"
#include "compiler/driver/planning/offline_target.h"
#include "compiler/driver/planning/pieces_plan.h"
#include "compiler/driver/running/gradient.h"
#include "compiler/driver/running/pieces_engine.h"
#include "emulated_device.h"
#include "load_cpp.h"
#include "random_program.h"
#include "runtime/core/error.h"
#include "runtime/cpu/cpu_device.h"

using namespace halo;
using namespace halo::test;

namespace {

constexpr int kStepsUndone = 6;

// What is differentiated: of what the last step leaves, of sums, or of what points see.
struct Question {
    adjoint::Request request;
    std::string objective;  // empty: all states, as functions
};

Question question_of(const ir::Program& program, std::uint64_t seed) {
    Question question;
    for (const ir::Field& field : program.fields)
        if (field.role == ir::Role::state || field.role == ir::Role::input)
            question.request.with.push_back(field.name);
    for (const char* param : {"p", "q", "k"})
        for (const ir::Param& each : program.params)
            if (each.name == param) question.request.with.emplace_back(param);
    for (const ir::Points& points : program.points)
        for (const ir::Points::Trace& trace : points.traces) {
            const std::string name = points.name + "." + trace.name;
            if (!trace.sampled) question.request.with.push_back(name);
            if (trace.sampled && seed % 3 == 0) question.objective = name;
        }
    for (const ir::Statement& statement : program.statements)
        if (const auto* reduce = std::get_if<ir::Reduce>(&statement))
            if (question.objective.empty() && reduce->op == ir::ReduceOp::sum && seed % 3 < 2) {
                question.objective = reduce->name;
                question.request.every_step = seed % 2 == 0;
            }
    if (!question.objective.empty()) {
        question.request.of = {question.objective};
        return question;
    }
    question.request.as_function = true;
    for (const ir::Field& field : program.fields)
        if (field.role == ir::Role::state) question.request.of.push_back(field.name);
    return question;
}

// Without what is refused by its name.
std::optional<adjoint::Turns> derive(const ir::Program& program, adjoint::Request& request) {
    while (!request.with.empty() && !request.of.empty()) {
        try {
            adjoint::Turns turns = adjoint::make_turns(program, request);
            if (turns.last.gradients.empty()) return std::nullopt;
            return turns;
        } catch (const adjoint::RefusedError& refused) {
            const std::string message = refused.what();
            const auto is_named = [&](const std::string& name) {
                return message.find("`" + name + "`") != std::string::npos;
            };
            if (std::erase_if(request.with, is_named) == 0) return std::nullopt;
        }
    }
    return std::nullopt;
}

using MakeSession = std::function<rt::Session(const ir::Program& piece, const Extent& extent,
                                              rt::Device& device, bool poison)>;

struct CutGradient {
    const ir::Program& program;
    const adjoint::Turns& turns;
    const Question& question;
    const Reference& reference;  // the data
    const std::vector<rt::Device*>& devices;
    const MakeSession& make_session;

    // The one that begins with zeros is not poisoned.
    std::unique_ptr<driver::Engine> engine(const ir::Program& of, const rt::Decomposition& cut) const {
        std::vector<std::unique_ptr<driver::Engine>> engines;
        std::vector<rt::Session*> sessions;
        for (std::size_t i = 0; i < cut.pieces.size(); ++i) {
            engines.push_back(driver::make_session_engine(
                make_session(driver::program_of_piece(of, cut, i), cut.pieces[i].extent(),
                             *devices[i % devices.size()], &of != &turns.last.program)));
            sessions.push_back(engines.back()->session());
        }
        rt::PiecesOptions options;
        options.carried = driver::cut_rules(of, reference.extent).carried_names();
        options.scheme = rt::ExchangeScheme::synchronous;
        return driver::make_pieces_engine(of, std::move(engines),
                                          std::make_unique<rt::Pieces>(cut, std::move(sessions), options));
    }

    static void set_params(const ir::Program& of, driver::Engine& engine) {
        for (const ir::Param& param : of.params)
            if (!param.default_value) engine.set_param(param.name, 0.25);
    }

    void give_data(driver::Engine& forward, driver::Engine& backward, driver::GradientPlan& plan) const {
        const auto values = [](driver::Engine& engine, const std::string& field,
                               const std::vector<double>& from) {
            return driver::FieldValues::rounded(engine.type_of(field), from);
        };
        for (const Reference::Level& level : reference.levels()) {
            forward.upload(level.field, level.time, values(forward, level.field, level.start));
            if (!question.request.as_function) continue;
            for (const adjoint::Adjoint::Part& part : turns.last.parts)
                if (part.state == level.field && part.time == level.time)
                    backward.upload(part.field, 0, values(backward, part.field, level.start));
        }
        for (const Reference::PointSet& set : reference.points()) {
            const auto declared = std::ranges::find(program.points, set.name, &ir::Points::name);
            driver::PointData data{set.name, set.positions, {}};
            for (const auto& [name, numbers] : set.given)
                data.numbers.push_back({name, std::ranges::count(declared->columns, name) == 0, numbers});
            plan.points.push_back(std::move(data));
            for (const auto& [name, rows] : set.sampled)
                for (std::size_t i = 0; set.name + "." + name == question.objective && i < rows.size(); ++i)
                    plan.weights.push_back(std::sin(3.0 * static_cast<double>(i)));
        }
    }

    // All that is found, and where `returns`, the states at the start.
    std::vector<double> run(const rt::Decomposition& cut, const rt::SnapshotPlaces& places,
                            bool returns) const {
        const std::unique_ptr<driver::Engine> forward = engine(program, cut),
                                              backward = engine(turns.last.program, cut),
                                              earlier = turns.earlier ? engine(turns.earlier->program, cut)
                                                                      : nullptr;
        const driver::GradientEngines engines{*forward, *backward, earlier.get()};
        driver::GradientPlan plan{program, turns.last, turns.earlier ? &*turns.earlier : nullptr,
                                  question.objective, question.request.every_step};
        driver::share_arrays(engines, plan);
        set_params(program, *forward);
        set_params(turns.last.program, *backward);
        if (earlier) set_params(turns.earlier->program, *earlier);
        give_data(*forward, *backward, plan);
        plan.steps = kStepsUndone;
        plan.snapshots = places;
        plan.returns = returns;
        const auto kept = driver::make_kept_states(*forward, program, places);
        const driver::GradientResult found = driver::run_gradient(engines, plan, *kept, [](auto) {});
        std::vector<double> all{found.objective};
        const auto add_cells = [&](const driver::FieldValues& cells) {
            for (std::int64_t i = 0; i < cells.size(); ++i)
                all.push_back(cells.at(i));
        };
        for (const auto& [name, number] : found.numbers)
            all.push_back(number);
        for (const auto& [name, rows] : found.traces)
            all.insert(all.end(), rows.begin(), rows.end());
        for (const adjoint::Adjoint::Gradient& each : turns.last.gradients)
            if (each.kind == adjoint::Adjoint::Kind::field) add_cells(backward->download(each.name));
        for (const Reference::Level& level : reference.levels()) {
            const auto field = std::ranges::find(program.fields, level.field, &ir::Field::name);
            if (returns && field->role == ir::Role::state)
                add_cells(forward->download(level.field, level.time));
        }
        return all;
    }
};

// A number that is none in one piece has no meaning.
std::string first_difference(const std::vector<double>& one, const std::vector<double>& other) {
    if (one.size() != other.size()) return "other numbers are found";
    for (std::size_t i = 0; i < one.size(); ++i)
        if (!std::isnan(one[i]) && std::memcmp(&one[i], &other[i], sizeof one[i]) != 0)
            return fmt::format("number {} of {} is {} in one piece, and {}", i, one.size(), one[i], other[i]);
    return "";
}

std::optional<rt::Decomposition> cut_for_all(const ir::Program& program, const adjoint::Turns& turns,
                                             const Extent& extent, Random& random) {
    std::vector<const ir::Program*> others{&turns.last.program};
    if (turns.earlier) others.push_back(&turns.earlier->program);
    const driver::CutRules rules = driver::cut_rules(program, others, extent);
    for (int attempt = 0; attempt < 30; ++attempt) {
        rt::Lengths counts{};
        for (std::size_t axis = 0; axis < counts.size(); ++axis)
            if (rules.may[axis]) counts[axis] = random.between(1, 3);
        if (std::ranges::count(counts, 1) == rt::kMaxRank) continue;
        try {
            return rt::decompose(rules.grid, counts, rules.ghosts(1), ir::axis_names(program));
        } catch (const rt::Error&) {  // too thin
        }
    }
    return std::nullopt;
}

struct Tried {
    int cut = 0, in_turns = 0, finite = 0;
};

void try_program(const std::string& text, const Extent& extent, std::uint64_t seed,
                 const std::vector<rt::Device*>& devices, const MakeSession& make_session, Tried& tried) {
    const ir::Program program = analyze_text(text);
    Question question = question_of(program, seed);
    const std::optional<adjoint::Turns> turns = derive(program, question.request);
    if (!turns) return;
    INFO(text);
    INFO(fmt::format("seed {}, {} x {} x {} cells, of {}{}", seed, extent[0], extent[1], extent[2],
                     question.objective.empty() ? "all states" : question.objective,
                     turns->earlier ? ", in turns" : ""));
    Random random(seed * 31 + 7);
    const std::optional<rt::Decomposition> cut = cut_for_all(program, *turns, extent, random);
    if (!cut) return;
    rt::Decomposition one = *cut;
    one.counts = {1, 1, 1, 1};
    one.pieces = {{{}, {}, extent, {}}};
    std::optional<Reference> reference;
    try {
        reference.emplace(program, extent, kStepsUndone, seed);
    } catch (const rt::Error&) {  // a boundary is computed from more cells than there are
        return;
    }
    const CutGradient gradient{program, *turns, question, *reference, devices, make_session};
    std::vector<double> whole;
    try {
        whole = gradient.run(one, {0, kStepsUndone, true}, true);
    } catch (const rt::Error& error) {
        INFO(error.what());
        CHECK(error.code() == rt::ErrorCode::bad_argument);
        return;
    }
    const rt::SnapshotPlaces places = random.pick<rt::SnapshotPlaces>({{0, kStepsUndone, true},
                                                                       {0, kStepsUndone},
                                                                       {0, 1},
                                                                       {0, 2},
                                                                       {1, 0},
                                                                       {2, 1},
                                                                       {3, 0, false, 2},
                                                                       {2, 1, false, 1}});
    INFO(fmt::format("{} x {} x {} pieces; {} snapshots on the host, {} on the device{}, {} in transit",
                     cut->counts[0], cut->counts[1], cut->counts[2], places.on_host, places.on_device,
                     places.in_a_row ? " in a row" : "", places.in_transit));
    std::vector<double> in_pieces;
    try {
        in_pieces = gradient.run(*cut, places, true);
    } catch (const rt::Error& error) {
        if (error.code() != rt::ErrorCode::bad_argument) throw;
        return;  // thinner than what a boundary is computed from
    }
    ++tried.cut;
    tried.in_turns += turns->earlier ? 1 : 0;
    tried.finite += std::ranges::all_of(whole, [](double each) { return std::isfinite(each); }) ? 1 : 0;
    CHECK(first_difference(whole, in_pieces) == "");
}

void try_random(std::uint64_t seed, const GeneratorOptions& options, const std::vector<rt::Device*>& devices,
                const MakeSession& make_session, Tried& tried) {
    const RandomProgram source = random_program(seed, options);
    try_program(source.text(), source.grid, seed, devices, make_session, tried);
}

rt::Session cpu_session(const ir::Program& piece, const Extent& extent, rt::Device& device, bool poison) {
    const lower::Lowered lowered = lower::lower_cpu(driver::optimize(piece, {}));
    return rt::Session(lowered.plan, extent, device, load_cpp_unoptimized(lowered, device),
                       {.poison = poison});
}

rt::Session emulated_session(const ir::Program& piece, const Extent& extent, rt::Device& device,
                             bool poison) {
    driver::CodeOptions options;
    options.target = driver::offline_target("sm_90");
    options.extent = extent;
    options.single_steps = options.reductions_by_plane = true;
    const ir::Program optimized = driver::optimize_for_gpu(piece, options);
    const driver::Code code = driver::cuda_code(optimized, driver::choose_plan(optimized, options).plan());
    return rt::Session(code.lowered.plan, extent, device, load_cuda(code.lowered, device),
                       {.poison = poison});
}

GeneratorOptions programs_to_differentiate() {
    GeneratorOptions options;
    options.max_cells = 700;
    options.max_radius = 2;
    options.max_statements = 4;
    options.points = true;
    return options;
}

}  // namespace

TEST_CASE("gradients of random programs in pieces on the CPU") {
    const std::unique_ptr<rt::Device> one = rt::make_cpu_device(2), other = rt::make_cpu_device(1);
    const Seeds seeds = seeds_from_environment(21001, 24);
    Tried tried;
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed)
        try_random(seed, programs_to_differentiate(), {one.get(), other.get()}, cpu_session, tried);
    CHECK(tried.cut * 4 >= static_cast<int>(seeds.count));
    CHECK(tried.finite * 4 >= tried.cut * 3);
}

TEST_CASE("gradients of random programs in pieces on emulated CUDA") {
    emulator::EmulatedDevice one, other;
    GeneratorOptions options = programs_to_differentiate();
    options.max_cells = 300;
    const Seeds seeds = seeds_from_environment(22001, 10);
    Tried tried;
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed)
        try_random(seed, options, {&one, &other}, emulated_session, tried);
    CHECK(tried.cut * 4 >= static_cast<int>(seeds.count));
    CHECK(tried.finite * 4 >= tried.cut * 3);
    CHECK(one.allocations() == 0);
    CHECK(other.allocations() == 0);
}

// With a past that the second program of two goes on from, boundaries that show cells of a neighbour, and
// grids that divide into pieces of unequal sizes.
TEST_CASE("gradients in pieces whose steps are undone in turns") {
    const std::string wave = R"(stencil shot(x, y) {
        param dt = 0.5
        field v: f64
        field p: f64 { boundary x fixed 0, y.low clamp, y.high mirror }
        points shots, phones: linear
        p[t+1] = 2*p - p[t-1] + (v * dt)^2 * laplacian(p, order=4) - 0.01 * p^3
        inject p[t+1] at shots += shots.wavelet[t]
        sample p at phones into phones.seen[t]
        reduce energy = sum(p[t+1]^2)
    }
    )";
    const std::string around = R"(stencil around(x, y) {
        param rate = 0.1
        field u: f64 { boundary x robin 1, 2, 0.5, y periodic }
        field w: f64 { boundary x fixed 1, y periodic }
        field c: f32
        u[t+1] = 2*u - u[t-1] + rate * w * laplacian(u) + c / 8 * u[y-1]^2
        w[t+1] = w + rate * u[t+1,y+1]^2
        reduce r = sum(u[t+1] * w[t+1])
    }
    )";
    const std::unique_ptr<rt::Device> cpu = rt::make_cpu_device(1);
    emulator::EmulatedDevice one, other;
    Tried tried;
    for (const std::string& text : {wave, around})
        for (const std::uint64_t seed : {1, 2, 3, 7, 13}) {
            const Extent extent{5, 10 + static_cast<std::int64_t>(seed), 1};
            try_program(text, extent, seed, {cpu.get()}, cpu_session, tried);
            if (seed < 4) try_program(text, extent, seed, {&one, &other}, emulated_session, tried);
        }
    CHECK(tried.cut == 16);
    CHECK(tried.in_turns >= 6);
    CHECK(tried.finite == tried.cut);
}
