// What all parts of one kernel share: its names, its parameters, and the launch arguments for these.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "compiler/kernel/build.h"
#include "compiler/kernel/program.h"
#include "compiler/lower/shared/names.h"
#include "compiler/lower/shared/notes.h"
#include "compiler/lower/shared/register_array.h"
#include "compiler/lower/shared/stage_view.h"
#include "runtime/core/launch_plan.h"

namespace halo::lower {

// Of a kernel's argument with a repeat's words, until the repeat's end is lowered.
inline constexpr int kUnknownRepeat = -1;

// Of a cell along each axis, i32; without a value along axes past the grid's rank.
using CellIndex = std::array<kernel::Expr, ir::kMaxRank>;

// The layout all arrays of the program share, and how a program's fields are numbered in the plan.
struct ProgramLayout {
    std::array<std::array<int, 2>, ir::kMaxRank> halo{};
    std::vector<int> plan_field;        // by ir field; -1 where it has no array
    std::vector<bool> halo_kernels;     // by ir field: fields_with_halo_kernels()
    std::vector<bool> uniform;          // by expression: ir::uniform_exprs()
    std::vector<std::uint32_t> shapes;  // by expression: equal where they differ by a shift alone
    Names names;                        // of the module, outside of functions
    Notes notes{};                      // comments above the code of each statement; none: no comments
};

class Context {
public:
    // roles: names that the kernel reserves besides the usual ones.
    Context(const StageView& stage, const ProgramLayout& layout, const std::vector<std::string>& roles = {});

    const StageView& stage() const { return *stage_; }
    // In a kernel of several stages: sets the one that is lowered next. Levels in memory keep their names.
    void enter(const StageView& stage) { stage_ = &stage; }
    // In a kernel of several steps: from here on what changes with the step is that of step `s`, an i32 below
    // `count`. declare_step_values() declares the arrays that have it for each step, once all is lowered.
    void do_steps(int count, kernel::Expr s);
    kernel::Block declare_step_values() const;
    const ir::Program& program() const { return *stage_->program; }
    int rank() const { return stage_->rank(); }
    const ProgramLayout& layout() const { return *layout_; }
    bool is_uniform(ir::ExprId id) const { return layout_->uniform[id.index]; }
    Names& names() { return names_; }

    // Parameters. Each is declared where it is first asked for; finish() orders them.
    std::string array(const Level& level);   // the pointer's name: u, u_next, u_prev
    std::string label(const Level& level);   // the level's own: of a component v_x_next
    kernel::Expr extent(int axis);           // of the stage's grid, nx: i32
    kernel::Expr pitch();                    // i32
    kernel::Expr slice();                    // i64
    kernel::Expr volume();                   // i64
    kernel::Expr pitch_of_grid(int factor);  // the same of another grid
    kernel::Expr slice_of_grid(int factor);
    kernel::Expr stride(
        int axis);  // elements from one cell to the next along it: 1, pitch(), slice(), volume()
    kernel::Expr scalar(ir::ExprId uniform, kernel::Type type);  // rounded to the type
    kernel::Expr step();                                         // steps done before this one, i64
    kernel::Expr seed();                                         // of noise, i64
    kernel::Expr param(ir::ParamId param, kernel::Type type);
    // Names of the pointers; reduction: index within the stage.
    kernel::Expr stride(const std::string& name, kernel::Type type, rt::Argument::Kind kind);
    std::string partials(int reduction);
    std::string step_partials(int reduction);   // of a kernel that does several steps
    kernel::Expr partial_count(int reduction);  // i32
    // The words that the device keeps of the repeat (rt::RepeatWord), from one on: the pointer's name.
    std::string repeat_words(rt::RepeatWord from, const std::string& wanted, bool writable);
    kernel::Expr coef(const ir::CoefElement& element, bool as_parameter);
    std::string table(ir::TableId table, bool writable = false);  // the pointer's name
    kernel::Expr rows(ir::TableId table);                         // i32
    // An array of points, by its part (runtime/core/points.h): the pointer's name, like shots_weight.
    std::string point_array(ir::PointsId points, int part, const std::string& word, kernel::Type type,
                            bool writable = false);
    kernel::Expr point_count(ir::PointsId points, int part);  // i32

