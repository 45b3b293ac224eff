#include "compiler/driver/running/turns.h"

#include <algorithm>

namespace halo::driver {

namespace {

using Kind = adjoint::Adjoint::Kind;

bool has_reduction(const ir::Program& program, const std::string& name) {
    return std::ranges::any_of(program.statements, [&](const ir::Statement& statement) {
        const auto* reduce = std::get_if<ir::Reduce>(&statement);
        return reduce != nullptr && reduce->name == name;
    });
}

bool gives_trace(const adjoint::Adjoint& adjoint, const std::string& name) {
    return std::ranges::any_of(adjoint.gradients, [&](const adjoint::Adjoint::Gradient& each) {
        return each.kind == Kind::trace && each.name == name;
    });
}

// Of a trace that only one step adds to the rows of the others are 0.
std::vector<double> rows_of(const Back& from, const Back& to, const std::string& points,
                            const std::string& trace, std::int64_t steps) {
    const std::string name = points + "." + trace;
    if (gives_trace(from.adjoint, name)) return from.engine.trace(points, trace);
    if (!gives_trace(to.adjoint, name)) return {};
    std::vector<double> rows = to.engine.trace(points, trace);
    rows.resize(rows.size() * static_cast<std::size_t>(steps));
    return rows;
}

}  // namespace

std::vector<std::string> common_fields(const adjoint::Adjoint& one, const adjoint::Adjoint& other) {
    const auto stays = [](const adjoint::Adjoint& adjoint, const std::string& name) {
        const bool is_input = std::ranges::count(adjoint.inputs, name, &adjoint::Adjoint::Input::input) > 0;
        return is_input || std::ranges::any_of(adjoint.program.fields, [&](const ir::Field& field) {
                   return field.name == name && adjoint::is_carried(adjoint, field);
               });
    };
    std::vector<std::string> names;
    for (const ir::Field& field : one.program.fields)
        if (stays(one, field.name) && stays(other, field.name)) names.push_back(field.name);
    return names;
}

void go_on(const Back& from, const Back& to, std::int64_t steps) {
    for (const std::string& field : common_fields(from.adjoint, to.adjoint)) {
        if (to.engine.share_levels(field, from.engine)) continue;
        if (!to.engine.copy_level(field, 0, from.engine, field, 0))
            to.engine.upload(field, 0, from.engine.download(field));
    }
    rt::StepsBefore before;
    before.steps = steps;
    for (const ir::Statement& statement : to.adjoint.program.statements)
        if (const auto* reduce = std::get_if<ir::Reduce>(&statement))
            before.reductions[reduce->name] =
                (has_reduction(from.adjoint.program, reduce->name) ? from : to)
                    .engine.reduction(reduce->name);
    for (const ir::Points& points : to.adjoint.program.points)
        for (const ir::Points::Trace& trace : points.traces)
            if (trace.sampled)
                before.traces.push_back(
                    {points.name, trace.name, rows_of(from, to, points.name, trace.name, steps)});
    to.engine.continue_from(before);
}

}  // namespace halo::driver
