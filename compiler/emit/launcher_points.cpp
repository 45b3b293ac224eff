// Points off the grid in a launcher: where they lie, what they inject and what they sample. The parts of
// launcher_points.cuh that find the cells of a point do what runtime/core/points.cpp does, and the rows of
// traces are kept as runtime/core/session/point_sets.cpp keeps them.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "compiler/emit/host_expression.h"
#include "compiler/emit/launcher_writer.h"
#include "runtime/core/points.h"

namespace halo::emit {

namespace {

class PointsWriter : LauncherWriter {
public:
    PointsWriter(const LauncherModel& model, Writer& out) : LauncherWriter(model, out) {}

    void write_header() {
        for (int index = 0; index < count(plan_.points); ++index) {
            const rt::PointsPlan& points = plan_.points[index];
            const PointsNames& names = model_.points[index];
            paragraph(place_words(index));
            declare(names.place, "const double* positions, long long count");
            for (int column = 0; column < count(names.columns); ++column) {
                paragraph(
                    fmt::format("{}.{}: a number for each point, to be given once they are placed and "
                                "before the first step.",
                                points.name, points.columns[column]));
                declare(names.columns[column].function, "const double* values");
            }
            for (int trace = 0; trace < count(names.traces); ++trace) {
                const bool sampled = points.traces[trace].sampled;
                paragraph(trace_words(points, trace));
                declare(names.traces[trace].function, sampled
                                                          ? "double* values, long long first, long long rows"
                                                          : "const double* values, long long rows");
            }
        }
    }

    void write_example(bool results) {
        for (int index = 0; index < count(plan_.points); ++index) {
            const PointsNames& names = model_.points[index];
            if (!results) {
                out_.line("//   {}(solver, positions, 48);", names.place);
                for (const PointsNames::Numbers& column : names.columns)
                    out_.line("//   {}(solver, values);", column.function);
            }
            for (int trace = 0; trace < count(names.traces); ++trace) {
                if (plan_.points[index].traces[trace].sampled != results) continue;
                out_.line("//   {}(solver, values, {}1000);", names.traces[trace].function,
                          results ? "0, " : "");
            }
        }
    }

    void write_types() {
        out_.text(model_.part("points types"));
        out_.blank_line();
    }

    void write_members() {
        for (int index = 0; index < count(plan_.points); ++index) {
            const PointsNames& names = model_.points[index];
            out_.line("Points {};", names.member);
            for (const PointsNames::Numbers& column : names.columns)
                out_.line("double* {} = nullptr;  // one of each point", column.member);
            for (const PointsNames::Numbers& trace : names.traces)
                out_.line("Series {};", trace.member);
        }
        out_.line("bool points_due = true;  // points were placed since their cells were looked for");
    }

    void write_functions() {
        const bool any_sinc = std::ranges::any_of(plan_.points, [](const rt::PointsPlan& points) {
            return points.interpolation == rt::PointsPlan::Interpolation::sinc;
        });
        std::vector<std::string> parts{any_sinc ? "weight sinc" : "weight linear", "points lists"};
        const bool has_columns = std::ranges::any_of(
            plan_.points, [](const rt::PointsPlan& points) { return !points.columns.empty(); });
        if (any_trace(false) || has_columns) parts.emplace_back("points numbers");
        if (any_trace(true)) parts.emplace_back("points sampled");
        write_parts(parts);
        if (any_trace(true)) write_make_room();
        write_place_points();
    }

    void write_rows() {
        std::vector<std::string> parts{"points"};
        if (any_trace(false)) parts.emplace_back("points injected row");
        if (any_trace(true)) parts.emplace_back("points sampled row");
        write_parts(parts);
    }

    void write_release() {
        for (const PointsNames& names : model_.points) {
            out_.line("launcher::release(solver->{});", names.member);
            for (const PointsNames::Numbers& column : names.columns)
                out_.line("cudaFree(solver->{});", column.member);
            for (const PointsNames::Numbers& trace : names.traces)
                out_.line("cudaFree(solver->{}.values);", trace.member);
        }
    }

    void write_calls() {
        for (int index = 0; index < count(plan_.points); ++index) {
            const PointsNames& names = model_.points[index];
            write_place(index);
            for (const PointsNames::Numbers& column : names.columns)
                write_set_column(names, column);
            for (int trace = 0; trace < count(names.traces); ++trace) {
                if (plan_.points[index].traces[trace].sampled) {
                    write_get_trace(names, names.traces[trace]);
                } else {
                    write_set_trace(names, names.traces[trace]);
                }
            }
        }
    }

