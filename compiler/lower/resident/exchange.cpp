// What blocks of a resident kernel send each other, and where it lies in an exchange.
//
// What is sent together is a *unit*: neighbouring cells of one thread, along the first axis past the faces of
// the others, and along the second past those of the first. Its pieces are of one or two words, each of which
// is there at once and says of which step it is; like pieces of all units lie side by side, so that lanes
// send to neighbouring words.
#include <algorithm>

#include "compiler/lower/resident/block.h"

namespace halo::lower {

ResidentBlock::Units ResidentBlock::units_of(const ResidentBox& box, bool of_sides) const {
    const bool is_wide = type_of(box.field) == Type::f64;
    Units units;
    units.of_sides = of_sides;
    const int along = of_sides ? 1 : 0;
    units.cells = cells(along) % 4 == 0 ? 4 : cells(along) % 2 == 0 ? 2 : 1;
    // A single cell of a row is read past a corner; three to a pair would have it in any of four places.
    units.has_threes = !is_wide && units.cells == 4 && (of_sides || !box.has_corners);
    if (is_wide) {
        for (int cell = 0; cell < units.cells; ++cell)
            units.pieces.push_back({2 * cell, 2});
    } else if (units.has_threes) {
        units.pieces = {{0, 2}, {2, 1}};
    } else {
        for (int cell = 0; cell < units.cells; cell += 2)
            units.pieces.push_back({cell, std::min(units.cells, 2)});
    }
    units.words = units.pieces.back().offset + units.pieces.back().words;
    units.in_row = box.own[static_cast<std::size_t>(along)] / units.cells;
    units.in_block = units.in_row * box.own[2];
    if (of_sides) {
        units.in_block *= 2 * depth(box, 0);
    } else {
        units.in_block *= box.own[1];
    }
    const bool is_needed =
        of_sides ? box.exchanged_along[0] : box.exchanged_along[1] || box.exchanged_along[2];
    if (!is_needed) units.in_block = 0;
    units.in_block += units.in_block % 2;  // so that pairs of words stay aligned
    return units;
}

// Cells at a face that others may read: a mirror does not show the one at its face.
int ResidentBlock::depth(const ResidentBox& box, int axis) const {
    const int reach = box.reach[static_cast<std::size_t>(axis)];
    const bool is_mirror = face(box, axis, 0).kind == ir::BoundaryKind::mirror ||
                           face(box, axis, 1).kind == ir::BoundaryKind::mirror;
    return reach > 0 && is_mirror ? reach + 1 : reach;
}

int ResidentBlock::words_of_block(const ResidentBox& box) const {
    const Units rows = units_of(box, false), sides = units_of(box, true);
    return rows.in_block * rows.words + sides.in_block * sides.words;
}

// Units of all blocks.
ResidentBlock::Expr ResidentBlock::all_units(const ResidentBox& box, const Units& units) const {
    const Kept& kept = kept_.at(box.field);
    return variable(kept.blocks) * (units.of_sides ? kept.side_units_in_block : kept.units);
}

// So many units have the cells of a box along an axis.
ResidentBlock::Expr ResidentBlock::messages_of(int axis, const Units& units) const {
    const auto index = static_cast<std::size_t>(axis);
    if (units.cells == 1) return tile(axis);
    if (units.cells == cells(axis)) return constants_.threads_along[index];
    return tile(axis) / units.cells;
}

// The cells of a unit along an axis.
ResidentBlock::Expr ResidentBlock::cells_of_unit(int axis, int count) const {
    return count == cells(axis) ? constants_.cells[static_cast<std::size_t>(axis)] : Expr(count);
}

// The first unit of a row of the box: its number in the block.
ResidentBlock::Expr ResidentBlock::row_message(const Units& rows, const Expr& z, const Expr& y) const {
    return (z * tile(1) + y) * messages_of(0, rows);
}

// The number of the loops' row among those of the thread.
ResidentBlock::Expr ResidentBlock::row_in_thread() const {
    return loop(2) * constants_.cells[1] + loop(1);
}

// Where a unit's piece is: words from the start of a half.
ResidentBlock::Expr ResidentBlock::word_in_half(const ResidentBox& box, const Units& units,
                                                const Units::Piece& piece, const Expr& unit) const {
    const Units rows = units_of(box, false);
    Expr at = unit * piece.words + all_units(box, units) * piece.offset;
    if (units.of_sides && rows.in_block > 0) at = at + all_units(box, rows) * rows.words;
    return at;
}

void ResidentBlock::declare_exchange(const ResidentBox& box) {
    Kept& kept = kept_[box.field];
    kept.number = static_cast<int>(result_.exchanges.size());
    result_.exchanges.push_back(words_of_block(box));
    kept.exchange = context_.exchange(kept.number, word(box.field) + "_words");
    kept.half = context_.exchange_half(kept.number, word(box.field) + "_half");
    kept.blocks = context_.local("blocks");
}

// The block's number, and how many there are.
void ResidentBlock::declare_blocks() {
    const auto count = [&](int axis) { return (context_.extent(axis) + tile(axis) - 1) / tile(axis); };
    Expr all = 1, number = 0;
    for (int axis = rank() - 1; axis >= 0; --axis) {
        declare(body(), kBlocks[axis], count(axis));
        number = number * variable(kBlocks[axis]) + kernel::block_index(axis);
        all = all * variable(kBlocks[axis]);
    }
    declare(body(), context_.local("blocks"), all);
    declare(body(), "block", number);
}

// ---- sending

// Whether cells at a face of the block are shown elsewhere; empty where they always are.
ResidentBlock::Expr ResidentBlock::is_read(const ResidentBox& box, int axis, int side) {
    const ir::BoundaryKind kind = face(box, axis, side).kind;
    if (kind != ir::BoundaryKind::fixed && kind != ir::BoundaryKind::free) return {};
    return side == 0 ? origin(axis) > 0 : origin(axis) + size(axis) < context_.extent(axis);
}

void ResidentBlock::declare_sends(const ResidentBox& box) {
    Kept& kept = kept_[box.field];
    const Units rows = units_of(box, false), sides = units_of(box, true);
    const auto add_bit = [&](const std::string& bits, const Expr& bit) {
        return kernel::Assign{variable(bits),
                              kernel::call_helper(kernel::Helper::with_bit, {variable(bits), bit})};
    };
    const auto of_face = [&](int axis, int side) {
        const Expr at = in_box(axis);
        return is_read(box, axis, side) &&
               (side == 0 ? at < depth(box, axis) : at >= size(axis) - depth(box, axis));
    };
    body().push_back(kernel::BlankLine{});
    if (rows.in_block > 0) {
        kept.sends = context_.local(word(box.field) + "_sends");
        kept.unit = context_.local(word(box.field) + "_message");
        body().push_back(kernel::Comment{"A bit for each of the thread's rows that other blocks read."});
        body().push_back(kernel::Declare{Type::i32, kept.sends, 0, true});
        Expr outer;
        for (int axis = 1; axis < rank(); ++axis)
            for (int side = 0; side < 2 && box.exchanged_along[static_cast<std::size_t>(axis)]; ++side)
                outer = outer || of_face(axis, side);
        Block row{kernel::If{
            is_thread_in_row() && is_row_in_grid() && outer, {add_bit(kept.sends, row_in_thread())}, {}}};
        append(body(), over_cells(2, over_cells(1, std::move(row))));
        declare(body(), kept.unit,
                variable("block") * kept.units + row_message(rows, inner(2, rank()), inner(1)) +
                    inner(0) / cells_of_unit(0, rows.cells));
    }
    if (sides.in_block > 0) {
        kept.side_sends = context_.local(word(box.field) + "_side_sends");
        body().push_back(kernel::Comment{"The same for its columns, on either side."});
        body().push_back(kernel::Declare{Type::i32, kept.side_sends, 0, true});
        for (int side = 0; side < 2; ++side) {
            kept.side_units[side] =
                context_.local(word(box.field) + (side == 0 ? "_low_message" : "_high_message"));
            // In a narrow block cells are at both faces: those that look for them take the lower.
            Expr is_sent = of_face(0, side);
            if (side == 0 && is_read(box, 0, 0).has_value())
                is_sent = is_sent || (in_box(0) < depth(box, 0) && of_face(0, 1));
            append(body(), over_cells(0, {kernel::If{is_in_grid(0) && is_sent,
                                                     {add_bit(kept.side_sends, loop(0) + side * cells(0))},
                                                     {}}}));
            const Expr column = side == 0 ? inner(0) : inner(0) - size(0) + 2 * depth(box, 0);
            declare(body(), kept.side_units[side],
                    variable("block") * kept.side_units_in_block +
                        (inner(2, rank()) * (2 * depth(box, 0)) + column) * messages_of(1, sides) +
                        inner(1) / cells_of_unit(1, sides.cells));
        }
    }
}

// Where this step's words go, piece by piece.
void ResidentBlock::declare_targets(const ResidentBox& box, Block& step) {
    Kept& kept = kept_.at(box.field);
    kept.packets = context_.local(word(box.field) + "_packets");
    step.push_back(kernel::DeclarePointer{
        Type::i64, kept.packets,
        kernel::address_of(kept.exchange, variable("epoch") % 2 * kept.half, Type::i64), true});
    const auto declare_target = [&](const std::string& unit, const Units& units) {
        for (const Units::Piece& piece : units.pieces)
            step.push_back(kernel::DeclarePointer{
                Type::i64, target(unit, piece),
                kernel::address_of(kept.packets, word_in_half(box, units, piece, variable(unit)), Type::i64),
                true});
    };
    if (!kept.unit.empty()) declare_target(kept.unit, units_of(box, false));
    for (const std::string& unit : kept.side_units)
        if (!unit.empty()) declare_target(unit, units_of(box, true));
}

std::string ResidentBlock::target(const std::string& unit, const Units::Piece& piece) {
    return context_.local(unit + "_to" + (piece.offset > 0 ? std::to_string(piece.offset) : ""));
}

// Sends a unit: `unit` and so many after it; its cells are cell(0), cell(1) ….
ResidentBlock::Block ResidentBlock::send_unit(const ResidentBox& box, const Units& units,
                                              const std::string& unit, const Expr& after,
                                              const Expr& is_asked, const std::function<Expr(int)>& cell) {
    const bool is_wide = type_of(box.field) == Type::f64;
    Block send;
    int next = 0;
    for (const Units::Piece& piece : units.pieces) {
        std::vector<Expr> arguments{kernel::address_of(target(unit, piece), after * piece.words, Type::i64)};
        const int count = is_wide || piece.words == 1 ? 1 : units.has_threes ? 3 : 2;
        for (int each = 0; each < count; ++each)
            arguments.push_back(cell(next++));
        arguments.push_back(variable("epoch"));
        arguments.push_back(is_asked);
        const auto helper = is_wide      ? kernel::Helper::send_f64
                            : count == 1 ? kernel::Helper::send_f32
                            : count == 2 ? kernel::Helper::send2_f32
                                         : kernel::Helper::send3_f32;
        send.push_back(kernel::RunHelper{helper, std::move(arguments)});
    }
    return send;
}

void ResidentBlock::send_row(const ResidentBox& box, Block& row) {
    const Kept& kept = kept_.at(box.field);
    if (kept.unit.empty()) return;
    const Units units = units_of(box, false);
    const Expr after = row_message(units, loop(2), loop(1));
    const Expr is_asked =
        kernel::call_helper(kernel::Helper::has_bit, {variable(kept.sends), row_in_thread()});
    append(row, send_unit(box, units, kept.unit, after, is_asked,
                          [&](int x) { return near(written_level(box), loop(2), loop(1), x); }));
}

// A plane's columns, once its rows are done.
void ResidentBlock::send_sides(const ResidentBox& box, Block& plane) {
    const Kept& kept = kept_.at(box.field);
    if (kept.side_units[0].empty()) return;
    const Units units = units_of(box, true);
    const auto send_column = [&](int side, int x, Block& column) {
        const Expr is_asked =
            kernel::call_helper(kernel::Helper::has_bit, {variable(kept.side_sends), x + side * cells(0)});
        for (int y = 0; y < cells(1); y += units.cells) {
            const Expr after = (loop(2) * (2 * depth(box, 0)) + x) * messages_of(1, units) + y / units.cells;
            append(column, send_unit(box, units, kept.side_units[side], after, is_asked, [&](int cell) {
                       return near(written_level(box), loop(2), y + cell, x);
                   }));
        }
    };
    Block sends;
    for (int x = 0; x < std::min(cells(0), depth(box, 0)); ++x)
        send_column(0, x, sends);
    // The last columns of a row: its last thread's, and if these are too few the one's before.
    const auto send_last = [&](int in_last) {
        Block columns;
        for (int x = 0; x < cells(0); ++x)
            if ((in_last - 1 - x + cells(0)) % cells(0) < depth(box, 0)) send_column(1, x, columns);
        return columns;
    };
    if (rest() > 0 && depth(box, 0) < cells(0)) {
        sends.push_back(kernel::If{size(0) == tile(0), send_last(cells(0)), send_last(rest())});
    } else {
        append(sends, send_last(cells(0)));
    }
    plane.push_back(kernel::If{variable(kept.side_sends) != 0, std::move(sends), {}});
}

}  // namespace halo::lower
