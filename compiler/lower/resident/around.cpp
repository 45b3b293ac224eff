#include "compiler/kernel/rewrite.h"
#include "compiler/lower/resident/block.h"

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
        const Units units = units_of(box, axis == 0);
        slab.pieces = units.pieces;
        if (is_beside) {
            slab.pieces = {{0, is_wide || units.cells > 1 ? 2 : 1}};
        } else {
            slab.unit = units.cells;
            slab.along = axis == 0 ? 1 : 0;
            slab.extent[static_cast<std::size_t>(slab.along)] /= slab.unit;
        }
        slab.count = slab.extent[0] * slab.extent[1] * slab.extent[2];
        slab.passes = (slab.count + schedule_.all_threads() - 1) / schedule_.all_threads();
        slab.first = list.passes;
        if (slab.is_exchanged) {
            list.passes += slab.passes;
            list.has_pieces = list.has_pieces || slab.pieces.size() > 1;
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
            slab.looks.resize(slab.pieces.size());
            for (std::size_t piece = 0; piece < slab.pieces.size(); ++piece) {
                if (slab.pieces[piece].words != words) continue;
                slab.looks[piece] = list.pairs + list.singles;
                (words == 2 ? list.pairs : list.singles) += slab.passes;
            }
        }
    }
    return list;
}

void ResidentBlock::declare_around(const ResidentBox& box) {
    Kept& kept = kept_[box.field];
    const Slabs list = slabs(box);
    body().push_back(kernel::BlankLine{});
    body().push_back(kernel::Comment{"Around the box of " + word(box.field) +
                                     ": what each thread fills in, from the grid and then from packets of "
                                     "other blocks."});
    if (box.is_exchanged) {
        kept.around = context_.local(word(box.field) + "_around");
        kept.source = context_.local(word(box.field) + "_source");
        body().push_back(kernel::DeclareArray{Type::i32, kept.around, {list.passes}});
        body().push_back(kernel::DeclareArray{
            Type::i32, kept.source, {list.has_pieces ? list.passes : list.pairs + list.singles}});
    }
    for (const Slab& slab : list.all)
        append(body(), loop_over("pass", slab.passes, around_pass(box, slab, list.has_pieces)));
}

// A unit's place in its slab along an axis.
ResidentBlock::Expr ResidentBlock::unit_in(const Slab& slab, int axis) const {
    Expr rest = slab.passes > 1 ? variable("index") : variable("thread");
    Expr divisor = 1;
    for (int before = 0; before < axis; ++before)
        divisor = divisor * extent_in(slab, before);
    rest = rest / divisor;
    if (axis < rank() - 1 && kernel::int_value(extent_in(slab, axis)) == 1) return 0;
    return axis == rank() - 1 ? rest : rest % extent_in(slab, axis);
}

// How many units a slab has along an axis.
ResidentBlock::Expr ResidentBlock::extent_in(const Slab& slab, int axis) const {
    const auto index = static_cast<std::size_t>(axis);
    const int cells = slab.extent[index] * (axis == slab.along ? slab.unit : 1);
    const bool is_across = axis == slab.axis || (axis == 0 && slab.is_beside);
    if (is_across) return slab.extent[index];
    const Expr own = tile(axis) + (cells - schedule_.tile(axis));
    if (axis != slab.along || slab.unit == 1) return own;
    if (slab.unit == this->cells(axis)) return constants_.threads_along[index];
    return own / slab.unit;
}

ResidentBlock::Block ResidentBlock::around_pass(const ResidentBox& box, const Slab& slab, bool has_pieces) {
    Block unit;
    if (slab.passes > 1) declare(unit, "index", variable("thread") + variable("pass") * constants_.threads);
    const bool has_values = sets_values(box);
    const bool has_loop = slab.unit > 1 && has_values;  // over a unit's cells
    Expr there;
    Place place{0, 0, 0}, cell;
    for (int axis = 0; axis < rank(); ++axis) {
        const auto index = static_cast<std::size_t>(axis);
        const int reach = box.reach[index];
        Expr local = unit_in(slab, axis);
        if (axis == slab.along && slab.unit > 1)
            local = local * cells_of_unit(axis, slab.unit) + (has_loop ? variable("x") : Expr(0));
        const bool is_past = axis == slab.axis || (axis == 0 && slab.is_beside);
        if (is_past) {
            if (axis == slab.axis) {
                declare(unit, "layer", local);
                local = variable("layer");
            }
            local = kernel::select(local < reach, local - reach, size(axis) + (local - reach));
        } else if (slab.is_wide[index]) {
            there = there && local < size(axis) + 2 * reach;
            local = local - reach;
        } else if (!is_whole(axis)) {
            there = there && local < size(axis);
        }
        declare(unit, Context::kIndexNames[axis], origin(axis) + local);
        cell[index] = variable(Context::kIndexNames[axis]);
        place[index] = cell[index] - origin(axis) + (axis == 0 ? box.left : reach);
        if (axis == 0 && is_past && rest() > 0)
            place[0] = place[0] + kernel::select(cell[0] < origin(0), 0, row_size() - size(0));
    }
    if (slab.count % schedule_.all_threads() != 0) {
        const bool is_layer = slab.axis == rank() - 1;
        const Expr last = is_layer ? variable("layer") : unit_in(slab, rank() - 1);
        there = last < extent_in(slab, rank() - 1) && there;
    }
    if (there) {
        declare(unit, "is_there", there, Type::boolean);
        there = truth("is_there");
    }
    declare(unit, "place", place_from(box, 0, place));
    show_cell(box, cell, there, slab, has_pieces, unit);
    if (!has_loop) return slab.passes > 1 ? unit : Block{kernel::Scope{std::move(unit)}};
    return loop_over("x", cells_of_unit(slab.along, slab.unit), std::move(unit));
}

