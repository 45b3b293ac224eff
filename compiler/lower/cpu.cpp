// The CPU's one strategy: plain loops over a range of rows or planes, which the runtime gives to threads and
// cuts into time tiles (runtime/core/time_tiles.h), the contiguous axis vectorised. Halos are filled by the
// runtime after each kernel.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/kernel/verify.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/shared/cell.h"
#include "compiler/lower/shared/columns.h"
#include "compiler/lower/shared/halo_kernel.h"
#include "compiler/lower/shared/plan.h"
#include "compiler/lower/shared/points.h"
#include "compiler/lower/shared/reduce.h"
#include "compiler/lower/shared/regions.h"
#include "compiler/lower/shared/strategy.h"
#include "compiler/lower/shared/table_sums.h"

namespace halo::lower {
namespace {

using kernel::Block;
using kernel::Expr;
using kernel::Type;

// Cells of one block where the only axis is split.
constexpr int kBlockOfLine = 4096;

// Cells of a row that go through a table's rows together.
constexpr int kStrip = 256;

// Rows of a table whose columns one block computes.
constexpr int kBlockOfRows = 1024;

// Lines of a sweep that are done together: rows, along which it goes, and cells of a row.
constexpr int kRowsOfSweep = 8;
constexpr int kCellsOfSweep = 64;

// C++ has no min without a header.
Expr least(const Expr& a, const Expr& b) {
    return kernel::select(a < b, a, b);
}

Expr larger(const Expr& a, const Expr& b) {
    return kernel::select(a > b, a, b);
}

// Whether a block is a row of the three-dimensional grid, so that a part of it can be a few rows of each
// plane. Partial results of reductions are by plane, and regions have rows of their own.
bool has_blocks_of_rows(const StageView& stage) {
    return stage.rank() == 3 && stage.reductions.empty() && stage.in_place == nullptr;
}

class CpuLoops {
public:
    explicit CpuLoops(Context& context) : context_(context) {}

    StrategyResult lower() {
        const int rank = context_.rank();
        // Along all other axes one block has all cells, so that blocks count along one axis; but see
        // has_blocks_of_rows().
        result_.tile.fill(kWholeAxis);
        if (!context_.stage().swept.empty()) return sweep();
        result_.tile[rank - 1] = rank == 1 ? kBlockOfLine : 1;
        for (int axis = 0; axis < rank; ++axis) {
            index_[axis] = kernel::variable(Context::kIndexNames[axis], Type::i32);
            if (axis + 1 < rank || rank == 1)
                bounds_[axis] = {0, context_.extent(axis)};
            else
                bounds_[axis] = {0, Expr()};  // the runtime's blocks count along it
            if (const ir::Assign* assign = context_.stage().in_place)
                bounds_[axis] = region_bounds(context_, assign->region, axis);
        }
        Block row;
        declare_rows(row);
        if (has_table_sums(context_.stage())) {
            append(row, strips());
        } else {
            row.push_back(inner_loop());
        }
        if (has_blocks_of_rows(context_.stage())) {
            loop_over_rows(std::move(row));
            return std::move(result_);
        }
        Block block;
        begin_reductions(context_, block);
        if (rank == 3) {
            block.push_back(
                kernel::For{"j", bounds_[1].begin, bounds_[1].end, 1, kernel::Unroll::leave, std::move(row)});
        } else {
            append(block, std::move(row));
        }
        const Expr number = rank == 1 ? kernel::variable("block", Type::i32) : index_[rank - 1];
        store_partials(context_, number, block);
        const Expr first = rank == 1 ? Expr(0) : bounds_[rank - 1].begin;
        const Expr begin = kernel::convert(kernel::variable("begin", Type::i64), Type::i32) + first;
        const Expr end = kernel::convert(kernel::variable("end", Type::i64), Type::i32) + first;
        const std::string var = rank == 1 ? "block" : Context::kIndexNames[rank - 1];
        body().push_back(kernel::For{var, begin, end, 1, kernel::Unroll::leave, std::move(block)});
        return std::move(result_);
    }

private:
    // ---- sweeps: blocks are lines beside each other, and go along them in order

