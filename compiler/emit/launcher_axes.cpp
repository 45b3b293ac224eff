// What the launcher computes on the host for axes whose cells are not equally far apart.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "compiler/emit/host_expression.h"
#include "compiler/emit/launcher_writer.h"

namespace halo::emit {

namespace {

class AxisWriter : LauncherWriter {
public:
    AxisWriter(const LauncherModel& model, Writer& out) : LauncherWriter(model, out) {}

    void write_member() {
        if (!plan_.stretched.empty())
            out_.line("bool axes_due = true;  // where cells lie was set since it was computed");
    }

    void write_functions() {
        if (plan_.stretched.empty()) return;
        write_part("axes");
        if (std::ranges::any_of(plan_.stretched, [](const auto& axis) { return axis.field >= 0; }))
            write_part("axes read");
        for (const rt::StretchedAxisPlan& axis : plan_.stretched)
            write_function(axis);
    }

    void write_due() {
        if (plan_.stretched.empty()) return;
        out_.line("if (solver->axes_due) {{");
        {
            const auto body = out_.indent();
            out_.line("try {{");
            for (const rt::StretchedAxisPlan& axis : plan_.stretched)
                return_unless_ok(fmt::format("launcher::{}(*solver)", function_of(axis)), "    ");
            out_.line("}} catch (const std::bad_alloc&) {{");
            out_.line("    return launcher::fail({}, \"no memory for what unequal spacing gives\");",
                      model_.code("OUT_OF_MEMORY"));
            out_.line("}}");
            out_.line("solver->axes_due = false;");
        }
        out_.line("}}");
    }

private:
    void write_part(const std::string& part) {
        out_.blank_line();
        out_.text(model_.part(part));
    }
    const std::string& name_of(const rt::StretchedAxisPlan& axis) const {
        return plan_.axes[static_cast<std::size_t>(axis.axis)];
    }
    std::string function_of(const rt::StretchedAxisPlan& axis) const { return "fill_axis_" + name_of(axis); }
    std::string cells_of(const rt::StretchedAxisPlan& axis) const { return names_.extent(axis.axis); }
    // The first cell of a field over the axis.
    std::string array_of(int field) const {
        return fmt::format("solver.{} + {}", model_.fields[field].level(0).member,
                           model_.array_of(field, "solver.").origin);
    }

    void write_function(const rt::StretchedAxisPlan& axis) {
        comment(fmt::format("What kernels read of the axis {}, of which a spacing for each cell is given.",
                            name_of(axis)));
        out_.line("{} {}(const {}& solver) {{", model_.status, function_of(axis), model_.solver);
        {
            const auto body = out_.indent();
            out_.line("AxisPoints axis;");
            if (axis.is_periodic) out_.line("axis.is_periodic = true;");
            out_.line("axis.distances.resize({});", cells_of(axis));
            write_distances(axis);
            return_unless_ok(fmt::format("place_cells(axis, \"{}\", {})", name_of(axis),
                                         print_host_scalar(plan_.origin[axis.axis], names_)));
            out_.line("std::vector<double> numbers({});", cells_of(axis));
            for (const auto& [field, holds] : axis.tables)
                write_table(axis, field, holds);
            out_.line("return {};", model_.code("OK"));
        }
        out_.line("}}");
    }

    void write_distances(const rt::StretchedAxisPlan& axis) {
        if (axis.field >= 0)
            return return_unless_ok(
                fmt::format("read_axis(solver, {}, axis.distances)", array_of(axis.field)));
        HostNames names = names_;
        names.step = [] { return std::string("double(cell)"); };
        write_loop(axis, "axis.distances[cell] = " + print_host_scalar(axis.distance, names) + ";");
    }

    void write_loop(const rt::StretchedAxisPlan& axis, const std::string& statement) {
        out_.line("for (long long cell = 0; cell < {}; ++cell)", cells_of(axis));
        out_.line("    {}", statement);
    }

    void write_table(const rt::StretchedAxisPlan& axis, int field, const rt::AxisTable& holds) {
        const std::string cell =
            holds.shift == 0 ? "cell"
                             : fmt::format("cell {} {}", holds.shift < 0 ? "-" : "+", std::abs(holds.shift));
        if (holds.cells.empty())
            write_loop(axis, fmt::format("numbers[cell] = position(axis, {}, {});", cell, holds.at_half));
        else
            write_loop(axis, fmt::format("numbers[cell] = weight_at(axis, {}, {}, {}, {{{}}}, {}, {});", cell,
                                         holds.at_half, holds.derivative, fmt::join(holds.cells, ", "),
                                         holds.cells_at_half, holds.node));
        return_unless_ok(fmt::format("store_axis(solver, {}, numbers)", array_of(field)));
    }
};

}  // namespace

void write_axes_member(const LauncherModel& model, Writer& out) {
    AxisWriter(model, out).write_member();
}

void write_axes_functions(const LauncherModel& model, Writer& out) {
    AxisWriter(model, out).write_functions();
}

void write_axes_due(const LauncherModel& model, Writer& out) {
    AxisWriter(model, out).write_due();
}

}  // namespace halo::emit
