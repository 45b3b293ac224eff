#include "compiler/lower/resident_block.h"

#include "compiler/support/error.h"

namespace halo::lower {

namespace {

class Resident : ResidentBlock {
public:
    using ResidentBlock::ResidentBlock;

    ResidentResult lower() {
        declare_block();
        declare_boxes();
        declare_cells();
        for (const ResidentBox& box : shape_.boxes) {
            load_own(box);
            if (box.around() > 0) declare_around(box);
        }
        body().push_back(kernel::Barrier{});
        take_steps();
        store_levels();
        result_.kernel.dynamic_shared_bytes = shape_.shared_bytes;
        for (int axis = 0; axis < 3; ++axis)
            result_.kernel.tile[static_cast<std::size_t>(axis)] = schedule_.tile(axis);
        return std::move(result_);
    }

private:
    // ---- who does what
    // -----------------------------------------------------------------------------------------------

    void declare_block() {
        body().push_back(kernel::Comment{"The block's box of the grid, and the thread's first cell in it."});
        Expr thread = 0;
        for (int axis = 2; axis >= 0; --axis) {
            const int threads = schedule_.threads[static_cast<std::size_t>(axis)];
            if (threads > 1) thread = thread * threads + kernel::thread_index(axis);
        }
        declare(body(), "thread", thread);
        for (int axis = 0; axis < rank(); ++axis) {
            declare(body(), kOrigins[axis], kernel::block_index(axis) * schedule_.tile(axis));
            declare(body(), kSizes[axis],
                    kernel::min(context_.extent(axis) - origin(axis), schedule_.tile(axis)));
            const int threads = schedule_.threads[static_cast<std::size_t>(axis)];
            declare(body(), kInner[axis], threads > 1 ? kernel::thread_index(axis) * cells(axis) : Expr(0));
        }
    }

    void declare_boxes() {
        body().push_back(kernel::BlankLine{});
        for (const ResidentBox& box : shape_.boxes) {
            Kept& kept = kept_[box.field];
            kept.box = context_.local(word(box.field) + "_box");
            const Type type = type_of(box.field);
            const std::int64_t elements = box.cells * box.slots;
            kernel::DeclareArray array{type, kept.box, {kernel::int_literal(elements, Type::i32)}};
            array.memory = kernel::Memory::dynamic_shared;
            array.offset = box.offset;
            body().push_back(std::move(array));
            kept.words = type == Type::f64 ? 2 : 1;
            if (!box.is_exchanged) continue;
            kept.number = static_cast<int>(result_.exchanges.size());
            result_.exchanges.push_back(kept.words);
            kept.exchange = context_.exchange(kept.number, word(box.field) + "_words");
            kept.half = context_.exchange_half(kept.number, word(box.field) + "_half");
        }
        body().push_back(kernel::Comment{"What no cell of the grid is in holds zeros."});
        for (const ResidentBox& box : shape_.boxes) {
            const Type type = type_of(box.field);
            body().push_back(
                kernel::For{"index",
                            variable("thread"),
                            kernel::int_literal(box.cells * box.slots, Type::i32),
                            schedule_.all_threads(),
                            kernel::Unroll::none,
                            {kernel::Assign{kernel::element(kept_[box.field].box, {variable("index")}, type),
                                            kernel::real_literal(0, type)}}});
        }
        body().push_back(kernel::Barrier{});
    }

    void declare_cells() {
        body().push_back(kernel::BlankLine{});
        Place first;
        for (int axis = 0; axis < rank(); ++axis)
            first[static_cast<std::size_t>(axis)] = origin(axis) + inner(axis);
        declare(body(), "first", as_int(context_.element_offset(first[0], first[1], first[2])));
        for (const ResidentBox& box : shape_.boxes) {
            Kept& kept = kept_[box.field];
            kept.place = context_.local(word(box.field) + "_place");
            Place place{0, 0, 0};
            for (int axis = 0; axis < rank(); ++axis)
                place[static_cast<std::size_t>(axis)] =
                    inner(axis) + box.reach[static_cast<std::size_t>(axis)];
            declare(body(), kept.place, place_in(box, place));
        }
    }

    // ---- the start
    // ---------------------------------------------------------------------------------------------------

    // Levels that come from memory: t, and before it t-1 ….
    void load_own(const ResidentBox& box) {
        if (box.role == ir::Role::intermediate) return;
        Block loads;
        for (int back = 0; back <= history(box); ++back) {
            const Expr slot = kernel::int_literal((history(box) - back) * box.cells, Type::i32);
            loads.push_back(kernel::Assign{element(box, slot, own_place(box)),
                                           context_.element({box.field, -back}, grid_place())});
        }
        append(body(), over_cells({kernel::If{is_in_grid(), std::move(loads), {}}}));
    }

    // ---- the steps
    // ---------------------------------------------------------------------------------------------------

    void take_steps() {
        Block step;
        for (const ResidentBox& box : shape_.boxes) {
            if (box.slots == 1) continue;
            for (int time = -history(box); time <= 1; ++time)
                declare(step, slot_name(box, time),
                        (variable("step") + (time + history(box))) % box.slots *
                            kernel::int_literal(box.cells, Type::i32));
        }
        const Expr tag = context_.steps_sent() + variable("step") + 1;
        if (!result_.exchanges.empty()) declare(step, "tag", tag);
        for (std::size_t index = 0; index < views_.stages.size(); ++index)
            do_stage(index, step);
        body().push_back(kernel::BlankLine{});
        body().push_back(
            kernel::For{"step", 0, context_.launch_steps(), 1, kernel::Unroll::none, std::move(step)});
    }

