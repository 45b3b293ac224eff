// direct: each thread computes a small box of cells. With one cell a thread its neighbours are read where
// they are used; with more, the thread's window is loaded to registers first, in vectors, and all cells are
// computed from it.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "compiler/lower/direct/direct.h"
#include "compiler/lower/direct/row_sums.h"
#include "compiler/lower/shared/cell.h"
#include "compiler/lower/shared/packed_stage.h"
#include "compiler/lower/shared/reduce.h"
#include "compiler/lower/shared/regions.h"
#include "compiler/lower/shared/strategy.h"
#include "compiler/lower/shared/tabulated.h"
#include "compiler/lower/shared/window.h"
#include "compiler/support/error.h"

namespace halo::lower {
namespace {

using kernel::Block;
using kernel::Expr;
using kernel::Type;

class Direct {
public:
    Direct(Context& context, const schedule::Schedule& schedule, Images& images)
        : context_(context),
          schedule_(schedule),
          images_(images),
          low_(context.stage().low()),
          high_(context.stage().high()) {}

    StrategyResult lower() {
        if (context_.stage().in_place != nullptr) return change_in_place();
        static constexpr const char* kCellConstants[] = {"kCellsX", "kCellsY", "kCellsZ"};
        for (int axis = 0; axis < std::min(context_.rank(), 3); ++axis) {  // one along a fourth
            cells_[axis] = schedule_.cells[axis];
            result_.tile[axis] = schedule_.tile(axis);
            counts_[axis] = named_constant(function(), kCellConstants[axis], cells_[axis]);
        }
        first_ = declare_first_cell(context_, schedule_, counts_, function());
        is_packed_ = cells_[0] % kPackedCells == 0 && can_pack(context_);
        if (!is_packed_) look_functions_up();
        Block work;
        if (cells_ == rt::Lengths{1, 1, 1}) {
            single_cell(work);
        } else {
            declare_offsets(work);
            for (const Read& read : context_.stage().reads)
                load_window(read, work);
            compute(work);
        }
        images_.append(context_, first_, cells_, {1, 1, 1}, work);
        guard(std::move(work));
        return std::move(result_);
    }

private:
    kernel::KernelFunction& function() { return result_.function; }
    Block& body() { return result_.function.body; }
    Type type_of(const Level& level) const { return storage_type(context_.stage().field(level).storage); }
    Type value_type(const Level& level) const {
        return is_packed_ ? Type::u32 : kernel_type(context_.stage().field(level).type);
    }

    void look_functions_up() {
        tabulated_.emplace(context_, schedule_);
        if (!tabulated_->empty()) tabulated_->declare(body());
    }
    const TabulatedFunctions* tabulated() const { return tabulated_ ? &*tabulated_ : nullptr; }

    // Threads past the grid have nothing to do; where a block reduces they must still come to its barriers.
    void guard(Block work) {
        Expr outside, inside;
        for (int axis = 0; axis < std::min(context_.rank(), 3); ++axis) {  // blocks count a fourth exactly
            outside = outside || first_[axis] >= context_.extent(axis);
            inside = inside && first_[axis] < context_.extent(axis);
        }
        if (context_.stage().reductions.empty()) {
            body().push_back(kernel::If{outside, {kernel::Return{}}, {}});
            body().push_back(kernel::BlankLine{});
            append(body(), std::move(work));
            return;
        }
        body().push_back(kernel::BlankLine{});
        begin_reductions(context_, body());
        body().push_back(kernel::If{inside, std::move(work), {}});
        finish_reductions(context_, body());
    }

    // ---- a statement that changes its level in place: one cell a thread, of those that the statement is for