// Past a face whose cells show none of the grid.
ResidentBlock::Expr ResidentBlock::is_past(const ResidentBox& box, int axis, int side, const Expr& cell) {
    if (box.reach[static_cast<std::size_t>(axis)] == 0) return {};
    const ir::BoundaryKind kind = face(box, axis, side).kind;
    if (kind != ir::BoundaryKind::fixed && kind != ir::BoundaryKind::free) return {};
    return side == 0 ? cell < 0 : cell >= context_.extent(axis);
}

ResidentBlock::Expr ResidentBlock::shown(const ResidentBox& box, int axis, Expr cell) {
    if (box.reach[static_cast<std::size_t>(axis)] == 0) return cell;
    const Expr n = context_.extent(axis), index = cell;
    const auto kind = [&](int side) { return face(box, axis, side).kind; };
    if (kind(0) == ir::BoundaryKind::periodic) cell = kernel::select(index < 0, index + n, cell);
    if (kind(1) == ir::BoundaryKind::periodic) cell = kernel::select(index >= n, index - n, cell);
    if (kind(0) == ir::BoundaryKind::clamp) cell = kernel::select(index < 0, 0, cell);
    if (kind(1) == ir::BoundaryKind::clamp) cell = kernel::select(index >= n, n - 1, cell);
    if (kind(0) == ir::BoundaryKind::mirror) cell = kernel::select(index < 0, Expr(0) - index, cell);
    if (kind(1) == ir::BoundaryKind::mirror) cell = kernel::select(index >= n, (n + n) - (index + 2), cell);
    return cell;
}

bool ResidentBlock::sets_values(const ResidentBox& box) {
    return has_levels_at_start(box) || !fixed_faces(box, {0, 0, 0}).empty();
}

// A cell around the box: where it comes from, and its first values.
void ResidentBlock::show_cell(const ResidentBox& box, const Place& cell, const Expr& there, const Slab& slab,
                              bool has_pieces, Block& pass) {
    static constexpr const char* kSources[] = {"source_i", "source_j", "source_k"};
    const Kept& kept = kept_.at(box.field);
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
        Block notes{kernel::Assign{kernel::element(kept.around, {number}, Type::i32), variable("place")}};
        note_words(box, slab, has_pieces, source, shows, notes);
        if (slab.unit > 1 && sets_values(box)) {
            pass.push_back(kernel::If{variable("x") == 0, std::move(notes), {}});
        } else {
            append(pass, std::move(notes));
        }
    }
    set_first_values(box, cell, there, shows, pass);
}

