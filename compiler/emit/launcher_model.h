// What the offline launcher of one plan is made of: its names, its levels, its text. Shared by the writers of
// the header and of the source (launcher.h); not for other rooms.
//
// Names follow the program's: with the prefix `heat3d`, `heat3d_solver`, `heat3d_set_u`. Where a kernel has
// such a name already the launcher's gets an underscore more. Members of the solver end in a word of ours
// (`u_now`), so that none is a word of C++.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "compiler/kernel/program.h"
#include "runtime/core/launch_plan.h"

namespace halo::emit {

// The text of launcher_parts.cuh, launcher_points.cuh and launcher_axes.cuh: sections, each headed by a line
// `// [name]`, for a program `stencil`.
extern const char* const kLauncherParts;

struct LevelName {
    int time = 0;
    std::string member;  // of the solver: u_next2, u_next, u_now, u_before, u_before2
    std::string set;     // function names; empty where there is none
    std::string get;
    std::string copy_from, copy_to;  // likewise, with strides
};
struct FieldNames {
    std::string word;               // the field's name, a component's with _ for its dot
    std::vector<LevelName> levels;  // from the latest to the oldest
    std::string type;               // of an element, in C; f16 and bf16 are their bits
    const LevelName& level(int time) const {
        return levels[static_cast<std::size_t>(levels.front().time - time)];
    }
};

inline constexpr int kRowAlignment =
    32;  // elements that a row starts on a multiple of, as in runtime/core/geometry.h
inline int round_up_row(int elements) {
    return (elements + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
}

// How a field's array lies, in members of the solver.
struct FieldArray {
    std::vector<int> axes;             // of the grid, that the field lies over
    std::vector<std::string> strides;  // of these: elements from one cell to the next
    std::string origin;                // elements before the first cell
    std::string elements;
};

struct PointsNames {
    struct Numbers {  // a column or a trace
        std::string member, function;
    };
    std::string member;  // of the solver
    std::string place;   // a function
    std::vector<Numbers> columns, traces;
};

class LauncherModel {
public:
    LauncherModel(const kernel::Program& kernels, const rt::LaunchPlan& plan, const std::string& stem);

    const rt::LaunchPlan& plan;
    const kernel::Program& kernels;
    std::string stem;
    std::string prefix;                                               // heat3d
    std::string upper;                                                // HEAT3D
    std::string solver, status;                                       // types
    std::string create, destroy, use_stream, advance, wait, message;  // functions
    std::vector<std::string> set_param, set_coef, get_reduction;      // by index; empty where there is none
    std::vector<std::string> reduction_words;                         // by index: their names, without dots
    std::vector<std::string> set_table;                               // likewise
    std::vector<std::string> extents;                                 // by axis: nx
    std::vector<FieldNames> fields;                                   // by index
    std::vector<PointsNames> points;                                  // by index

    bool is_fixed() const { return plan.fixed_grid.has_value(); }  // one grid alone
    // What is given to create() before the place of the solver: "long long nx, long long ny, ".
    std::string create_parameters() const;
    std::string param_member(int index) const { return plan.params[index].name + "_value"; }
    std::string given_member(int index) const { return plan.params[index].name + "_given"; }
    std::string coef_member(int index) const { return plan.coefs[index].name + "_weights"; }
    std::string rows_member(int table) const { return plan.tables[table].name + "_rows"; }
    std::string count_member(int table) const { return plan.tables[table].name + "_count"; }
    std::string rows_type(int table) const {
        return plan.tables[table].type == rt::ElementType::f32 ? "float" : "double";
    }
    bool has_series() const {
        return std::ranges::any_of(plan.tables, [](const rt::TablePlan& table) { return table.is_series; });
    }
    bool has_rows() const {  // of a table that kernels read
        return std::ranges::any_of(plan.tables, [](const rt::TablePlan& table) { return !table.is_series; });
    }
    std::string values_member(int series) const { return plan.tables[series].name + "_values"; }
    bool halo_needs_series(int series) const;
    bool computes_columns() const;           // of some table
    bool places_depend_on(int param) const;  // those of points, counted in cells, do
    bool is_axis_table(int field) const;     // what unequal spacing gives, which callers neither set nor get
    bool is_spacing(int field) const;        // the distances along such an axis
    bool axes_depend_on(int param) const;    // what unequal spacing gives does
    std::string exchange_member(int index) const;
    bool is_narrow(int field) const {  // C has no type for its values: callers give and get their bits
        const rt::ElementType type = plan.fields[field].type;
        return type == rt::ElementType::f16 || type == rt::ElementType::bf16;
    }
    // Components that lie side by side share the array of the first of them, under its members' names.
    bool has_array(int field) const { return plan.fields[field].component == 0; }
    bool is_interleaved(int field) const { return plan.fields[field].interleave > 1; }
    bool has_interleaved() const;  // some field is
    int most_bytes() const;        // of an element of such a field
    // ` * 3`, and ` * 3 + 1` to the component, where components lie side by side; else nothing.
    std::string times_components(int field) const;
    std::string to_component(int field) const;
    static std::string device_scalars_member() { return "device_scalars"; }
    std::string partials_member(int index) const { return reduction_words[index] + "_partials"; }
    std::string latest_member(int index) const { return reduction_words[index] + "_latest"; }
    std::string due_member(int index) const { return reduction_words[index] + "_due"; }
    // One that a kernel for several steps gives, too, for each of them.
    bool is_given_by_steps(int reduction) const;
    std::string of_steps_member(int index) const { return plan.reductions[index].name + "_of_steps"; }
    std::string in_steps_member(int index) const { return plan.reductions[index].name + "_in_steps"; }
    static bool reads_reduction(const rt::KernelPlan& kernel, int index);
    static bool finds_reduction(const rt::KernelPlan& kernel, int index);
    bool is_read(int reduction) const;  // by a statement
    std::string code(const std::string& word) const {
        return upper + "_" + word;
    }  // of the status: HEAT3D_OK

    // members: what stands before those of the solver, "solver." or "solver->".
    FieldArray array_of(int field, const std::string& members) const;
    bool has_fewer_axes() const;  // some field does not lie over all axes
    // Of a caller's array of the field, over its own axes: between rows and planes, pitch and slice.
    std::vector<std::string> strides(int field) const;
    std::string stride_parameters(int field) const;  // ", long long pitch, long long slice"
    std::string extent_list(const std::string& before, const std::string& between) const;  // "nx, ny, nz"
    int coef_elements(int index) const;
    bool has_halo(int field) const;    // cells past a face that shows something
    bool halo_needs(int param) const;  // a fixed face's value does, or a kernel that fills halos
    bool has_fixed_face(rt::ElementType type) const;
    static bool rounds_face(rt::ElementType type, const rt::FacePlan& face);  // to an integer, when it runs
    bool rounds_faces() const;
    // The kernels that compute all of a field's halo, in order; none where it is copies and fixed values.
    std::vector<const rt::KernelPlan*> fillers(int field) const;
    bool fills_halo_by_copies(int field) const;
    // Kernels for several steps read halos of such fields alone.
    bool has_halo_of_fewer_axes() const;
    bool fills_halos_by_copies() const;  // those of some field

    // A section of the parts with the program's names put in.
    std::string part(const std::string& name) const;

private:
    std::string take(const std::string& wanted);  // a global name that nothing else has
    std::string word_of(const std::string& field) const;
    void name_points();

    std::set<std::string> taken_;
};

std::string print_launcher_header(const LauncherModel& model);
// introduction: comment lines for the top of the file.
std::string print_launcher_source(const LauncherModel& model, const std::string& kernel_text,
                                  const std::string& introduction);

}  // namespace halo::emit
