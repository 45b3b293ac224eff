// The halo exchange of a resident kernel: what blocks send, and where it lies in the exchange buffer.
//
// A *message* holds neighbouring cells of one thread: a row of them along the first axis where they lie at
// faces of the other axes, and a column along the second axis at faces of the first. It consists of packets
// of 8 or 16 bytes, each of which becomes visible as a whole and carries its epoch, the number of its step.
// Packets of one kind lie side by side for all messages, so that the lanes of a warp store to neighbouring
// addresses: their stores are coalesced.
#include <algorithm>

#include "compiler/kernel/rewrite.h"
#include "compiler/lower/resident/block.h"

namespace halo::lower {

ResidentBlock::MessageLayout ResidentBlock::message_layout(const ResidentBox& box, bool of_sides) const {
    const bool is_wide = type_of(box.field) == Type::f64;
    MessageLayout layout;
    layout.of_sides = of_sides;
    const int along = of_sides ? 1 : 0;
    layout.cells = schedule::message_cells(cells(along));
    layout.sent = is_wide ? 1 : layout.cells;
    if (!is_wide && layout.cells == 4 && sends_pairs()) layout.sent = 2;
    layout.large_packets = layout.sent == 4 ? 1 : layout.cells / layout.sent;
    if (!is_wide && layout.cells == 1) layout.large_packets = 0;
    layout.in_row = box.own[static_cast<std::size_t>(along)] / layout.cells;
    layout.in_block = layout.in_row * box.own[2] * (of_sides ? 2 * depth(box, 0) : box.own[1]);
    const bool is_needed =
        of_sides ? box.exchanged_along[0] : box.exchanged_along[1] || box.exchanged_along[2];
    if (!is_needed) layout.in_block = 0;
    layout.in_block = (layout.in_block + 3) / 4 * 4;  // blocks share no sector of 32 bytes
    return layout;
}

// Whether four f32 are sent as two pairs. A single cell of a row is read past a corner; three to a packet
// would have it in any of four places. All levels of a kernel are sent alike: the one that receives four
// values knows one layout.
bool ResidentBlock::sends_pairs() const {
    return std::ranges::any_of(shape_.boxes, [&](const ResidentBox& box) {
        return box.is_exchanged && box.has_corners && type_of(box.field) != Type::f64;
    });
}

// How many layers of cells at a face others read: a mirror shows one more, as it leaves out the one at the
// face.
int ResidentBlock::depth(const ResidentBox& box, int axis) const {
    const int reach = box.reach[static_cast<std::size_t>(axis)];
    const bool is_mirror = image(box, axis, 0).reflects() || image(box, axis, 1).reflects();
    return reach > 0 && is_mirror ? reach + 1 : reach;
}

int ResidentBlock::words_of_block(const ResidentBox& box) const {
    const MessageLayout rows = message_layout(box, false), sides = message_layout(box, true);
    return (rows.in_block + sides.in_block) * (1 + 2 * std::max(rows.large_packets, sides.large_packets));
}

// How many messages the cells of a box make along an axis.
ResidentBlock::Expr ResidentBlock::messages_of(int axis, const MessageLayout& layout) const {
    const auto index = static_cast<std::size_t>(axis);
    if (layout.cells == 1) return tile(axis);
    if (layout.cells == cells(axis)) return constants_.threads_along[index];
    return tile(axis) / layout.cells;
}

// How many cells a message has along an axis, by the name of that constant where it has one.
ResidentBlock::Expr ResidentBlock::cells_of_message(int axis, int count) const {
    return count == cells(axis) ? constants_.cells[static_cast<std::size_t>(axis)] : Expr(count);
}

// The number of a row's first message among those of the block.
ResidentBlock::Expr ResidentBlock::row_message(const MessageLayout& rows, const Expr& z,
                                               const Expr& y) const {
    return (z * tile(1) + y) * messages_of(0, rows);
}

// The number of the row that the loops are at, among those of the thread.
ResidentBlock::Expr ResidentBlock::row_in_thread() const {
    return loop(2) * constants_.cells[1] + loop(1);
}

void ResidentBlock::declare_exchange(const ResidentBox& box) {
    BoxNames& names = names_[box.field];
    names.number = static_cast<int>(result_.exchanges.size());
    result_.exchanges.push_back(words_of_block(box));
    names.exchange = context_.exchange(names.number, word(box.field) + "_exchange");
    names.half = context_.exchange_half(names.number, word(box.field) + "_half");
}

ResidentBlock::Expr ResidentBlock::blocks_along(int axis) {
    return (context_.extent(axis) + tile(axis) - 1) / tile(axis);
}

void ResidentBlock::declare_blocks() {
    for (int axis = rank() - 2; axis >= 0; --axis)
        declare(body(), kBlocks[axis], blocks_along(axis));
}

// A lambda of a cell's indices. Boxes for which it is the same share it.
std::string ResidentBlock::lambda(const std::string& name, const ResidentBox& box, const Expr& value) {
    std::string given = name;
    for (const kernel::Statement& known : body()) {
        const auto* declared = std::get_if<kernel::DeclareLambda>(&known.kind);
        if (declared == nullptr || !declared->name.starts_with(name)) continue;
        if (kernel::same(declared->value, value)) return declared->name;
        given = context_.local(name + "_" + word(box.field));
    }
    kernel::DeclareLambda made{given, {}, value, {}};
    for (int axis = 0; axis < rank(); ++axis)
        made.parameters.push_back({Context::kIndexNames[axis]});
    body().push_back(std::move(made));
    return given;
}

void ResidentBlock::declare_messages(const ResidentBox& box) {
    BoxNames& names = names_[box.field];
    const MessageLayout rows = message_layout(box, false), sides = message_layout(box, true);
    Expr blocks = 1, block = 0;
    Place cell{0, 0, 0};
    for (int axis = rank() - 1; axis >= 0; --axis) {
        const Expr index = variable(Context::kIndexNames[axis]);
        const bool is_last = axis == rank() - 1;
        blocks = is_last ? blocks_along(axis) : blocks * variable(kBlocks[axis]);
        block = is_last ? index / tile(axis) : block * variable(kBlocks[axis]) + index / tile(axis);
        cell[static_cast<std::size_t>(axis)] = index % tile(axis);
    }
    names.messages = context_.local(word(box.field) + "_messages");
    declare(body(), names.messages, blocks * names.messages_in_block);
    const Expr first = block * names.messages_in_block;
    if (rows.in_block > 0)
        names.row_message =
            lambda("row_message", box,
                   first + row_message(rows, cell[2], cell[1]) + cell[0] / cells_of_message(0, rows.cells));
    if (sides.in_block == 0) return;
    const int deep = depth(box, 0);
    const Expr row = variable(Context::kIndexNames[0]) - cell[0];  // where the block's rows begin
    const Expr width = is_whole(0) ? tile(0) : kernel::min(context_.extent(0) - row, tile(0));
    // A row's last thread may have cells past its end: it counts back from the last of these.
    const Expr column = deep == 1 && has_columns_of_threads(box)
                            ? kernel::select(cell[0] < 1, 0, 1)
                            : kernel::select(cell[0] < deep, cell[0], cell[0] - width + 2 * deep);
    names.column_message =
        lambda("column_message", box,
               first + names.rows_in_block + (cell[2] * (2 * deep) + column) * messages_of(1, sides) +
                   cell[1] / cells_of_message(1, sides.cells));
}

// ---- sending

// Whether ghost cells of other blocks show cells at this face; empty where they always do.
ResidentBlock::Expr ResidentBlock::is_read(const ResidentBox& box, int axis, int side) {
    if (image(box, axis, side).shows_cell()) return {};
    return side == 0 ? origin(axis) > 0 : origin(axis) + size(axis) < context_.extent(axis);
}

// The columns that are sent at a face are all of one thread: one condition does for them.
bool ResidentBlock::has_columns_of_threads(const ResidentBox& box) const {
    const int deep = depth(box, 0);
    return is_whole(0) && rest() == 0 && schedule_.tile(0) >= 2 * deep && cells(0) >= deep;
}

// Whether cells may be read that are none of the grid and show none: those past its end in a box, and past
// free faces.
bool ResidentBlock::needs_zeros(const ResidentBox& box) const {
    if (box.slots == 0) return false;
    bool needs = box.has_corners || rest() > 0;
    for (int axis = 0; axis < rank(); ++axis) {
        needs = needs || !is_whole(axis);
        for (int side = 0; side < 2 && box.reach[static_cast<std::size_t>(axis)] > 0; ++side)
            needs = needs || image(box, axis, side).shows_nothing();
    }
    return needs;
}

void ResidentBlock::declare_sends(const ResidentBox& box) {
    BoxNames& names = names_[box.field];
    const MessageLayout rows = message_layout(box, false), sides = message_layout(box, true);
    const auto of_face = [&](int axis, int side) {
        const Expr at = in_box(axis);
        return is_read(box, axis, side) &&
               (side == 0 ? at < depth(box, axis) : at >= size(axis) - depth(box, axis));
    };
    const auto add_bit_if = [](const Expr& condition, const std::string& bits, const Expr& number) {
        const Expr with = kernel::operation(kernel::Operator::bit_or, variable(bits), bit(number));
        return kernel::If{condition, {kernel::Assign{variable(bits), with}}, {}};
    };
    // The thread's first cell in the grid; along the first axis, so many after it.
    const auto own_cell = [&](int x) {
        std::vector<Expr> cell;
        for (int axis = 0; axis < rank(); ++axis)
            cell.push_back(origin(axis) + inner(axis) + (axis == 0 ? x : 0));
        return cell;
    };
    body().push_back(kernel::BlankLine{});
    if (rows.in_block > 0) {
        names.sends = context_.local(word(box.field) + "_sends");
        names.message = context_.local(word(box.field) + "_message");
        body().push_back(kernel::Comment{"A bit for each row of the thread that other blocks need."});
        body().push_back(kernel::Declare{Type::i32, names.sends, 0, true});
        Expr outer;
        for (int axis = 1; axis < rank(); ++axis)
            for (int side = 0; side < 2 && box.exchanged_along[static_cast<std::size_t>(axis)]; ++side)
                outer = outer || of_face(axis, side);
        append(body(),
               over_cells(2, over_cells(1, {add_bit_if(is_thread_in_row() && is_row_in_grid() && outer,
                                                       names.sends, row_in_thread())})));
        declare(body(), names.message, kernel::call_lambda(names.row_message, own_cell(0)));
    }
    if (sides.in_block > 0) {
        body().push_back(
            kernel::Comment{"The same for its columns, at the lower face and at the upper one."});
        names.side_sends = context_.local(word(box.field) + "_side_sends");
        if (has_columns_of_threads(box)) {
            const Expr low = is_read(box, 0, 0) && inner(0) == 0;
            const Expr high = is_read(box, 0, 1) && inner(0) == tile(0) - constants_.cells[0];
            declare(body(), names.side_sends,
                    kernel::operation(kernel::Operator::bit_or, kernel::select(low, 1, 0),
                                      kernel::select(high, 2, 0)));
        } else {
            body().push_back(kernel::Declare{Type::i32, names.side_sends, 0, true});
            // In a narrow block a cell is at both faces: receivers then poll the message of the lower one.
            Expr is_low = of_face(0, 0);
            const bool is_broad = is_whole(0) && schedule_.tile(0) >= 2 * depth(box, 0);
            if (!is_broad && is_read(box, 0, 0).has_value())
                is_low = is_low || (in_box(0) < depth(box, 0) && of_face(0, 1));
            append(body(), over_cells(0, {add_bit_if(is_in_grid(0) && is_low, names.side_sends, loop(0)),
                                          add_bit_if(is_in_grid(0) && of_face(0, 1), names.side_sends,
                                                     loop(0) + constants_.cells[0])}));
        }
        for (int side = 0; side < 2; ++side) {
            names.side_messages[side] =
                context_.local(word(box.field) + (side == 0 ? "_low_message" : "_high_message"));
            declare(body(), names.side_messages[side],
                    kernel::call_lambda(names.column_message, own_cell(side == 0 ? 0 : cells(0) - 1)));
        }
    }
}

// Declares where the packets of the first epoch lie. The pointer then moves from half to half: to compute it
// anew takes 5 % of a short step (heat3d on 64 cells cubed).
void ResidentBlock::declare_packets(const ResidentBox& box) {
    BoxNames& names = names_.at(box.field);
    names.packets = context_.local(word(box.field) + "_packets");
    names.to_next = context_.local(word(box.field) + "_to_next");
    const Expr sent = context_.steps_sent();
    body().push_back(kernel::DeclarePointer{
        Type::i64, names.packets, kernel::address_of(names.exchange, (sent + 1) % 2 * names.half, Type::i64),
        true});
    body().push_back(kernel::Declare{Type::i64, names.to_next,
                                     kernel::select(sent % 2 == 0, -names.half, names.half), true});
}

void ResidentBlock::advance_packets(const ResidentBox& box, Block& step) {
    const BoxNames& names = names_.at(box.field);
    const Expr to_next = kernel::variable(names.to_next, Type::i64);
    step.push_back(kernel::AdvancePointer{names.packets, to_next});
    step.push_back(kernel::Assign{to_next, -to_next});
}

// Sends a message; its values are cell(0), cell(1) ….
ResidentBlock::Block ResidentBlock::send_message(const ResidentBox& box, const MessageLayout& layout,
                                                 const Expr& message, const Expr& is_needed,
                                                 const std::function<Expr(int)>& cell) {
    const BoxNames& names = names_.at(box.field);
    const auto helper = type_of(box.field) == Type::f64 ? kernel::Helper::send_f64
                        : layout.sent == 1              ? kernel::Helper::send_f32
                        : layout.sent == 2              ? kernel::Helper::send2_f32
                                                        : kernel::Helper::send4_f32;
    Block send;
    for (int first = 0; first < layout.cells; first += layout.sent) {
        std::vector<Expr> arguments{kernel::address_of(names.packets, 0, Type::i64),
                                    message + first / layout.sent * variable(names.messages),
                                    variable(names.messages), variable("epoch"), is_needed};
        if (layout.sent == 1) {
            arguments.push_back(cell(first));
        } else {
            arguments.push_back(address_of(cell(first)));
            arguments.emplace_back(layout.of_sides ? windows_.at(written_level(box)).array.dim(2) : 1);
        }
        send.push_back(kernel::RunHelper{helper, std::move(arguments)});
    }
    return send;
}

ResidentBlock::Expr ResidentBlock::bit(const Expr& number) {
    return kernel::int_value(number) == 0 ? Expr(1)
                                          : kernel::operation(kernel::Operator::shift_left, 1, number);
}
ResidentBlock::Expr ResidentBlock::has_bit(const std::string& bits, const Expr& number) {
    return kernel::operation(kernel::Operator::bit_and, variable(bits), bit(number)) != 0;
}

void ResidentBlock::send_row(const ResidentBox& box, Block& row) {
    const BoxNames& names = names_.at(box.field);
    if (names.message.empty()) return;
    const MessageLayout layout = message_layout(box, false);
    append(row, send_message(box, layout, variable(names.message) + row_message(layout, loop(2), loop(1)),
                             has_bit(names.sends, row_in_thread()),
                             [&](int x) { return near(written_level(box), loop(2), loop(1), x); }));
}

// Sends the columns of a plane, once its rows are computed.
void ResidentBlock::send_sides(const ResidentBox& box, Block& plane) {
    const BoxNames& names = names_.at(box.field);
    if (names.side_messages[0].empty()) return;
    const MessageLayout layout = message_layout(box, true);
    const auto send_column = [&](int side, int x, Block& column) {
        const Expr is_needed =
            has_bit(names.side_sends, has_columns_of_threads(box) ? side : x + side * cells(0));
        const int from = side == 0 ? x : x - (cells(0) - 1);  // the column that the message is of
        for (int y = 0; y < cells(1); y += layout.cells) {
            const Expr message = variable(names.side_messages[side]) +
                                 (loop(2) * (2 * depth(box, 0)) + from) * messages_of(1, layout) +
                                 y / layout.cells;
            append(column, send_message(box, layout, message, is_needed, [&](int cell) {
                       return near(written_level(box), loop(2), y + cell, x);
                   }));
        }
    };
    Block sends;
    for (int x = 0; x < std::min(cells(0), depth(box, 0)); ++x)
        send_column(0, x, sends);
    // The last columns of a row belong to its last thread and, if that one has too few, to the one before.
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
    plane.push_back(kernel::If{variable(names.side_sends) != 0, std::move(sends), {}});
}

}  // namespace halo::lower