    StrategyResult sweep() {
        const int rank = context_.rank();
        const ir::Assign& first = *context_.stage().in_place;
        for (int axis = 0; axis < rank; ++axis) {
            index_[axis] = kernel::variable(Context::kIndexNames[axis], Type::i32);
            bounds_[axis] = region_bounds(context_, first.region, axis);
        }
        const int along = first.sweep->axis;
        if (rank == 1) {
            append(body(), line_of_cells(*first.sweep));
            return std::move(result_);
        }
        // Blocks count along the slowest axis that the sweep does not go along.
        const int shared = along < rank - 1 ? rank - 1 : rank - 2;
        const int beside = along == 0 ? 1 : 0;  // the axis of the lines that are done together
        if (beside == shared) {
            const int lines = beside == 0 ? kCellsOfSweep : kRowsOfSweep;
            result_.tile[static_cast<std::size_t>(shared)] = lines;
            const Expr block = kernel::variable("block", Type::i32);
            Block work{kernel::Declare{Type::i32, "first_line", block * lines + bounds_[beside].begin}};
            append(work, lines_together(*first.sweep, beside, lines));
            over_blocks("block", 0, std::move(work));
            return std::move(result_);
        }
        result_.tile[static_cast<std::size_t>(shared)] = 1;
        const Expr lines = beside == 0 ? bounds_[0].end : Expr(kRowsOfSweep);  // a row is done whole
        Block work{kernel::For{"first_line", bounds_[beside].begin, bounds_[beside].end, lines,
                               kernel::Unroll::leave, lines_together(*first.sweep, beside, lines)}};
        over_blocks(Context::kIndexNames[shared], bounds_[shared].begin, std::move(work));
        return std::move(result_);
    }

    Block line_of_cells(const ir::LineSweep& along) {
        Block cell, line;
        change_in_place(cell_sources(), cell);
        declare_rows(line);
        line.push_back(sweep_loop(along, bounds_[0], std::move(cell)));
        return line;
    }

    // Lines from `first_line` on, at each place of the sweep one cell of all of them: no cell waits for
    // another.
    Block lines_together(const ir::LineSweep& along, int beside, const Expr& most) {
        const Expr first = kernel::variable("first_line", Type::i32);
        const Expr last = kernel::variable("last_line", Type::i32);
        Block cell, cells;
        if (beside == 0) declare_rows(cells);
        if (beside == 1) declare_rows(cell);
        change_in_place(cell_sources(), cell);
        cells.push_back(kernel::For{Context::kIndexNames[beside], first, last, 1, kernel::Unroll::vectorize,
                                    std::move(cell)});
        Block lines{kernel::Declare{Type::i32, "last_line", least(first + most, bounds_[beside].end)}};
        lines.push_back(sweep_loop(along, bounds_[along.axis], std::move(cells)));
        return lines;
    }

    void over_blocks(const std::string& var, const Expr& before, Block block) {
        const Expr begin = kernel::convert(kernel::variable("begin", Type::i64), Type::i32);
        const Expr end = kernel::convert(kernel::variable("end", Type::i64), Type::i32);
        body().push_back(
            kernel::For{var, begin + before, end + before, 1, kernel::Unroll::leave, std::move(block)});
    }

    // ---- all cells at once

    Block& body() { return result_.function.body; }
    Type type_of(const Level& level) const { return storage_type(context_.stage().field(level).storage); }

    // Blocks count the rows of all planes, one plane after the other; in the first and the last plane of a
    // range not all of its rows may be there.
    void loop_over_rows(Block row) {
        result_.tile[1] = 1;
        const Expr begin = kernel::variable("begin", Type::i64), end = kernel::variable("end", Type::i64);
        const Expr rows = kernel::variable("per_plane", Type::i64),
                   before = kernel::variable("before", Type::i64);
        const auto row_of = [&](const Expr& number) { return kernel::convert(number, Type::i32); };
        Block plane;
        plane.push_back(kernel::Declare{Type::i64, "before", kernel::convert(index_[2], Type::i64) * rows});
        plane.push_back(kernel::For{"j", row_of(larger(begin - before, kernel::int_literal(0, Type::i64))),
                                    row_of(least(end - before, rows)), 1, kernel::Unroll::leave,
                                    std::move(row)});
        const Expr one = kernel::int_literal(1, Type::i64);
        body().push_back(kernel::Declare{Type::i64, "per_plane", kernel::convert(bounds_[1].end, Type::i64)});
        body().push_back(kernel::For{"k", row_of(begin / rows), row_of((end - one) / rows) + 1, 1,
                                     kernel::Unroll::leave, std::move(plane)});
    }