    // Of a resident kernel (rt::TimeBlock): the pointer to an exchange, the distance to its other half, the
    // number of steps of the launch, and the number of those before it.
    std::string exchange(int index, const std::string& wanted);
    kernel::Expr exchange_half(int index, const std::string& wanted);
    kernel::Expr launch_steps();
    kernel::Expr steps_sent();
    // Of a kernel of pieces: an argument of the launch, i32, and a level's array in the piece below or above.
    kernel::Expr planes(rt::PlanesPart part, const std::string& wanted);
    std::string neighbour(const Level& level, int side);

    // Appends the comment on a statement of the spec, or on a field, unless it repeats the one before.
    void note(SourceRange where, kernel::Block& body) const;

    // The name of a local: unique in the kernel, and the same whenever the same one is wanted.
    std::string local(const std::string& wanted);

    // Elements from cell (0,0,0) to cell (x,y,z), i64 where the rank is above 1. Empty coordinates are 0.
    kernel::Expr element_offset(const CellIndex& cell);

    // The element of a field over fewer axes, or of another grid, at these coordinates, of which those along
    // axes that it has not are left aside (rt::geometry_of_field).
    kernel::Expr element_elsewhere(const Level& level, const CellIndex& cell);

    // A level's element in the cell at `offset` from cell (0,0,0): its index in array(), the element itself,
    // and a pointer to it.
    kernel::Expr place(const Level& level, const kernel::Expr& cell) const;
    kernel::Expr element(const Level& level, const kernel::Expr& cell);
    kernel::Expr address(const Level& level, const kernel::Expr& cell);

    // The kernel's parameters and the plan's arguments, in one order: arrays, extents and strides, scalars,
    // partials.
    std::vector<kernel::Parameter> parameters() const;
    std::vector<rt::Argument> arguments(const std::vector<int>& plan_reductions) const;

    // The coordinates of a cell by axis: i, j, k.
    static constexpr const char* kIndexNames[ir::kMaxRank] = {"i", "j", "k", "l"};

private:
    struct Slot {
        kernel::Parameter parameter;
        rt::Argument argument;
        int order = 0;
    };
    std::string partials(int reduction, rt::Argument::Kind kind);
    kernel::Expr fine_extent(int axis);
    kernel::Expr of_grid(int factor, const std::string& what, kernel::Type type, rt::Argument::Kind kind,
                         int axis);
    kernel::Expr host_value(const std::string& name, rt::HostScalar::Step value,
                            kernel::Type type = kernel::Type::f64);
    kernel::Expr step_scalar(ir::ExprId uniform, kernel::Type type);
    std::string declare(int order, kernel::Parameter parameter, rt::Argument argument);
    std::string declare_scalar(const std::string& wanted, rt::HostScalar scalar, kernel::Type type);
    std::vector<const Slot*> ordered() const;

    const StageView* stage_;
    const ProgramLayout* layout_;
    Names names_;
    std::vector<Slot> slots_;
    std::map<Level, std::string> arrays_;
    std::map<std::string, std::string> words_;  // extents, strides, partials
    std::map<std::string, std::string> locals_;
    std::map<std::pair<std::uint32_t, kernel::Type>, std::string> scalars_;
    // Of do_steps(): a value that changes with the step has a parameter for each, and an array of these.
    struct StepValue {
        RegisterArray array;
        std::vector<std::string> parameters;
    };
    int steps_ = 1;
    kernel::Expr step_in_launch_;
    std::vector<StepValue> step_values_;
    std::map<std::pair<std::uint32_t, kernel::Type>, std::size_t> step_scalars_;  // of step_values_
};

// A coef's array in constant memory.
std::string coef_symbol(const ir::Program& program, ir::CoefId coef);

}  // namespace halo::lower
