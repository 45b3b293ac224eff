// The second half of a resident kernel's halo exchange: a block polls for its ghost cells and stores them in
// its box.
#include "compiler/lower/resident/block.h"

namespace halo::lower {

bool ResidentBlock::needs_inner_rows(const ResidentBox& box) const {
    if (box.reach[0] == 0) return false;
    return !has_lanes() || !has_whole_rows() || 2 * box.reach[0] > cells(0);
}

void ResidentBlock::receive(const ResidentBox& box, Block& step) {
    const BoxNames& names = names_.at(box.field);
    const Type type = type_of(box.field);
    const Slabs list = slabs(box);
    struct Received {  // the messages of as many values
        std::string values;
        int cells = 0, first = 0, end = 0;
    };
    std::vector<Received> all;
    for (const Slab& slab : list.all) {
        if (!slab.is_exchanged) continue;
        if (all.empty() || all.back().cells != slab.received)
            all.push_back({context_.local(word(box.field) + "_received" +
                                          (all.empty() ? "" : std::to_string(all.size() + 1))),
                           slab.received, slab.first, slab.first});
        all.back().end = slab.end();
    }
    std::vector<Expr> arguments{kernel::address_of(names.packets, 0, Type::i64), variable(names.messages),
                                variable("epoch"), kernel::address_of(names.source, 0, Type::i32)};
    step.push_back(kernel::BlankLine{});
    for (const Received& each : all) {
        step.push_back(kernel::DeclareArray{type, each.values, {each.end - each.first, each.cells}});
        arguments.push_back(kernel::address_of(each.values, 0, type));
    }
    using kernel::Helper;
    const bool is_wide = type == Type::f64;
    const Helper helper = all.size() == 1 ? (is_wide ? Helper::poll_f64 : Helper::poll_f32)
                                          : (is_wide ? Helper::poll_all_f64 : Helper::poll_all_f32);
    step.push_back(kernel::RunHelper{helper, std::move(arguments)});
    std::vector<Slab> runs;  // slabs that follow each other and are stored alike: one loop does
    for (const Slab& slab : list.all) {
        if (!slab.is_exchanged) continue;
        const bool follows = !runs.empty() && runs.back().received == slab.received &&
                             runs.back().is_column() == slab.is_column() &&
                             runs.back().is_beside == slab.is_beside && !slab.is_column();
        if (follows)
            runs.back().passes += slab.passes;
        else
            runs.push_back(slab);
    }
    for (const Slab& slab : runs)
        for (const Received& each : all)
            if (each.first <= slab.first && slab.end() <= each.end)
                append(step, unpack(box, slab, each.values, each.first));
}

// Stores a message in the box once it has arrived.
ResidentBlock::Block ResidentBlock::unpack(const ResidentBox& box, const Slab& slab,
                                           const std::string& values, int first) {
    const BoxNames& names = names_.at(box.field);
    const Type type = type_of(box.field);
    const Expr pass = slab.passes > 1 ? variable("pass") : Expr(slab.first);
    const Expr place = kernel::element(names.around, {pass}, Type::i32);
    const Expr at = slot(box, written_time(box));
    const auto value = [&](const Expr& cell) { return kernel::element(values, {pass - first, cell}, type); };
    Block stores;
    if (slab.is_beside && slab.received == 2) {
        const Expr target = kernel::select(place >= 0, place, Expr(-1) - place);
        stores.push_back(
            kernel::Assign{element_at(box, at, target), kernel::select(place >= 0, value(0), value(1))});
    } else if (slab.message_cells == 1) {
        stores.push_back(kernel::Assign{element_at(box, at, place), value(0)});
    } else if (slab.along == 0) {
        stores.push_back(
            kernel::StoreVector{address_of(element_at(box, at, place)), value(0), slab.message_cells, true});
    } else {
        const Expr y = variable("y");
        Block store{kernel::Assign{element_at(box, at, place + y * names.size[0]), value(y)}};
        // A message may reach past the end of the grid, where ghost cells beside a corner lie: those stay.
        if (!is_whole(1) && box.has_corners) {
            if (slab.passes > 1)
                declare(stores, "index",
                        variable("thread") + (variable("pass") - slab.first) * constants_.threads);
            store = if_so(message_in(slab, 1) * slab.message_cells + y < size(1), std::move(store));
        }
        append(stores, loop_over("y", cells_of_message(1, slab.message_cells), std::move(store)));
    }
    Block received{kernel::If{kernel::element(names.source, {pass}, Type::i32) >= 0, std::move(stores), {}}};
    if (slab.passes == 1) return received;
    return {kernel::For{"pass", slab.first, slab.end(), 1, kernel::Unroll::full, std::move(received)}};
}

}  // namespace halo::lower
