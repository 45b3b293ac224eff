#include "compiler/lower/cpu_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "compiler/lower/cpu_lines.h"
#include "compiler/lower/cpu_rows.h"
#include "compiler/lower/shared/cell.h"
#include "compiler/lower/shared/reduce.h"
#include "compiler/lower/shared/regions.h"
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

// Lines of a sweep that are done together: rows, along which it goes, and cells of a row.
constexpr int kRowsOfSweep = 8;
constexpr int kCellsOfSweep = 64;

// C++ has no min without a header.
Expr least(const Expr& a, const Expr& b) {
    return kernel::select(a < b, a, b);
}

// Whether a block is a row of the three-dimensional grid, so that a part of it can be a few rows of each
// plane. Partial results of reductions are by plane, and regions have rows of their own.
bool has_blocks_of_rows(const StageView& stage) {
    return stage.rank() == 3 && stage.reductions.empty() && stage.in_place == nullptr;
}

class Loops {
public:
    explicit Loops(Context& context)
        : context_(context),
          together_(cells_together(context.stage())),
          line_(cells_of_line(context.stage())),
          rows_(context, index_, together_) {}

    StrategyResult lower() {
        const int rank = context_.rank();
        // Along all other axes one block has all cells, so that blocks count along one axis; but see
        // has_blocks_of_rows().
        result_.tile = {kWholeAxis, kWholeAxis, kWholeAxis};
        if (!context_.stage().swept.empty()) return sweep();
        const int first_of_blocks = std::min(rank - 1, 2);  // they count along this axis and any after it
        result_.tile[first_of_blocks] = rank == 1 ? kBlockOfLine : 1;
        for (int axis = 0; axis < rank; ++axis) {
            index_[axis] = kernel::variable(Context::kIndexNames[axis], Type::i32);
            if (axis + 1 < rank || rank == 1 || rank > 3)
                bounds_[axis] = {0, context_.extent(axis)};
            else
                bounds_[axis] = {0, Expr()};  // the runtime's blocks count along it
            const ir::Assign* assign = context_.stage().in_place;
            // Where there is a partial result for each block, blocks count along the whole axis.
            is_in_region_[axis] =
                assign != nullptr && (context_.stage().is_launched_for_box() || axis < first_of_blocks);
            if (is_in_region_[axis]) bounds_[axis] = region_bounds(context_, assign->region, axis);
        }
        if (has_blocks_of_rows(context_.stage())) {
            loop_over_planes();
            return std::move(result_);
        }
        if (rank > 3) {
            loop_over_volumes();
            return std::move(result_);
        }
        const Expr first = rank == 1 ? Expr(0) : bounds_[rank - 1].begin;
        const Expr begin = kernel::convert(kernel::variable("begin", Type::i64), Type::i32) + first;
        const Expr end = kernel::convert(kernel::variable("end", Type::i64), Type::i32) + first;
        if (rank == 2 && together_.count > 1) {
            append(body(), loop_over_rows(begin, end));
            return std::move(result_);
        }
        Block block;
        begin_reductions(context_, block);
        if (rank == 3) {
            append(block, loop_over_rows(bounds_[1].begin, bounds_[1].end));
        } else {
            append(block, rows(1));
        }
        const Expr number = rank == 1 ? kernel::variable("block", Type::i32) : index_[rank - 1];
        store_partials(context_, number, block);
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
        const ir::LineSweep& order = *first.sweep;
        if (rank == (order.inner ? 2 : 1)) {
            append(body(), cell_after_cell(order));
            return std::move(result_);
        }
        // Blocks count along the slowest axis that the sweep does not go along; lines, or planes, that lie
        // beside each other along the fastest one are done together.
        int shared = rank - 1, beside = 0;
        while (order.goes_along(shared))
            --shared;
        while (order.goes_along(beside))
            ++beside;
        if (beside == shared) {
            const int lines = beside == 0 ? kCellsOfSweep : kRowsOfSweep;
            result_.tile[static_cast<std::size_t>(shared)] = lines;
            const Expr block = kernel::variable("block", Type::i32);
            Block work{kernel::Declare{Type::i32, "first_line", block * lines + bounds_[beside].begin}};
            append(work, lines_together(order, beside, lines));
            over_blocks("block", 0, std::move(work));
            return std::move(result_);
        }
        result_.tile[static_cast<std::size_t>(shared)] = 1;
        const Expr lines = beside == 0 ? bounds_[0].end : Expr(kRowsOfSweep);  // a row is done whole
        Block work{kernel::For{"first_line", bounds_[beside].begin, bounds_[beside].end, lines,
                               kernel::Unroll::leave, lines_together(order, beside, lines)}};
        over_blocks(Context::kIndexNames[shared], bounds_[shared].begin, std::move(work));
        return std::move(result_);
    }

