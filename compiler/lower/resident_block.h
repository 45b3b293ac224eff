// What the parts of a resident kernel share: its names, where a cell lies, and the cells around a block's
// box.
#pragma once

#include <map>

#include "compiler/lower/resident.h"

namespace halo::lower {

class ResidentBlock {
public:
    ResidentBlock(Context& context, const StageViews& views, const schedule::Pipeline& pipeline,
                  const schedule::ResidentSchedule& schedule, const schedule::ResidentShape& shape,
                  int levels)
        : context_(context),
          views_(views),
          pipeline_(pipeline),
          schedule_(schedule),
          shape_(shape),
          levels_(levels) {}

protected:
    using Block = kernel::Block;
    using Expr = kernel::Expr;
    using Type = kernel::Type;
    using ResidentBox = schedule::ResidentBox;
    using Place = std::array<Expr, 3>;

    struct Kept {  // the names of a box's things
        std::string box, place;
        std::string around, source;  // of the cells around: where in the box, and in the grid
        std::string exchange;
        Expr half;
        int number = -1;  // of its exchange
        int words = 1;
    };

    static Expr variable(const std::string& name) { return kernel::variable(name, Type::i32); }
    static Expr truth(const char* name) { return kernel::variable(name, Type::boolean); }
    static Expr as_int(const Expr& value) { return kernel::convert(value, Type::i32); }

    Block& body() { return result_.kernel.function.body; }
    int rank() const { return context_.rank(); }
    std::string word(ir::FieldId field) const { return context_.program()[field].name; }
    Type type_of(ir::FieldId field) const { return kernel_type(context_.program()[field].type); }
    int cells(int axis) const { return schedule_.cells[static_cast<std::size_t>(axis)]; }
    Expr size(int axis) const { return variable(kSizes[axis]); }
    Expr origin(int axis) const { return variable(kOrigins[axis]); }
    Expr inner(int axis) const { return variable(kInner[axis]); }  // the thread's first cell in the box
    Expr loop(int axis) const { return cells(axis) > 1 ? variable(kLoops[axis]) : Expr(0); }
    Expr in_box(int axis) const { return inner(axis) + loop(axis); }

    void declare(Block& block, const std::string& name, const Expr& value, Type type = Type::i32) {
        block.push_back(kernel::Declare{type, name, value});
    }

    // ---- places
    // ------------------------------------------------------------------------------------------------------

    static Expr place_in(const ResidentBox& box, const Place& at) {
        return (at[2] * box.padded[1] + at[1]) * box.padded[0] + at[0];
    }

    // Of the loops' cell, in a slot of its box.
    Expr own_place(const ResidentBox& box) const {
        return variable(kept_.at(box.field).place) + place_in(box, {loop(0), loop(1), loop(2)});
    }

    Expr grid_place() {
        Expr at = variable("first");
        if (rank() == 3) at = at + loop(2) * as_int(context_.slice());
        return at + loop(1) * context_.pitch() + loop(0);
    }

    Expr is_in_grid() const {
        Expr inside;
        for (int axis = 0; axis < rank(); ++axis)
            inside = inside && in_box(axis) < size(axis);
        return inside;
    }

    Expr element(const ResidentBox& box, const Expr& slot, const Expr& place) const {
        return kernel::element(kept_.at(box.field).box, {slot + place}, type_of(box.field));
    }

    Block over_cells(Block inner_body) const {
        for (int axis = 0; axis < 3; ++axis)
            inner_body = loop_over(kLoops[axis], cells(axis), std::move(inner_body));
        return inner_body;
    }

    int history(const ResidentBox& box) const {
        return box.role == ir::Role::state ? context_.program()[box.field].history : 0;
    }

    std::string slot_name(const ResidentBox& box, int time) {
        const std::string suffix = time == 1   ? "_next"
                                   : time == 0 ? "_now"
                                               : "_before" + (time < -1 ? std::to_string(-time) : "");
        return context_.local(word(box.field) + "_at" + suffix);
    }

    Expr slot(const ResidentBox& box, int time) {
        return box.slots > 1 ? variable(slot_name(box, time)) : Expr(0);
    }

    int written_time(const ResidentBox& box) const { return box.role == ir::Role::state ? 1 : 0; }

    Expr half(const ResidentBox& box) const {
        return kernel::convert(variable("tag") % 2, Type::i64) * kept_.at(box.field).half;
    }

    Expr word_at(const ResidentBox& box, const Expr& grid) const {
        const Kept& kept = kept_.at(box.field);
        return kernel::address_of(kept.exchange, half(box) + kernel::convert(grid * kept.words, Type::i64),
                                  Type::i64);
    }

    // ---- the cells around a box (resident_around.cpp)
    // ----------------------------------------------------------------------------------------------

    struct Slab {  // of the cells around a box, those past its two faces along an axis
        int axis = 0;
        std::array<int, 3> extent{1, 1, 1};
        std::array<bool, 3> is_wide{};  // reaches past the faces of this axis, too
        int count = 1, passes = 1;
    };
    std::vector<Slab> slabs(const ResidentBox& box) const;
    int passes(const ResidentBox& box) const;
    // Which of them are the thread's to fill, and what they hold before the first step.
    void declare_around(const ResidentBox& box);
    // Takes them from the exchange; all words are looked at before the first is waited for.
    void receive(const ResidentBox& box, Block& step);
    const ir::Face& face(const ResidentBox& box, int axis, int side) const {
        return context_.program()[box.field].boundary[axis][side];
    }

    static constexpr const char* kOrigins[] = {"box_i", "box_j", "box_k"};
    static constexpr const char* kSizes[] = {"size_i", "size_j", "size_k"};
    static constexpr const char* kInner[] = {"in_i", "in_j", "in_k"};
    static constexpr const char* kLoops[] = {"x", "y", "z"};

    Context& context_;
    const StageViews& views_;
    const schedule::Pipeline& pipeline_;
    const schedule::ResidentSchedule& schedule_;
    const schedule::ResidentShape& shape_;
    const int levels_;
    std::map<ir::FieldId, Kept> kept_;
    ResidentResult result_;

private:
    Block around_pass(const ResidentBox& box, const Slab& slab, int first);
    void show_cell(const ResidentBox& box, const Place& cell, int first, Block& pass);
    void load_shown(const ResidentBox& box, Block& pass);
    void set_fixed(const ResidentBox& box, const Place& cell, Block& pass);
    Expr is_past(const ResidentBox& box, int axis, int side, const Expr& cell);
    Expr shown(const ResidentBox& box, int axis, Expr cell);
};

}  // namespace halo::lower
