#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "compiler/emit/launcher_writer.h"
#include "compiler/support/error.h"
#include "runtime/core/plan_check.h"

namespace halo::emit {

namespace {

class CallWriter : LauncherWriter {
public:
    CallWriter(const LauncherModel& model, Writer& out) : LauncherWriter(model, out) {}

    void write() {
        out_.blank_line();
        out_.line("const char* {}(void) {{", model_.message);
        out_.line("    return launcher::last_message;");
        out_.line("}}");
        write_create();
        write_destroy();
        write_use_stream();
        for (int index = 0; index < count(plan_.params); ++index)
            write_set_param(index);
        for (int index = 0; index < count(plan_.coefs); ++index)
            write_set_coef(index);
        for (int index = 0; index < count(plan_.tables); ++index)
            plan_.tables[index].is_series ? write_set_series(index) : write_set_table(index);
        write_points_calls(model_, out_);
        for (int field = 0; field < count(model_.fields); ++field) {
            for (const LevelName& level : model_.fields[field].levels) {
                write_transfer(field, level, {level.set, true, true});
                write_transfer(field, level, {level.get, false, true});
                write_transfer(field, level, {level.copy_from, true, false});
                write_transfer(field, level, {level.copy_to, false, false});
            }
        }
        write_advance();
        write_wait();
        write_reduction_calls(model_, out_);
    }

private:
    void begin(const std::string& name, const std::string& parameters) {
        out_.blank_line();
        out_.line("{} {}({}) {{", model_.status, name, parameters);
    }

    void refuse(const std::string& condition, const std::string& message) {
        LauncherWriter::refuse("launcher::", condition, message);
    }

    void write_create() {
        begin(model_.create, model_.create_parameters() + model_.solver + "** solver");
        {
            const auto body = out_.indent();
            refuse("solver == nullptr", model_.create + ": no place for the solver");
            out_.line("*solver = nullptr;");
            out_.line("auto* made = new (std::nothrow) {};", model_.solver);
            out_.line("if (made == nullptr) return launcher::fail({}, \"no memory for a solver\");",
                      model_.code("OUT_OF_MEMORY"));
            if (model_.is_fixed()) {
                out_.line("{}{} status = launcher::allocate(*made);", is_resident() ? "" : "const ",
                          model_.status);
            } else {
                out_.line("{} status = launcher::lay_out(*made, {});", model_.status,
                          model_.extent_list("", ", "));
                out_.line("if (status == {}) status = launcher::allocate(*made);", model_.code("OK"));
            }
            if (is_resident())
                out_.line("if (status == {}) status = launcher::make_resident(*made);", model_.code("OK"));
            out_.line("if (status == {}) {{", model_.code("OK"));
            out_.line("    *solver = made;");
            out_.line("}} else {{");
            out_.line("    {}(made);", model_.destroy);
            out_.line("}}");
            out_.line("return status;");
        }
        out_.line("}}");
    }

    void write_destroy() {
        out_.blank_line();
        out_.line("void {}({}* solver) {{", model_.destroy, model_.solver);
        {
            const auto body = out_.indent();
            out_.line("if (solver == nullptr) return;");
            for (int index = 0; index < count(plan_.fields); ++index) {
                if (!model_.has_array(index)) continue;
                for (const LevelName& level : model_.fields[index].levels)
                    out_.line("cudaFree(solver->{});", level.member);
            }
            if (model_.has_interleaved()) out_.line("cudaFree(solver->component);");
            for (int index = 0; index < count(plan_.tables); ++index)
                if (!plan_.tables[index].is_series)
                    out_.line("cudaFree(solver->{});", model_.rows_member(index));
            for (int index = 0; index < count(plan_.reductions); ++index) {
                out_.line("cudaFree(solver->{});", model_.partials_member(index));
                if (model_.is_given_by_steps(index))
                    out_.line("cudaFree(solver->{});", model_.of_steps_member(index));
            }
            if (plan_.device_scalars > 0) out_.line("cudaFree(solver->{});", model_.device_scalars_member());
            if (is_resident())
                for (int index = 0; index < count(plan_.time_block->resident()->exchanges); ++index)
                    out_.line("cudaFree(solver->{});", model_.exchange_member(index));
            write_iterations_release(model_, out_);
            write_points_release(model_, out_);
            out_.line("delete solver;");
        }
        out_.line("}}");
    }