    // A pointer to the row at (j + y, k + z) for each row that is read or written.
    std::string row_name(const Level& level, int y, int z) {
        std::string name = context_.array(level);
        const auto step = [&](const char* axis, int count) {
            if (count)
                name += fmt::format("_{}{}{}", axis, count < 0 ? "m" : "p", count < 0 ? -count : count);
        };
        step("y", y);
        step("z", z);
        return context_.local(name + "_row");
    }

    int components_of(const Level& level) const {
        return ir::interleave(context_.program(), level.field).count();
    }

    // The element of a level at the cell, or beside it.
    Expr row_element(const Level& level, const ir::Offset& shift) {
        return kernel::element(row_name(level, shift[1], shift[2]),
                               {context_.place(level, index_[0] + shift[0])}, type_of(level));
    }

    Expr row_offset(int y, int z) {
        Expr offset;
        if (context_.rank() > 2) offset = (index_[2] + z) * context_.slice();
        if (context_.rank() > 1) {
            const Expr row = kernel::convert(index_[1] + y, Type::i64) * context_.pitch();
            offset = offset.has_value() ? offset + row : row;
        }
        return offset.has_value() ? offset : Expr(0);
    }

    void declare_rows(Block& row) {
        std::map<std::string, bool> declared;
        const auto declare = [&](const Level& level, int y, int z, bool writable) {
            const std::string name = row_name(level, y, z);
            if (!declared.insert({name, writable}).second) return;
            row.push_back(kernel::DeclarePointer{
                type_of(level), name,
                kernel::address_of(context_.array(level), row_offset(y, z) * components_of(level),
                                   type_of(level)),
                writable});
        };
        for (const Write& write : context_.stage().writes)
            declare(write.level, 0, 0, true);
        for (const Read& read : context_.stage().reads) {
            for (const ir::Offset& offset : read.offsets)
                declare(read.level, offset[1], offset[2], false);
        }
    }

    CellSources cell_sources() {
        CellSources sources;
        sources.index = index_;
        sources.may_pass_high_face = {};
        sources.coefs_as_parameters = true;
        sources.load = [this](const Level& level, const ir::Offset& shift) {
            return loaded(row_element(level, shift), context_.stage().field(level));
        };
        return sources;
    }

    // Computes a cell and stores it.
    void finish_cell(const CellSources& sources, Block& cell) {
        const CellValues values = lower_cell(context_, sources, cell);
        for (const Write& write : context_.stage().writes) {
            const Expr inside = inside_store_bounds(context_, write, index_);
            kernel::Statement store =
                kernel::Assign{row_element(write.level, {}), stored_value(context_.stage(), write, values)};
            if (inside.has_value()) store = kernel::If{inside, {std::move(store)}, {}};
            cell.push_back(std::move(store));
        }
        reduce_cell(context_, values, Expr(), cell);
    }

    // The cells along the first axis that one call of the inner loop has.
    Expr first_cell() const {
        const Expr& begin = bounds_[0].begin;
        return context_.rank() == 1 ? kernel::variable("block", Type::i32) * kBlockOfLine + begin : begin;
    }
    Expr last_cell() {
        const Expr first = first_cell();
        const Expr& end = bounds_[0].end;
        return context_.rank() == 1 ? kernel::select(end - first < kBlockOfLine, end, first + kBlockOfLine)
                                    : end;
    }

    kernel::Statement inner_loop() {
        Block cell;
        if (context_.stage().in_place != nullptr) {
            change_in_place(cell_sources(), cell);
        } else {
            finish_cell(cell_sources(), cell);
        }
        return kernel::For{"i", first_cell(), last_cell(), 1, kernel::Unroll::vectorize, std::move(cell)};
    }

    void change_in_place(const CellSources& sources, Block& cell) {
        change_cell(
            context_, sources, [&](const Level& level) { return row_element(level, {}); }, [](Block&) {},
            cell);
    }

