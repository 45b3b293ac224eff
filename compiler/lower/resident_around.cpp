#include "compiler/lower/resident_block.h"

namespace halo::lower {

std::vector<ResidentBlock::Slab> ResidentBlock::slabs(const ResidentBox& box) const {
    std::vector<Slab> list;
    for (int axis = rank() - 1; axis >= 0; --axis) {
        const auto across = static_cast<std::size_t>(axis);
        if (box.reach[across] == 0) continue;
        Slab slab;
        slab.axis = axis;
        for (std::size_t other = 0; other < 3; ++other) {
            slab.is_wide[other] = box.has_corners && static_cast<int>(other) < axis;
            slab.extent[other] = static_cast<int>(other) == axis ? 2 * box.reach[across]
                                 : slab.is_wide[other]           ? box.padded[other]
                                                                 : box.own[other];
            slab.count *= slab.extent[other];
        }
        slab.passes = (slab.count + schedule_.all_threads() - 1) / schedule_.all_threads();
        list.push_back(slab);
    }
    return list;
}

int ResidentBlock::passes(const ResidentBox& box) const {
    int all = 0;
    for (const Slab& slab : slabs(box))
        all += slab.passes;
    return all;
}

void ResidentBlock::declare_around(const ResidentBox& box) {
    Kept& kept = kept_[box.field];
    body().push_back(kernel::BlankLine{});
    body().push_back(kernel::Comment{"Around the box of " + word(box.field) +
                                     ": places in it, and the cells of the grid that they show."});
    if (box.is_exchanged) {
        kept.around = context_.local(word(box.field) + "_around");
        kept.source = context_.local(word(box.field) + "_source");
        body().push_back(kernel::DeclareArray{Type::i32, kept.around, {passes(box)}});
        body().push_back(kernel::DeclareArray{Type::i32, kept.source, {passes(box)}});
    }
    int first = 0;
    for (const Slab& slab : slabs(box)) {
        Block pass = around_pass(box, slab, first);
        body().push_back(kernel::For{"pass", 0, slab.passes, 1, kernel::Unroll::full, std::move(pass)});
        first += slab.passes;
    }
}

ResidentBlock::Block ResidentBlock::around_pass(const ResidentBox& box, const Slab& slab, int first) {
    Block pass;
    declare(pass, "number", variable("thread") + variable("pass") * schedule_.all_threads());
    Expr rest = variable("number");
    Expr there = variable("number") < slab.count;
    Place place{0, 0, 0}, cell;
    for (int axis = 0; axis < rank(); ++axis) {
        const auto index = static_cast<std::size_t>(axis);
        const int extent = slab.extent[index], reach = box.reach[index];
        const bool is_last = axis == rank() - 1;
        Expr local = is_last ? rest : rest % extent;
        rest = rest / extent;
        if (axis == slab.axis) {
            local = kernel::select(local < reach, local - reach, size(axis) + (local - reach));
        } else if (slab.is_wide[index]) {
            there = there && local < size(axis) + 2 * reach;
            local = local - reach;
        } else {
            there = there && local < size(axis);
        }
        declare(pass, Context::kIndexNames[axis], origin(axis) + local);
        cell[index] = variable(Context::kIndexNames[axis]);
        place[index] = cell[index] - origin(axis) + reach;
    }
    declare(pass, "is_there", there, Type::boolean);
    declare(pass, "place", place_in(box, place));
    show_cell(box, cell, first, pass);
    return pass;
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
void ResidentBlock::show_cell(const ResidentBox& box, const Place& cell, int first, Block& pass) {
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
        const Expr pass_number = variable("pass") + first;
        pass.push_back(
            kernel::Assign{kernel::element(kept.around, {pass_number}, Type::i32), variable("place")});
        pass.push_back(kernel::Assign{kernel::element(kept.source, {pass_number}, Type::i32),
                                      kernel::select(truth("shows"), variable("source"), -1)});
    }
    load_shown(box, pass);
    set_fixed(box, cell, pass);
}

void ResidentBlock::load_shown(const ResidentBox& box, Block& pass) {
    Block loads;
    for (int back = 0; back <= history(box) && box.role != ir::Role::intermediate; ++back) {
        const Expr slot = kernel::int_literal((history(box) - back) * box.cells, Type::i32);
        loads.push_back(kernel::Assign{element(box, slot, variable("place")),
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

void ResidentBlock::receive(const ResidentBox& box, Block& step) {
    const Kept& kept = kept_.at(box.field);
    const Type type = type_of(box.field);
    const std::string seen = context_.local(word(box.field) + "_seen");
    const int count = passes(box);
    const Expr pass = count > 1 ? variable("pass") : Expr(0);
    const Expr source = kernel::element(kept.source, {pass}, Type::i32);
    step.push_back(kernel::DeclareArray{Type::i64, seen, {count * kept.words}});
    const auto word_seen = [&](int number) {
        return kernel::element(seen, {pass * kept.words + number}, Type::i64);
    };
    const auto address = [&](int number) {
        return kernel::address_of(
            kept.exchange, half(box) + kernel::convert(source * kept.words + number, Type::i64), Type::i64);
    };
    Block looks;
    std::vector<Expr> arguments;
    for (int number = 0; number < kept.words; ++number) {
        looks.push_back(kernel::Assign{word_seen(number),
                                       kernel::call_helper("peek_word", {address(number)}, Type::i64)});
        arguments.push_back(word_seen(number));
    }
    arguments.push_back(address(0));
    arguments.push_back(variable("tag"));
    const char* helper = type == Type::f64 ? "receive_f64" : "receive_f32";
    const Expr to =
        element(box, slot(box, written_time(box)), kernel::element(kept.around, {pass}, Type::i32));
    Block takes{kernel::Assign{to, kernel::call_helper(helper, std::move(arguments), type)}};
    append(step, loop_over("pass", count, {kernel::If{source >= 0, std::move(looks), {}}}));
    append(step, loop_over("pass", count, {kernel::If{source >= 0, std::move(takes), {}}}));
}

}  // namespace halo::lower