    void write_checks() {
        for (int index = 0; index < count(plan_.points); ++index) {
            const rt::PointsPlan& points = plan_.points[index];
            const PointsNames& names = model_.points[index];
            refuse("launcher::", fmt::format("solver->{}.count < 0", names.member),
                   fmt::format("the points {} have no places yet: call {}", points.name, names.place));
            const auto expect = [&](const std::string& array, const std::string& name,
                                    const std::string& function) {
                refuse("launcher::", fmt::format("solver->{} == nullptr", array),
                       fmt::format("{}.{} has no values yet: call {}", points.name, name, function));
            };
            for (int column = 0; column < count(names.columns); ++column)
                expect(names.columns[column].member, points.columns[column], names.columns[column].function);
            for (int trace = 0; trace < count(names.traces); ++trace)
                if (!points.traces[trace].sampled)
                    expect(names.traces[trace].member + ".values", points.traces[trace].name,
                           names.traces[trace].function);
        }
    }

    void write_due() {
        out_.line("if (solver->points_due) {{");
        return_unless_ok("launcher::place_points(*solver)", "    ");
        out_.line("}}");
    }

    void write_rows_of_step() {
        if (any_trace(true)) return_unless_ok("launcher::make_room(*solver)");
    }

    std::string argument(const rt::Argument& argument) const {
        const PointsNames& names = model_.points[argument.index];
        const std::string points = "solver." + names.member;
        if (argument.kind == rt::Argument::Kind::count) {
            const bool of_cells = argument.part == static_cast<int>(rt::PointsCount::touched);
            return of_cells ? points + ".touched" : fmt::format("static_cast<int>({}.count)", points);
        }
        const int column = argument.part - static_cast<int>(rt::PointsPart::first_column);
        if (column < 0) return points + list_member(static_cast<rt::PointsPart>(argument.part));
        if (column < count(names.columns)) return "solver." + names.columns[column].member;
        const int trace = column - count(names.columns);
        const bool sampled = plan_.points[argument.index].traces[trace].sampled;
        return fmt::format("{}(solver, {}, solver.{})", sampled ? "sampled_row" : "injected_row", points,
                           names.traces[trace].member);
    }

private:
    void write_parts(const std::vector<std::string>& parts) {
        for (const std::string& part : parts) {
            out_.blank_line();
            out_.text(model_.part(part));
        }
    }

    static const char* list_member(rt::PointsPart part) {
        switch (part) {
            case rt::PointsPart::cell_x:
                return ".cell[0]";
            case rt::PointsPart::cell_y:
                return ".cell[1]";
            case rt::PointsPart::cell_z:
                return ".cell[2]";
            case rt::PointsPart::cell_begin:
                return ".cell_begin";
            case rt::PointsPart::entry_point:
                return ".entry_point";
            case rt::PointsPart::entry_weight:
                return ".entry_weight";
            case rt::PointsPart::point_begin:
                return ".point_begin";
            case rt::PointsPart::sample_x:
                return ".sample[0]";
            case rt::PointsPart::sample_y:
                return ".sample[1]";
            case rt::PointsPart::sample_z:
                return ".sample[2]";
            case rt::PointsPart::sample_weight:
                return ".sample_weight";
            case rt::PointsPart::first_column:
                break;
        }
        return "";
    }

    bool any_trace(bool sampled) const {
        return std::ranges::any_of(plan_.points, [&](const rt::PointsPlan& points) {
            return std::ranges::any_of(
                points.traces, [&](const rt::PointsPlan::Trace& trace) { return trace.sampled == sampled; });
        });
    }

    // Of sincs; 0 for linear weights.
    static int radius_of(const rt::PointsPlan& points) {
        return points.interpolation == rt::PointsPlan::Interpolation::sinc ? points.radius : 0;
    }

    // A comment, broken into lines.
    void paragraph(const std::string& text) {
        out_.blank_line();
        std::istringstream words(text);
        std::string line = "//";
        for (std::string word; words >> word;) {
            if (line.size() + 1 + word.size() > 110) {
                out_.line("{}", line);
                line = "//";
            }
            line += " " + word;
        }
        out_.line("{}", line);
    }

    void declare(const std::string& function, const std::string& parameters) {
        out_.line("{} {}({}* solver, {});", model_.status, function, model_.solver, parameters);
    }

