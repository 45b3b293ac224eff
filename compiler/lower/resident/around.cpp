// The ghost cells of a block's box: which of them a thread fills in, which messages they come in, and what
// they hold before the first step.
#include <algorithm>
#include <functional>

#include "compiler/kernel/rewrite.h"
#include "compiler/lower/resident/block.h"
#include "compiler/lower/shared/images.h"

namespace halo::lower {

ResidentBlock::Slabs ResidentBlock::slabs(const ResidentBox& box) const {
    std::vector<Slab> found;
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
        if (is_beside) {
            slab.received = layout.sent;  // of the packet that has the cell
        } else {
            slab.message_cells = slab.received = layout.cells;
            slab.along = axis == 0 ? 1 : 0;
            slab.extent[static_cast<std::size_t>(slab.along)] /= slab.message_cells;
        }
        slab.count = slab.extent[0] * slab.extent[1] * slab.extent[2];
        slab.passes = (slab.count + schedule_.all_threads() - 1) / schedule_.all_threads();
        found.push_back(slab);
    };
    for (int axis = rank() - 1; axis > 0; --axis)
        add(axis, false);
    for (int axis = rank() - 1; axis > 0 && box.has_corners && box.reach[0] > 0; --axis)
        add(axis, true);
    add(0, false);
    Slabs list;
    const auto take = [&](const std::function<bool(const Slab&)>& which) {
        for (Slab& slab : found) {
            if (slab.passes == 0 || !which(slab)) continue;
            Slab taken = slab;
            taken.first = list.passes;
            list.passes += taken.passes;
            if (taken.is_exchanged) list.exchanged = list.passes;
            list.all.push_back(taken);
            slab.passes = 0;
        }
    };
    for (const Slab& slab : std::vector<Slab>(found))
        take([&](const Slab& other) {
            return slab.is_exchanged && other.is_exchanged && other.received == slab.received;
        });
    take([](const Slab&) { return true; });
    return list;
}

ResidentBlock::Expr ResidentBlock::is_pass_of(const Slabs& list,
                                              const std::function<bool(const Slab&)>& which) const {
    const Expr pass = variable("pass");
    Expr is_one;
    bool is_all = true;
    for (std::size_t at = 0; at < list.all.size(); ++at) {
        if (!which(list.all[at])) {
            is_all = false;
            continue;
        }
        std::size_t last = at;
        while (last + 1 < list.all.size() && which(list.all[last + 1]))
            ++last;
        const int first = list.all[at].first, end = list.all[last].end();
        const Expr after = first > 0 ? pass >= first : Expr();
        const Expr before = end < list.passes ? pass < end : Expr();
        const Expr within =
            end - first == 1 && first > 0 && end < list.passes ? pass == first : after && before;
        is_one = is_one || within;
        at = last;
    }
    if (is_all) return {};
    return is_one.has_value() ? is_one : kernel::int_literal(0, Type::boolean);
}

