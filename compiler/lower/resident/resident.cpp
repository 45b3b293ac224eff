#include <algorithm>

#include "compiler/kernel/rewrite.h"
#include "compiler/lower/resident/block.h"

#include "compiler/support/error.h"

namespace halo::lower {

namespace {

class Resident : ResidentBlock {
public:
    using ResidentBlock::ResidentBlock;

    ResidentResult lower() {
        declare_constants();
        declare_block();
        declare_boxes();
        if (!result_.exchanges.empty()) declare_blocks();
        for (const ResidentBox& box : shape_.boxes)
            if (box.is_exchanged) declare_messages(box);
        declare_cells();
        declare_windows();
        for (const ResidentBox& box : shape_.boxes) {
            load_own(box);
            if (box.is_read_around()) declare_around(box);
            if (box.is_exchanged) declare_sends(box);
            if (box.is_exchanged) declare_packets(box);
        }
        body().push_back(kernel::Barrier{});
        take_steps();
        store_levels();
        remove_unused();
        result_.kernel.dynamic_shared_bytes = shape_.shared_bytes;
        for (int axis = 0; axis < 3; ++axis)
            result_.kernel.tile[static_cast<std::size_t>(axis)] = schedule_.tile(axis);
        return std::move(result_);
    }

private:
    using Keep = schedule::Keep;

    // ---- indices and boxes
    // -----------------------------------------------------------------------------------------------

    void declare_block() {
        body().push_back(kernel::Comment{"The block's box of the grid, and the thread's first cell in it."});
        Expr thread = 0;
        for (int axis = 2; axis >= 0; --axis) {
            const auto index = static_cast<std::size_t>(axis);
            if (schedule_.threads[index] > 1)
                thread = thread * constants_.threads_along[index] + kernel::thread_index(axis);
        }
        declare(body(), "thread", thread);
        for (int axis = 0; axis < rank(); ++axis) {
            declare(body(), kOrigins[axis], kernel::block_index(axis) * tile(axis));
            if (!is_whole(axis))
                declare(body(), kSizes[axis], kernel::min(context_.extent(axis) - origin(axis), tile(axis)));
            const auto index = static_cast<std::size_t>(axis);
            declare(body(), kInner[axis],
                    schedule_.threads[index] > 1 ? kernel::thread_index(axis) * constants_.cells[index]
                                                 : Expr(0));
        }
        declare_ends();
        if (has_lanes()) declare_lanes();
    }

    void declare_boxes() {
        for (const ResidentBox& box : shape_.boxes) {
            BoxNames& names = names_[box.field];
            if (box.slots == 0) continue;
            names.box = context_.local(word(box.field) + "_box");
            names.flat = context_.local(word(box.field) + "_flat");
            const Type type = type_of(box.field);
            declare_box_constants(box);
            const Expr first = box.slots > 1 ? Expr(0) : Expr();
            const auto declare_array = [&](const std::string& name, bool is_flat) {
                kernel::DeclareArray array{type, name, {}};
                if (box.slots > 1) array.dims.emplace_back(box.slots);
                if (is_flat) array.dims.push_back(names.slot);
                for (int axis = rank() - 1; axis >= 0 && !is_flat; --axis)
                    array.dims.push_back(names.size[static_cast<std::size_t>(axis)]);
                array.memory = kernel::Memory::dynamic_shared;
                array.offset = box.offset;
                if (!is_flat) array.from = address_of(element_at(box, first, variable(names.start)));
                body().push_back(std::move(array));
            };
            declare_array(names.flat, true);
            // What depends on the thread is computed here: within the loop over steps the compiler would
            // compute it again for each.
            names.start = declare_shared(body(), box, "start",
                                         place_in(box, {inner(0), inner(1, rank()), inner(2, rank())}));
            declare_array(names.box, false);
            if (box.is_exchanged) declare_exchange(box);
        }
        if (!std::ranges::any_of(shape_.boxes, [&](const ResidentBox& box) { return needs_zeros(box); }))
            return;
        body().push_back(kernel::Comment{"Cells that are not in the grid are zero."});
        for (const ResidentBox& box : shape_.boxes) {
            if (!needs_zeros(box)) continue;
            Block zeros;
            for (int back = box.slots - 1; back >= 0; --back)
                zeros.push_back(
                    kernel::Assign{element_at(box, first_slot(box, back - box.back), variable("index")),
                                   kernel::real_literal(0, type_of(box.field))});
            body().push_back(kernel::For{"index", variable("thread"), names_[box.field].slot,
                                         constants_.threads, kernel::Unroll::none, std::move(zeros)});
        }
        body().push_back(kernel::Barrier{});
    }

