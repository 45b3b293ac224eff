// What the writers of the launcher's source share. Not for other rooms.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "compiler/emit/host_expression.h"
#include "compiler/emit/launcher_model.h"
#include "compiler/support/writer.h"

namespace halo::emit {

class LauncherWriter {
protected:
    LauncherWriter(const LauncherModel& model, Writer& out);

    template <class Items>
    static int count(const Items& items) {
        return static_cast<int>(items.size());
    }
    static std::string number(double value);  // as a C++ literal
    static std::string blocks_function(const rt::KernelPlan& kernel) { return "blocks_of_" + kernel.name; }
    static std::string launch_function(const rt::KernelPlan& kernel) { return "launch_" + kernel.name; }

    std::string combine_function(int reduction) const {
        return "combine_" + model_.reduction_words[reduction];
    }

    // Of a repeat that a condition ends: its words on the device (rt::RepeatWord), the copies of the first of
    // them in memory of the host, and when these are there.
    static std::string words_member(int repeat) { return fmt::format("repeat{}_words", repeat); }
    static std::string done_member(int repeat) { return fmt::format("repeat{}_done", repeat); }
    static std::string copied_member(int repeat) { return fmt::format("repeat{}_copied", repeat); }
    bool has_conditions() const;  // some repeat is ended by one
    // Whether a copy follows what the repeat exchanges, as how many iterations there are is not known, or
    // they may do nothing where a repeat around it is over.
    bool copies_exchanged(int repeat) const;

    // The arrays that a repeat exchanges after each iteration, or several at once.
    void write_exchanges(const rt::RepeatPlan& repeat);
    // Those of a step, then that which does several.
    std::vector<const rt::KernelPlan*> launched_kernels() const;
    bool any_halo() const;
    bool is_resident() const { return plan_.time_block && plan_.time_block->resident() != nullptr; }
    // Whether some grid has no cell of it.
    static bool may_be_empty(const rt::KernelPlan& kernel);
    bool counts_blocks() const;
    bool counts_steps() const;  // for reductions, or for scalars that change with the step
    // Steps are done in turns, which end where others are done or other kernels run.
    bool has_turns() const;
    static std::string condition_of(const rt::StepRange& steps);  // of the present step
    void write_rotation(const FieldNames& field);  // the oldest level becomes the newest, written next
    void write_state_rotations();
    void comment(const std::string& text);  // a paragraph's first line
    // `if (const STATUS status = CALL) return status;`
    void return_unless_ok(const std::string& call, const std::string& before = "");
    // `if (CONDITION) return SCOPEfail(BAD_ARGUMENT, "MESSAGE", VALUES);`
    void refuse(const std::string& scope, const std::string& condition, const std::string& message,
                const std::vector<std::string>& values = {});
    // The name of a kernel or constant where functions of the launcher might hide it.
    static std::string global_name(const std::string& name);
    // open, the items between commas, close; over as many lines as it takes.
    void fill(const std::string& open, const std::vector<std::string>& items, const std::string& close);

    const LauncherModel& model_;
    const rt::LaunchPlan& plan_;
    HostNames names_;  // members of `solver`, a reference
    Writer& out_;
};

// Along the second and third axis of a launch.
inline constexpr int kMostBlocks = 65535;

// Members of the solver: extents and strides, or what they are where the kernels are for one grid.
void write_solver_sizes(const LauncherModel& model, Writer& out);
// The functions that find them out, where they are not known, and that allocate the arrays.
void write_allocation(const LauncherModel& model, Writer& out);

// The function that fills halos outside of steps.
void write_fill_halos(const LauncherModel& model, Writer& out);

// The functions that combine what blocks give to reductions' values.
void write_combinations(const LauncherModel& model, Writer& out);

// Points off the grid. What the header says of them; types within the solver, and its members; the functions
// that they need.
void write_points_header(const LauncherModel& model, Writer& out);
void write_points_example(const LauncherModel& model, Writer& out, bool results);
void write_points_types(const LauncherModel& model, Writer& out);
void write_points_members(const LauncherModel& model, Writer& out);
void write_points_rows(const LauncherModel& model, Writer& out);  // which launches call
void write_points_functions(const LauncherModel& model, Writer& out);
void write_points_release(const LauncherModel& model, Writer& out);       // in destroy()
void write_points_calls(const LauncherModel& model, Writer& out);         // functions of the header
void write_points_checks(const LauncherModel& model, Writer& out);        // in advance()
void write_points_due(const LauncherModel& model, Writer& out);           // before its steps
void write_points_rows_of_step(const LauncherModel& model, Writer& out);  // before each of them
std::string points_argument(const LauncherModel& model, const rt::Argument& argument);

// The kernel that does several steps in one launch: what the header says of one whose blocks wait for each
// other, its members of the solver and its functions; the launches of either in advance().
void write_resident_header(const LauncherModel& model, Writer& out);
void write_resident_members(const LauncherModel& model, Writer& out);
void write_resident_functions(const LauncherModel& model, Writer& out);
void write_several_steps(const LauncherModel& model, Writer& out);
// The launches that begin a repeat, some of whose iterations are done together; `iteration` counts them.
void write_iterations_at_once(const LauncherModel& model, const std::string& iteration, Writer& out);
// The function that fills the halo of one array of a field, for those of iterations that are done so.
std::string fill_function(const FieldNames& field);
bool needs_fill(const rt::FieldPlan& field);  // cells past its faces show others

// Repeats that a condition ends: members of the solver, what makes and releases them.
void write_iterations_members(const LauncherModel& model, Writer& out);
void write_iterations_allocation(const LauncherModel& model, Writer& out);
void write_iterations_release(const LauncherModel& model, Writer& out);  // in destroy()

// Axes whose cells are not equally far apart: a member of the solver, the functions that compute what kernels
// read of them, and their calls in advance().
void write_axes_member(const LauncherModel& model, Writer& out);
void write_axes_functions(const LauncherModel& model, Writer& out);
void write_axes_due(const LauncherModel& model, Writer& out);

// The functions that give reductions' values.
void write_reduction_calls(const LauncherModel& model, Writer& out);

// In advance(), for each step.
void write_kernels_of_step(const LauncherModel& model, Writer& out);
void write_full_steps(const LauncherModel& model, Writer& out);  // how far steps are alike
void write_turns_comment(const LauncherModel& model, Writer& out);

// The functions of the header, after all that they call.
void write_launcher_calls(const LauncherModel& model, Writer& out);

}  // namespace halo::emit