    std::string place_words(int index) const {
        const rt::PointsPlan& points = plan_.points[index];
        const HostNames names{[&](int param) { return plan_.params[param].name; },
                              [&](int axis) { return model_.extents[static_cast<std::size_t>(axis)]; },
                              nullptr, nullptr};
        std::string first, apart;
        for (int axis = 0; axis < plan_.rank; ++axis) {
            first += fmt::format("{}{} = {}", axis == 0 ? "" : ", ", plan_.axes[axis],
                                 print_host_scalar(plan_.origin[axis], names));
            apart += fmt::format("{}{} along {}", axis == 0 ? "" : ", ",
                                 print_host_scalar(plan_.spacing[axis], names), plan_.axes[axis]);
        }
        const int reach = std::max(1, radius_of(points));
        return fmt::format(
            "{}: `count` points, anywhere between the grid's first and last cell along each axis; "
            "coordinates in the units of the spec, {} for each point, one point after the other. The first "
            "cell lies at {}, the next one {} further. A point is spread over the {} nearest cells along "
            "each "
            "axis. To be placed before the first step; there may be none. Placed anew they count from the "
            "next step on; how many they are stays as it is from the first step on. A point outside of the "
            "grid is refused by {}().",
            points.name, fmt::join(plan_.axes, ", "), first, apart, 2 * reach, model_.advance);
    }

    std::string trace_words(const rt::PointsPlan& points, int trace) const {
        const std::string name = points.name + "." + points.traces[trace].name;
        if (points.traces[trace].sampled)
            return fmt::format(
                "{}: what is sampled at the points. Gives `rows` rows of a number for each point, one row "
                "after the other: row n is of step n, where the first step of a solver is 0. They begin with "
                "row `first`, and all must be of steps that were started. {}() waits for the device where "
                "it takes full buffers of them to the host.",
                name, model_.advance);
        return fmt::format(
            "{}: what is injected at the points. Takes `rows` rows of a number for each point, one row after "
            "the other: row n is for step n, where the first step of a solver is 0; steps after the last row "
            "read zeros. To be set once the points are placed and before the first step.",
            name);
    }

    void begin(const std::string& name, const std::string& parameters) {
        out_.blank_line();
        out_.line("{} {}({}* solver, {}) {{", model_.status, name, model_.solver, parameters);
    }

    void write_place_points() {
        comment("The cells of all points, once the grid's spacing and origin are known.");
        out_.line("{} place_points({}& solver) {{", model_.status, model_.solver);
        {
            const auto body = out_.indent();
            HostNames names = names_;
            names.extent = [this](int axis) { return "double(" + names_.extent(axis) + ")"; };
            std::vector<std::string> axes;
            for (int axis = 0; axis < plan_.rank; ++axis) {
                axes.push_back("along_" + plan_.axes[axis]);
                fill(fmt::format("const PointAxis {}{{", axes.back()),
                     {fmt::format("\"{}\"", plan_.axes[axis]), names_.extent(axis),
                      print_host_scalar(plan_.origin[axis], names),
                      print_host_scalar(plan_.spacing[axis], names)},
                     "};");
            }
            // Each a variable: nvcc garbles lists within lists that are not constant.
            fill("const std::vector<PointAxis> axes{", axes, "};");
            for (int index = 0; index < count(plan_.points); ++index)
                return_unless_ok(fmt::format("place(solver, solver.{}, \"{}\", {}, axes)",
                                             model_.points[index].member, plan_.points[index].name,
                                             radius_of(plan_.points[index])));
            out_.line("solver.points_due = false;");
            out_.line("return {};", model_.code("OK"));
        }
        out_.line("}}");
    }

    void write_make_room() {
        comment("The same of all that points sample.");
        out_.line("{} make_room({}& solver) {{", model_.status, model_.solver);
        {
            const auto body = out_.indent();
            for (int index = 0; index < count(plan_.points); ++index)
                for (int trace = 0; trace < count(plan_.points[index].traces); ++trace)
                    if (plan_.points[index].traces[trace].sampled)
                        return_unless_ok(fmt::format("make_room(solver, solver.{}, solver.{})",
                                                     model_.points[index].member,
                                                     model_.points[index].traces[trace].member));
            out_.line("return {};", model_.code("OK"));
        }
        out_.line("}}");
    }