// Where the words are that hold a unit, whose first cell is at `source` in the grid.
void ResidentBlock::note_words(const ResidentBox& box, const Slab& slab, bool has_pieces, const Place& source,
                               const Expr& shows, Block& notes) {
    const Kept& kept = kept_.at(box.field);
    const bool is_wide = type_of(box.field) == Type::f64;
    const Units units = units_of(box, slab.axis == 0);
    Place cell{0, 0, 0};
    Expr block = 0;
    for (int axis = rank() - 1; axis >= 0; --axis) {
        const auto index = static_cast<std::size_t>(axis);
        cell[index] = source[index] % tile(axis);
        block = block * variable(kBlocks[axis]) + source[index] / tile(axis);
    }
    Expr unit = block * (units.of_sides ? kept.side_units_in_block : kept.units);
    if (slab.axis == 0) {
        const int deep = depth(box, 0);
        const Expr first = source[0] - cell[0];
        const Expr width = is_whole(0) ? tile(0) : kernel::min(context_.extent(0) - first, tile(0));
        const Expr column = kernel::select(cell[0] < deep, cell[0], cell[0] - width + 2 * deep);
        unit = unit + (cell[2] * (2 * deep) + column) * messages_of(1, units) +
               cell[1] / cells_of_unit(1, units.cells);
    } else {
        unit = unit + row_message(units, cell[2], cell[1]) + cell[0] / cells_of_unit(0, units.cells);
    }
    declare(notes, "message", unit);
    const Expr pass = slab.passes > 1 ? variable("pass") : Expr(0);
    Expr from = variable("message");
    if (slab.pieces.size() == 1) {
        from = word_in_half(box, units, slab.pieces[0], from);
        // One cell of a row: the piece that it is in.
        if (slab.is_beside && units.cells > 1)
            from = from + cell[0] % units.cells / (is_wide ? 1 : 2) * 2 * all_units(box, units);
    }
    const int number = has_pieces ? slab.first : slab.looks[0];
    notes.push_back(kernel::Assign{kernel::element(kept.source, {pass + number}, Type::i32),
                                   shows ? kernel::select(shows, from, constants_.no_packet) : from});
    // Of a pair of values, which one; the place says it, too.
    if (slab.is_beside && units.cells > 1 && !is_wide)
        notes.push_back(kernel::Assign{
            kernel::element(kept.around, {pass + slab.first}, Type::i32),
            kernel::select(cell[0] % 2 == 0, variable("place"), Expr(-1) - variable("place"))});
}

// Past which fixed faces a cell is, and what it then holds. Where several axes are past one the first
// decides; neighbours of one value share a test.
std::vector<ResidentBlock::Fixed> ResidentBlock::fixed_faces(const ResidentBox& box, const Place& cell) {
    std::vector<Fixed> faces;
    for (int axis = 0; axis < rank(); ++axis) {
        for (int side = 0; side < 2; ++side) {
            const ir::Face& its = face(box, axis, side);
            const Expr beyond = is_past(box, axis, side, cell[static_cast<std::size_t>(axis)]);
            if (!beyond || its.kind != ir::BoundaryKind::fixed) continue;
            const Expr value = context_.scalar(its.value, type_of(box.field));
            if (!faces.empty() && kernel::same(faces.back().value, value)) {
                faces.back().beyond = faces.back().beyond || beyond;
            } else {
                faces.push_back({value, beyond});
            }
        }
    }
    return faces;
}

// All cells past faces, as far as any are, hold one fixed value.
bool ResidentBlock::is_one_value(const ResidentBox& box, const std::vector<Fixed>& faces) const {
    bool has_free = false;
    for (int axis = 0; axis < rank(); ++axis)
        for (int side = 0; side < 2; ++side)
            has_free = has_free || (box.reach[static_cast<std::size_t>(axis)] > 0 &&
                                    face(box, axis, side).kind == ir::BoundaryKind::free);
    return faces.size() == 1 && !has_free;
}

