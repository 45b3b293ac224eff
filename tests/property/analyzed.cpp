#include "analyzed.h"

#include <fmt/format.h>

#include <bit>
#include <cstdlib>
#include <stdexcept>

#include "compiler/sema/sema.h"
#include "compiler/syntax/parser.h"

namespace halo::test {

ir::Program analyze_text(const std::string& text) {
    const SourceFile source("random.halo", text);
    DiagnosticSink sink;
    const syntax::File file = syntax::parse(source, sink);
    sema::Analysis analysis = sema::analyze(file, sink);
    if (sink.has_errors()) throw std::runtime_error(render(sink.sorted(), source));
    return analysis.find_stencil(analysis.stencils.at(0).program.name)->program;
}

Outcome interpret(const ir::Program& program, const RandomProgram& source, ir::Arithmetic arithmetic,
                  int steps) {
    ir::Interpreter interpreter(program, source.grid, arithmetic);
    for (const ir::Field& field : program.fields) {
        if (field.role != ir::Role::input && field.role != ir::Role::state) continue;
        for (int time = 0; time >= -field.history; --time) {
            std::vector<double>& cells = interpreter.field(field.name, time);
            cells = initial_cells(source.seed, field.name, time, cells.size());
        }
    }
    for (int step = 0; step < steps; ++step)
        interpreter.step();
    Outcome outcome;
    for (const ir::Field& field : program.fields)
        if (field.role != ir::Role::intermediate) outcome.fields[field.name] = interpreter.field(field.name);
    for (const ir::Statement& statement : program.statements)
        if (const auto* reduce = std::get_if<ir::Reduce>(&statement))
            outcome.reductions[reduce->name] = interpreter.reduction(reduce->name);
    return outcome;
}

namespace {

bool agrees(double reference, double other, double bound) {
    if (std::isnan(reference)) return true;
    if (bound == 0) return std::bit_cast<std::uint64_t>(reference) == std::bit_cast<std::uint64_t>(other);
    if (std::isinf(reference)) return reference == other;
    return std::abs(reference - other) <= bound * std::max(1.0, std::abs(reference));  // false for NaN
}

}  // namespace

std::optional<std::string> disagreement(const Outcome& reference, const Outcome& other, double bound) {
    double cells = 1;
    for (const auto& [name, values] : reference.fields) {
        const std::vector<double>& others = other.fields.at(name);
        if (others.size() != values.size())
            return fmt::format("{} has {} cells, not {}", name, others.size(), values.size());
        cells = static_cast<double>(values.size());
        std::optional<std::size_t> worst;
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (agrees(values[i], others[i], bound)) continue;
            const bool worse =
                !worst || !(std::abs(values[i] - others[i]) <= std::abs(values[*worst] - others[*worst]));
            if (worse) worst = i;
        }
        if (worst)
            return fmt::format("{} at cell {}: {:.17g}, not {:.17g}", name, *worst, others[*worst],
                               values[*worst]);
    }
    for (const auto& [name, value] : reference.reductions) {
        const double given = other.reductions.at(name);
        if (!agrees(value, given, bound * cells))
            return fmt::format("{}: {:.17g}, not {:.17g}", name, given, value);
    }
    return std::nullopt;
}

Seeds seeds_from_environment(std::uint64_t first, std::uint64_t count) {
    if (const char* text = std::getenv("HALO_SEED")) first = std::strtoull(text, nullptr, 10);
    if (const char* text = std::getenv("HALO_PROGRAMS")) count = std::strtoull(text, nullptr, 10);
    return {first, count};
}

}  // namespace halo::test