    // Declares a value by a name, or by one of the box where another value has that. Boxes for which the
    // value is the same share it.
    std::string declare_shared(Block& block, const ResidentBox& box, const std::string& name,
                               const Expr& value) {
        std::string given = name;
        for (const kernel::Statement& each : block) {
            const auto* known = std::get_if<kernel::Declare>(&each.kind);
            if (known == nullptr || !known->name.ends_with(name)) continue;
            if (kernel::same(known->value, value)) return known->name;
            given = context_.local(word(box.field) + "_" + name);
        }
        declare(block, given, value);
        return given;
    }

    void declare_cells() {
        Place first;
        for (int axis = 0; axis < rank(); ++axis)
            first[static_cast<std::size_t>(axis)] = origin(axis) + inner(axis);
        declare(body(), "first", as_int(context_.element_offset(first)));
    }

    // ---- the start
    // ---------------------------------------------------------------------------------------------------

    // Whether a thread can load its rows of a state as vectors. Stores after the last step stay scalar: as
    // vectors they add 4 % to the instructions of the loop over steps (heat3d, nvcc 13).
    bool has_whole_vectors(const ResidentBox& box) const {
        return box.role == ir::Role::state && has_own(box, 0) && is_whole(0) && cells(0) > 1 &&
               context_.program()[box.field].type ==
                   (type_of(box.field) == Type::f64 ? ir::Scalar::f64 : ir::Scalar::f32);
    }
    void load_own_row(const ResidentBox& box, int back, Block& loads) {
        const Expr own = near({box.field, -back}, loop(2), loop(1), 0);
        loads.push_back(kernel::LoadVector{
            own, context_.address({box.field, -back}, grid_place({0, loop(1), loop(2)})), cells(0)});
        if (box.slots == 0 || back > box.back) return;
        const Expr to = address_near(box, first_slot(box, -back), {0, loop(1), loop(2)});
        loads.push_back(kernel::StoreVector{to, own, cells(0), true});
    }

    // Loads the levels that the launch begins with: t, and those before it.
    void load_own(const ResidentBox& box) {
        if (box.role == ir::Role::intermediate) return;
        Block loads;
        if (has_whole_vectors(box)) {
            for (int back = 0; back <= history(box); ++back)
                load_own_row(box, back, loads);
            append(body(), over_cells(2, over_cells(1, if_so(is_row_in_grid(), std::move(loads)))));
            return;
        }
        for (int back = 0; back <= history(box); ++back) {
            Expr value = context_.element({box.field, -back}, grid_place());
            if (has_own(box, -back)) {
                const Expr own = near({box.field, -back}, loop(2), loop(1), loop(0));
                loads.push_back(kernel::Assign{own, value});
                value = own;
            }
            if (box.slots > 0 && back <= box.back)
                loads.push_back(kernel::Assign{
                    element_near(box, first_slot(box, -back), {loop(0), loop(1), loop(2)}), value});
        }
        append(body(), over_cells(in_grid(std::move(loads))));
    }

    // ---- the steps
    // ---------------------------------------------------------------------------------------------------

    void take_steps() {
        Block step;
        for (const ResidentBox& box : shape_.boxes)
            if (box.slots > 1) declare_slots(box, step);
        const Expr epoch = context_.steps_sent() + variable("step") + 1;
        if (!result_.exchanges.empty()) declare(step, "epoch", epoch);
        declare_windows_of_step(step);
        for (std::size_t index = 0; index < views_.stages.size(); ++index)
            do_stage(index, step);
        rotate(step);
        for (const ResidentBox& box : shape_.boxes)
            if (box.is_exchanged) advance_packets(box, step);
        body().push_back(kernel::BlankLine{});
        body().push_back(
            kernel::For{"step", 0, context_.launch_steps(), 1, kernel::Unroll::none, std::move(step)});
    }