    // Sums over tables: strips of cells go through the rows together, so that a strip's sums stay in the
    // cache and the cells of one row and strip are vectorised.
    Block strips() {
        const Expr count = named_constant(result_.function, "kStrip", kStrip);
        const Expr cell = kernel::variable("cell", Type::i32), strip = kernel::variable("strip", Type::i32);
        const Expr cells = kernel::variable("cells", Type::i32);
        TableSums sums(context_, count, cell);
        const CellSources sources = cell_sources();
        const auto over_cells = [&](Block work, bool needs_index) {
            if (needs_index) work.insert(work.begin(), kernel::Declare{Type::i32, "i", strip + cell});
            return kernel::For{"cell", 0, cells, 1, kernel::Unroll::vectorize, std::move(work)};
        };
        Block before, body;
        sums.thread_values(sources, before);
        body.push_back(kernel::Declare{Type::i32, "cells", least(count, last_cell() - strip)});
        sums.declare_arrays(body);
        body.push_back(over_cells(sums.begin_cell(sources), true));
        for (const TablePass& pass : sums.passes()) {
            const TableShape shape = table_shape(context_.program()[pass.table]);
            const std::string at = context_.names().take(context_.program()[pass.table].name + "_row");
            Block row;
            if (!pass.columns.empty()) {
                const Expr offset =
                    kernel::convert(kernel::variable("row", Type::i32), Type::i64) * shape.width;
                row.push_back(kernel::DeclarePointer{
                    shape.type, at, kernel::address_of(context_.table(pass.table), offset, shape.type)});
            }
            append(row,
                   sums.row(
                       pass, sources, [&](int column) { return kernel::element(at, {column}, shape.type); },
                       [&](Block work) { return over_cells(std::move(work), false); }));
            body.push_back(
                kernel::For{"row", 0, context_.rows(pass.table), 1, kernel::Unroll::leave, std::move(row)});
        }
        Block last;
        finish_cell(sums.with_sums(sources), last);
        body.push_back(over_cells(std::move(last), true));
        before.push_back(
            kernel::For{"strip", first_cell(), last_cell(), count, kernel::Unroll::leave, std::move(body)});
        return before;
    }

