#include "compare_engines.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "analyzed.h"
#include "compiler/emit/emit.h"
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

// Random cells of a field's own kind, from numbers within [-1, 1], as the interpreter keeps them.
std::vector<double> of_type(const ir::Field& field, std::vector<double> cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
        double& cell = cells[i];
        // Small numbers, and now and then such as no product of two can hold.
        const double scale = i % 5 == 0 ? 2e9 : 40;
        switch (field.storage) {
            case ir::Storage::boolean:
                cell = cell > 0.2;
                break;
            case ir::Storage::u8:
                cell = std::floor((cell + 1) * 127.9);
                break;
            case ir::Storage::i32:
                cell = std::floor(cell * scale);
                break;
            case ir::Storage::i64:
                cell =
                    std::bit_cast<double>(static_cast<std::int64_t>(cell * scale * (i % 5 == 0 ? 4e9 : 1)));
                break;
            case ir::Storage::f16:
            case ir::Storage::bf16:
            case ir::Storage::f32:
            case ir::Storage::f64:
                break;
        }
    }
    return cells;
}

bool is_wide(const ir::Program& program, const std::string& name) {
    return std::any_of(program.fields.begin(), program.fields.end(), [&](const ir::Field& field) {
        return field.name == name && field.storage == ir::Storage::i64;
    });
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
            values = of_type(field, initial_cells(seed, field.name, time, values.size()));
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
        const auto bytes = static_cast<std::int64_t>(level.start.size() * sizeof(double));
        if (is_wide(program, level.field)) {  // as its bits, exactly
            session.upload_elements(level.field, level.time, level.start.data(), bytes);
        } else {
            session.upload(level.field, level.time, std::span<const double>(level.start));
        }
    }
    session.step(reference.steps);
    const auto [nx, ny, nz] = reference.extent;
    for (const Reference::Level& level : reference.levels()) {
        const bool wide = is_wide(program, level.field);
        std::vector<double> values(level.end.size());
        if (wide) {
            session.download_elements(level.field, level.time, values.data(),
                                      static_cast<std::int64_t>(values.size() * sizeof(double)));
        } else {
            session.download(level.field, level.time, std::span<double>(values));
        }
        for (std::int64_t n = 0; n < nx * ny * nz; ++n) {
            const double expected = level.end[static_cast<std::size_t>(n)],
                         got = values[static_cast<std::size_t>(n)];
            const bool same = wide ? std::bit_cast<std::int64_t>(expected) == std::bit_cast<std::int64_t>(got)
                                   : agrees(expected, got, tolerance);
            if (same) continue;
            return fmt::format("{} at t{:+} differs at cell ({}, {}, {}): {} instead of {}", level.field,
                               level.time, n % nx, n / nx % ny, n / nx / ny, got, expected);
        }
    }
    for (const rt::ReductionPlan& reduction : lowered.plan.reductions) {
        const double expected = reference.reduction(reduction.name), got = session.reduction(reduction.name);
        // Sums are taken in another order: f64 rounding, a few per cell at most. What the device's own
        // functions round differently goes either way, and so grows as the root of the cells.
        const auto cells = static_cast<double>(nx * ny * nz);
        const double bound = (1e-12 * cells + tolerance * std::sqrt(cells)) * (1 + std::abs(expected));
        const bool exact = reduction.op != rt::ReductionPlan::Op::sum;
        if (agrees(expected, got, tolerance) || (!exact && std::abs(expected - got) <= bound)) continue;
        return fmt::format("reduction {} is {} instead of {}", reduction.name, got, expected);
    }
    return "";
}

std::vector<std::unique_ptr<rt::Module>> load_cuda(const lower::Lowered& lowered, rt::Device& device) {
    std::vector<std::unique_ptr<rt::Module>> modules;
    modules.push_back(device.load(emit::print_cuda(lowered.kernels), lowered.plan.name));
    return modules;
}

}  // namespace halo::test
