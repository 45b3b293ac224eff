#include "compiler/lower/resident_block.h"

namespace halo::lower {

// Vectors first: the words of one cell follow those of several.
std::vector<ResidentBlock::Slab> ResidentBlock::slabs(const ResidentBox& box) const {
    std::vector<Slab> list;
    const auto add = [&](int axis, bool is_beside) {
        const auto across = static_cast<std::size_t>(axis);
        Slab slab;
        slab.axis = axis;
        slab.is_beside = is_beside;
        for (std::size_t other = 0; other < 3; ++other) {
            slab.is_wide[other] = other > 0 && box.has_corners && static_cast<int>(other) < axis;
            slab.extent[other] = other == across || (other == 0 && is_beside) ? 2 * box.reach[other]
                                 : slab.is_wide[other]                        ? box.padded[other]
                                                                              : box.own[other];
        }
        if (axis > 0 && !is_beside) {
            slab.unit = cells(0);
            slab.extent[0] /= slab.unit;
        }
        slab.count = slab.extent[0] * slab.extent[1] * slab.extent[2];
        slab.passes = (slab.count + schedule_.all_threads() - 1) / schedule_.all_threads();
        list.push_back(slab);
    };
    for (int axis = rank() - 1; axis > 0; --axis)
        if (box.reach[static_cast<std::size_t>(axis)] > 0) add(axis, false);
    for (int axis = rank() - 1; axis > 0; --axis)
        if (box.has_corners && box.reach[0] > 0 && box.reach[static_cast<std::size_t>(axis)] > 0)
            add(axis, true);
    if (box.reach[0] > 0) add(0, false);
    int first = 0;
    for (Slab& slab : list) {
        slab.first = first;
        first += slab.passes;
    }
    return list;
}

void ResidentBlock::declare_around(const ResidentBox& box) {
    Kept& kept = kept_[box.field];
    const std::vector<Slab> list = slabs(box);
    body().push_back(kernel::BlankLine{});
    body().push_back(kernel::Comment{"Around the box of " + word(box.field) +
                                     ": places in it, and the cells of the grid that they show."});
    if (box.is_exchanged) {
        const int passes = list.back().first + list.back().passes;
        kept.around = context_.local(word(box.field) + "_around");
        kept.source = context_.local(word(box.field) + "_source");
        body().push_back(kernel::DeclareArray{Type::i32, kept.around, {passes}});
        body().push_back(kernel::DeclareArray{Type::i32, kept.source, {passes}});
    }
    for (const Slab& slab : list)
        append(body(), loop_over("pass", slab.passes, around_pass(box, slab)));
}

// A unit's place in its slab along an axis.
ResidentBlock::Expr ResidentBlock::unit_in(const Slab& slab, int axis) const {
    const Expr pass = slab.passes > 1 ? variable("pass") : Expr(0);
    Expr rest = variable("thread") + pass * schedule_.all_threads();
    for (int before = 0; before < axis; ++before)
        rest = rest / slab.extent[static_cast<std::size_t>(before)];
    return axis == rank() - 1 ? rest : rest % slab.extent[static_cast<std::size_t>(axis)];
}

ResidentBlock::Block ResidentBlock::around_pass(const ResidentBox& box, const Slab& slab) {
    Block unit;
    Expr there = unit_in(slab, rank() - 1) < slab.extent[static_cast<std::size_t>(rank() - 1)];
    Place place{0, 0, 0}, cell;
    for (int axis = 0; axis < rank(); ++axis) {
        const auto index = static_cast<std::size_t>(axis);
        const int reach = box.reach[index];
        Expr local = unit_in(slab, axis);
        if (axis == 0 && slab.unit > 1) local = local * slab.unit + variable("x");
        if (axis == slab.axis || (axis == 0 && slab.is_beside)) {
            local = kernel::select(local < reach, local - reach, size(axis) + (local - reach));
        } else if (slab.is_wide[index]) {
            there = there && local < size(axis) + 2 * reach;
            local = local - reach;
        } else {
            there = there && local < size(axis);
        }
        declare(unit, Context::kIndexNames[axis], origin(axis) + local);
        cell[index] = variable(Context::kIndexNames[axis]);
        place[index] = cell[index] - origin(axis) + (axis == 0 ? box.left : reach);
    }
    declare(unit, "is_there", there, Type::boolean);
    declare(unit, "place", place_in(box, place));
    show_cell(box, cell, slab, unit);
    return slab.passes > 1 || slab.unit > 1 ? loop_over("x", slab.unit, std::move(unit))
                                            : Block{kernel::Scope{std::move(unit)}};
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

// A cell around the box: where it comes from, and its first values.
void ResidentBlock::show_cell(const ResidentBox& box, const Place& cell, const Slab& slab, Block& pass) {
    const Kept& kept = kept_.at(box.field);
    Expr past;
    Place source;
    for (int axis = 0; axis < rank(); ++axis) {
        const auto index = static_cast<std::size_t>(axis);
        for (int side = 0; side < 2; ++side) {
            if (const Expr beyond = is_past(box, axis, side, cell[index])) past = past || beyond;
        }
        source[index] = shown(box, axis, cell[index]);
    }
    Expr shows = truth("is_there");
    if (past) shows = shows && kernel::logical_not(past);
    declare(pass, "shows", shows, Type::boolean);
    declare(pass, "source", as_int(context_.element_offset(source[0], source[1], source[2])));
    if (box.is_exchanged) {
        const Expr number = (slab.passes > 1 ? variable("pass") : Expr(0)) + slab.first;
        Block notes{kernel::Assign{kernel::element(kept.around, {number}, Type::i32), variable("place")},
                    kernel::Assign{kernel::element(kept.source, {number}, Type::i32),
                                   kernel::select(truth("shows"), variable("source") * kept.words, -1)}};
        if (slab.unit > 1) {
            pass.push_back(kernel::If{variable("x") == 0, std::move(notes), {}});
        } else {
            append(pass, std::move(notes));
        }
    }
    load_shown(box, pass);
    set_fixed(box, cell, pass);
}

void ResidentBlock::load_shown(const ResidentBox& box, Block& pass) {
    Block loads;
    for (int back = 0; back <= box.back && box.role != ir::Role::intermediate; ++back) {
        loads.push_back(kernel::Assign{element(box, first_slot(box, -back), variable("place")),
                                       context_.element({box.field, -back}, variable("source"))});
    }
    if (!loads.empty()) pass.push_back(kernel::If{truth("shows"), std::move(loads), {}});
}

void ResidentBlock::set_fixed(const ResidentBox& box, const Place& cell, Block& pass) {
    // Where several axes are past a fixed face the first decides.
    Expr decided = truth("is_there");
    for (int axis = 0; axis < rank(); ++axis) {
        for (int side = 0; side < 2; ++side) {
            const ir::Face& its = face(box, axis, side);
            const Expr beyond = is_past(box, axis, side, cell[static_cast<std::size_t>(axis)]);
            if (!beyond || its.kind != ir::BoundaryKind::fixed) continue;
            Block sets;
            for (int slot = 0; slot < box.slots; ++slot)
                sets.push_back(kernel::Assign{
                    element(box, kernel::int_literal(slot * box.cells, Type::i32), variable("place")),
                    context_.scalar(its.value, type_of(box.field))});
            pass.push_back(kernel::If{decided && beyond, std::move(sets), {}});
            decided = decided && kernel::logical_not(beyond);
        }
    }
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
    kept.sends = context_.local(word(box.field) + "_sends");
    body().push_back(kernel::Comment{"A bit for each of the thread's rows that other blocks read."});
    body().push_back(kernel::Declare{Type::i32, kept.sends, 0, true});
    Expr outer;
    for (int axis = 0; axis < rank(); ++axis) {
        int depth = box.reach[static_cast<std::size_t>(axis)];
        if (depth == 0) continue;
        // A mirror does not show the cell at its face.
        for (int side = 0; side < 2; ++side)
            if (face(box, axis, side).kind == ir::BoundaryKind::mirror)
                depth = box.reach[static_cast<std::size_t>(axis)] + 1;
        const Expr first = axis == 0 ? inner(0) : in_box(axis);
        const Expr last = axis == 0 ? inner(0) + (cells(0) - 1) : in_box(axis);
        outer = outer || (is_read(box, axis, 0) && first < depth) ||
                (is_read(box, axis, 1) && last >= size(axis) - depth);
    }
    const Expr bit = loop(2) * cells(1) + loop(1);
    Block row{kernel::If{
        inner(0) < size(0) && is_row_in_grid() && outer,
        {kernel::Assign{variable(kept.sends),
                        kernel::call_helper("with_bit", {variable(kept.sends), bit}, Type::i32)}},
        {}}};
    append(body(), loop_over(kLoops[2], cells(2), loop_over(kLoops[1], cells(1), std::move(row))));
}

void ResidentBlock::send_row(const ResidentBox& box, Block& row) {
    const Kept& kept = kept_.at(box.field);
    const bool is_wide = type_of(box.field) == Type::f64;
    Block send;
    // As many at once as sixteen bytes or two of them hold.
    const int together = is_wide ? 1 : cells(0);
    for (int x = 0; x < cells(0); x += together) {
        std::vector<Expr> arguments{word_at(box, grid_place({x, loop(1), loop(2)}))};
        for (int each = 0; each < together; ++each)
            arguments.push_back(near(written_level(box), loop(2), loop(1), x + each));
        arguments.push_back(variable("tag"));
        const std::string name =
            is_wide ? "send_f64" : "send" + (together > 1 ? std::to_string(together) : "") + "_f32";
        send.push_back(kernel::CallStatement{name, std::move(arguments)});
    }
    const Expr bit = loop(2) * cells(1) + loop(1);
    row.push_back(kernel::If{
        kernel::call_helper("has_bit", {variable(kept.sends), bit}, Type::boolean), std::move(send), {}});
}

// ---- receiving

bool ResidentBlock::needs_inner_rows(const ResidentBox& box) const {
    constexpr int kLanes = 32;
    if (box.reach[0] == 0) return false;
    const bool by_lanes = has_lanes() && cells(0) > 1 && schedule_.threads[0] <= kLanes;
    return !by_lanes || 2 * box.reach[0] > cells(0);
}

void ResidentBlock::receive(const ResidentBox& box, Block& step) {
    const Kept& kept = kept_.at(box.field);
    const std::string seen = context_.local(word(box.field) + "_seen");
    int vectors = 0, singles = 0;
    const std::vector<Slab> list = slabs(box);
    for (const Slab& slab : list)
        (slab.unit > 1 ? vectors : singles) += slab.passes;
    const int width = cells(0) * kept.words;
    step.push_back(kernel::BlankLine{});
    step.push_back(
        kernel::DeclareArray{Type::i64, seen, {vectors * width + singles * kept.words}});
    step.push_back(kernel::CallStatement{
        "await_words",
        {kernel::address_of(seen, 0, Type::i64), kernel::address_of(kept.source, 0, Type::i32), vectors,
         width, singles, kept.words, kernel::address_of(kept.exchange, half(box), Type::i64),
         variable("tag")}});
    for (const Slab& slab : list) {
        const int first = slab.unit > 1
                              ? slab.first * width
                              : vectors * width + (slab.first - vectors) * kept.words;
        append(step, loop_over("pass", slab.passes, take(box, slab, first)));
    }
}

// Stores what has come for a unit; `seen`: where the words of the slab's first one are.
ResidentBlock::Block ResidentBlock::take(const ResidentBox& box, const Slab& slab, int seen) {
    const Kept& kept = kept_.at(box.field);
    const Type type = type_of(box.field);
    const Expr pass = slab.passes > 1 ? variable("pass") : Expr(0);
    const std::string words = context_.local(word(box.field) + "_seen");
    const Expr place = kernel::element(kept.around, {pass + slab.first}, Type::i32);
    const Expr at = slot(box, written_time(box));
    const auto value = [&](const Expr& x) {
        const Expr first = (pass * slab.unit + x) * kept.words + seen;
        std::vector<Expr> halves;
        for (int half = 0; half < kept.words; ++half)
            halves.push_back(kernel::element(words, {first + half}, Type::i64));
        return kernel::call_helper(type == Type::f64 ? "value_f64" : "value_f32", std::move(halves), type);
    };
    Block takes;
    if (slab.unit == 1) {
        takes.push_back(kernel::Assign{element(box, at, place), value(0)});
    } else {
        const Expr x = variable("x");
        takes.push_back(kernel::DeclareArray{type, "came", {slab.unit}});
        append(takes, loop_over("x", slab.unit,
                                {kernel::Assign{kernel::element("came", {x}, type), value(x)}}));
        Block whole{kernel::StoreVector{address(box, at, place), kernel::element("came", {0}, type),
                                        slab.unit, true}};
        if (box.has_corners) {
            // Past the end of the grid lie cells of another face.
            const Expr in_row = unit_in(slab, 0) * slab.unit + x;
            Block part = loop_over("x", slab.unit,
                                   {kernel::If{in_row < size(0),
                                               {kernel::Assign{element(box, at, place + x),
                                                               kernel::element("came", {x}, type)}},
                                               {}}});
            whole = {kernel::If{truth("is_ragged"), std::move(part), std::move(whole)}};
        }
        append(takes, std::move(whole));
    }
    return {kernel::If{kernel::element(kept.source, {pass + slab.first}, Type::i32) >= 0, std::move(takes),
                       {}}};
}

}  // namespace halo::lower