    void write_set_param(int index) {
        begin(model_.set_param[index], model_.solver + "* solver, double value");
        {
            const auto body = out_.indent();
            refuse("solver == nullptr", model_.set_param[index] + ": no solver");
            out_.line("solver->{} = value;", model_.param_member(index));
            if (!plan_.params[index].default_value)
                out_.line("solver->{} = true;", model_.given_member(index));
            if (model_.halo_needs(index)) out_.line("solver->halos_due = true;");
            if (model_.computes_columns()) out_.line("solver->columns_due = true;");
            if (model_.places_depend_on(index)) out_.line("solver->points_due = true;");
            if (model_.axes_depend_on(index)) out_.line("solver->axes_due = true;");
            out_.line("return {};", model_.code("OK"));
        }
        out_.line("}}");
    }

    void write_set_coef(int index) {
        begin(model_.set_coef[index], model_.solver + "* solver, const double* weights");
        {
            const auto body = out_.indent();
            const char* const type = plan_.coefs[index].type == rt::ElementType::f32 ? "float" : "double";
            refuse("solver == nullptr || weights == nullptr", model_.set_coef[index] + ": a pointer is NULL");
            out_.line("for (int i = 0; i < {}; ++i) solver->{}[i] = static_cast<{}>(weights[i]);",
                      model_.coef_elements(index), model_.coef_member(index), type);
            out_.line("return {};", model_.code("OK"));
        }
        out_.line("}}");
    }

    void write_set_table(int index) {
        const rt::TablePlan& table = plan_.tables[index];
        const std::string& function = model_.set_table[index];
        const std::string rows = "solver->" + model_.rows_member(index),
                          known = "solver->" + model_.count_member(index);
        begin(function, fmt::format("{}* solver, const {}* rows, long long count", model_.solver,
                                    model_.rows_type(index)));
        {
            const auto body = out_.indent();
            refuse("solver == nullptr || (rows == nullptr && count != 0)", function + ": a pointer is NULL");
            const std::int64_t most =
                std::numeric_limits<std::int32_t>::max() / table.rows_multiple * table.rows_multiple;
            refuse(fmt::format("count < 0 || count > {}", most), function + ": so many rows cannot be");
            const int multiple = table.rows_multiple;
            out_.line("const long long padded = {};",
                      multiple == 1 ? "count == 0 ? 1 : count"
                                    : fmt::format("count == 0 ? {0} : (count + {1}) / {0} * {0}", multiple,
                                                  multiple - 1));
            out_.line("if ({} != count) {{", known);
            {
                const auto other = out_.indent();
                return_unless_ok(
                    fmt::format("launcher::check(cudaStreamSynchronize(solver->stream), \"{}\")", function));
                out_.line("cudaFree({});  // no step reads them any more", rows);
                out_.line("{} = nullptr;", rows);
                out_.line("{} = -1;", known);
                return_unless_ok(fmt::format("launcher::allocate({}, padded * {})", rows, table.width));
                out_.line("{} = static_cast<int>(count);", known);
            }
            out_.line("}}");
            fill("const cudaError_t error = launcher::copy_rows(",
                 {"*solver", rows, std::to_string(table.width), "padded", "rows", std::to_string(table.given),
                  "count"},
                 ");");
            return_unless_ok(fmt::format("launcher::check(error, \"{}\")", function));
            if (model_.computes_columns()) out_.line("solver->columns_due = true;");
            out_.line("return launcher::check(cudaStreamSynchronize(solver->stream), \"{}\");", function);
        }
        out_.line("}}");
    }

