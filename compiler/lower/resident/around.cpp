#include "compiler/kernel/rewrite.h"
#include "compiler/lower/resident/block.h"
#include "compiler/lower/shared/images.h"

namespace halo::lower {

ResidentBlock::Slabs ResidentBlock::slabs(const ResidentBox& box) const {
    Slabs list;
    const bool is_wide = type_of(box.field) == Type::f64;
    const auto add = [&](int axis, bool is_beside) {
        const auto across = static_cast<std::size_t>(axis);
        if (box.reach[across] == 0) return;
        Slab slab;
        slab.axis = axis;
        slab.is_beside = is_beside;
        slab.is_exchanged = box.exchanged_along[across] && (!is_beside || box.exchanged_along[0]);
        for (std::size_t other = 0; other < 3; ++other) {
            slab.is_wide[other] = other > 0 && box.has_corners && static_cast<int>(other) < axis;
            slab.extent[other] = other == across || (other == 0 && is_beside) ? 2 * box.reach[other]
                                 : slab.is_wide[other]                        ? box.padded[other]
                                                                              : box.own[other];
        }
        const MessageLayout layout = message_layout(box, axis == 0);
        slab.packets = layout.packets;
        if (is_beside) {
            slab.packets = {{0, is_wide || layout.cells > 1 ? 2 : 1}};
        } else {
            slab.message_cells = layout.cells;
            slab.along = axis == 0 ? 1 : 0;
            slab.extent[static_cast<std::size_t>(slab.along)] /= slab.message_cells;
        }
        slab.count = slab.extent[0] * slab.extent[1] * slab.extent[2];
        slab.passes = (slab.count + schedule_.all_threads() - 1) / schedule_.all_threads();
        slab.first = list.passes;
        if (slab.is_exchanged) {
            list.passes += slab.passes;
            list.has_several_packets = list.has_several_packets || slab.packets.size() > 1;
        }
        list.all.push_back(slab);
    };
    for (int axis = rank() - 1; axis > 0; --axis)
        add(axis, false);
    for (int axis = rank() - 1; axis > 0 && box.has_corners && box.reach[0] > 0; --axis)
        add(axis, true);
    add(0, false);
    for (const int words : {2, 1}) {
        for (Slab& slab : list.all) {
            if (!slab.is_exchanged) continue;
            slab.offsets.resize(slab.packets.size());
            for (std::size_t packet = 0; packet < slab.packets.size(); ++packet) {
                if (slab.packets[packet].words != words) continue;
                slab.offsets[packet] = list.wide + list.narrow;
                (words == 2 ? list.wide : list.narrow) += slab.passes;
            }
        }
    }
    return list;
}

void ResidentBlock::declare_around(const ResidentBox& box) {
    BoxNames& names = names_[box.field];
    const Slabs list = slabs(box);
    body().push_back(kernel::BlankLine{});
    body().push_back(kernel::Comment{"Around the box of " + word(box.field) +
                                     ": the ghost cells that each thread fills in, from the grid and then "
                                     "from packets of other blocks."});
    if (box.is_exchanged) {
        names.around = context_.local(word(box.field) + "_around");
        names.source = context_.local(word(box.field) + "_source");
        body().push_back(kernel::DeclareArray{Type::i32, names.around, {list.passes}});
        body().push_back(kernel::DeclareArray{
            Type::i32, names.source, {list.has_several_packets ? list.passes : list.wide + list.narrow}});
    }
    for (const Slab& slab : list.all)
        append(body(), loop_over("pass", slab.passes, around_pass(box, slab, list.has_several_packets)));
}

// The coordinate of a thread's message within its slab along an axis.
ResidentBlock::Expr ResidentBlock::message_in(const Slab& slab, int axis) const {
    Expr rest = slab.passes > 1 ? variable("index") : variable("thread");
    Expr divisor = 1;
    for (int before = 0; before < axis; ++before)
        divisor = divisor * extent_in(slab, before);
    rest = rest / divisor;
    if (axis < rank() - 1 && kernel::int_value(extent_in(slab, axis)) == 1) return 0;
    return axis == rank() - 1 ? rest : rest % extent_in(slab, axis);
}

// How many messages a slab has along an axis.
ResidentBlock::Expr ResidentBlock::extent_in(const Slab& slab, int axis) const {
    const auto index = static_cast<std::size_t>(axis);
    const int cells = slab.extent[index] * (axis == slab.along ? slab.message_cells : 1);
    const bool is_across = axis == slab.axis || (axis == 0 && slab.is_beside);
    if (is_across) return slab.extent[index];
    const Expr own = tile(axis) + (cells - schedule_.tile(axis));
    if (axis != slab.along || slab.message_cells == 1) return own;
    if (slab.message_cells == this->cells(axis)) return constants_.threads_along[index];
    return own / slab.message_cells;
}

ResidentBlock::Block ResidentBlock::around_pass(const ResidentBox& box, const Slab& slab,
                                                bool has_several_packets) {
    Block filling;
    if (slab.passes > 1)
        declare(filling, "index", variable("thread") + variable("pass") * constants_.threads);
    const bool has_values = sets_values(box);
    const bool has_loop = slab.message_cells > 1 && has_values;  // over the cells of a message
    Expr there;
    Place place{0, 0, 0}, cell;
    for (int axis = 0; axis < rank(); ++axis) {
        const auto index = static_cast<std::size_t>(axis);
        const int reach = box.reach[index];
        Expr local = message_in(slab, axis);
        if (axis == slab.along && slab.message_cells > 1)
            local = local * cells_of_message(axis, slab.message_cells) + (has_loop ? variable("x") : Expr(0));
        const bool is_past = axis == slab.axis || (axis == 0 && slab.is_beside);
        if (is_past) {
            if (axis == slab.axis) {
                declare(filling, "layer", local);
                local = variable("layer");
            }
            local = kernel::select(local < reach, local - reach, size(axis) + (local - reach));
        } else if (slab.is_wide[index]) {
            there = there && local < size(axis) + 2 * reach;
            local = local - reach;
        } else if (!is_whole(axis)) {
            there = there && local < size(axis);
        }
        declare(filling, Context::kIndexNames[axis], origin(axis) + local);
        cell[index] = variable(Context::kIndexNames[axis]);
        place[index] = cell[index] - origin(axis) + (axis == 0 ? box.left : reach);
        if (axis == 0 && is_past && rest() > 0)
            place[0] = place[0] + kernel::select(cell[0] < origin(0), 0, row_size() - size(0));
    }
    if (slab.count % schedule_.all_threads() != 0) {
        const bool is_layer = slab.axis == rank() - 1;
        const Expr last = is_layer ? variable("layer") : message_in(slab, rank() - 1);
        there = last < extent_in(slab, rank() - 1) && there;
    }
    if (there) {
        declare(filling, "is_there", there, Type::boolean);
        there = truth("is_there");
    }
    declare(filling, "place", place_from(box, 0, place));
    show_cell(box, cell, there, slab, has_several_packets, filling);
    if (!has_loop) return slab.passes > 1 ? filling : Block{kernel::Scope{std::move(filling)}};
    return loop_over("x", cells_of_message(slab.along, slab.message_cells), std::move(filling));
}

// Whether a ghost cell is past a face beyond which no cell of the grid is shown.
ResidentBlock::Expr ResidentBlock::is_past(const ResidentBox& box, int axis, int side, const Expr& cell) {
    if (box.reach[static_cast<std::size_t>(axis)] == 0) return {};
    if (image(box, axis, side).shows_cell()) return {};
    return side == 0 ? cell < 0 : cell >= context_.extent(axis);
}

ResidentBlock::Expr ResidentBlock::shown(const ResidentBox& box, int axis, Expr cell) {
    if (box.reach[static_cast<std::size_t>(axis)] == 0) return cell;
    const Expr n = context_.extent(axis), index = cell;
    for (const bool reflects : {false, true}) {  // reflections are tested first
        for (int side = 0; side < 2; ++side) {
            const rt::ImageMap map = image(box, axis, side);
            if (!map.shows_cell() || map.reflects() != reflects) continue;
            const Expr is_past = side == 0 ? index < 0 : index >= n;
            cell = kernel::select(is_past, shown_cell(map, index, n), cell);
        }
    }
    return cell;
}

bool ResidentBlock::sets_values(const ResidentBox& box) {
    return has_levels_at_start(box) || !fixed_faces(box, {0, 0, 0}).empty();
}

// A ghost cell of the box: where its packets come from, and its values before the first step.
void ResidentBlock::show_cell(const ResidentBox& box, const Place& cell, const Expr& there, const Slab& slab,
                              bool has_several_packets, Block& pass) {
    static constexpr const char* kSources[] = {"source_i", "source_j", "source_k"};
    const BoxNames& names = names_.at(box.field);
    Expr past;
    Place source;
    for (int axis = 0; axis < rank(); ++axis) {
        const auto index = static_cast<std::size_t>(axis);
        for (int side = 0; side < 2; ++side) {
            if (const Expr beyond = is_past(box, axis, side, cell[index])) past = past || beyond;
        }
        source[index] = shown(box, axis, cell[index]);
        if (!std::holds_alternative<kernel::Variable>(source[index]->kind)) {
            declare(pass, kSources[axis], source[index]);
            source[index] = variable(kSources[axis]);
        }
    }
    Expr shows = there;
    if (past) {
        declare(pass, "shows", shows && kernel::logical_not(past), Type::boolean);
        shows = truth("shows");
    }
    if (has_levels_at_start(box))
        declare(pass, "source", as_int(context_.element_offset(source[0], source[1], source[2])));
    if (slab.is_exchanged) {
        const Expr number = (slab.passes > 1 ? variable("pass") : Expr(0)) + slab.first;
        Block notes{kernel::Assign{kernel::element(names.around, {number}, Type::i32), variable("place")}};
        note_packets(box, slab, has_several_packets, source, shows, notes);
        if (slab.message_cells > 1 && sets_values(box)) {
            pass.push_back(kernel::If{variable("x") == 0, std::move(notes), {}});
        } else {
            append(pass, std::move(notes));
        }
    }
    set_first_values(box, cell, there, shows, pass);
}

// Notes where the packets of a message lie, whose first cell is at `source` in the grid.
void ResidentBlock::note_packets(const ResidentBox& box, const Slab& slab, bool has_several_packets,
                                 const Place& source, const Expr& shows, Block& notes) {
    const BoxNames& names = names_.at(box.field);
    const bool is_wide = type_of(box.field) == Type::f64;
    const MessageLayout layout = message_layout(box, slab.axis == 0);
    Place cell{0, 0, 0};
    Expr block = 0;
    for (int axis = rank() - 1; axis >= 0; --axis) {
        const auto index = static_cast<std::size_t>(axis);
        cell[index] = source[index] % tile(axis);
        block = block * variable(kBlocks[axis]) + source[index] / tile(axis);
    }
    Expr message = block * (layout.of_sides ? names.side_messages_in_block : names.messages_in_block);
    if (slab.axis == 0) {
        const int deep = depth(box, 0);
        const Expr first = source[0] - cell[0];
        const Expr width = is_whole(0) ? tile(0) : kernel::min(context_.extent(0) - first, tile(0));
        const Expr column = kernel::select(cell[0] < deep, cell[0], cell[0] - width + 2 * deep);
        message = message + (cell[2] * (2 * deep) + column) * messages_of(1, layout) +
                  cell[1] / cells_of_message(1, layout.cells);
    } else {
        message =
            message + row_message(layout, cell[2], cell[1]) + cell[0] / cells_of_message(0, layout.cells);
    }
    declare(notes, "message", message);
    const Expr pass = slab.passes > 1 ? variable("pass") : Expr(0);
    Expr from = variable("message");
    if (slab.packets.size() == 1) {
        from = packet_offset(box, layout, slab.packets[0], from);
        // A single cell of a row arrives in one packet of that row's message.
        if (slab.is_beside && layout.cells > 1)
            from = from + cell[0] % layout.cells / (is_wide ? 1 : 2) * 2 * all_messages(box, layout);
    }
    const int number = has_several_packets ? slab.first : slab.offsets[0];
    notes.push_back(kernel::Assign{kernel::element(names.source, {pass + number}, Type::i32),
                                   shows ? kernel::select(shows, from, constants_.no_packet) : from});
    // A packet has two values: the sign of the place tells which one is meant.
    if (slab.is_beside && layout.cells > 1 && !is_wide)
        notes.push_back(kernel::Assign{
            kernel::element(names.around, {pass + slab.first}, Type::i32),
            kernel::select(cell[0] % 2 == 0, variable("place"), Expr(-1) - variable("place"))});
}

// The fixed faces that a ghost cell may be past, and what it then holds. Where several are the first
// decides; neighbours of one value share a test.
std::vector<ResidentBlock::Fixed> ResidentBlock::fixed_faces(const ResidentBox& box, const Place& cell) {
    std::vector<Fixed> faces;
    for (int axis = 0; axis < rank(); ++axis) {
        for (int side = 0; side < 2; ++side) {
            const Expr beyond = is_past(box, axis, side, cell[static_cast<std::size_t>(axis)]);
            if (!beyond || !image(box, axis, side).shows_value()) continue;
            const Expr value = context_.scalar(face(box, axis, side).value, type_of(box.field));
            if (!faces.empty() && kernel::same(faces.back().value, value)) {
                faces.back().beyond = faces.back().beyond || beyond;
            } else {
                faces.push_back({value, beyond});
            }
        }
    }
    return faces;
}

// Whether all ghost cells past faces of the grid hold one fixed value.
bool ResidentBlock::is_one_value(const ResidentBox& box, const std::vector<Fixed>& faces) const {
    bool has_free = false;
    for (int axis = 0; axis < rank(); ++axis)
        for (int side = 0; side < 2; ++side)
            has_free = has_free || (box.reach[static_cast<std::size_t>(axis)] > 0 &&
                                    image(box, axis, side).shows_nothing());
    return faces.size() == 1 && !has_free;
}

// The values before the first step, in all slots: those of the grid, and fixed ones, which stay.
void ResidentBlock::set_first_values(const ResidentBox& box, const Place& cell, const Expr& there,
                                     const Expr& shows, Block& pass) {
    const auto in_slot = [&](int slot) {
        return element(box, further(0, slot, names_.at(box.field).slot), variable("place"));
    };
    const std::vector<Fixed> faces = fixed_faces(box, cell);
    const bool is_one = is_one_value(box, faces);
    const int levels = has_levels_at_start(box) ? box.back + 1 : 0;
    Block loads;
    for (int slot = 0; slot < levels; ++slot) {
        Expr value = context_.element({box.field, slot - box.back}, variable("source"));
        if (is_one) value = kernel::select(shows, value, faces[0].value);
        loads.push_back(kernel::Assign{in_slot(slot), value});
    }
    if (!loads.empty()) append(pass, if_so(is_one ? there : shows, std::move(loads)));
    Expr decided = there;
    for (const Fixed& fixed : faces) {
        Block sets;
        for (int slot = is_one ? levels : 0; slot < box.slots; ++slot)
            sets.push_back(kernel::Assign{in_slot(slot), fixed.value});
        const Expr beyond = is_one ? kernel::logical_not(shows) : fixed.beyond;
        if (!sets.empty()) append(pass, if_so(decided && beyond, std::move(sets)));
        decided = decided && kernel::logical_not(fixed.beyond);
    }
}

// ---- receiving: the second half of the halo exchange

bool ResidentBlock::needs_inner_rows(const ResidentBox& box) const {
    if (box.reach[0] == 0) return false;
    return !has_lanes() || !has_whole_rows() || 2 * box.reach[0] > cells(0);
}

void ResidentBlock::receive(const ResidentBox& box, Block& step) {
    const BoxNames& names = names_.at(box.field);
    const std::string received = context_.local(word(box.field) + "_received");
    const Slabs list = slabs(box);
    step.push_back(kernel::BlankLine{});
    const std::string offsets = declare_packet_offsets(box, list, step);
    step.push_back(kernel::DeclareArray{Type::i64, received, {2 * list.wide + list.narrow}});
    step.push_back(kernel::RunHelper{
        kernel::Helper::poll_packets,
        {kernel::address_of(received, 0, Type::i64), kernel::address_of(offsets, 0, Type::i32), list.wide,
         list.narrow, kernel::address_of(names.packets, 0, Type::i64), variable("epoch")}});
    for (const Slab& slab : received_alike(list))
        append(step, loop_over("pass", slab.passes, unpack(box, slab, list)));
}

// The slabs that are exchanged. Some follow each other and are received alike: they become one, so that one
// loop does.
std::vector<ResidentBlock::Slab> ResidentBlock::received_alike(const Slabs& list) {
    std::vector<Slab> runs;
    for (const Slab& slab : list.all) {
        if (!slab.is_exchanged) continue;
        const auto follows = [&](const Slab& before) {
            if (slab.axis == 0 || before.axis == 0 || slab.is_beside != before.is_beside) return false;
            for (std::size_t packet = 0; packet < slab.offsets.size(); ++packet)
                if (slab.offsets[packet] != before.offsets[packet] + before.passes) return false;
            return true;
        };
        if (!runs.empty() && follows(runs.back())) {
            runs.back().passes += slab.passes;
        } else {
            runs.push_back(slab);
        }
    }
    return runs;
}

std::string ResidentBlock::declare_packet_offsets(const ResidentBox& box, const Slabs& list, Block& step) {
    const BoxNames& names = names_.at(box.field);
    if (!list.has_several_packets) return names.source;
    const std::string offsets = context_.local(word(box.field) + "_offsets");
    step.push_back(kernel::DeclareArray{Type::i32, offsets, {list.wide + list.narrow}});
    for (const Slab& slab : received_alike(list)) {
        const Expr pass = slab.passes > 1 ? variable("pass") : Expr(0);
        const MessageLayout layout = message_layout(box, slab.axis == 0);
        const Expr message = kernel::element(names.source, {pass + slab.first}, Type::i32);
        Block packets;
        for (std::size_t packet = 0; packet < slab.packets.size(); ++packet)
            packets.push_back(kernel::Assign{
                kernel::element(offsets, {pass + slab.offsets[packet]}, Type::i32),
                slab.packets.size() == 1 ? message
                                         : packet_offset(box, layout, slab.packets[packet], message)});
        append(step, loop_over("pass", slab.passes, std::move(packets)));
    }
    return offsets;
}

// Stores a message in the box once its packets have arrived.
ResidentBlock::Block ResidentBlock::unpack(const ResidentBox& box, const Slab& slab, const Slabs& list) {
    const BoxNames& names = names_.at(box.field);
    const Type type = type_of(box.field);
    const MessageLayout layout = message_layout(box, slab.axis == 0);
    const Expr pass = slab.passes > 1 ? variable("pass") : Expr(0);
    const std::string words = context_.local(word(box.field) + "_received");
    const Expr place = kernel::element(names.around, {pass + slab.first}, Type::i32);
    const Expr at = slot(box, written_time(box));
    const auto received = [&](int packet, int number) {
        const int number_of_first = slab.offsets[static_cast<std::size_t>(packet)];
        const bool is_pair = slab.packets[static_cast<std::size_t>(packet)].words == 2;
        const Expr start = is_pair ? (pass + number_of_first) * 2 : pass + (number_of_first + list.wide);
        return kernel::element(words, {start + number}, Type::i64);
    };
    const auto value = [&](int cell) {
        if (type == Type::f64) return kernel::call_helper(kernel::Helper::value_f64, {received(cell, 0)});
        const int of_piece = layout.has_threes ? 3 : 2;
        const int within = cell % of_piece;
        return kernel::call_helper(within == 1 ? kernel::Helper::high_f32 : kernel::Helper::low_f32,
                                   {received(cell / of_piece, within / 2)});
    };
    Block stores;
    if (slab.is_beside && layout.cells > 1 && type == Type::f32) {
        const Expr target = kernel::select(place >= 0, place, Expr(-1) - place);
        stores.push_back(
            kernel::Assign{element(box, at, target), kernel::select(place >= 0, value(0), value(1))});
    } else if (slab.message_cells == 1) {
        stores.push_back(kernel::Assign{element(box, at, place), value(0)});
    } else {
        if (slab.along == 0) {
            stores.push_back(kernel::DeclareArray{type, "values", {slab.message_cells}});
            for (int cell = 0; cell < slab.message_cells; ++cell)
                stores.push_back(kernel::Assign{kernel::element("values", {cell}, type), value(cell)});
            stores.push_back(kernel::StoreVector{
                address(box, at, place), kernel::element("values", {0}, type), slab.message_cells, true});
        }
        // A message may reach past the end of the grid, where ghost cells beside a corner lie: those stay.
        const bool is_in = is_whole(1) || !box.has_corners;
        if (slab.along == 1 && !is_in && slab.passes > 1)
            declare(stores, "index", variable("thread") + variable("pass") * constants_.threads);
        const Expr first = message_in(slab, 1) * slab.message_cells;
        for (int cell = 0; cell < slab.message_cells && slab.along == 1; ++cell) {
            append(stores,
                   if_so(is_in ? Expr() : first + cell < size(1),
                         {kernel::Assign{element(box, at, further(place, cell, names.row)), value(cell)}}));
        }
    }
    const int number = list.has_several_packets ? slab.first : slab.offsets[0];
    const Expr first = kernel::element(names.source, {pass + number}, Type::i32);
    return {kernel::If{first >= 0, std::move(stores), {}}};
}

}  // namespace halo::lower
