// The halo exchange of a resident kernel: what blocks send, and where it lies in the exchange buffer.
//
// A *message* holds neighbouring cells of one thread: along the first axis where they lie at faces of the
// other axes, and along the second axis at faces of the first. It consists of packets of 8 or 16 bytes, each
// of which becomes visible as a whole and carries its epoch, the number of its step. Packets of one kind lie
// side by side for all messages, so that the lanes of a warp store to neighbouring addresses: their stores
// are coalesced.
#include <algorithm>

#include "compiler/lower/resident/block.h"

namespace halo::lower {

ResidentBlock::MessageLayout ResidentBlock::message_layout(const ResidentBox& box, bool of_sides) const {
    const bool is_wide = type_of(box.field) == Type::f64;
    MessageLayout layout;
    layout.of_sides = of_sides;
    const int along = of_sides ? 1 : 0;
    layout.cells = cells(along) % 4 == 0 ? 4 : cells(along) % 2 == 0 ? 2 : 1;
    // A single cell of a row is read past a corner; three to a pair would have it in any of four places.
    layout.has_threes = !is_wide && layout.cells == 4 && (of_sides || !box.has_corners);
    if (is_wide) {
        for (int cell = 0; cell < layout.cells; ++cell)
            layout.packets.push_back({2 * cell, 2});
    } else if (layout.has_threes) {
        layout.packets = {{0, 2}, {2, 1}};
    } else {
        for (int cell = 0; cell < layout.cells; cell += 2)
            layout.packets.push_back({cell, std::min(layout.cells, 2)});
    }
    layout.words = layout.packets.back().offset + layout.packets.back().words;
    layout.in_row = box.own[static_cast<std::size_t>(along)] / layout.cells;
    layout.in_block = layout.in_row * box.own[2];
    if (of_sides) {
        layout.in_block *= 2 * depth(box, 0);
    } else {
        layout.in_block *= box.own[1];
    }
    const bool is_needed =
        of_sides ? box.exchanged_along[0] : box.exchanged_along[1] || box.exchanged_along[2];
    if (!is_needed) layout.in_block = 0;
    layout.in_block += layout.in_block % 2;  // packets of 16 bytes stay aligned
    return layout;
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
    return rows.in_block * rows.words + sides.in_block * sides.words;
}

// The number of messages of all blocks.
ResidentBlock::Expr ResidentBlock::all_messages(const ResidentBox& box, const MessageLayout& layout) const {
    const BoxNames& names = names_.at(box.field);
    return variable(names.blocks) *
           (layout.of_sides ? names.side_messages_in_block : names.messages_in_block);
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

// Where a packet of a message lies: words of eight bytes from the start of the buffer of its epoch.
ResidentBlock::Expr ResidentBlock::packet_offset(const ResidentBox& box, const MessageLayout& layout,
                                                 const MessageLayout::Packet& packet,
                                                 const Expr& message) const {
    const MessageLayout rows = message_layout(box, false);
    Expr at = message * packet.words + all_messages(box, layout) * packet.offset;
    if (layout.of_sides && rows.in_block > 0) at = at + all_messages(box, rows) * rows.words;
    return at;
}

void ResidentBlock::declare_exchange(const ResidentBox& box) {
    BoxNames& names = names_[box.field];
    names.number = static_cast<int>(result_.exchanges.size());
    result_.exchanges.push_back(words_of_block(box));
    names.exchange = context_.exchange(names.number, word(box.field) + "_exchange");
    names.half = context_.exchange_half(names.number, word(box.field) + "_half");
    names.blocks = context_.local("blocks");
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

// Whether ghost cells of other blocks show cells at this face; empty where they always do.
ResidentBlock::Expr ResidentBlock::is_read(const ResidentBox& box, int axis, int side) {
    if (image(box, axis, side).shows_cell()) return {};
    return side == 0 ? origin(axis) > 0 : origin(axis) + size(axis) < context_.extent(axis);
}

void ResidentBlock::declare_sends(const ResidentBox& box) {
    BoxNames& names = names_[box.field];
    const MessageLayout rows = message_layout(box, false), sides = message_layout(box, true);
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
        names.sends = context_.local(word(box.field) + "_sends");
        names.message = context_.local(word(box.field) + "_message");
        body().push_back(kernel::Comment{"A bit for each row of the thread that other blocks need."});
        body().push_back(kernel::Declare{Type::i32, names.sends, 0, true});
        Expr outer;
        for (int axis = 1; axis < rank(); ++axis)
            for (int side = 0; side < 2 && box.exchanged_along[static_cast<std::size_t>(axis)]; ++side)
                outer = outer || of_face(axis, side);
        Block row{kernel::If{
            is_thread_in_row() && is_row_in_grid() && outer, {add_bit(names.sends, row_in_thread())}, {}}};
        append(body(), over_cells(2, over_cells(1, std::move(row))));
        declare(body(), names.message,
                variable("block") * names.messages_in_block + row_message(rows, inner(2, rank()), inner(1)) +
                    inner(0) / cells_of_message(0, rows.cells));
    }
    if (sides.in_block > 0) {
        names.side_sends = context_.local(word(box.field) + "_side_sends");
        body().push_back(
            kernel::Comment{"The same for its columns, at the lower face and at the upper one."});
        body().push_back(kernel::Declare{Type::i32, names.side_sends, 0, true});
        for (int side = 0; side < 2; ++side) {
            names.side_messages[side] =
                context_.local(word(box.field) + (side == 0 ? "_low_message" : "_high_message"));
            // In a narrow block a cell is at both faces: receivers then poll the message of the lower one.
            Expr is_sent = of_face(0, side);
            if (side == 0 && is_read(box, 0, 0).has_value())
                is_sent = is_sent || (in_box(0) < depth(box, 0) && of_face(0, 1));
            append(body(), over_cells(0, {kernel::If{is_in_grid(0) && is_sent,
                                                     {add_bit(names.side_sends, loop(0) + side * cells(0))},
                                                     {}}}));
            const Expr column = side == 0 ? inner(0) : inner(0) - size(0) + 2 * depth(box, 0);
            declare(body(), names.side_messages[side],
                    variable("block") * names.side_messages_in_block +
                        (inner(2, rank()) * (2 * depth(box, 0)) + column) * messages_of(1, sides) +
                        inner(1) / cells_of_message(1, sides.cells));
        }
    }
}

// Declares where the packets of this epoch go.
void ResidentBlock::declare_targets(const ResidentBox& box, Block& step) {
    BoxNames& names = names_.at(box.field);
    names.packets = context_.local(word(box.field) + "_packets");
    step.push_back(kernel::DeclarePointer{
        Type::i64, names.packets,
        kernel::address_of(names.exchange, variable("epoch") % 2 * names.half, Type::i64), true});
    const auto declare_target = [&](const std::string& message, const MessageLayout& layout) {
        for (const MessageLayout::Packet& packet : layout.packets)
            step.push_back(kernel::DeclarePointer{
                Type::i64, target(message, packet),
                kernel::address_of(names.packets, packet_offset(box, layout, packet, variable(message)),
                                   Type::i64),
                true});
    };
    if (!names.message.empty()) declare_target(names.message, message_layout(box, false));
    for (const std::string& message : names.side_messages)
        if (!message.empty()) declare_target(message, message_layout(box, true));
}

std::string ResidentBlock::target(const std::string& message, const MessageLayout::Packet& packet) {
    return context_.local(message + "_to" + (packet.offset > 0 ? std::to_string(packet.offset) : ""));
}

// Sends the message that is so many after `message`; its values are cell(0), cell(1) ….
ResidentBlock::Block ResidentBlock::send_message(const ResidentBox& box, const MessageLayout& layout,
                                                 const std::string& message, const Expr& after,
                                                 const Expr& is_needed,
                                                 const std::function<Expr(int)>& cell) {
    const bool is_wide = type_of(box.field) == Type::f64;
    Block send;
    int next = 0;
    for (const MessageLayout::Packet& packet : layout.packets) {
        std::vector<Expr> arguments{
            kernel::address_of(target(message, packet), after * packet.words, Type::i64)};
        const int count = is_wide || packet.words == 1 ? 1 : layout.has_threes ? 3 : 2;
        for (int each = 0; each < count; ++each)
            arguments.push_back(cell(next++));
        arguments.push_back(variable("epoch"));
        arguments.push_back(is_needed);
        const auto helper = is_wide      ? kernel::Helper::send_f64
                            : count == 1 ? kernel::Helper::send_f32
                            : count == 2 ? kernel::Helper::send2_f32
                                         : kernel::Helper::send3_f32;
        send.push_back(kernel::RunHelper{helper, std::move(arguments)});
    }
    return send;
}

void ResidentBlock::send_row(const ResidentBox& box, Block& row) {
    const BoxNames& names = names_.at(box.field);
    if (names.message.empty()) return;
    const MessageLayout layout = message_layout(box, false);
    const Expr after = row_message(layout, loop(2), loop(1));
    const Expr is_needed =
        kernel::call_helper(kernel::Helper::has_bit, {variable(names.sends), row_in_thread()});
    append(row, send_message(box, layout, names.message, after, is_needed,
                             [&](int x) { return near(written_level(box), loop(2), loop(1), x); }));
}

// Sends the columns of a plane, once its rows are computed.
void ResidentBlock::send_sides(const ResidentBox& box, Block& plane) {
    const BoxNames& names = names_.at(box.field);
    if (names.side_messages[0].empty()) return;
    const MessageLayout layout = message_layout(box, true);
    const auto send_column = [&](int side, int x, Block& column) {
        const Expr is_needed =
            kernel::call_helper(kernel::Helper::has_bit, {variable(names.side_sends), x + side * cells(0)});
        for (int y = 0; y < cells(1); y += layout.cells) {
            const Expr after =
                (loop(2) * (2 * depth(box, 0)) + x) * messages_of(1, layout) + y / layout.cells;
            append(column,
                   send_message(box, layout, names.side_messages[side], after, is_needed,
                                [&](int cell) { return near(written_level(box), loop(2), y + cell, x); }));
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