void ResidentBlock::declare_around(const ResidentBox& box) {
    BoxNames& names = names_[box.field];
    const Slabs list = slabs(box);
    body().push_back(kernel::BlankLine{});
    body().push_back(kernel::Comment{"The ghost cells of " + word(box.field) +
                                     " that this thread fills in: at first from the grid, later from "
                                     "messages."});
    if (box.is_exchanged) {
        names.around = context_.local(word(box.field) + "_around");
        names.source = context_.local(word(box.field) + "_source");
        body().push_back(kernel::DeclareArray{Type::i32, names.around, {list.exchanged}});
        body().push_back(kernel::DeclareArray{Type::i32, names.source, {list.exchanged}});
    }
    const bool is_only = list.all.size() == 1;
    Block filling;
    Expr there;
    if (is_only) {
        filling = first_cell(list.all[0], true, false);
    } else {
        for (int axis = 0; axis < rank(); ++axis)
            filling.push_back(kernel::Declare{Type::i32, Context::kIndexNames[axis], origin(axis), true});
    }
    // Where it takes nothing that the passes of a slab declare, one expression says whether a cell is there.
    Expr all_there;
    bool is_plain = !is_only;
    for (const Slab& slab : list.all) {
        const Expr of_slab = there_is(slab);
        if (!of_slab.has_value()) continue;
        there = truth("is_there");
        is_plain = is_plain && slab.passes == 1 && !asks_layer(slab);
        const auto is_other = [&](const Slab& other) { return other.first != slab.first; };
        all_there = all_there && (is_pass_of(list, is_other) || of_slab);
    }
    if (there.has_value() && !is_only && !is_plain)
        filling.push_back(
            kernel::Declare{Type::boolean, "is_there", kernel::int_literal(1, Type::boolean), true});
    Block choice;
    for (auto slab = list.all.rbegin(); slab != list.all.rend() && !is_only; ++slab) {
        Block cell = first_cell(*slab, false, is_plain);
        const bool is_last = slab == list.all.rbegin();
        const Expr is_it = is_last ? Expr() : variable("pass") < slab->end();
        choice = is_last ? std::move(cell) : Block{kernel::If{is_it, std::move(cell), std::move(choice)}};
    }
    append(filling, std::move(choice));
    if (is_plain && there.has_value()) declare(filling, "is_there", all_there, Type::boolean);
    append(filling, fill(box, list, there));
    if (list.passes == 1) filling = {kernel::Scope{std::move(filling)}};
    append(body(), loop_over("pass", list.passes, std::move(filling)));
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

// Whether the thread has a cell of a slab; empty where it always has. The cells of a message are asked each.
ResidentBlock::Expr ResidentBlock::there_is(const Slab& slab) const {
    Expr there;
    for (int axis = 1; axis < rank(); ++axis) {
        const auto index = static_cast<std::size_t>(axis);
        if (axis == slab.axis || axis == slab.along) continue;
        const int past = slab.is_wide[index] ? slab.extent[index] - schedule_.tile(axis) : 0;
        if (slab.is_wide[index] || !is_whole(axis))
            there = there && message_in(slab, axis) < size(axis) + past;
    }
    if (has_rest(slab)) {
        const Expr last = asks_layer(slab) ? variable("layer") : message_in(slab, rank() - 1);
        there = last < extent_in(slab, rank() - 1) && there;
    }
    return there;
}

// The first cell of the message that the thread has of a slab in this pass.
ResidentBlock::Block ResidentBlock::first_cell(const Slab& slab, bool is_only, bool is_there_later) {
    Block filling;
    if (slab.passes > 1)
        declare(filling, "index", variable("thread") + (variable("pass") - slab.first) * constants_.threads);
    Block cell;
    for (int axis = 0; axis < rank(); ++axis) {
        const auto index = static_cast<std::size_t>(axis);
        Expr local = message_in(slab, axis);
        if (axis == slab.along) local = local * cells_of_message(axis, slab.message_cells);
        const int reach = axis == slab.axis || (axis == 0 && slab.is_beside) ? slab.extent[index] / 2 : 0;
        if (reach > 0) {
            if (axis == slab.axis && reach > 1) {
                declare(filling, "layer", local);
                local = variable("layer");
            }
            local = reach == 1 ? kernel::select(local < 1, -1, size(axis))
                               : kernel::select(local < reach, local - reach, size(axis) + (local - reach));
        } else if (slab.is_wide[index]) {
            local = local - (slab.extent[index] - schedule_.tile(axis)) / 2;
        }
        const Expr name = variable(Context::kIndexNames[axis]);
        if (is_only)
            cell.push_back(
                kernel::Declare{Type::i32, Context::kIndexNames[axis], origin(axis) + local, true});
        else
            cell.push_back(kernel::Assign{name, kernel::operation(kernel::Operator::add, name, local)});
    }
    append(filling, std::move(cell));
    if (const Expr there = is_there_later ? Expr() : there_is(slab)) {
        if (is_only)
            declare(filling, "is_there", there, Type::boolean);
        else
            filling.push_back(kernel::Assign{truth("is_there"), there});
    }
    return filling;
}

// Fills in the cells of a message, whose first one is at i, j, k.
ResidentBlock::Block ResidentBlock::fill(const ResidentBox& box, const Slabs& list, const Expr& there) {
    const auto is_row = [](const Slab& slab) { return !slab.is_column() && !slab.is_beside; };
    const auto is_column = [](const Slab& slab) { return slab.is_column(); };
    static constexpr const char* kSources[] = {"source_i", "source_j", "source_k"};
    const BoxNames& names = names_.at(box.field);
    const bool has_values = sets_values(box);
    int most = 1;
    for (const Slab& slab : list.all)
        most = std::max(most, slab.message_cells);
    const bool has_loop = most > 1 && has_values;  // over the cells of a message
    Block filling;
    Place place{0, 0, 0}, cell{0, 0, 0}, source{0, 0, 0};
    Expr is_in = there, inside;
    for (int axis = 0; axis < rank(); ++axis) {
        const auto index = static_cast<std::size_t>(axis);
        cell[index] = variable(Context::kIndexNames[axis]);
        place[index] = cell[index] - origin(axis) + before(box, axis);
        if (axis == 0 && rest() > 0)
            place[0] = place[0] + kernel::select(cell[0] < origin(0) + size(0), 0, row_size() - size(0));
        // The grid may end within a message.
        const auto goes_along = [&](const Slab& slab) {
            return slab.along == axis && !slab.is_beside && !is_whole(axis);
        };
        if (std::ranges::any_of(list.all, goes_along)) {
            const Expr is_before_end = cell[index] < origin(axis) + size(axis);
            const bool is_all = std::ranges::all_of(list.all, goes_along);
            is_in = is_in &&
                    (is_all ? is_before_end : is_pass_of(list, std::not_fn(goes_along)) || is_before_end);
        }
    }
    if (is_in.has_value() && !kernel::same(is_in, there)) {
        declare(filling, "is_in", is_in, Type::boolean);
        is_in = truth("is_in");
    }
    declare(filling, "place", place_in(box, place));
    for (int axis = 0; axis < rank(); ++axis) {
        const auto index = static_cast<std::size_t>(axis);
        for (int side = 0; side < 2; ++side)
            if (is_past(box, axis, side, cell[index]).has_value())
                inside = inside && (side == 0 ? cell[index] >= 0 : cell[index] < context_.extent(axis));
        source[index] = shown(box, axis, cell[index]);
        if (!std::holds_alternative<kernel::Variable>(source[index]->kind)) {
            declare(filling, kSources[axis], source[index]);
            source[index] = variable(kSources[axis]);
        }
    }
    Expr shows = is_in;
    if (inside) {
        declare(filling, "shows", shows && inside, Type::boolean);
        shows = truth("shows");
    }
    if (has_levels_at_start(box)) declare(filling, "source", as_int(context_.element_offset(source)));
    if (list.exchanged > 0) {
        Block notes{
            kernel::Assign{kernel::element(names.around, {pass_of(list)}, Type::i32), variable("place")}};
        note_message(box, list, source, shows, notes);
        const Expr is_noted = is_pass_of(list, [](const Slab& slab) { return slab.is_exchanged; });
        append(filling, if_so((has_loop ? variable("cell") == 0 : Expr()) && is_noted, std::move(notes)));
    }
    set_first_values(box, cell, is_in, shows, filling);
    if (!has_loop) return filling;
    const bool has_rows = std::ranges::any_of(list.all, is_row);
    const bool has_columns = std::ranges::any_of(list.all, is_column);
    const Expr is_of_row = is_pass_of(list, std::not_fn(is_column));
    const auto go_along = [&](const Expr& index, int of_row, int of_column) {
        const Expr further = has_rows && has_columns ? kernel::select(is_of_row, of_row, of_column)
                                                     : Expr(has_rows ? of_row : of_column);
        if (kernel::int_value(further) == 0) return;
        filling.push_back(kernel::Assign{index, kernel::operation(kernel::Operator::add, index, further)});
    };
    go_along(cell[0], 1, 0);
    go_along(cell[1], 0, 1);
    Expr count = most;
    for (auto slab = list.all.rbegin(); slab != list.all.rend(); ++slab) {
        const Expr own = slab->is_beside ? Expr(1) : cells_of_message(slab->along, slab->message_cells);
        count = slab == list.all.rbegin() || kernel::same(own, count)
                    ? own
                    : kernel::select(variable("pass") < slab->end(), own, count);
    }
    const bool is_same =
        std::ranges::all_of(list.all, [&](const Slab& slab) { return slab.message_cells == most; });
    return {kernel::For{"cell", 0, is_same ? cells_of_message(0, most) : count, 1, kernel::Unroll::full,
                        std::move(filling)}};
}

ResidentBlock::Expr ResidentBlock::pass_of(const Slabs& list) {
    return list.passes > 1 ? variable("pass") : Expr(0);
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

// Notes which message the cell at `source` in the grid comes in.
void ResidentBlock::note_message(const ResidentBox& box, const Slabs& list, const Place& source,
                                 const Expr& shows, Block& notes) {
    const BoxNames& names = names_.at(box.field);
    const auto is_row = [&](const Slab& slab) { return slab.is_exchanged && !slab.is_column(); };
    const auto is_column = [&](const Slab& slab) { return slab.is_exchanged && slab.is_column(); };
    const auto is_beside = [&](const Slab& slab) { return slab.is_exchanged && slab.is_beside; };
    std::vector<Expr> cell;
    for (int axis = 0; axis < rank(); ++axis)
        cell.push_back(source[static_cast<std::size_t>(axis)]);
    Expr message;
    if (std::ranges::any_of(list.all, is_row)) message = kernel::call_lambda(names.row_message, cell);
    if (std::ranges::any_of(list.all, is_column)) {
        const Expr column = kernel::call_lambda(names.column_message, cell);
        message = message.has_value()
                      ? kernel::select(is_pass_of(list, std::not_fn(is_column)), message, column)
                      : column;
    }
    const Expr pass = pass_of(list);
    const auto note = [&](const Expr& value) {
        return kernel::Assign{kernel::element(names.source, {pass}, Type::i32),
                              shows ? kernel::select(shows, value, -1) : value};
    };
    const MessageLayout layout = message_layout(box, false);
    if (!std::ranges::any_of(list.all, is_beside) || layout.cells == 1) {
        notes.push_back(note(message));
        return;
    }
    // A single cell of a row arrives in one packet of that row's message, and of the two values of a packet
    // the sign of its place tells which one is meant.
    Block one{note(kernel::call_lambda(names.row_message, cell) +
                   source[0] % layout.cells / layout.sent * variable(names.messages))};
    if (layout.sent == 2)
        one.push_back(kernel::Assign{
            kernel::element(names.around, {pass}, Type::i32),
            kernel::select(source[0] % 2 == 0, variable("place"), Expr(-1) - variable("place"))});
    notes.push_back(kernel::If{is_pass_of(list, is_beside), std::move(one), {note(message)}});
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
        return element_at(box, first_slot(box, slot - box.back), variable("place"));
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

}  // namespace halo::lower