    void write_set_series(int index) {
        const std::string& function = model_.set_table[index];
        const std::string values = "solver->" + model_.values_member(index);
        begin(function, fmt::format("{}* solver, const double* values, long long count", model_.solver));
        {
            const auto body = out_.indent();
            refuse("solver == nullptr || values == nullptr", function + ": a pointer is NULL");
            refuse("count < 1", function + ": a series needs one value at least");
            out_.line("try {{");
            out_.line("    {}.resize(count);", values);
            out_.line("}} catch (const std::bad_alloc&) {{");
            out_.line("    return launcher::fail({}, \"no memory for the values of a series\");",
                      model_.code("OUT_OF_MEMORY"));
            out_.line("}}");
            fill("const cudaError_t error = cudaMemcpyAsync(",
                 {values + ".data()", "values", "count * sizeof(double)", "cudaMemcpyDefault",
                  "solver->stream"},
                 ");");
            return_unless_ok(fmt::format("launcher::check(error, \"{}\")", function));
            if (model_.halo_needs_series(index)) out_.line("solver->halos_due = true;");
            out_.line("return launcher::check(cudaStreamSynchronize(solver->stream), \"{}\");", function);
        }
        out_.line("}}");
    }

    FieldArray array_of(int field) const { return model_.array_of(field, "solver->"); }

    // What copies are told of an array: the first cell, and how far rows and planes lie apart.
    std::string own(int field, const LevelName& level) const {
        const FieldArray array = array_of(field);
        std::string text = fmt::format("solver->{} + {}", level.member, array.origin);
        for (std::size_t axis = 1; axis < array.strides.size(); ++axis)
            text += ", " + array.strides[axis];
        return text;
    }

    // Of a dense array.
    std::string dense(int field, const std::string& name) const {
        std::string text = name, stride = "1LL";
        for (std::size_t axis = 0; axis < model_.strides(field).size(); ++axis) {
            stride += " * solver->" + model_.extents[static_cast<std::size_t>(array_of(field).axes[axis])];
            text += ", " + stride;
        }
        return text;
    }

    std::string given(int field, const std::string& name) const {
        std::string text = name;
        for (const std::string& stride : model_.strides(field))
            text += ", " + stride;
        return text;
    }

    void refuse_strides(int field, const std::string& function) {
        const auto strides = model_.strides(field);
        if (strides.empty()) return;
        const int first = array_of(field).axes.front();
        std::string wrong = "pitch < solver->" + model_.extents[static_cast<std::size_t>(first)];
        std::string words = "rows overlap";
        if (strides.size() > 1) {
            wrong += " || slice % pitch != 0 || slice / pitch < solver->" + model_.extents[1];
            words += ", or slice is no multiple of pitch with room for a plane";
        }
        if (strides.size() > 2) {
            wrong += " || volume / slice < solver->" + model_.extents[2];
            words += ", or volumes overlap";
        }
        refuse(wrong, function + ": " + words);
    }

    // Between a level and an array of the caller's: a dense one, which is waited for, or one with strides.
    struct Transfer {
        std::string function;  // empty where there is none
        bool to_level = false;
        bool is_dense = true;
    };
    void write_transfer(int index, const LevelName& level, const Transfer& transfer) {
        const FieldNames& field = model_.fields[index];
        const std::string& function = transfer.function;
        if (function.empty()) return;
        const std::string array = transfer.is_dense ? "values" : "cells";
        begin(function,
              fmt::format("{}* solver, {}{}* {}{}", model_.solver, transfer.to_level ? "const " : "",
                          field.type, array, transfer.is_dense ? "" : model_.stride_parameters(index)));
        {
            const auto body = out_.indent();
            refuse(fmt::format("solver == nullptr || {} == nullptr", array),
                   function + ": a pointer is NULL");
            if (!transfer.is_dense) refuse_strides(index, function);
            if (transfer.to_level && any_halo()) out_.line("solver->halos_due = true;");
            if (transfer.to_level && model_.is_spacing(index)) out_.line("solver->axes_due = true;");
            const std::string callers = transfer.is_dense ? dense(index, array) : given(index, array);
            if (model_.is_interleaved(index)) {
                write_copy_component(index, level, callers, transfer.to_level);
            } else if (plan_.fields[index].grid.is_whole()) {
                write_copy_cells("const cudaError_t ", callers, own(index, level), transfer.to_level);
            } else {
                write_copy_own_cells(index, callers, own(index, level), transfer.to_level);
            }
            const std::string check = fmt::format("launcher::check(error, \"{}\")", function);
            if (transfer.is_dense) {
                return_unless_ok(check);
                out_.line("return launcher::check(cudaStreamSynchronize(solver->stream), \"{}\");", function);
            } else {
                out_.line("return {};", check);
            }
        }
        out_.line("}}");
    }

