#include "compare_engines.h"

#include <fmt/format.h>

#include <cmath>

#include "analyzed.h"
#include "compiler/ir/analysis.h"
#include "compiler/ir/interpreter.h"
#include "compiler/passes/pipeline.h"
#include "runtime/core/session.h"

namespace halo::test {
namespace {

// A cell that is NaN in the reference has no defined value.
bool agrees(double expected, double got, double bound = 0) {
    return expected == got || std::isnan(expected) ||
           std::abs(expected - got) <= bound * (1 + std::abs(expected));
}

double param_value(const ir::Param& param, std::size_t number) {
    return param.default_value.value_or(0.25 + 0.125 * static_cast<double>(number));
}

}  // namespace

ir::Program load_program(const std::string& text, bool strict) {
    ir::Program program = analyze_text(text);
    passes::optimize(program, strict ? passes::FloatingPoint::strict() : passes::FloatingPoint{});
    return program;
}

struct Reference::State {
    std::unique_ptr<ir::Interpreter> interpreter;
};

Reference::Reference(const ir::Program& p, const Extent& e, int s, std::uint64_t seed)
    : program(p), extent(e), steps(s), state_(std::make_unique<State>()) {
    state_->interpreter = std::make_unique<ir::Interpreter>(program, extent, ir::Arithmetic::declared);
    ir::Interpreter& interpreter = *state_->interpreter;
    for (std::size_t n = 0; n < program.params.size(); ++n) {
        interpreter.set_param(program.params[n].name, param_value(program.params[n], n));
    }
    for (const ir::Table& table : program.tables) {
        tables_.emplace_back(table.name, table_rows(seed, ir::given_columns(table)));
        interpreter.set_table(table.name, tables_.back().second);
    }
    for (const ir::Field& field : program.fields) {
        if (field.role == ir::Role::intermediate) continue;
        for (int time = 0; time >= -field.history; --time) {
            std::vector<double>& values = interpreter.field(field.name, time);
            values = initial_cells(seed, field.name, time, values.size());
            levels_.push_back({field.name, time, values, {}});
        }
    }
    for (int step = 0; step < steps; ++step)
        interpreter.step();
    for (Level& level : levels_)
        level.end = interpreter.field(level.field, level.time);
}

Reference::~Reference() = default;

double Reference::reduction(const std::string& name) const {
    return state_->interpreter->reduction(name);
}

std::string difference(const Reference& reference, const lower::Lowered& lowered, rt::Device& device,
                       const Load& load, double tolerance) {
    rt::SessionOptions options;
    options.poison = true;
    rt::Session session(lowered.plan, reference.extent, device, load(lowered, device), options);
    const ir::Program& program = reference.program;
    for (std::size_t n = 0; n < program.params.size(); ++n) {
        session.set_param(program.params[n].name, param_value(program.params[n], n));
    }
    for (const auto& [name, rows] : reference.tables())
        session.set_table(name, rows);
    for (const Reference::Level& level : reference.levels()) {
        session.upload(level.field, level.time, std::span<const double>(level.start));
    }
    session.step(reference.steps);
    const auto [nx, ny, nz] = reference.extent;
    for (const Reference::Level& level : reference.levels()) {
        const std::vector<double> values = session.download(level.field, level.time);
        for (std::int64_t n = 0; n < nx * ny * nz; ++n) {
            const double expected = level.end[static_cast<std::size_t>(n)],
                         got = values[static_cast<std::size_t>(n)];
            if (agrees(expected, got, tolerance)) continue;
            return fmt::format("{} at t{:+} differs at cell ({}, {}, {}): {} instead of {}", level.field,
                               level.time, n % nx, n / nx % ny, n / nx / ny, got, expected);
        }
    }
    for (const rt::ReductionPlan& reduction : lowered.plan.reductions) {
        const double expected = reference.reduction(reduction.name), got = session.reduction(reduction.name);
        // Sums are taken in another order: f64 rounding, a few per cell at most.
        const double bound = 1e-12 * (1 + std::abs(expected)) * static_cast<double>(nx * ny * nz);
        const bool exact = reduction.op != rt::ReductionPlan::Op::sum;
        if (agrees(expected, got) || (!exact && std::abs(expected - got) <= bound)) continue;
        return fmt::format("reduction {} is {} instead of {}", reduction.name, got, expected);
    }
    return "";
}

}  // namespace halo::test
