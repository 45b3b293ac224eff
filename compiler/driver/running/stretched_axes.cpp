#include "compiler/driver/running/stretched_axes.h"

#include "compiler/driver/running/initial_data.h"
#include "compiler/driver/running/params.h"
#include "compiler/lower/shared/host_scalar.h"

namespace halo::driver {

namespace {

std::vector<double> numbers_of(const FieldValues& values) {
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < values.size(); ++i)
        numbers.push_back(values.at(i));
    return numbers;
}

// A formula is computed by the interpreter: so the cells lie at the same places on every machine.
std::vector<double> distances_of(const ir::StretchedAxis& axis, const RunRequest& request) {
    Initializer formula{*axis.formula, {}};
    for (int other = 0; other < formula.program.rank(); ++other)
        formula.grid.along[static_cast<std::size_t>(other)] = other == axis.axis;
    const rt::Box box = rt::box_of_field(formula.grid, rt::whole_box(request.extent));
    const ir::Program made = program_of_box(formula, request.extent, box);
    const std::unique_ptr<Engine> engine = make_interpreter_engine(made, box.extent());
    set_known_arguments(*engine, made, request);
    engine->run(1, std::nullopt);
    return numbers_of(engine->download(made.fields.front().name));
}

double origin_of(const ir::Program& program, int axis, const RunRequest& request) {
    const ir::ExprId origin = program.axes[static_cast<std::size_t>(axis)].origin;
    return rt::evaluate(lower::host_scalar(program, origin), param_values(program, request), request.extent);
}

}  // namespace

std::map<int, ir::AxisPoints> points_of_axes(Engine& engine, const ir::Program& program,
                                             const RunRequest& request) {
    std::map<int, ir::AxisPoints> points;
    for (const ir::StretchedAxis& axis : program.stretched) {
        const std::vector<double> distances =
            axis.formula ? distances_of(axis, request) : numbers_of(engine.download(axis.field));
        rt::check_distances(distances, axis.is_periodic,
                            program.axes[static_cast<std::size_t>(axis.axis)].name);
        points.emplace(axis.axis,
                       ir::AxisPoints(distances, axis.is_periodic, origin_of(program, axis.axis, request)));
    }
    return points;
}

void fill_axis_tables(Engine& engine, const ir::Program& program, const std::map<int, ir::AxisPoints>& points,
                      const rt::Box& box) {
    for (const ir::StretchedAxis& axis : program.stretched) {
        const auto along = static_cast<std::size_t>(axis.axis);
        for (const ir::StretchedAxis::Table& table : axis.tables) {
            const std::vector<double> values = points.at(axis.axis).values(table.holds);
            for (const rt::Box& part : engine.computed_boxes_of(table.field)) {
                const auto first = values.begin() + box.begin[along] + part.begin[along];
                const std::vector<double> own(first, first + part.extent()[along]);
                engine.upload_box(table.field, 0, part,
                                  FieldValues::rounded(engine.type_of(table.field), own));
            }
        }
    }
}

}  // namespace halo::driver