    // Between the caller's array and one of the solver's.
    void write_copy_cells(const char* declare, const std::string& callers, const std::string& own,
                          bool to_own) {
        fill(fmt::format("{}error = launcher::copy_cells(", declare),
             {"*solver", to_own ? own : callers, to_own ? callers : own}, ");");
    }

    // The same for a field over fewer axes.
    void write_copy_own_cells(int field, std::string callers, std::string own, bool to_own) {
        const FieldArray array = array_of(field);
        const auto cells = [&](std::size_t axis) {
            return "solver->" + model_.extents[static_cast<std::size_t>(array.axes[axis])];
        };
        const bool has_rows = array.axes.size() > 1;
        if (!has_rows) {  // where there is one row alone
            callers += ", 0";
            own += ", 0";
        }
        fill("const cudaError_t error = launcher::copy_own_cells(",
             {"*solver", to_own ? own : callers, to_own ? callers : own, cells(0), has_rows ? cells(1) : "1"},
             ");");
    }

    // By way of a dense array on the device: copies between host and device take rows of neighbours alone.
    void write_copy_component(int index, const LevelName& level, const std::string& callers, bool to_level) {
        const auto extent = [&](int number) {
            return plan_.rank > number ? "solver->" + model_.extents[number] : std::string("1");
        };
        fill("const launcher::Interleaved cells_of_level{",
             {extent(0), extent(1), extent(2), plan_.rank > 1 ? "solver->pitch" : "0",
              plan_.rank > 2 ? "solver->slice" : "0", std::to_string(plan_.fields[index].interleave)},
             "};");
        out_.line("auto* const dense = reinterpret_cast<{}*>(solver->component);", model_.fields[index].type);
        const auto between = [&](const char* declare) {
            fill(fmt::format("{}error = launcher::copy_component(", declare),
                 {"*solver",
                  fmt::format("solver->{} + solver->origin{}", level.member, model_.to_component(index)),
                  "dense", "cells_of_level", to_level ? "true" : "false"},
                 ");");
        };
        if (to_level) {
            write_copy_cells("cudaError_t ", callers, dense(index, "dense"), true);
            out_.line("if (error == cudaSuccess) {{");
            {
                const auto then = out_.indent();
                between("");
            }
            out_.line("}}");
        } else {
            between("cudaError_t ");
            out_.line("if (error == cudaSuccess) {{");
            {
                const auto then = out_.indent();
                write_copy_cells("", callers, dense(index, "dense"), false);
            }
            out_.line("}}");
        }
    }

    void write_use_stream() {
        begin(model_.use_stream, model_.solver + "* solver, void* stream");
        {
            const auto body = out_.indent();
            refuse("solver == nullptr", model_.use_stream + ": no solver");
            out_.line("solver->stream = static_cast<cudaStream_t>(stream);");
            out_.line("return {};", model_.code("OK"));
        }
        out_.line("}}");
    }

    // Outputs with a past move on before they are written; cells that the step leaves alone keep their value.
    void write_output_rotations() {
        for (int index = 0; index < count(plan_.fields); ++index) {
            const FieldNames& field = model_.fields[index];
            if (plan_.fields[index].role == rt::Role::state || field.levels.size() == 1) continue;
            if (!model_.has_array(index)) continue;
            write_rotation(field);
            return_unless_ok(fmt::format("launcher::copy_level(*solver, solver->{}, solver->{}, {}{})",
                                         field.levels[0].member, field.levels[1].member,
                                         array_of(index).elements, model_.times_components(index)));
        }
    }

