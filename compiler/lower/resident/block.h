// What the parts of a resident kernel's lowering share: names, where a cell lies, the layout of messages and
// the ghost cells of a block's box.
#pragma once

#include <functional>
#include <map>

#include "compiler/lower/resident/resident.h"
#include "compiler/lower/shared/register_array.h"
#include "compiler/lower/shared/window.h"

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
    using Place = CellIndex;

    struct BoxNames {        // of variables and constants that belong to one box
        std::string flat;    // its cells in shared memory, of each slot one after the other
        std::string start;   // where the thread's first cell lies there
        std::string box;     // the same cells by indices that count from that one
        std::string around;  // where ghost cells lie in the box
        std::string source;  // the messages that they come in
        std::string exchange;
        std::string packets;                      // the half of the exchange buffer for this epoch
        std::string to_next;                      // from there to the half for the next one
        std::string messages;                     // how many there are, of all blocks
        std::string row_message, column_message;  // lambdas: the message that has a cell of the grid
        std::string sends, message;               // which rows are sent; the message of the first one
        std::string side_sends;                   // the same for columns, of both faces
        std::array<std::string, 2> side_messages;
        std::map<int, Expr> slots;  // that of each level in a step
        Expr half;
        int number = -1;          // of its exchange buffer
        CellIndex size{1, 1, 1};  // of the box in shared memory
        Expr slot;                // its cells
        Expr messages_in_block, rows_in_block;
    };

    // Constants of the kernel that are known by their names.
    struct Constants {
        Expr threads;
        CellIndex threads_along{1, 1, 1}, cells{1, 1, 1}, tile{1, 1, 1};
    };

    // How cells form messages, and these packets (exchange.cpp).
    struct MessageLayout {
        bool of_sides = false;         // columns at faces of the first axis; else rows at the others
        int cells = 1;                 // of a message
        int sent = 1;                  // of these, so many at once: four f32 in two packets, else one packet
        int large_packets = 1;         // of 16 bytes
        int in_row = 1, in_block = 0;  // messages
    };

    // A level's cells that a thread has in registers: its own, and those around them that it reads.
    struct Window {
        RegisterArray array;
        Read read;  // of all stages
        Sides beside;
    };

    static Expr variable(const std::string& name) { return kernel::variable(name, Type::i32); }
    static Expr truth(const char* name) { return kernel::variable(name, Type::boolean); }
    static Expr as_int(const Expr& value) { return kernel::convert(value, Type::i32); }

    Block& body() { return result_.kernel.function.body; }
    int rank() const { return context_.rank(); }
    std::string word(ir::FieldId field) const { return context_.program()[field].name; }
    Type type_of(ir::FieldId field) const { return kernel_type(context_.program()[field].type); }
    int cells(int axis) const { return schedule_.cells[static_cast<std::size_t>(axis)]; }
    bool is_whole(int axis) const { return schedule_.is_whole[static_cast<std::size_t>(axis)]; }
    Expr tile(int axis) const { return constants_.tile[static_cast<std::size_t>(axis)]; }
    Expr size(int axis) const { return is_whole(axis) ? tile(axis) : variable(kSizes[axis]); }
    // Of a row's last thread, where it has fewer cells of the grid than others; else 0.
    int rest() const { return schedule_.row_rest; }
    // Cells of a row, with all of its last thread; behind them lie those past the grid's end.
    Expr row_size() const { return rest() > 0 ? variable("row_i") : size(0); }
    Expr origin(int axis) const { return variable(kOrigins[axis]); }
    Expr inner(int axis) const { return variable(kInner[axis]); }  // the thread's first cell in the box
    Expr inner(int axis, int axes) const { return axis < axes ? inner(axis) : Expr(0); }
    Expr loop(int axis) const { return cells(axis) > 1 ? variable(kLoops[axis]) : Expr(0); }
    Expr in_box(int axis) const { return inner(axis) + loop(axis); }

    void declare(Block& block, const std::string& name, const Expr& value, Type type = Type::i32) {
        block.push_back(kernel::Declare{type, name, value});
    }

    // ---- places
    // ------------------------------------------------------------------------------------------------------

    // The index of a cell of the box among those of a slot.
    Expr place_in(const ResidentBox& box, const Place& cell) const {
        const BoxNames& names = names_.at(box.field);
        return (cell[2] * names.size[1] + cell[1]) * names.size[0] + cell[0];
    }

    // Where a slot starts to hold cells of the grid.
    static int before(const ResidentBox& box, int axis) {
        return axis == 0 ? box.left : box.reach[static_cast<std::size_t>(axis)];
    }

    // The indices of a cell that is counted from the first one of the thread.
    std::vector<Expr> indices_near(const ResidentBox& box, const Expr& slot, const Place& cell) const {
        std::vector<Expr> indices;
        if (slot.has_value()) indices.push_back(slot);
        for (int axis = rank() - 1; axis >= 0; --axis)
            indices.push_back(cell[static_cast<std::size_t>(axis)] + before(box, axis));
        return indices;
    }

    Expr grid_place(const Place& cell) {
        Expr at = variable("first");
        if (rank() == 3) at = at + cell[2] * as_int(context_.slice());
        return at + cell[1] * context_.pitch() + cell[0];
    }
    Expr grid_place() { return grid_place({loop(0), loop(1), loop(2)}); }

    // Whether a cell is in the grid, which may end within the box; empty where it always is.
    Expr is_in_grid(int axis) const { return is_whole(axis) ? Expr() : in_box(axis) < size(axis); }
    Expr is_thread_in_row() const { return is_whole(0) ? Expr() : inner(0) < size(0); }
    Expr is_row_in_grid() const {
        Expr inside;
        for (int axis = 1; axis < rank(); ++axis)
            if (!is_whole(axis)) inside = inside && is_in_grid(axis);
        return inside;
    }
    static Block if_so(const Expr& condition, Block then) {
        if (!condition.has_value()) return then;
        return {kernel::If{condition, std::move(then), {}}};
    }
    Block in_grid(Block inner_body) const {
        return if_so(is_in_grid(0) && is_row_in_grid(), std::move(inner_body));
    }

    // A cell in a slot, counted from the thread's first one.
    Expr element_near(const ResidentBox& box, const Expr& slot, const Place& cell) const {
        return kernel::element(names_.at(box.field).box, indices_near(box, slot, cell), type_of(box.field));
    }
    Expr address_near(const ResidentBox& box, const Expr& slot, const Place& cell) const {
        return address_of(element_near(box, slot, cell));
    }
    // The cell of a slot that is at a place among all.
    Expr element_at(const ResidentBox& box, const Expr& slot, const Expr& place) const {
        std::vector<Expr> indices;
        if (slot.has_value()) indices.push_back(slot);
        indices.push_back(place);
        return kernel::element(names_.at(box.field).flat, std::move(indices), type_of(box.field));
    }
    static Expr address_of(const Expr& element) {
        const auto& at = std::get<kernel::Element>(element->kind);
        return kernel::address_of(at.array, at.indices.back(), element.type(),
                                  {at.indices.begin(), at.indices.end() - 1});
    }

    Block over_cells(int axis, Block inner_body) const {
        return loop_over(kLoops[axis], constants_.cells[static_cast<std::size_t>(axis)],
                         std::move(inner_body));
    }
    Block over_cells(Block inner_body) const {
        for (int axis = 0; axis < 3; ++axis)
            inner_body = over_cells(axis, std::move(inner_body));
        return inner_body;
    }

    int history(const ResidentBox& box) const {
        return box.role == ir::Role::state ? context_.program()[box.field].history : 0;
    }

    static std::string time_word(int time) {
        return time == 1   ? "_next"
               : time == 0 ? "_now"
                           : "_before" + (time < -1 ? std::to_string(-time) : "");
    }

    // The slot that a level lies in; empty where there is one alone.
    Expr slot(const ResidentBox& box, int time) const {
        return box.slots > 1 ? names_.at(box.field).slots.at(time) : Expr();
    }

    int written_time(const ResidentBox& box) const { return box.role == ir::Role::state ? 1 : 0; }

    Level written_level(const ResidentBox& box) const { return {box.field, written_time(box)}; }

    // The same before the first step.
    static Expr first_slot(const ResidentBox& box, int time) {
        return box.slots > 1 ? Expr(time + box.back) : Expr();
    }

    // ---- what a thread has in registers (window.cpp)
    // ----------------------------------------------------------------------------------------------

    static constexpr int kLanes = 32;
    // Neighbours along the first axis are in neighbouring lanes, but where a warp or a row ends.
    bool has_lanes() const { return schedule_.threads[0] > 1 && cells(0) > 1; }
    // A warp ends within no row.
    bool has_whole_rows() const { return kLanes % schedule_.threads[0] == 0; }
    // All lanes of the last warp are there.
    bool has_whole_warps() const { return schedule_.all_threads() % kLanes == 0; }
    void declare_lanes();
    // Where the grid may end within the thread's own cells.
    void declare_ends();

    // The levels that stay from step to step: those of the states.
    void declare_windows();
    // The others, which a step makes or reads anew.
    void declare_windows_of_step(Block& step);
    // Whether a thread has its own cells of a level in registers before a stage reads them.
    bool has_own(const ResidentBox& box, int time) const {
        return box.role != ir::Role::input && !(box.keep == schedule::Keep::shared && time == 0);
    }
    // A level's cell, counted from the thread's first.
    Expr near(const Level& level, const Expr& z, const Expr& y, const Expr& x) const;
    // What a stage reads of a level and the thread does not have, from shared memory: some planes ahead
    // within its loop over planes, or at once where it has none.
    void gather(const schedule::Pipeline::Use& use, Block& step);
    void gather_ahead(const schedule::Pipeline::Use& use, int early, Block& plane);
    int planes_ahead(const schedule::Pipeline::Use& use) const;
    int planes_early(const schedule::Pipeline::Use& use) const;
    static Read read_of(const schedule::Pipeline::Use& use);
    // A thread's own rows that lie past the grid's end show others.
    void gather_past_end(const ResidentBox& box, const Level& level, Block& step);
    // Threads beside read cells that are in none of a thread's outer rows.
    bool needs_inner_rows(const ResidentBox& box) const;
    // Moves each level to that of one step before.
    void rotate(Block& step);

    // ---- the halo exchange (exchange.cpp)
    // ----------------------------------------------------------------------------------------------

    MessageLayout message_layout(const ResidentBox& box, bool of_sides) const;
    bool sends_pairs() const;
    int depth(const ResidentBox& box, int axis) const;
    int words_of_block(const ResidentBox& box) const;
    // The constants of the schedule; and those of the shape of a box.
    void declare_constants();
    void declare_box_constants(const ResidentBox& box);
    // Drops those that the kernel does not use, and the truths about lanes.
    void remove_unused();
    bool needs_zeros(const ResidentBox& box) const;
    void declare_blocks();
    void declare_exchange(const ResidentBox& box);
    // Where the message of a cell lies, for those that send and those that receive.
    void declare_messages(const ResidentBox& box);
    // Which cells of the thread other blocks read.
    void declare_sends(const ResidentBox& box);
    void declare_packets(const ResidentBox& box);
    void advance_packets(const ResidentBox& box, Block& step);
    void send_row(const ResidentBox& box, Block& row);
    void send_sides(const ResidentBox& box, Block& plane);

    // ---- the ghost cells of a box (around.cpp)
    // ----------------------------------------------------------------------------------------------

    struct Slab {  // the ghost cells past both faces of a box along an axis
        int axis = 0;
        rt::Lengths extent{};           // of messages
        std::array<bool, 3> is_wide{};  // reaches past the faces of this axis, too
        bool is_beside = false;         // of those, the ones past faces of the first axis
        bool is_exchanged = false;      // has cells that other blocks send
        int message_cells = 1;          // cells, neighbours along the first axis or the second
        int along = 0;                  // which
        int received = 1;               // values of a message that a thread polls
        int count = 1, first = 0, passes = 1;
        int end() const { return first + passes; }
        bool is_column() const { return axis == 0; }
    };
    struct Slabs {  // those that are exchanged first, and of these those that receive as many values together
        std::vector<Slab> all;
        int passes = 0, exchanged = 0;
    };
    Slabs slabs(const ResidentBox& box) const;
    // Which ghost cells a thread fills in, and what they hold before the first step.
    void declare_around(const ResidentBox& box);
    // Polls the packets of an epoch and stores their values in the box.
    void receive(const ResidentBox& box, Block& step);
    rt::ImageMap image(const ResidentBox& box, int axis, int side) const {
        return context_.program()[box.field].image(axis, side);
    }
    const ir::Face& face(const ResidentBox& box, int axis, int side) const {
        return context_.program()[box.field].boundary[axis][side];
    }

    static constexpr const char* kOrigins[] = {"box_i", "box_j", "box_k"};
    static constexpr const char* kSizes[] = {"size_i", "size_j", "size_k"};
    static constexpr const char* kInner[] = {"in_i", "in_j", "in_k"};
    static constexpr const char* kBlocks[] = {"blocks_i", "blocks_j", "blocks_k"};
    static constexpr const char* kLoops[] = {"x", "y", "z"};

    Context& context_;
    const StageViews& views_;
    const schedule::Pipeline& pipeline_;
    const schedule::ResidentSchedule& schedule_;
    const schedule::ResidentShape& shape_;
    const int levels_;
    Constants constants_;
    std::map<ir::FieldId, BoxNames> names_;
    std::map<Level, Window> windows_;
    ResidentResult result_;