    StrategyResult change_in_place() {
        const ir::Assign& assign = *context_.stage().in_place;
        const bool is_boxed = context_.stage().is_launched_for_box();
        CellIndex begin{0, 0, 0};
        Expr outside;
        for (int axis = 0; axis < context_.rank(); ++axis) {
            result_.tile[axis] = schedule_.threads[axis];  // 1 along a fourth axis
            if (is_boxed) begin[axis] = region_bounds(context_, assign.region, axis).begin;
        }
        Expr planes;
        if (is_boxed && context_.rank() > 3)
            planes = region_bounds(context_, assign.region, 2).end - begin[2];
        first_ = declare_first_cell(context_, schedule_, counts_, function(), begin, {}, planes);
        for (int axis = 0; axis < context_.rank() && is_boxed; ++axis)
            outside = outside || first_[axis] >= region_bounds(context_, assign.region, axis).end;
        Block work;
        const Expr at = declare_place(context_, first_, work);
        CellSources sources = sources_at(context_, first_, at);
        sources.is_in_region.fill(is_boxed);
        sources.is_alone = context_.stage().reads_nothing_changed();
        change_cell(
            context_, sources, [&](const Level& level) { return context_.element(level, at); },
            [&](Block& changed) { images_.append(context_, first_, {1, 1, 1}, {1, 1, 1}, changed); }, work);
        if (is_boxed) {
            body().push_back(kernel::If{outside, {kernel::Return{}}, {}});
            body().push_back(kernel::BlankLine{});
            append(body(), std::move(work));
        } else {
            guard(std::move(work));
        }
        return std::move(result_);
    }

    // ---- one cell a thread

    void single_cell(Block& work) {
        const Expr at = declare_place(context_, first_, work);
        CellSources sources = sources_at(context_, first_, at);
        sources.tabulated = tabulated();
        sources.is_alone = true;
        const CellValues values = lower_cell(context_, sources, work);
        store_cell(context_, first_, at, values, work);
        reduce_cell(context_, values, Expr(), work);
    }

    // ---- a box of cells a thread

    int window_extent(int axis) const { return cells_[axis] + high_[axis] - low_[axis]; }

    // Offsets of the window's rows and planes. The last threads' windows may reach past the halo: there the
    // last row is read again, and what is computed from it is not stored.
    void declare_offsets(Block& work) {
        const bool tables = window_extent(1) > 1 || window_extent(2) > 1;
        if (!tables) return;
        work.push_back(kernel::Comment{"Where the rows of this thread's window start."});
        if (window_extent(1) > 1) declare_table("row", "y", 1, context_.pitch(), work);
        if (window_extent(2) > 1) declare_table("plane", "z", 2, context_.slice(), work);
        work.push_back(kernel::BlankLine{});
    }

    void declare_table(const char* name, const char* var, int axis, const Expr& stride, Block& work) {
        const Expr count = counts_[axis] + (high_[axis] - low_[axis]);
        Expr index = first_[axis] + (kernel::variable(var, Type::i32) + low_[axis]);
        if (cells_[axis] > 1) {
            index = kernel::min(index, context_.extent(axis) + (context_.layout().halo[axis][1] - 1));
        }
        if (stride.type() == Type::i32) index = kernel::convert(index, Type::i64);
        work.push_back(kernel::DeclareArray{Type::i64, name, {count}});
        const Expr entry = kernel::element(name, {kernel::variable(var, Type::i32)}, Type::i64);
        append(work, loop_over(var, count, {kernel::Assign{entry, index * stride}}));
    }

    // Elements from cell 0 to the thread's first cell along x in a row of the window.
    Expr row_offset(const Expr& window_y, const Expr& window_z, int window_w) {
        Expr offset;
        const auto add = [&](const Expr& part) { offset = offset.has_value() ? offset + part : part; };
        if (context_.rank() > 3) add((first_[3] + (window_w + low_[3])) * context_.volume());
        if (context_.rank() > 2) {
            add(window_extent(2) > 1 ? kernel::element("plane", {window_z}, Type::i64)
                                     : first_[2] * context_.slice());
        }
        if (context_.rank() > 1) {
            add(window_extent(1) > 1 ? kernel::element("row", {window_y}, Type::i64)
                                     : kernel::convert(first_[1], Type::i64) * context_.pitch());
        }
        add(first_[0]);
        return offset;
    }