    CellSources sources(std::size_t stage) {
        CellSources sources;
        for (int axis = 0; axis < 3; ++axis)
            sources.index[static_cast<std::size_t>(axis)] =
                axis < rank() ? origin(axis) + in_box(axis) : Expr(0);
        sources.load = [this, stage](const Level& level, const ir::Offset& offset) {
            for (const auto& use : pipeline_.stages[stage].uses) {
                if (use.field != level.field || use.time != level.time) continue;
                const ResidentBox& box = shape_.box(level.field);
                const Expr shift = (offset[2] * box.padded[1] + offset[1]) * box.padded[0] + offset[0];
                return element(box, slot(box, level.time), own_place(box) + shift);
            }
            throw InternalError("a stage reads a level that its pipeline does not know");
        };
        return sources;
    }

    void do_stage(std::size_t index, Block& step) {
        const StageView& view = views_.stages[index];
        context_.enter(view);
        std::string written;
        for (const Write& write : view.writes)
            written += (written.empty() ? "" : " and ") + word(write.level.field);
        step.push_back(kernel::BlankLine{});
        step.push_back(kernel::Comment{"The next " + written + "."});
        Block cell, store;
        const CellValues values = lower_cell(context_, sources(index), cell);
        for (const Write& write : view.writes) {
            const ir::FieldId field = write.level.field;
            const Type type = type_of(field);
            const std::string fresh = context_.local(word(field) + "_fresh");
            kernel::DeclareArray array{type, fresh, {}};
            std::vector<Expr> indices;
            for (int axis = 2; axis >= 0; --axis) {
                if (cells(axis) == 1) continue;
                array.dims.push_back(cells(axis));
                indices.push_back(loop(axis));
            }
            if (array.dims.empty()) {
                array.dims.push_back(1);
                indices.push_back(0);
            }
            step.push_back(std::move(array));
            const Expr value = kernel::element(fresh, indices, type);
            cell.push_back(kernel::Assign{value, stored_value(view, write, values)});
            keep(shape_.box(field), value, store);
        }
        if (cells(0) * cells(1) * cells(2) == 1) cell = {kernel::Scope{std::move(cell)}};
        append(step, over_cells(std::move(cell)));
        append(step, over_cells({kernel::If{is_in_grid(), std::move(store), {}}}));
        for (const Write& write : view.writes)
            if (shape_.box(write.level.field).is_exchanged) receive(shape_.box(write.level.field), step);
        step.push_back(kernel::Barrier{});
    }

    // Stores a cell in the box, and sends it where others may need it.
    void keep(const ResidentBox& box, const Expr& value, Block& store) {
        store.push_back(kernel::Assign{element(box, slot(box, written_time(box)), own_place(box)), value});
        if (!box.is_exchanged) return;
        Expr outer;
        for (int axis = 0; axis < rank(); ++axis) {
            int depth = box.reach[static_cast<std::size_t>(axis)];
            if (depth == 0) continue;
            // A mirror does not show the cell at its face.
            for (int side = 0; side < 2; ++side)
                if (face(box, axis, side).kind == ir::BoundaryKind::mirror)
                    depth = box.reach[static_cast<std::size_t>(axis)] + 1;
            outer = outer || in_box(axis) < depth || in_box(axis) >= size(axis) - depth;
        }
        const char* send = value.type() == Type::f64 ? "send_f64" : "send_f32";
        store.push_back(kernel::If{
            outer, {kernel::CallStatement{send, {word_at(box, grid_place()), value, variable("tag")}}}, {}});
    }

    // ---- the end
    // -----------------------------------------------------------------------------------------------------

    void store_levels() {
        Block stores;
        const Expr steps = context_.launch_steps();
        body().push_back(kernel::BlankLine{});
        for (const ResidentBox& box : shape_.boxes) {
            if (box.role != ir::Role::state) continue;
            for (int back = 0; back <= history(box); ++back) {
                const std::string name =
                    context_.local(word(box.field) + "_last" + (back > 0 ? std::to_string(back) : ""));
                declare(
                    body(), name,
                    (steps + (history(box) - back)) % box.slots * kernel::int_literal(box.cells, Type::i32));
                stores.push_back(kernel::Assign{context_.element({box.field, levels_ - back}, grid_place()),
                                                element(box, variable(name), own_place(box))});
            }
        }
        append(body(), over_cells({kernel::If{is_in_grid(), std::move(stores), {}}}));
    }
};

}  // namespace

std::vector<std::string> resident_roles() {
    return {"thread", "box_i", "box_j", "box_k",  "size_i", "size_j", "size_k", "in_i",     "in_j", "in_k",
            "first",  "index", "pass",  "number", "place",  "source", "shows",  "is_there", "tag",  "step"};
}

ResidentResult lower_resident(Context& context, const StageViews& views, const schedule::Pipeline& pipeline,
                              const schedule::ResidentSchedule& schedule,
                              const schedule::ResidentShape& shape, int levels) {
    return Resident(context, views, pipeline, schedule, shape, levels).lower();
}

}  // namespace halo::lower