    Context& context_;
    StrategyResult result_;
    std::array<Expr, 3> index_;
    std::array<Bounds, 3> bounds_;  // of the cells that are computed
};

// The kernels of computed columns, before those of the step.
void add_column_loops(const ir::Program& program, const ProgramLayout& layout, Names& kernel_names,
                      Lowered& lowered) {
    for (std::uint32_t t = 0; t < program.tables.size(); ++t) {
        const ir::Table& table = program.tables[t];
        if (!has_computed_columns(table)) continue;
        const ir::TableId id{t};
        StageView nothing;
        nothing.program = &program;
        Context context(nothing, layout, table_roles());
        kernel::KernelFunction function;
        const Expr block = kernel::variable("block", Type::i32), row = kernel::variable("row", Type::i32);
        Block work{
            kernel::Declare{Type::i64, "at", kernel::convert(row, Type::i64) * table_shape(table).width}};
        append(work, column_values(context, id, kernel::variable("at", Type::i64)));
        Block rows{kernel::For{"row", block * kBlockOfRows,
                               least(block * kBlockOfRows + kBlockOfRows, context.rows(id)), 1,
                               kernel::Unroll::leave, std::move(work)}};
        function.body.push_back(kernel::For{"block",
                                            kernel::convert(kernel::variable("begin", Type::i64), Type::i32),
                                            kernel::convert(kernel::variable("end", Type::i64), Type::i32), 1,
                                            kernel::Unroll::leave, std::move(rows)});
        function.name = kernel_names.take(program.name + "_" + table.name);
        function.parameters = context.parameters();
        rt::KernelPlan kernel;
        kernel.name = function.name;
        kernel.tile = {kBlockOfRows, 1, 1};
        kernel.domain.kind = rt::Domain::Kind::rows;
        kernel.domain.index = static_cast<int>(t);
        kernel.arguments = context.arguments({});
        lowered.plan.kernels.push_back(std::move(kernel));
        lowered.kernels.functions.push_back(std::move(function));
    }
}

// How the cells of a stage use the arrays among its arguments; what goes through lists of points, or changes
// cells in place, is left open.
void describe_uses(const StageView& stage, const ProgramLayout& layout,
                   std::vector<rt::Argument>& arguments) {
    if (is_at_points(stage) || stage.in_place != nullptr) return;
    const auto use_of = [&](const Level& level) -> rt::ArrayUse* {
        // Components side by side are in one argument, of the first of them.
        const ir::Group* group = ir::interleave(*stage.program, level.field).group;
        const ir::FieldId owner = group == nullptr ? level.field : group->fields.front();
        for (rt::Argument& argument : arguments) {
            if (argument.kind != rt::Argument::Kind::field || argument.time != level.time ||
                argument.field != layout.plan_field[owner.index])
                continue;
            if (!argument.use) argument.use.emplace();
            return &*argument.use;
        }
        return nullptr;
    };
    for (const Read& read : stage.reads) {
        rt::ArrayUse* use = use_of(read.level);
        if (use == nullptr) continue;
        use->read = true;
        for (int axis = 0; axis < stage.rank(); ++axis)
            use->reach[axis] = std::max({use->reach[axis], -read.low[axis], read.high[axis]});
    }
    for (const Level& level : stage.of_fewer_axes)
        if (rt::ArrayUse* use = use_of(level)) use->read = true;
    for (const Write& write : stage.writes)
        if (rt::ArrayUse* use = use_of(write.level)) use->written = true;
}

std::vector<std::string> roles_of(const StageView& stage) {
    if (is_at_points(stage)) return point_roles();
    std::vector<std::string> roles = {"begin", "end", "block"};
    if (has_table_sums(stage)) roles = table_roles();
    if (has_blocks_of_rows(stage)) roles.insert(roles.end(), {"per_plane", "before"});
    return roles;
}

void add_stage_loops(const StageKernel& use, const ProgramLayout& layout, Names& kernel_names,
                     Lowered& lowered) {
    const StageView& stage = *use.stage;
    Context context(stage, layout, roles_of(stage));
    StrategyResult result = is_at_points(stage) ? lower_points_cpu(context) : CpuLoops(context).lower();
    result.function.name = kernel_names.take(stage.name);
    result.function.parameters = context.parameters();
    rt::KernelPlan kernel;
    kernel.name = result.function.name;
    kernel.steps = use.steps;
    kernel.tile = result.tile;
    kernel.domain = is_at_points(stage) ? point_domain(stage) : launch_domain(stage);
    kernel.arguments = context.arguments(plan_reductions(stage, lowered.plan));
    describe_uses(stage, layout, kernel.arguments);
    for (const Write& write : stage.writes) {
        if (!Images::needed(context, write)) continue;
        kernel.refresh_halos.push_back({layout.plan_field[write.level.field.index], write.level.time});
    }
    add_stage_kernel(stage, std::move(kernel), lowered.plan);
    lowered.kernels.functions.push_back(std::move(result.function));
}

}  // namespace

Lowered lower_cpu(const ir::Program& program) {
    const StageViews views = view_stages(program);
    const ProgramLayout layout = make_layout(program, views);
    Lowered lowered;
    lowered.plan = begin_plan(program, views, layout);
    lowered.kernels.header = {fmt::format("{}: loops over a range of blocks.", program.name)};
    Names kernel_names;
    HaloKernels halo_kernels(program, layout, Machine::cpu, lowered.kernels, kernel_names);
    halo_kernels.append_inputs(lowered.plan);
    add_column_loops(program, layout, kernel_names, lowered);
    const std::vector<StageView> unread = view_unread_stages(views);
    RepeatedKernels repeats;
    for (std::size_t s = 0; s < views.stages.size(); ++s) {
        repeats.begin(lowered.plan);
        halo_kernels.append_before(views.stages[s], unread[s], lowered.plan);
        for (const StageKernel& use : kernels_of(views.stages[s], unread[s]))
            add_stage_loops(use, layout, kernel_names, lowered);
        for (const Write& write : views.stages[s].writes)
            halo_kernels.append(write.level, steps_writing(unread[s], write.level), lowered.plan);
        repeats.end(views.stages[s], layout, lowered.plan);
    }
#ifdef HALO_VERIFY
    kernel::require_valid(lowered.kernels);
#endif
    return lowered;
}

}  // namespace halo::lower
