#include "compiler/lower/temporal/frame.h"

#include <algorithm>

#include "compiler/ir/shown_cells.h"
#include "compiler/support/error.h"

namespace halo::lower {

using kernel::Block;
using kernel::Expr;
using kernel::Type;

std::vector<std::string> temporal_roles() {
    return {"lane",      "warp",        "lane_x",    "place",      "parts",       "worker",    "workers",
            "all_warps", "is_even",     "tile",      "tiles",      "tiles_x",     "tile_x",    "tile_y",
            "tiles_y",   "share_begin", "share_end", "first_tile", "end_tile",    "out_begin", "out_end",
            "begin_i",   "end_i",       "begin_j",   "end_j",      "tile_i",      "tile_j",    "from_i",
            "into_line", "first_cell",  "aligned",   "iterations", "inner_begin", "inner_end", "traverse",
            "near_face", "near_side",   "steady",    "begin",      "end",         "iteration", "source",
            "slot",      "fetch",       "in_ring",   "to",         "unaligned",   "line",      "s",
            "later",     "level",       "index",     "oldest",     "now",         "earlier",   "own_columns",
            "given",     "unshifted",   "shift_x"};
}

TemporalFrame::TemporalFrame(Context& given, const schedule::Pipeline& line,
                             const schedule::TemporalSchedule& chosen, const schedule::TemporalShape& shaped)
    : context(given),
      pipeline(line),
      schedule(chosen),
      shape(shaped),
      rank(given.rank()),
      streaming_axis(line.streaming_axis()),
      steps(line.steps),
      cells_x(chosen.cells[0]),
      cells_y(given.rank() == 3 ? chosen.cells[1] : 1),
      warps(chosen.warps),
      values_x(line.words_of(chosen.cells[0])),
      two_rows(given.rank() == 3) {
    for (const schedule::Pipeline::Queue& queue : pipeline.queues)
        meets = meets || (queue.has_window && queue.lines() > 0 && two_rows);
    group_rings();
}

void TemporalFrame::group_rings() {
    for (const auto& [field, ring] : shape.rings) {
        const auto same = std::ranges::find(rings, ring, &Rings::ring);
        if (same != rings.end()) {
            same->fields.push_back(field);
        } else {
            rings.push_back({ring, {field}, "", "fetch", {}, {}});
        }
    }
    if (rings.size() == 1) return;
    for (Rings& each : rings) {
        each.suffix = "_" + context.program()[each.fields.front()].name;
        each.fetch = context.local("fetch" + each.suffix);
    }
}

const TemporalFrame::Rings& TemporalFrame::rings_of(ir::FieldId field) const {
    for (const Rings& each : rings)
        if (std::ranges::find(each.fields, field) != each.fields.end()) return each;
    throw InternalError("a field has no ring");
}

Type TemporalFrame::type_of(ir::FieldId field) const {
    return pipeline.is_packed() ? Type::u32 : kernel_type(context.program()[field].type);
}

Type TemporalFrame::memory_type(ir::FieldId field) const {
    return storage_type(context.program()[field].storage);
}

namespace {

// A word of four cells that have the value.
Expr in_each_byte(const Expr& byte) {
    return kernel::operation(kernel::Operator::mul, kernel::convert(byte, Type::u32),
                             kernel::int_literal(0x01010101, Type::u32));
}

}  // namespace

FaceRule TemporalFrame::face(ir::FieldId field, int axis, int side) {
    const ir::Face& face = context.program()[field].boundary[axis][side];
    const ir::ShownCells shown = ir::shown_cells(context.program(), context.program()[field], axis, side);
    FaceRule rule{shown.map, {}, shown.negates};
    if (!rule.map.shows_value()) return rule;
    const ir::Field& of = context.program()[field];
    rule.value = context.scalar(face.value, kernel_type(of.type));
    if (pipeline.is_packed()) rule.value = in_each_byte(stored(rule.value, of));
    return rule;
}

Expr TemporalFrame::own_row(const Expr& y) const {
    if (!two_rows) return 0;
    if (shape.periodic[1]) return kernel::element("row", {y}, Type::i64);
    return kernel::int_value(y) == 0 ? Expr(0) : y * context.pitch();
}

Expr TemporalFrame::stride() const {
    return rank == 3 ? context.slice() : kernel::convert(context.pitch(), Type::i64);
}

Expr TemporalFrame::plane_offset(const Expr& index) const {
    return rank == 3 ? index * context.slice() : kernel::convert(index, Type::i64) * context.pitch();
}

Expr TemporalFrame::wrapped(const Expr& index, int axis) {
    if (!shape.periodic[axis]) return index;
    const Expr extent = context.extent(axis);
    return kernel::select(index < 0, index + extent, kernel::select(index >= extent, index - extent, index));
}

Expr TemporalFrame::ring_slot(const Rings& of, const Expr& plane_from_iteration) {
    Expr slot = plane_from_iteration - of.ring.first;
    if (of.oldest) {
        const bool may_wrap = kernel::int_value(slot) != 0;
        slot = of.oldest + slot;
        if (may_wrap) slot = kernel::select(slot < of.k_planes, slot, slot - of.k_planes);
    }
    return slot;
}

Expr TemporalFrame::ring_place(const Expr& row_in_block, const Expr& slot) const {
    const Expr line = slot * (two_rows ? k_tile_y : k_warps) + row_in_block;
    return line * k_ring_row + (into_line + lane_x);
}

Expr TemporalFrame::own_ring_place(const Expr& slot) const {
    if (cells_y == 1) return kernel::call_lambda("in_ring", {slot});
    return kernel::call_lambda("in_ring", {slot, y()});
}

Block TemporalFrame::over_cells(Block body) const {
    return loop_over("y", k_cells_y, loop_over("x", k_values_x, std::move(body)));
}

Block TemporalFrame::over_vector(Block body) const {
    const auto unroll = pipeline.is_packed() ? kernel::Unroll::full : kernel::Unroll::leave;
    return {kernel::For{"x", 0, k_cells_x, 1, unroll, std::move(body)}};
}

kernel::Statement copy_cells(Expr to, Expr from, const Expr& count, bool negates) {
    if (kernel::int_value(count) == 1)
        return kernel::Assign{std::move(to), negates ? -from : std::move(from)};
    return kernel::CopyCells{std::move(to), std::move(from), count, negates};
}

kernel::Statement fill_cells(Expr to, Expr value, const Expr& count, int stride) {
    if (kernel::int_value(count) == 1) return kernel::Assign{std::move(to), std::move(value)};
    return kernel::FillCells{std::move(to), std::move(value), count, stride};
}

namespace {

Expr address_of(const std::string& array, std::vector<Expr> place, Type type) {
    const Expr column = place.back();
    place.pop_back();
    return kernel::address_of(array, column, type, std::move(place));
}

}  // namespace

kernel::Statement load_row(const TemporalFrame& frame, Expr to, const std::string& array,
                           std::vector<Expr> place, Type memory) {
    if (frame.cells_x == 1)
        return kernel::Assign{std::move(to), kernel::element(array, std::move(place), memory)};
    return kernel::LoadVector{std::move(to), address_of(array, std::move(place), memory), frame.cells_x};
}

kernel::Statement store_row(const TemporalFrame& frame, const std::string& array, std::vector<Expr> place,
                            Expr from) {
    const Type type = from.type();
    if (frame.cells_x == 1)
        return kernel::Assign{kernel::element(array, std::move(place), type), std::move(from)};
    return kernel::StoreVector{address_of(array, std::move(place), type), std::move(from), frame.cells_x,
                               true};
}

}  // namespace halo::lower