    // Of the only line, or plane.
    Block cell_after_cell(const ir::LineSweep& order) {
        const bool goes_along_rows = (order.inner ? order.inner->axis : order.axis) == 0;
        Block row, cell;
        rows_.declare(1, goes_along_rows ? row : cell);
        change_in_place(cell_sources(), cell);
        return in_order(order, std::move(cell), std::move(row));
    }

    // Lines from `first_line` on, at each place of the sweep one cell of all of them: no cell waits for
    // another.
    Block lines_together(const ir::LineSweep& order, int beside, const Expr& most) {
        const Expr first = kernel::variable("first_line", Type::i32);
        const Expr last = kernel::variable("last_line", Type::i32);
        Block cell, cells;
        rows_.declare(1, beside == 0 ? cells : cell);
        change_in_place(cell_sources(), cell);
        cells.push_back(kernel::For{Context::kIndexNames[beside], first, last, 1, kernel::Unroll::vectorize,
                                    std::move(cell)});
        Block lines{kernel::Declare{Type::i32, "last_line", least(first + most, bounds_[beside].end)}};
        append(lines, in_order(order, std::move(cells)));
        return lines;
    }

    // `row`: what stands before the innermost loop.
    Block in_order(const ir::LineSweep& order, Block cells, Block row = {}) {
        const auto along = [&](int axis, bool upwards, Block work) {
            return sweep_loop(axis, upwards, bounds_[static_cast<std::size_t>(axis)], std::move(work));
        };
        if (order.inner) {
            row.push_back(along(order.inner->axis, order.inner->upwards, std::move(cells)));
            return {along(order.axis, order.upwards, std::move(row))};
        }
        row.push_back(along(order.axis, order.upwards, std::move(cells)));
        return row;
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

    // The cells of a row, or of `count` that are computed together, the first of them that at `j` and `k`.
    Block rows(int count) {
        Block work;
        rows_.declare(count, work);
        if (has_table_sums(context_.stage())) {
            append(work, strips());
        } else {
            if (line_ > 0) {
                append(work, lines(count));
            } else {
                work.push_back(cell_by_cell(count, first_cell(), kernel::Unroll::vectorize));
            }
        }
        return work;
    }

    // The rows, or planes, from `first` to before `last`: as many at a time as are computed together, then
    // the rest. work: of so many of them.
    Block in_turns(const std::string& var, const Expr& first, const Expr& last,
                   const std::function<Block(int count)>& work) const {
        const int count = together_.count;
        if (count == 1) return {kernel::For{var, first, last, 1, kernel::Unroll::leave, work(1)}};
        return {kernel::For{var, first, last - (count - 1), count, kernel::Unroll::leave, work(count)},
                kernel::For{var, first + (last - first) / count * count, last, 1, kernel::Unroll::leave,
                            work(1)}};
    }

    Block loop_over_rows(const Expr& begin, const Expr& end) {
        const auto some_rows = [this](int count) { return rows(count); };
        if (together_.count == 1) return in_turns("j", begin, end, some_rows);
        Block loops{kernel::Declare{Type::i32, "first_row", begin},
                    kernel::Declare{Type::i32, "last_row", end}};
        append(loops, in_turns("j", kernel::variable("first_row", Type::i32),
                               kernel::variable("last_row", Type::i32), some_rows));
        return loops;
    }

    // Blocks count the rows of all planes, one plane after the other. A call does rows of one plane, and the
    // same rows of planes after it.
    void loop_over_planes() {
        result_.tile[1] = 1;
        const auto declare = [&](const std::string& name, const Expr& value) {
            body().push_back(kernel::Declare{Type::i32, name, kernel::convert(value, Type::i32)});
            return kernel::variable(name, Type::i32);
        };
        const Expr begin = kernel::variable("begin", Type::i64), end = kernel::variable("end", Type::i64);
        body().push_back(kernel::Declare{Type::i64, "per_plane", kernel::convert(bounds_[1].end, Type::i64)});
        const Expr per_plane = kernel::variable("per_plane", Type::i64);
        const Expr planes = kernel::variable("planes", Type::i64);
        const Expr first_plane = declare("first_plane", begin / per_plane);
        const Expr last_plane = declare("last_plane", begin / per_plane + planes);
        const Expr first_row = declare("first_row", begin % per_plane);
        const Expr last_row = declare("last_row", begin % per_plane + (end - begin));
        if (together_.axis == 2) {
            append(body(), in_turns("k", first_plane, last_plane, [&](int count) -> Block {
                       return {kernel::For{"j", first_row, last_row, 1, kernel::Unroll::leave, rows(count)}};
                   }));
        } else {
            body().push_back(
                kernel::For{"k", first_plane, last_plane, 1, kernel::Unroll::leave,
                            in_turns("j", first_row, last_row, [this](int count) { return rows(count); })});
        }
    }

    // Blocks count the planes of all volumes, one volume after the other.
    void loop_over_volumes() {
        const Expr plane = kernel::variable("plane", Type::i32);
        const Expr planes = bounds_[2].end - bounds_[2].begin;
        Block block{kernel::Declare{Type::i32, Context::kIndexNames[3], plane / planes + bounds_[3].begin},
                    kernel::Declare{Type::i32, Context::kIndexNames[2], plane % planes + bounds_[2].begin}};
        begin_reductions(context_, block);
        append(block, loop_over_rows(bounds_[1].begin, bounds_[1].end));
        store_partials(context_, plane, block);
        body().push_back(kernel::For{"plane",
                                     kernel::convert(kernel::variable("begin", Type::i64), Type::i32),
                                     kernel::convert(kernel::variable("end", Type::i64), Type::i32), 1,
                                     kernel::Unroll::leave, std::move(block)});
    }

    // Of the cells that are computed together the one of this number.
    CellIndex index_of(int number) const {
        CellIndex index = index_;
        if (number > 0) index[together_.axis] = index[together_.axis] + number;
        return index;
    }

    CellSources cell_sources(int number = 0) {
        CellSources sources;
        sources.index = index_of(number);
        sources.may_pass_high_face = {};
        sources.coefs_as_parameters = true;
        sources.load = [this, number](const Level& level, ir::Offset shift) {
            shift[together_.axis] += number;
            return loaded(rows_.element(level, shift), context_.stage().field(level));
        };
        return sources;
    }

    // Where a cell's value is stored, of the cells that are computed together that of a number.
    using Place = std::function<Expr(const Write&, int number)>;
    const Place in_memory_ = [this](const Write& write, int number) {
        return rows_.element(write.level, together_.offset(number));
    };

    void store(const Write& write, int number, const Expr& value, const Place& place, Block& cell) {
        const Expr inside = inside_store_bounds(context_, write, index_of(number));
        kernel::Statement store = kernel::Assign{place(write, number), value};
        if (inside.has_value()) store = kernel::If{inside, {std::move(store)}, {}};
        cell.push_back(std::move(store));
    }

    // Computes a cell and stores it.
    void finish_cell(const CellSources& sources, const Place& place, Block& cell) {
        const CellValues values = lower_cell(context_, sources, cell);
        for (const Write& write : context_.stage().writes)
            store(write, 0, stored_value(context_.stage(), write, values), place, cell);
        reduce_cell(context_, values, Expr(), cell);
    }

    // The same of `count` cells together. All are computed before the first is stored: the compiler cannot
    // know that a store changes nothing that the next cell has in common with this one.
    void finish_cells(int count, const Place& place, Block& cells) {
        if (count == 1) return finish_cell(cell_sources(), place, cells);
        struct Fresh {
            const Write& write;
            int number;
            Expr value;
        };
        std::vector<Fresh> fresh;
        const char* const kind = together_.axis == 2 ? "plane" : "row";
        for (int number = 0; number < count; ++number) {
            Block cell;
            const CellValues values = lower_cell(context_, cell_sources(number), cell);
            std::vector<NamedValue> named;
            for (const Write& write : context_.stage().writes) {
                const Expr value = stored_value(context_.stage(), write, values);
                const std::string name =
                    context_.local(fmt::format("{}_{}{}", context_.label(write.level), kind, number));
                fresh.push_back({write, number, kernel::variable(name, value.type())});
                named.push_back({name, value});
            }
            declare_values(std::move(named), std::move(cell), cells);
        }
        for (const Fresh& each : fresh)
            store(each.write, each.number, each.value, place, cells);
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

    kernel::Statement cell_by_cell(int count, const Expr& first, kernel::Unroll unroll) {
        Block cell;
        if (context_.stage().in_place != nullptr) {
            change_in_place(cell_sources(), cell);
        } else {
            finish_cells(count, in_memory_, cell);
        }
        return kernel::For{"i", first, last_cell(), 1, unroll, std::move(cell)};
    }

    // Line by line, and what is left of the row cell by cell. No cell is computed twice: a program that
    // Halocline is part of may give one array for what is read at the cell and what is stored.
    Block lines(int count) {
        const Expr line = kernel::variable("line", Type::i32), cell = kernel::variable("cell", Type::i32);
        const auto in_line = [&](const Write& write, int number, const Expr& at) {
            const std::string name = "_line" + (number > 0 ? std::to_string(number) : "");
            return kernel::element(context_.local(context_.array(write.level) + name), {at},
                                   type_of(write.level));
        };
        Block whole, stores;
        for (const auto& [level, row, elements] : fetched_ahead(context_.stage(), {together_.axis, count}))
            whole.push_back(kernel::Prefetch{
                kernel::address_of(rows_.name(level, row), line + elements, type_of(level))});
        for (int number = 0; number < count; ++number)
            for (const Write& write : context_.stage().writes) {
                const Expr from = in_line(write, number, 0);
                const std::string& name = std::get<kernel::Element>(from->kind).array;
                whole.push_back(kernel::DeclareArray{
                    from.type(), name, {line_}, kernel::Memory::registers, 0, kBytesOfLine});
                const Expr to =
                    kernel::address_of(rows_.name(write.level, together_.offset(number)), line, from.type());
                stores.push_back(
                    kernel::StoreLine{to, from, line_, kernel::variable("streams", Type::boolean)});
            }
        Block cells{kernel::Declare{Type::i32, "i", line + cell}};
        finish_cells(
            count, [&](const Write& write, int number) { return in_line(write, number, cell); }, cells);
        whole.push_back(kernel::For{"cell", 0, line_, 1, kernel::Unroll::vectorize, std::move(cells)});
        append(whole, std::move(stores));
        const Expr first = first_cell(), last = last_cell();
        // For what is left of 16 cells vectors would not save the time to compile them.
        const kernel::Unroll unroll = line_ > 16 ? kernel::Unroll::vectorize : kernel::Unroll::scalar;
        return {
            kernel::For{"line", first, last - (line_ - 1), line_, kernel::Unroll::leave, std::move(whole)},
            cell_by_cell(count, first + (last - first) / line_ * line_, unroll)};
    }

    void change_in_place(CellSources sources, Block& cell) {
        sources.is_in_region = is_in_region_;
        change_cell(
            context_, sources, [&](const Level& level) { return rows_.element(level, {}); }, [](Block&) {},
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
        finish_cell(sums.with_sums(sources), in_memory_, last);
        body.push_back(over_cells(std::move(last), true));
        before.push_back(
            kernel::For{"strip", first_cell(), last_cell(), count, kernel::Unroll::leave, std::move(body)});
        return before;
    }

    Context& context_;
    const Together together_;
    const int line_;  // cells of a line, or 0
    StrategyResult result_;
    CellIndex index_;
    const CpuRows rows_;
    std::array<Bounds, ir::kMaxRank> bounds_;  // of the cells that are computed
    std::array<bool, ir::kMaxRank>
        is_in_region_{};  // by axis: these are those of a box that statements are for
};

}  // namespace

StrategyResult lower_loops(Context& context) {
    return Loops(context).lower();
}

std::vector<std::string> loop_roles(const StageView& stage) {
    std::vector<std::string> roles = {"begin", "end", "block"};
    if (has_table_sums(stage)) roles = table_roles();
    if (has_blocks_of_rows(stage)) roles.insert(roles.end(), {"per_plane", "first_plane", "last_plane"});
    if (cells_of_line(stage) > 0) roles.insert(roles.end(), {"line", "cell"});
    if (has_blocks_of_rows(stage) || cells_together(stage).count > 1)
        roles.insert(roles.end(), {"first_row", "last_row"});
    return roles;
}

}  // namespace halo::lower
