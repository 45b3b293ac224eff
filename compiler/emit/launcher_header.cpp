#include <fmt/format.h>

#include <algorithm>

#include "compiler/emit/host_expression.h"
#include "compiler/emit/launcher_model.h"
#include "compiler/emit/launcher_writer.h"
#include "compiler/support/writer.h"

namespace halo::emit {

namespace {

// "128, 128, 128" for an example.
std::string example_extents(int rank) {
    return rank == 1 ? "1024" : rank == 2 ? "512, 512" : rank == 3 ? "128, 128, 128" : "64, 64, 64, 64";
}

std::string element_index(const LauncherModel& model) {
    const auto& axes = model.plan.axes;
    if (model.plan.rank == 1) return axes[0];
    if (model.plan.rank == 2) return fmt::format("{} + {} * {}", axes[0], model.extents[0], axes[1]);
    const std::string planes =
        model.plan.rank == 3 ? axes[2] : fmt::format("({} + {} * {})", axes[2], model.extents[2], axes[3]);
    return fmt::format("{} + {} * ({} + {} * {})", axes[0], model.extents[0], axes[1], model.extents[1],
                       planes);
}

class HeaderWriter {
public:
    explicit HeaderWriter(const LauncherModel& model) : model_(model), plan_(model.plan) {}

    std::string write() {
        write_introduction();
        const std::string guard = model_.code("LAUNCHER_H");
        out_.line("#ifndef {0}\n#define {0}", guard);
        out_.blank_line();
        const bool any_truth = std::ranges::any_of(
            plan_.fields, [](const rt::FieldPlan& field) { return field.type == rt::ElementType::boolean; });
        if (any_truth) {
            out_.line("#include <stdbool.h>");
            out_.blank_line();
        }
        out_.line("#ifdef __cplusplus\nextern \"C\" {{\n#endif");
        write_types();
        write_life();
        write_params();
        write_tables();
        write_points_header(model_, out_);
        write_fields();
        write_steps();
        write_reductions();
        out_.blank_line();
        out_.line("#ifdef __cplusplus\n}}\n#endif");
        out_.blank_line();
        out_.line("#endif  // {}", guard);
        return out_.take();
    }

private:
    void write_introduction() {
        out_.line("// {}.h: runs the stencil {} on a GPU, from C or C++.", model_.stem, plan_.name);
        out_.line("// Made by Halocline. {}.cu has the kernels; it needs the CUDA runtime and nothing else:",
                  model_.stem);
        out_.line("//");
        out_.line("//   nvcc -std=c++17 -arch=sm_90 -fmad=false -c {}.cu", model_.stem);
        out_.line("//");
        write_example();
        out_.line("// `set` and `get` take dense arrays with {} fastest: element {}.", plan_.axes[0],
                  element_index(model_));
        out_.line("// `copy` takes the first cell of an array of yours{}.",
                  plan_.rank == 1   ? ""
                  : plan_.rank == 2 ? ", whose rows lie `pitch` elements apart"
                  : plan_.rank == 3 ? ", whose rows lie `pitch` elements apart and planes `slice`"
                                    : ", whose rows lie `pitch` elements apart, planes `slice` and volumes "
                                      "`volume`");
        out_.line(
            "// It does not wait: the array is to stay as it is until the stream has come so far. All of "
            "them take");
        out_.line("// arrays on the host or on the device, of any alignment.");
        out_.line(
            "// On the device every level of a field has rows that start on a multiple of 32 elements, and "
            "halo");
        out_.line("// cells around the grid: {}.", halo_words());
        out_.line("//");
        out_.line("// All calls return {}; after any other answer {}() says what was wrong. A solver lives",
                  model_.code("OK"), model_.message);
        out_.line(
            "// on the device that was current when it was made, and is used by one thread at a time{}.",
            plan_.coefs.empty() ? ""
                                : ", as are all\n// solvers of this program together: they share the "
                                  "device's constant memory");
    }

    void write_example() {
        out_.line("//   {}* solver;", model_.solver);
        out_.line("//   {}({}&solver);", model_.create,
                  model_.is_fixed() ? "" : example_extents(plan_.rank) + ", ");
        for (std::size_t index = 0; index < plan_.tables.size(); ++index)
            out_.line("//   {}(solver, {}, 100);", model_.set_table[index],
                      plan_.tables[index].is_series ? "values" : "rows");
        write_points_example(model_, out_, false);
        for (const FieldNames& field : model_.fields) {
            for (const LevelName& level : field.levels) {
                if (!level.set.empty()) out_.line("//   {}(solver, values);", level.set);
            }
        }
        out_.line("//   {}(solver, 1000);", model_.advance);
        for (const FieldNames& field : model_.fields) {
            out_.line("//   {}(solver, values);", field.level(0).get);
        }
        write_points_example(model_, out_, true);
        out_.line("//   {}(solver);", model_.destroy);
        out_.line("//");
    }