    std::string window_name(const Level& level) { return context_.local(context_.label(level) + "_cells"); }

    // The window's element; dimensions of one are left out.
    Expr window_element(const Read& read, const CellIndex& at) {
        std::vector<Expr> indices;
        for (int axis = ir::kMaxRank - 1; axis > 0; --axis)
            if (read_extent(read, axis) > 1) indices.push_back(at[static_cast<std::size_t>(axis)]);
        indices.push_back(at[0]);
        return kernel::element(window_name(read.level), std::move(indices), value_type(read.level));
    }

    int read_extent(const Read& read, int axis) const {
        return cells_[axis] + read.high[axis] - read.low[axis];
    }

    void load_window(const Read& read, Block& work) {
        const Sides beside = sides_of(read);
        std::vector<Expr> dims;
        for (int axis = ir::kMaxRank - 1; axis > 0; --axis) {
            if (read_extent(read, axis) > 1)
                dims.push_back(counts_[axis] + (read.high[axis] - read.low[axis]));
        }
        dims.push_back((is_packed_ ? Expr(words()) : counts_[0]) + (beside.left + beside.right));
        work.push_back(
            kernel::DeclareArray{value_type(read.level), window_name(read.level), std::move(dims)});
        for (const RowBlock& rows : row_blocks(read, cells_))
            load_rows(read, beside, rows, work);
    }

    // One block of rows: loops over its rows, where there are several, around the loads of a row.
    void load_rows(const Read& read, const Sides& beside, const RowBlock& rows, Block& work) {
        const auto coordinate = [](const std::pair<int, int>& range, const char* var) {
            return range.second - range.first > 1 ? kernel::variable(var, Type::i32) : Expr(range.first);
        };
        const Expr y = coordinate(rows.y, "y"), z = coordinate(rows.z, "z");
        Block loads;
        load_row(read, beside, rows, y, z, loads);
        if (rows.y.second - rows.y.first > 1) {
            loads = {
                kernel::For{"y", rows.y.first, rows.y.second, 1, kernel::Unroll::full, std::move(loads)}};
        }
        if (rows.z.second - rows.z.first > 1) {
            loads = {
                kernel::For{"z", rows.z.first, rows.z.second, 1, kernel::Unroll::full, std::move(loads)}};
        }
        append(work, std::move(loads));
    }

    void load_row(const Read& read, const Sides& beside, const RowBlock& rows, const Expr& y, const Expr& z,
                  Block& loads) {
        const Type type = type_of(read.level);
        const int components = ir::interleave(context_.program(), read.level.field).count();
        const Expr offset = row_offset(y + (read.low[1] - low_[1]), z + (read.low[2] - low_[2]),
                                       rows.w + (read.low[3] - low_[3]));
        const int vector = cells_[0];
        const auto at = [&](int x) { return CellIndex{x, y, z, rows.w}; };
        if (rows.left == 0 && rows.right == 0) {
            load_cells(read, at(beside.left), context_.array(read.level), context_.place(read.level, offset),
                       loads);
            return;
        }
        // A single row's pointer stands beside others; inside a loop it has a scope of its own.
        const bool in_loop = rows.y.second - rows.y.first > 1 || rows.z.second - rows.z.first > 1;
        const std::string wanted = context_.label(read.level) + "_row";
        const std::string name = in_loop ? context_.local(wanted) : context_.names().take(wanted);
        loads.push_back(kernel::DeclarePointer{type, name, context_.address(read.level, offset)});
        if (is_packed_) {
            const auto load_word = [&](int word) {
                const Expr from = kernel::address_of(name, word * kPackedCells, type);
                loads.push_back(kernel::LoadVector{window_element(read, at(beside.left + word)), from, 4});
            };
            for (int word = -words_beside(rows.left); word < 0; ++word)
                load_word(word);
            load_cells(read, at(beside.left), name, 0, loads);
            for (int word = 0; word < words_beside(rows.right); ++word)
                load_word(words() + word);
            return;
        }
        const auto load_one = [&](int x) {
            loads.push_back(kernel::Assign{
                window_element(read, at(beside.left + x)),
                loaded(kernel::element(name, {x * components}, type), context_.stage().field(read.level))});
        };
        // A row that needs fewer neighbours than the window is wide loads only those.
        const auto side = [&](int count, bool vectors, int begin, int direction) {
            for (int done = 0; done < count; done += vectors ? vector : 1) {
                const int x = direction < 0 ? begin - done - (vectors ? vector : 1) : begin + done;
                if (vectors) {
                    load_cells(read, at(beside.left + x), name, x, loads);
                } else {
                    load_one(x);
                }
            }
        };
        side(rows.left, beside.left_vectors, 0, -1);
        load_cells(read, at(beside.left), name, 0, loads);
        side(rows.right, beside.right_vectors, vector, 1);
    }