    // What was set for another number of points is to be set again.
    void write_place(int index) {
        const PointsNames& names = model_.points[index];
        begin(names.place, "const double* positions, long long count");
        {
            const auto body = out_.indent();
            refuse("launcher::", "solver == nullptr || (positions == nullptr && count != 0)",
                   names.place + ": a pointer is NULL");
            out_.line("bool changed = false;");
            fill(fmt::format("const {} status = launcher::set_positions(", model_.status),
                 {"*solver", "solver->" + names.member, "positions", "count", std::to_string(plan_.rank),
                  fmt::format("\"{}\"", names.place), "changed"},
                 ");");
            out_.line("if (status != {}) return status;", model_.code("OK"));
            out_.line("solver->points_due = true;");
            std::vector<std::string> arrays;
            for (const PointsNames::Numbers& column : names.columns)
                arrays.push_back("solver->" + column.member);
            for (const PointsNames::Numbers& trace : names.traces)
                arrays.push_back("solver->" + trace.member + ".values");
            if (!arrays.empty()) {
                out_.line("if (changed) {{  // what was set for other points is of the wrong length");
                for (const std::string& array : arrays) {
                    out_.line("    cudaFree({});", array);
                    out_.line("    {} = nullptr;", array);
                }
                out_.line("}}");
            }
            out_.line("return {};", model_.code("OK"));
        }
        out_.line("}}");
    }

    void write_set_column(const PointsNames& names, const PointsNames::Numbers& column) {
        begin(column.function, "const double* values");
        {
            const auto body = out_.indent();
            refuse("launcher::", "solver == nullptr", column.function + ": no solver");
            fill("return launcher::set_numbers(",
                 {"*solver", "solver->" + names.member, "solver->" + column.member, "values", "1",
                  fmt::format("\"{}\"", column.function)},
                 ");");
        }
        out_.line("}}");
    }

    void write_set_trace(const PointsNames& names, const PointsNames::Numbers& trace) {
        begin(trace.function, "const double* values, long long rows");
        {
            const auto body = out_.indent();
            refuse("launcher::", "solver == nullptr", trace.function + ": no solver");
            fill(fmt::format("const {} status = launcher::set_numbers(", model_.status),
                 {"*solver", "solver->" + names.member, "solver->" + trace.member + ".values", "values",
                  "rows", fmt::format("\"{}\"", trace.function)},
                 ");");
            out_.line("if (status == {}) solver->{}.rows = rows;", model_.code("OK"), trace.member);
            out_.line("return status;");
        }
        out_.line("}}");
    }

    void write_get_trace(const PointsNames& names, const PointsNames::Numbers& trace) {
        begin(trace.function, "double* values, long long first, long long rows");
        {
            const auto body = out_.indent();
            refuse("launcher::", "solver == nullptr || (values == nullptr && rows != 0)",
                   trace.function + ": a pointer is NULL");
            fill("return launcher::read_rows(",
                 {"*solver", "solver->" + names.member, "solver->" + trace.member, "values", "first", "rows",
                  fmt::format("\"{}\"", trace.function)},
                 ");");
        }
        out_.line("}}");
    }
};

}  // namespace

void write_points_header(const LauncherModel& model, Writer& out) {
    PointsWriter(model, out).write_header();
}

void write_points_example(const LauncherModel& model, Writer& out, bool results) {
    PointsWriter(model, out).write_example(results);
}

void write_points_types(const LauncherModel& model, Writer& out) {
    if (!model.plan.points.empty()) PointsWriter(model, out).write_types();
}

void write_points_members(const LauncherModel& model, Writer& out) {
    if (!model.plan.points.empty()) PointsWriter(model, out).write_members();
}

void write_points_rows(const LauncherModel& model, Writer& out) {
    if (!model.plan.points.empty()) PointsWriter(model, out).write_rows();
}

void write_points_functions(const LauncherModel& model, Writer& out) {
    if (!model.plan.points.empty()) PointsWriter(model, out).write_functions();
}

void write_points_release(const LauncherModel& model, Writer& out) {
    PointsWriter(model, out).write_release();
}

void write_points_calls(const LauncherModel& model, Writer& out) {
    PointsWriter(model, out).write_calls();
}

void write_points_checks(const LauncherModel& model, Writer& out) {
    PointsWriter(model, out).write_checks();
}

void write_points_due(const LauncherModel& model, Writer& out) {
    if (!model.plan.points.empty()) PointsWriter(model, out).write_due();
}

void write_points_rows_of_step(const LauncherModel& model, Writer& out) {
    PointsWriter(model, out).write_rows_of_step();
}

std::string points_argument(const LauncherModel& model, const rt::Argument& argument) {
    Writer unused;
    return PointsWriter(model, unused).argument(argument);
}

}  // namespace halo::emit