    std::string halo_words() const {
        std::string words;
        for (int axis = 0; axis < plan_.rank; ++axis) {
            const auto& [below, above] = plan_.halo[axis];
            words += fmt::format("{}{} before and {} after along {}", words.empty() ? "" : ", ", below, above,
                                 plan_.axes[axis]);
        }
        return words;
    }

    void write_types() {
        out_.blank_line();
        out_.line("typedef struct {0} {0};", model_.solver);
        out_.blank_line();
        out_.line("typedef enum {} {{", model_.status);
        {
            const auto body = out_.indent();
            out_.line("{} = 0,", model_.code("OK"));
            out_.line("{} = 1,   // a size, value or pointer that cannot be; nothing was done",
                      model_.code("BAD_ARGUMENT"));
            out_.line("{} = 2,  // on the device or the host", model_.code("OUT_OF_MEMORY"));
            out_.line("{} = 3      // no device, or an error of the CUDA runtime", model_.code("CUDA_ERROR"));
        }
        out_.line("}} {};", model_.status);
        out_.blank_line();
        out_.line(
            "// Why the last failing call on this thread failed; \"\" where none has. Valid until the next "
            "call.");
        out_.line("const char* {}(void);", model_.message);
    }

    void write_life() {
        out_.blank_line();
        if (model_.is_fixed()) {
            std::string list;
            for (std::size_t axis = 0; axis < model_.extents.size(); ++axis)
                list += fmt::format("{}{} = {}", axis == 0 ? "" : ", ", model_.extents[axis],
                                    plan_.fixed_grid->extent[axis]);
            out_.line("// The kernels are for one grid: {} cells. All fields start at 0.", list);
        } else {
            out_.line("// A grid of {} cells, at least 1 along each axis. All fields start at 0.",
                      model_.extent_list("", " x "));
        }
        out_.line("{} {}({}{}** solver);", model_.status, model_.create, model_.create_parameters(),
                  model_.solver);
        out_.line("void {}({}* solver);  // NULL is allowed", model_.destroy, model_.solver);
        out_.blank_line();
        out_.line(
            "// What follows is done in that stream, a cudaStream_t, in the order of the calls. The default");
        out_.line("// stream unless set; a solver that changes streams must have been waited for.");
        out_.line("{} {}({}* solver, void* stream);", model_.status, model_.use_stream, model_.solver);
    }

    void write_params() {
        if (plan_.params.empty() && plan_.coefs.empty()) return;
        out_.blank_line();
        out_.line("// What may differ from run to run; a new value holds from the next step on.");
        for (std::size_t index = 0; index < plan_.params.size(); ++index) {
            const auto& value = plan_.params[index].default_value;
            const std::string note =
                value ? fmt::format("{} unless set", *value) : "to be set before the first step";
            out_.line("{} {}({}* solver, double value);  // {}", model_.status, model_.set_param[index],
                      model_.solver, note);
        }
        for (std::size_t index = 0; index < plan_.coefs.size(); ++index) {
            const int elements = model_.coef_elements(static_cast<int>(index));
            out_.line("{} {}({}* solver, const double* weights);  // {}{}", model_.status,
                      model_.set_coef[index], model_.solver, elements,
                      elements == 1 ? " weight" : " weights, the last range fastest");
        }
    }

    void write_tables() {
        for (std::size_t index = 0; index < plan_.tables.size(); ++index) {
            const rt::TablePlan& table = plan_.tables[index];
            const int number = static_cast<int>(index);
            if (table.is_series) {
                out_.blank_line();
                out_.line(
                    "// {}: a series, its values at 0, 1, 2, ..., on the host or on the device; to be set",
                    table.name);
                out_.line("// before the first step.");
                out_.line("{} {}({}* solver, const double* values, long long count);", model_.status,
                          model_.set_table[index], model_.solver);
                continue;
            }
            std::string columns;
            for (int column = 0; column < table.given; ++column)
                columns += (column == 0 ? "" : ", ") + table.columns[static_cast<std::size_t>(column)];
            out_.blank_line();
            out_.line(
                "// {}: so many rows of {} value{} ({}), one after the other, on the host or on the device; "
                "to be",
                table.name, table.given, table.given == 1 ? "" : "s", columns);
            out_.line("// set before the first step. There may be none: a sum over them is 0.");
            out_.line("{} {}({}* solver, const {}* rows, long long count);", model_.status,
                      model_.set_table[index], model_.solver, model_.rows_type(number));
        }
    }