    Sides sides_of(const Read& read) const {
        return is_packed_ ? words_beside(read) : sides(read, cells_[0], kernel::size_of(type_of(read.level)));
    }

    // As many cells as a thread has of a row, to the window's elements from `to` on.
    void load_cells(const Read& read, const CellIndex& to, const std::string& array, const Expr& offset,
                    Block& loads) {
        const Type type = type_of(read.level);
        const auto element = [&](int x) {
            CellIndex place = to;
            place[0] = to[0] + x;
            return window_element(read, place);
        };
        if (cells_[0] == 1) {
            loads.push_back(kernel::Assign{element(0), loaded(kernel::element(array, {offset}, type),
                                                              context_.stage().field(read.level))});
            return;
        }
        for (int x = 0; x < cells_[0]; x += vector())
            loads.push_back(
                kernel::LoadVector{element(x), kernel::address_of(array, offset + x, type), vector()});
    }

    int words() const { return cells_[0] / kPackedCells; }
    // Cells that are loaded and stored at once. Eight bytes that are not packed are two vectors.
    int vector() const { return is_packed_ ? cells_[0] : std::min(cells_[0], 4); }

    Expr loop_variable(int axis) const {
        static constexpr const char* kNames[] = {"x", "y", "z", "w"};
        return cells_[axis] > 1 ? kernel::variable(kNames[axis], Type::i32) : Expr(0);
    }

    const Read& read_of(const Level& level) const {
        return *std::ranges::find_if(context_.stage().reads,
                                     [&](const Read& each) { return each.level == level; });
    }

    void compute(Block& work) {
        const CellIndex loop{loop_variable(0), loop_variable(1), loop_variable(2), loop_variable(3)};
        Block row = is_packed_ ? compute_words(loop) : compute_cells(loop);
        for (const Write& write : context_.stage().writes)
            store_row(write, loop, row);
        Block plane = row_sums_.take();
        append(plane, loop_over("y", counts_[1], std::move(row)));
        work.push_back(kernel::BlankLine{});
        append(work, loop_over("z", counts_[2], std::move(plane)));
    }

    // A cell of a row of the window, besides its place in the row.
    static CellIndex in_window(const Read& read, const CellIndex& loop, const ir::Offset& shift) {
        CellIndex at;
        for (int axis = 1; axis < ir::kMaxRank; ++axis)
            at[axis] = loop[axis] + (shift[axis] - read.low[axis]);
        return at;
    }

