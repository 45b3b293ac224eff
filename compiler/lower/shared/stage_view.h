// The memory accesses of a stage's kernel: the levels that it loads, with their offsets, and those it stores.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/analysis.h"
#include "compiler/ir/program.h"
#include "compiler/kernel/program.h"
#include "compiler/lower/shared/storage.h"
#include "runtime/core/launch_plan.h"

namespace halo::lower {

enum class Machine : std::uint8_t { cuda, cpu };

using ir::Level;

struct Read {
    Level level;
    std::vector<ir::Offset> offsets;  // distinct, sorted
    ir::Offset low{}, high{};         // the box around them: low <= 0 <= high
    bool at_offsets() const;          // at any offset but 0
};

struct Write {
    Level level;
    const ir::Assign* assign = nullptr;
    // Cells whose value is not computed keep the old one: of a state its value at t is stored, of others
    // nothing.
    bool is_partial() const;  // by its margins, its region or its condition
};

struct StageView {
    const ir::Program* program = nullptr;
    ir::Stage stage;
    std::string name;  // of the kernel, derived from names of the spec
    std::vector<const ir::Assign*> assigns;
    std::vector<const ir::Reduce*> reductions;
    std::vector<Read> reads;       // from memory, in order of first use
    std::vector<Write> writes;     // to memory
    int factor = 1;                // of the grid whose cells it computes (rt::FieldGrid::factor)
    rt::StepRange within;          // steps of a run that it is for
    std::vector<Level> elsewhere;  // that it reads besides: fields over fewer axes, or of another grid
    // The statement that changes a level in place; the others are lets that it reads.
    const ir::Assign* in_place = nullptr;
    // Where that is a sweep: all of its statements, of which `in_place` is the first.
    std::vector<const ir::Assign*> swept;
    // The statement at points; the others are lets that it reads. Its write has no Assign.
    const ir::Inject* inject = nullptr;
    const ir::Sample* sample = nullptr;

    int rank() const { return program->rank(); }
    // Whether `in_place` is one of several statements for the same cells (ir::SharedCells), reductions among
    // them, none of which reads what an earlier one has left in memory.
    bool shares_box() const;
    // Whether in place no cell reads what another one changes.
    bool reads_nothing_changed() const;
    // Whether its kernels are launched for the cells of that box alone. Reductions have a partial result for
    // each block of all cells.
    bool is_launched_for_box() const { return in_place != nullptr && reductions.empty(); }
    const std::vector<ir::Repeat>& repeats() const;  // that its statements are part of, outermost first
    const ir::Field& field(const Level& level) const { return (*program)[level.field]; }
    // Whether a field has a value for each of the stage's cells, where they are.
    bool is_of_its_grid(const ir::Field& field) const { return field.grid == rt::FieldGrid::coarse(factor); }
    bool assigns_level(const Level& level) const;  // in this stage, and not in place
    bool sweeps_level(const Level& level) const;
    // The values and conditions of its assignments, then of its reductions.
    std::vector<ir::ExprId> roots() const;
    // Its lets that `roots` read, in order, with those that these read.
    std::vector<const ir::Assign*> lets_for(std::vector<ir::ExprId> roots) const;
    ir::Offset low() const;  // the box around all reads
    ir::Offset high() const;
};

// Whether each statement of the stage's sweep is for every cell of a line.
bool sweeps_whole_lines(const StageView& stage);

// All stages of a program, and which of its fields have an array.
struct StageViews {
    std::vector<StageView> stages;
    std::vector<bool> stored;  // by field
    std::array<std::array<int, 2>, ir::kMaxRank>
        halo{};  // around all reads of all stages: the arrays' layout
};
StageViews view_stages(const ir::Program& program);
StageViews view_stages(const ir::Program& program, const std::vector<ir::Stage>& stages);

// The same stages as they are in a step whose results nobody reads (ir/unread_steps.h): with fewer
// statements, or none, or stores of fewer lets.
std::vector<StageView> view_unread_stages(const StageViews& views);

// The kernels of a stage, given that: one for all steps or those with results, and one for the others.
struct StageKernel {
    const StageView* stage = nullptr;
    rt::Steps steps = rt::Steps::all;
};
std::vector<StageKernel> kernels_of(const StageView& stage, const StageView& unread);
// What the second of two leaves out, for the comment above it.
std::string left_out(const StageView& stage, const StageView& unread);
// In which of these steps a level of the stage is written.
rt::Steps steps_writing(const StageView& unread, const Level& level);

// True for each field whose halo is filled in steps by kernels of its own (halo_kernel.h), after those that
// write it: a formula says what lies past a face, and the machine's kernels cannot store that with the cells
// (shown_cells.h), or cells that change in place read images of others.
std::vector<bool> fields_with_halo_kernels(const ir::Program& program, Machine machine);

}  // namespace halo::lower