    static std::string role_words(rt::Role role) {
        switch (role) {
            case rt::Role::input:
                return "read by every step";
            case rt::Role::state:
                return "advanced by every step";
            case rt::Role::output:
                return "computed by every step; cells that a step leaves alone keep their value";
            case rt::Role::intermediate:
                return "computed by every step on its way";
        }
        return "";
    }

    // "nx * ny values"; of a field over fewer axes also how they lie in a dense array.
    std::string cells_words(int field) const {
        const FieldArray array = model_.array_of(field, "");
        if (plan_.fields[field].grid.is_whole()) return model_.extent_list("", " * ") + " values";
        const auto first = static_cast<std::size_t>(array.axes.front());
        const auto second = static_cast<std::size_t>(array.axes.back());
        if (first == second)
            return fmt::format("Over {} alone: {} values", plan_.axes[first], model_.extents[first]);
        return fmt::format("Over {0} and {1} alone: {2} * {3} values, dense element {0} + {2} * {1}",
                           plan_.axes[first], plan_.axes[second], model_.extents[first],
                           model_.extents[second]);
    }

    void write_fields() {
        for (std::size_t index = 0; index < plan_.fields.size(); ++index) {
            const rt::FieldPlan& field = plan_.fields[index];
            const FieldNames& names = model_.fields[index];
            out_.blank_line();
            out_.line("// {}: {}{}. {}{}.", field.name, role_words(field.role),
                      field.history == 0  ? ""
                      : field.history > 1 ? "; `before` is one step earlier than now, `before2` two"
                                          : "; `before` is one step earlier than now",
                      cells_words(static_cast<int>(index)),
                      field.type == rt::ElementType::f16    ? ", the bits of half-precision numbers"
                      : field.type == rt::ElementType::bf16 ? ", the bits of bfloat16 numbers"
                                                            : "");
            for (const LevelName& level : names.levels) {
                if (!level.set.empty()) {
                    out_.line("{} {}({}* solver, const {}* values);", model_.status, level.set, model_.solver,
                              names.type);
                }
                if (!level.get.empty()) {
                    out_.line("{} {}({}* solver, {}* values);", model_.status, level.get, model_.solver,
                              names.type);
                }
            }
            for (const LevelName& level : names.levels) {
                if (!level.copy_from.empty()) {
                    out_.line("{} {}({}* solver, const {}* cells{});", model_.status, level.copy_from,
                              model_.solver, names.type, model_.stride_parameters(static_cast<int>(index)));
                }
                if (!level.copy_to.empty()) {
                    out_.line("{} {}({}* solver, {}* cells{});", model_.status, level.copy_to, model_.solver,
                              names.type, model_.stride_parameters(static_cast<int>(index)));
                }
            }
        }
    }

    void write_steps() {
        out_.blank_line();
        out_.line(
            "// Starts so many time steps and does not wait for them; reading a field or a reduction does.");
        write_resident_header(model_, out_);
        out_.line("{} {}({}* solver, long long steps);", model_.status, model_.advance, model_.solver);
        out_.line("{} {}({}* solver);  // until all steps are done", model_.status, model_.wait,
                  model_.solver);
    }

    void write_reductions() {
        for (std::size_t index = 0; index < plan_.reductions.size(); ++index) {
            const rt::ReductionPlan& reduction = plan_.reductions[index];
            if (model_.get_reduction[index].empty()) continue;
            const char* const what = reduction.op == rt::ReductionPlan::Op::min   ? "least value"
                                     : reduction.op == rt::ReductionPlan::Op::max ? "greatest value"
                                     : reduction.square_root                      ? "square root of the sum"
                                                                                  : "sum";
            out_.blank_line();
            out_.line("// {}: a {} over the grid, of the last step.", reduction.name, what);
            out_.line("{} {}({}* solver, double* value);", model_.status, model_.get_reduction[index],
                      model_.solver);
        }
    }

    const LauncherModel& model_;
    const rt::LaunchPlan& plan_;
    Writer out_;
};

}  // namespace

std::string print_launcher_header(const LauncherModel& model) {
    return HeaderWriter(model).write();
}

}  // namespace halo::emit
