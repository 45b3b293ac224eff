#include "compiler/driver/running/requested_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/running/saved_part.h"

namespace halo::driver {

const ir::Field& first_of(const ir::Program& program, const FieldSet& set) {
    return *std::ranges::find(program.fields, set.fields.front(), &ir::Field::name);
}

void take_place(Output& output, const ir::Program& program) {
    const ir::Field& first = first_of(program, output.field);
    output.staggered = first.staggered;
    output.grid = first.grid;
    output.unit = first.unit;
    output.lies_apart = std::ranges::any_of(output.field.fields, [&](const std::string& field) {
        return std::ranges::find(program.fields, field, &ir::Field::name)->staggered != output.staggered;
    });
}

void take_unit(Output& output, const ir::Program& program) {
    if (output.trace) {
        for (const ir::Points& points : program.points)
            for (const ir::Points::Trace& trace : points.traces)
                if (points.name == output.trace->points && trace.name == output.trace->trace)
                    output.unit = trace.unit;
        return;
    }
    for (const ir::Statement& statement : program.statements) {
        const auto* reduce = std::get_if<ir::Reduce>(&statement);
        if (reduce != nullptr && reduce->name == output.field.name) output.unit = reduce->unit;
    }
    for (Output& layer : output.layers)
        take_unit(layer, program);
}

void add_layers(const ir::Program& program, const sema::Plot& plot, Output& output) {
    for (const sema::PlotLayer& layer : plot.layers) {
        Output made{output.kind, find_fields(program, layer.field), plot.path, output.cuts, plot.frames};
        made.flipped = output.flipped;
        made.layer = layer.kind;
        made.levels = layer.levels;
        take_place(made, program);
        output.layers.push_back(std::move(made));
    }
}

void add_curve(RunRequest& request, const sema::Plot& plot) {
    Output output;
    output.kind = Output::Kind::curve;
    output.field.name = plot.field;
    output.path = plot.path;
    output.frames = plot.frames;
    output.look_as(plot);
    for (const sema::PlotLayer& layer : plot.layers) {
        Output made;
        made.kind = Output::Kind::curve;
        made.field.name = layer.field;
        output.layers.push_back(std::move(made));
    }
    request.outputs.push_back(std::move(output));
}

bool take_curve(RunRequest& request, const FileArgument& argument, const std::string& option) {
    const std::string& name = argument.field;
    if (std::ranges::count(request.reductions, name) == 0) return false;
    if (option == "--movie")
        refuse_usage(fmt::format("{0} {1}: a movie shows a field, and {1} is a reduction", option, name),
                     fmt::format("--plot {0}={0}.png shows it over the time", name));
    if (argument.axis)
        refuse_usage(fmt::format("{} {}: a reduction is one number, and has no part", option, name),
                     fmt::format("for example --plot {0}={0}.png", name));
    sema::Plot plot;
    plot.field = name;
    plot.path = argument.path;
    add_curve(request, plot);
    return true;
}

std::string injected_points(const ir::Program& program) {
    std::set<std::string> injected;
    for (const ir::Statement& statement : program.statements)
        if (const auto* inject = std::get_if<ir::Inject>(&statement))
            injected.insert(program.points[inject->points.index].name);
    return injected.size() == 1 ? *injected.begin() : "";
}

std::string with_unit(const std::string& name, const std::string& unit) {
    return unit.empty() ? name : fmt::format("{} [{}]", name, unit);
}

Output shown_field(const ir::Program& program, const std::string& name) {
    Output output;
    output.kind = Output::Kind::plot;
    output.field = find_fields(program, name);
    take_place(output, program);
    return output;
}

Output saved_array(const ir::Program& program, const RunRequest& request, const std::string& name,
                   const std::string& path) {
    Output output;
    output.field = find_fields(program, name);
    output.path = path;
    take_place(output, program);
    FileArgument whole;
    whole.field = name;
    take_part(request, whole, first_of(program, output.field), output);
    return output;
}

}  // namespace halo::driver