    // The values of a row of cells: words for each level that is stored.
    Block compute_words(const CellIndex& loop) {
        const Expr own_word = words() > 1 ? kernel::variable("x", Type::i32) : Expr(0);
        PackedSources sources;
        sources.load = [&](const Level& level, const ir::Offset& shift) {
            const Read& read = read_of(level);
            const int bytes = (shift[0] % kPackedCells + kPackedCells) % kPackedCells;
            CellIndex at = in_window(read, loop, shift);
            at[0] = own_word + (sides_of(read).left + (shift[0] - bytes) / kPackedCells);
            CellIndex next = at;
            next[0] = at[0] + 1;
            return PackedSource{window_element(read, at), bytes == 0 ? Expr() : window_element(read, next),
                                bytes};
        };
        if (cells_[1] > 1) {
            sources.row_sum = [&](const RowSum& sum, int row) {
                return row_sums_.shared(context_, sum, sources, {counts_[1] + (sum.high - sum.low), words()},
                                        {loop[1] + (row - sum.low), own_word});
            };
        }
        Block row{
            kernel::Comment{"Four cells of the row at once, each in a byte of a word or in half of one."}};
        const std::optional<PackedValues> values = lower_packed(context_, sources, row);
        if (!values) throw InternalError("cells that can be packed are not");
        Block results;
        for (const Write& write : context_.stage().writes) {
            const auto& assigns = context_.stage().assigns;
            const auto place = std::ranges::find(assigns, write.assign) - assigns.begin();
            Expr& word = words_[write.level];
            word = values->assigned[static_cast<std::size_t>(place)];
            if (words() == 1) continue;
            const Expr result = kernel::element(result_name(write), {own_word}, Type::u32);
            results.push_back(kernel::DeclareArray{Type::u32, result_name(write), {words()}});
            row.push_back(kernel::Assign{result, std::exchange(word, Expr())});
        }
        reduce_words(values->reduced, loop, own_word, row);
        append(results, loop_over("x", words(), std::move(row)));
        return results;
    }

    // Whole numbers are added up exactly, in whatever order.
    void reduce_words(const std::vector<Expr>& reduced, const CellIndex& loop, const Expr& own_word,
                      Block& row) {
        if (reduced.empty()) return;
        const Expr ones = kernel::int_literal(0x01010101, Type::u32);
        Expr in_row = context_.extent(0) - first_[0];
        if (words() > 1) in_row = kernel::max(in_row - own_word * kPackedCells, 0);
        const Expr inside = kernel::call_helper(kernel::Helper::first_bytes, {in_row});
        CellValues sums;
        for (const Expr& word : reduced) {
            sums.reduced.push_back(kernel::call_helper(
                kernel::Helper::byte_sum, {kernel::operation(kernel::Operator::bit_and, word, inside), ones,
                                           kernel::int_literal(0, Type::u32)}));
            sums.counted.emplace_back();
        }
        Expr in_grid;
        for (int axis = 1; axis < context_.rank(); ++axis)
            if (cells_[axis] > 1) in_grid = in_grid && first_[axis] + loop[axis] < context_.extent(axis);
        reduce_cell(context_, sums, in_grid, row);
    }

    Block compute_cells(const CellIndex& loop) {
        CellSources sources;
        sources.tabulated = tabulated();
        for (int axis = 0; axis < context_.rank(); ++axis)
            sources.index[axis] = first_[axis] + loop[axis];
        for (int axis = 0; axis < context_.rank(); ++axis)
            sources.may_pass_high_face[axis] = cells_[axis] > 1;
        sources.load = [&](const Level& level, const ir::Offset& shift) {
            const Read& read = read_of(level);
            CellIndex at = in_window(read, loop, shift);
            at[0] = loop[0] + (shift[0] + sides_of(read).left);
            return window_element(read, at);
        };
        Block cell;
        const CellValues values = lower_cell(context_, sources, cell);
        Block row;
        for (const Write& write : context_.stage().writes) {
            row.push_back(kernel::DeclareArray{type_of(write.level), result_name(write), {counts_[0]}});
            cell.push_back(
                kernel::Assign{kernel::element(result_name(write), {loop[0]}, type_of(write.level)),
                               stored_value(context_.stage(), write, values)});
        }
        reduce_cell(context_, values, inside_grid(sources.index), cell);
        append(row, loop_over("x", counts_[0], std::move(cell)));
        return row;
    }