    void write_preparation() {
        refuse("solver == nullptr", model_.advance + ": no solver");
        refuse("steps < 0", model_.advance + ": a negative number of steps");
        for (int index = 0; index < count(plan_.params); ++index) {
            if (plan_.params[index].default_value) continue;
            refuse(fmt::format("!solver->{}", model_.given_member(index)),
                   fmt::format("{} has no value yet: call {}", plan_.params[index].name,
                               model_.set_param[index]));
        }
        for (int index = 0; index < count(plan_.tables); ++index) {
            const bool is_series = plan_.tables[index].is_series;
            refuse(is_series ? fmt::format("solver->{}.empty()", model_.values_member(index))
                             : fmt::format("solver->{} < 0", model_.count_member(index)),
                   fmt::format("{} has no {} yet: call {}", plan_.tables[index].name,
                               is_series ? "values" : "rows", model_.set_table[index]));
        }
        write_points_checks(model_, out_);
        out_.line("if (steps == 0) return {};", model_.code("OK"));
        for (int index = 0; index < count(plan_.coefs); ++index) {
            const std::string weights = "solver->" + model_.coef_member(index);
            return_unless_ok(
                fmt::format("launcher::check(cudaMemcpyToSymbolAsync({}, {}, sizeof({}), 0, "
                            "cudaMemcpyHostToDevice, solver->stream), \"{}\")",
                            plan_.coefs[index].symbol, weights, weights, model_.set_coef[index]));
        }
    }

    void write_columns_due() {
        if (!model_.computes_columns()) return;
        out_.line("if (solver->columns_due) {{");
        for (const rt::KernelPlan& kernel : plan_.kernels)
            if (kernel.domain.kind == rt::Domain::Kind::rows)
                return_unless_ok(fmt::format("launcher::{}(*solver)", launch_function(kernel)), "    ");
        out_.line("    solver->columns_due = false;");
        out_.line("}}");
    }

    void write_halos_due() {
        if (!any_halo()) return;
        out_.line("if (solver->halos_due) {{");
        return_unless_ok("launcher::fill_halos(*solver)", "    ");
        out_.line("    solver->halos_due = false;");
        out_.line("}}");
    }

    void write_advance() {
        begin(model_.advance, model_.solver + "* solver, long long steps");
        {
            const auto body = out_.indent();
            write_preparation();
            write_axes_due(model_, out_);
            write_columns_due();
            write_points_due(model_, out_);
            if (!has_turns()) {
                write_steps();
            } else {
                write_turns_comment(model_, out_);
                out_.line("for (long long left = steps; left > 0;) {{");
                {
                    const auto loop = out_.indent();
                    out_.line("steps = launcher::to_full_step(*solver, left);");
                    out_.line("left -= steps;");
                    write_steps();
                }
                out_.line("}}");
            }
            out_.line("return {};", model_.code("OK"));
        }
        out_.line("}}");
    }

    void write_steps() {
        if (plan_.time_block && model_.has_halo_of_fewer_axes()) write_halos_due();
        if (plan_.time_block) write_several_steps(model_, out_);
        write_halos_due();
        out_.line("for (long long step = 0; step < steps; ++step) {{");
        {
            const auto loop = out_.indent();
            if (rt::has_unread_steps(plan_))
                out_.line("const bool is_last = step + 1 == steps;  // what others find nobody can read");
            if (rt::has_first_steps(plan_)) out_.line("const bool is_first = step == 0;");
            write_points_rows_of_step(model_, out_);
            write_output_rotations();
            write_kernels_of_step(model_, out_);
            if (std::ranges::count(plan_.fields, rt::Role::state, &rt::FieldPlan::role) > 0)
                out_.line("// t+1 is now t.");
            write_state_rotations();
            if (counts_steps()) out_.line("++solver->steps;");
        }
        out_.line("}}");
    }

    void write_wait() {
        begin(model_.wait, model_.solver + "* solver");
        {
            const auto body = out_.indent();
            refuse("solver == nullptr", model_.wait + ": no solver");
            out_.line("return launcher::check(cudaStreamSynchronize(solver->stream), \"{}\");", model_.wait);
        }
        out_.line("}}");
    }
};

}  // namespace

void write_launcher_calls(const LauncherModel& model, Writer& out) {
    CallWriter(model, out).write();
}

}  // namespace halo::emit