    // Boxes of as many levels share their names.
    void declare_slots(const ResidentBox& box, Block& step) {
        for (int time = -box.back; time <= 1; ++time) {
            const Expr value = (variable("step") + (time + box.back)) % box.slots;
            const std::string word_of_time = time_word(time).substr(1);
            const std::string name = time < -1 ? context_.local(word_of_time) : word_of_time;
            names_.at(box.field).slots[time] = variable(declare_shared(step, box, name, value));
        }
    }

    CellSources sources() {
        CellSources sources;
        for (int axis = 0; axis < 3; ++axis) {
            const auto index = static_cast<std::size_t>(axis);
            sources.index[index] = axis < rank() ? origin(axis) + in_box(axis) : Expr(0);
            sources.may_pass_high_face[index] = !is_whole(axis);
        }
        sources.load = [this](const Level& level, const ir::Offset& offset) {
            return near(level, loop(2) + offset[2], loop(1) + offset[1], loop(0) + offset[0]);
        };
        return sources;
    }

    // The loop over the thread's planes, which gathers what they read as it goes.
    Block over_planes(const std::vector<schedule::Pipeline::Use>& uses, Block plane) {
        int early = 0;
        for (const schedule::Pipeline::Use& use : uses)
            early = std::max(early, planes_early(use));
        if (early == 0) return over_cells(2, std::move(plane));
        Block iteration;
        for (const schedule::Pipeline::Use& use : uses)
            gather_ahead(use, early, iteration);
        iteration.push_back(kernel::If{loop(2) >= 0, std::move(plane), {}});
        return {kernel::For{kLoops[2], -early, constants_.cells[2], 1, kernel::Unroll::full,
                            std::move(iteration)}};
    }

    // A value that a cell's last statement alone stores needs no name.
    static Block without_twin(Block cell) {
        if (cell.size() < 2) return cell;
        const auto* value = std::get_if<kernel::Declare>(&cell[cell.size() - 2].kind);
        auto* store = std::get_if<kernel::Assign>(&cell.back().kind);
        if (value == nullptr || store == nullptr) return cell;
        const auto* stored = std::get_if<kernel::Variable>(&store->value->kind);
        if (stored == nullptr || stored->name != value->name || value->type != store->target.type())
            return cell;
        store->value = value->value;
        cell.erase(cell.end() - 2);
        return cell;
    }

    void do_stage(std::size_t index, Block& step) {
        const StageView& view = views_.stages[index];
        context_.enter(view);
        std::string written;
        for (const Write& write : view.writes)
            written += (written.empty() ? "" : " and ") + word(write.level.field);
        step.push_back(kernel::BlankLine{});
        step.push_back(kernel::Comment{"The next " + written + "."});
        for (const schedule::Pipeline::Use& use : pipeline_.stages[index].uses)
            gather(use, step);
        Block cell, row;
        const CellValues values = lower_cell(context_, sources(), cell);
        // Without a barrier the next stage or step may overwrite what others still read.
        bool is_shared =
            std::ranges::any_of(pipeline_.stages[index].uses, [&](const schedule::Pipeline::Use& use) {
                return shape_.box(use.field).role != ir::Role::input && read_of(use).at_offsets();
            });
        for (const Write& write : view.writes) {
            const ResidentBox& box = shape_.box(write.level.field);
            cell.push_back(kernel::Assign{near(written_level(box), loop(2), loop(1), loop(0)),
                                          stored_value(view, write, values)});
            is_shared = is_shared || box.slots > 0;
        }
        append(row, over_cells(0, without_twin(std::move(cell))));
        for (const Write& write : view.writes) {
            const ResidentBox& box = shape_.box(write.level.field);
            if (box.keep == Keep::registers) keep_row(box, row);
            if (box.is_exchanged) send_row(box, row);
        }
        if (cells(0) * cells(1) * cells(2) == 1) row = {kernel::Scope{std::move(row)}};
        Block plane;
        append(plane, over_cells(1, std::move(row)));
        for (const Write& write : view.writes)
            if (shape_.box(write.level.field).is_exchanged) send_sides(shape_.box(write.level.field), plane);
        if (Block kept = rows_in_place(view, Keep::shared); !kept.empty()) {
            plane.push_back(
                kernel::Comment{"All threads have read this plane: that of the next level takes its place."});
            plane.push_back(kernel::Barrier{});
            append(plane, over_cells(1, std::move(kept)));
        }
        append(step, over_planes(pipeline_.stages[index].uses, std::move(plane)));
        if (Block kept = rows_in_place(view, Keep::in_place); !kept.empty()) {
            step.push_back(
                kernel::Comment{"All threads have read these levels: the next ones take their place."});
            step.push_back(kernel::Barrier{});
            append(step, over_cells(2, over_cells(1, std::move(kept))));
        }
        for (const Write& write : view.writes)
            if (shape_.box(write.level.field).is_exchanged) receive(shape_.box(write.level.field), step);
        if (is_shared) step.push_back(kernel::Barrier{});
    }