// The values before the first step, in all slots: those of the grid, and fixed ones, which stay.
void ResidentBlock::set_first_values(const ResidentBox& box, const Place& cell, const Expr& there,
                                     const Expr& shows, Block& pass) {
    const auto in_slot = [&](int slot) {
        return element(box, further(0, slot, kept_.at(box.field).slot), variable("place"));
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

// ---- receiving

bool ResidentBlock::needs_inner_rows(const ResidentBox& box) const {
    if (box.reach[0] == 0) return false;
    return !has_lanes() || !has_whole_rows() || 2 * box.reach[0] > cells(0);
}

void ResidentBlock::receive(const ResidentBox& box, Block& step) {
    const Kept& kept = kept_.at(box.field);
    const std::string seen = context_.local(word(box.field) + "_seen");
    const Slabs list = slabs(box);
    step.push_back(kernel::BlankLine{});
    const std::string looks = declare_looks(box, list, step);
    step.push_back(kernel::DeclareArray{Type::i64, seen, {2 * list.pairs + list.singles}});
    step.push_back(kernel::RunHelper{
        kernel::Helper::poll_packets,
        {kernel::address_of(seen, 0, Type::i64), kernel::address_of(looks, 0, Type::i32), list.pairs,
         list.singles, kernel::address_of(kept.packets, 0, Type::i64), variable("epoch")}});
    for (const Slab& slab : received_alike(list))
        append(step, loop_over("pass", slab.passes, take(box, slab, list)));
}

// Slabs that are exchanged; those whose passes are received alike, and follow each other, as one.
std::vector<ResidentBlock::Slab> ResidentBlock::received_alike(const Slabs& list) {
    std::vector<Slab> runs;
    for (const Slab& slab : list.all) {
        if (!slab.is_exchanged) continue;
        const auto follows = [&](const Slab& before) {
            if (slab.axis == 0 || before.axis == 0 || slab.is_beside != before.is_beside) return false;
            for (std::size_t piece = 0; piece < slab.looks.size(); ++piece)
                if (slab.looks[piece] != before.looks[piece] + before.passes) return false;
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

std::string ResidentBlock::declare_looks(const ResidentBox& box, const Slabs& list, Block& step) {
    const Kept& kept = kept_.at(box.field);
    if (!list.has_pieces) return kept.source;
    const std::string looks = context_.local(word(box.field) + "_looks");
    step.push_back(kernel::DeclareArray{Type::i32, looks, {list.pairs + list.singles}});
    for (const Slab& slab : received_alike(list)) {
        const Expr pass = slab.passes > 1 ? variable("pass") : Expr(0);
        const Units units = units_of(box, slab.axis == 0);
        const Expr unit = kernel::element(kept.source, {pass + slab.first}, Type::i32);
        Block pieces;
        for (std::size_t piece = 0; piece < slab.pieces.size(); ++piece)
            pieces.push_back(kernel::Assign{
                kernel::element(looks, {pass + slab.looks[piece]}, Type::i32),
                slab.pieces.size() == 1 ? unit : word_in_half(box, units, slab.pieces[piece], unit)});
        append(step, loop_over("pass", slab.passes, std::move(pieces)));
    }
    return looks;
}

// Stores what has come for a unit.
ResidentBlock::Block ResidentBlock::take(const ResidentBox& box, const Slab& slab, const Slabs& list) {
    const Kept& kept = kept_.at(box.field);
    const Type type = type_of(box.field);
    const Units units = units_of(box, slab.axis == 0);
    const Expr pass = slab.passes > 1 ? variable("pass") : Expr(0);
    const std::string words = context_.local(word(box.field) + "_seen");
    const Expr place = kernel::element(kept.around, {pass + slab.first}, Type::i32);
    const Expr at = slot(box, written_time(box));
    const auto seen = [&](int piece, int number) {
        const int look = slab.looks[static_cast<std::size_t>(piece)];
        const bool is_pair = slab.pieces[static_cast<std::size_t>(piece)].words == 2;
        const Expr first = is_pair ? (pass + look) * 2 : pass + (look + list.pairs);
        return kernel::element(words, {first + number}, Type::i64);
    };
    const auto value = [&](int cell) {
        if (type == Type::f64) return kernel::call_helper(kernel::Helper::value_f64, {seen(cell, 0)});
        const int of_piece = units.has_threes ? 3 : 2;
        const int within = cell % of_piece;
        return kernel::call_helper(within == 1 ? kernel::Helper::high_f32 : kernel::Helper::low_f32,
                                   {seen(cell / of_piece, within / 2)});
    };
    Block takes;
    if (slab.is_beside && units.cells > 1 && type == Type::f32) {
        const Expr target = kernel::select(place >= 0, place, Expr(-1) - place);
        takes.push_back(
            kernel::Assign{element(box, at, target), kernel::select(place >= 0, value(0), value(1))});
    } else if (slab.unit == 1) {
        takes.push_back(kernel::Assign{element(box, at, place), value(0)});
    } else {
        if (slab.along == 0) {
            takes.push_back(kernel::DeclareArray{type, "values", {slab.unit}});
            for (int cell = 0; cell < slab.unit; ++cell)
                takes.push_back(kernel::Assign{kernel::element("values", {cell}, type), value(cell)});
            takes.push_back(kernel::StoreVector{address(box, at, place), kernel::element("values", {0}, type),
                                                slab.unit, true});
        }
        // Past the end of the grid lie those beside a corner, if any are read.
        const bool is_in = is_whole(1) || !box.has_corners;
        if (slab.along == 1 && !is_in && slab.passes > 1)
            declare(takes, "index", variable("thread") + variable("pass") * constants_.threads);
        const Expr first = unit_in(slab, 1) * slab.unit;
        for (int cell = 0; cell < slab.unit && slab.along == 1; ++cell) {
            append(takes,
                   if_so(is_in ? Expr() : first + cell < size(1),
                         {kernel::Assign{element(box, at, further(place, cell, kept.row)), value(cell)}}));
        }
    }
    const int number = list.has_pieces ? slab.first : slab.looks[0];
    const Expr look = kernel::element(kept.source, {pass + number}, Type::i32);
    return {kernel::If{look >= 0, std::move(takes), {}}};
}

}  // namespace halo::lower