private:
    Window& window(const Level& level);
    void add_window(const Level& level, const std::vector<ir::Offset>& offsets);
    struct Rows {  // of a plane
        std::array<int, 2> y{0, 0};
        int left = 0, right = 0;  // cells beside the thread's that are read
        friend bool operator==(const Rows&, const Rows&) = default;
    };
    std::vector<Rows> rows_of(const Read& read, int planes) const;
    void gather_plane(const Read& read, int planes, const Expr& z, Block& step) const;
    void load_rows(const ResidentBox& box, const Level& level, const Expr& z, const std::array<int, 2>& y,
                   Block& step) const;
    void load_row(const ResidentBox& box, const Level& level, const Expr& z, const Expr& y,
                  Block& loads) const;
    void load_sides(const ResidentBox& box, const Level& level, const Expr& z, const Rows& rows,
                    Block& step) const;
    void load_past_end(const ResidentBox& box, const Level& level, const Expr& z, const Rows& rows,
                       const std::array<int, 2>& x, Block& loads) const;

    Expr constant(const std::string& name, std::int64_t value, const ResidentBox* box = nullptr,
                  const std::string& comment = "");
    Expr messages_of(int axis, const MessageLayout& layout) const;
    Expr cells_of_message(int axis, int count) const;
    Expr row_message(const MessageLayout& rows, const Expr& z, const Expr& y) const;
    Expr row_in_thread() const;
    std::string lambda(const std::string& name, const ResidentBox& box, const Expr& value);
    static Expr bit(const Expr& number);
    bool has_columns_of_threads(const ResidentBox& box) const;
    static Expr has_bit(const std::string& bits, const Expr& number);
    Expr is_read(const ResidentBox& box, int axis, int side);
    Expr blocks_along(int axis);
    Block send_message(const ResidentBox& box, const MessageLayout& layout, const Expr& message,
                       const Expr& is_needed, const std::function<Expr(int)>& cell);

    Expr message_in(const Slab& slab, int axis) const;
    Expr extent_in(const Slab& slab, int axis) const;
    bool has_rest(const Slab& slab) const { return slab.count % schedule_.all_threads() != 0; }
    Expr there_is(const Slab& slab) const;
    static Expr pass_of(const Slabs& list);
    // Where a slab ends along the last axis its layers say whether a cell is there; one alone has no name.
    bool asks_layer(const Slab& slab) const {
        return slab.axis == rank() - 1 && slab.extent[static_cast<std::size_t>(slab.axis)] > 2;
    }
    Block first_cell(const Slab& slab, bool is_only, bool is_there_later);
    Block fill(const ResidentBox& box, const Slabs& list, const Expr& there);
    // The passes of some slabs; empty for all, false for none.
    Expr is_pass_of(const Slabs& list, const std::function<bool(const Slab&)>& which) const;
    void note_message(const ResidentBox& box, const Slabs& list, const Place& source, const Expr& shows,
                      Block& notes);
    Block unpack(const ResidentBox& box, const Slab& slab, const std::string& values, int first);
    struct Fixed {  // neighbouring fixed faces of one value
        Expr value, beyond;
    };
    static bool has_levels_at_start(const ResidentBox& box) { return box.role != ir::Role::intermediate; }
    bool sets_values(const ResidentBox& box);
    std::vector<Fixed> fixed_faces(const ResidentBox& box, const Place& cell);
    bool is_one_value(const ResidentBox& box, const std::vector<Fixed>& faces) const;
    void set_first_values(const ResidentBox& box, const Place& cell, const Expr& there, const Expr& shows,
                          Block& pass);
    Expr is_past(const ResidentBox& box, int axis, int side, const Expr& cell);
    Expr shown(const ResidentBox& box, int axis, Expr cell);
};

}  // namespace halo::lower