    // Whether other threads read the row that the loops are at; empty where they read all.
    Expr is_outer_row(const ResidentBox& box) const {
        Expr outer;
        for (int axis = 1; axis < rank(); ++axis) {
            const int reach = box.reach[static_cast<std::size_t>(axis)];
            if (reach == 0) continue;
            if (cells(axis) <= 2 * reach) return {};
            outer = outer || loop(axis) < reach ||
                    loop(axis) >= constants_.cells[static_cast<std::size_t>(axis)] - reach;
        }
        return outer;
    }

    // Stores the rows of boxes that are kept so in the place of cells that other threads of the block read.
    Block rows_in_place(const StageView& view, Keep keep) {
        Block row;
        for (const Write& write : view.writes) {
            const ResidentBox& box = shape_.box(write.level.field);
            if (box.keep == keep) keep_row(box, row);
        }
        return row;
    }

    // Stores a row in the box for other threads of the block.
    void keep_row(const ResidentBox& box, Block& row) {
        if (box.slots == 0) return;
        const Level level = written_level(box);
        const Expr at = slot(box, level.time);
        const Expr own = near(level, loop(2), loop(1), 0);
        const Place row_start{0, loop(1), loop(2)};
        Block all;
        if (cells(0) == 1) {
            all.push_back(kernel::Assign{element_near(box, at, row_start), own});
        } else {
            all.push_back(kernel::StoreVector{address_near(box, at, row_start), own, cells(0), true});
        }
        // Past the end of the grid the box holds ghost cells, which this row must not overwrite.
        Expr is_kept = is_thread_in_row() && is_row_in_grid();
        if (!needs_inner_rows(box) && box.keep != Keep::shared) is_kept = is_outer_row(box) && is_kept;
        append(row, if_so(is_kept, std::move(all)));
    }

    // ---- the end
    // -----------------------------------------------------------------------------------------------------

    void store_levels() {
        Block stores;
        body().push_back(kernel::BlankLine{});
        for (const ResidentBox& box : shape_.boxes) {
            if (box.role != ir::Role::state) continue;
            for (int back = 0; back <= history(box); ++back)
                stores.push_back(kernel::Assign{context_.element({box.field, levels_ - back}, grid_place()),
                                                has_own(box, -back)
                                                    ? near({box.field, -back}, loop(2), loop(1), loop(0))
                                                    : element_near(box, {}, {loop(0), loop(1), loop(2)})});
        }
        append(body(), over_cells(in_grid(std::move(stores))));
    }
};

}  // namespace

std::vector<std::string> resident_roles() {
    return {"kThreads", "kBox",     "kSlot",       "now",         "next",           "before",   "kMessages",
            "kRows",    "kTile",    "layer",       "source_i",    "source_j",       "source_k", "epoch",
            "message",  "thread",   "box_i",       "box_j",       "box_k",          "size_i",   "size_j",
            "size_k",   "in_i",     "in_j",        "in_k",        "first",          "index",    "pass",
            "place",    "source",   "shows",       "is_there",    "is_in",          "step",     "is_end",
            "is_first", "is_last",  "cell",        "row_message", "column_message", "row_i",    "blocks_i",
            "blocks_j", "blocks_k", "lane_beside", "is_cut",      "start"};
}

ResidentResult lower_resident(Context& context, const StageViews& views, const schedule::Pipeline& pipeline,
                              const schedule::ResidentSchedule& schedule,
                              const schedule::ResidentShape& shape, int levels) {
    return Resident(context, views, pipeline, schedule, shape, levels).lower();
}

}  // namespace halo::lower