    std::string result_name(const Write& write) {
        return context_.local(context_.label(write.level) + "_result");
    }

    Expr inside_grid(const CellIndex& index) {
        Expr inside;
        for (int axis = 0; axis < context_.rank(); ++axis) {
            if (cells_[axis] > 1) inside = inside && index[axis] < context_.extent(axis);
        }
        return inside;
    }

    Expr result_at(const Write& write, const Expr& x) {
        const Type type = type_of(write.level);
        if (!is_packed_) return kernel::element(result_name(write), {x}, type);
        const Expr of_row = words_.at(write.level);
        const Expr word =
            of_row ? of_row : kernel::element(result_name(write), {x / kPackedCells}, Type::u32);
        const Expr number = of_row ? x : x % kPackedCells;
        return kernel::convert(kernel::call_helper(kernel::Helper::byte_of, {word, number}), type);
    }

    void store_row(const Write& write, const CellIndex& loop, Block& row) {
        const Type type = type_of(write.level);
        const std::string array = context_.array(write.level);
        Expr in_row;
        for (int axis = 1; axis < context_.rank(); ++axis) {
            const auto [low, high] = store_bounds(context_.stage(), write, axis);
            const Expr index = first_[axis] + loop[axis];
            if (low) in_row = in_row && index >= low;
            if (high || cells_[axis] > 1) in_row = in_row && index < context_.extent(axis) - high;
        }
        const Expr offset = row_offset(loop[1] - low_[1], loop[2] - low_[2], -low_[3]);
        const auto [low, high] = store_bounds(context_.stage(), write, 0);
        const auto bounded = [&](const Expr& first, bool all) {
            Expr inside;
            if (low) inside = first >= low;
            const Expr end = context_.extent(0) - high;
            if (high || cells_[0] > 1) inside = inside && (all ? first + counts_[0] <= end : first < end);
            return inside;
        };
        Block store;
        if (cells_[0] == 1) {
            store = {kernel::Assign{context_.element(write.level, offset), result_at(write, 0)}};
            if (const Expr inside = bounded(first_[0], false))
                store = {kernel::If{inside, std::move(store), {}}};
        } else {
            const Expr x = kernel::variable("x", Type::i32);
            Block one{
                kernel::If{bounded(first_[0] + x, false),
                           {kernel::Assign{kernel::element(array, {offset + x}, type), result_at(write, x)}},
                           {}}};
            store = {kernel::If{bounded(first_[0], true), store_vectors(write, offset),
                                loop_over("x", counts_[0], std::move(one))}};
        }
        if (in_row) store = {kernel::If{in_row, std::move(store), {}}};
        append(row, std::move(store));
    }

    Block store_vectors(const Write& write, const Expr& offset) {
        const Type type = is_packed_ ? Type::u32 : type_of(write.level);
        Expr from = is_packed_ ? words_.at(write.level) : Expr();
        Block stores;
        for (int x = 0; x < cells_[0]; x += vector()) {
            if (x > 0 || !from.has_value()) from = kernel::element(result_name(write), {x}, type);
            stores.push_back(kernel::StoreVector{context_.address(write.level, offset + x), from, vector()});
        }
        return stores;
    }

    Context& context_;
    const schedule::Schedule& schedule_;
    Images& images_;
    const ir::Offset low_, high_;
    StrategyResult result_;
    rt::Lengths cells_{};
    CellIndex counts_{1, 1, 1, 1};
    CellIndex first_;
    bool is_packed_ = false;  // four cells of a row in a word
    std::optional<TabulatedFunctions> tabulated_;
    RowSums row_sums_;
    // The word that is stored of the row that is computed; none where an array has several.
    std::map<Level, Expr> words_;
};

}  // namespace

StrategyResult lower_direct(Context& context, const schedule::Schedule& schedule, Images& images) {
    return Direct(context, schedule, images).lower();
}

}  // namespace halo::lower
