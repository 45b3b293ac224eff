// direct, for a stage with sums over tables: each thread has several cells along the first axis, a block's
// threads apart so that a warp's are neighbours, and takes all of them through the rows together. Rows pass
// through shared memory, a chunk after the other, so that each is read from memory once a block.
#include <algorithm>
#include <numeric>

#include "compiler/lower/direct/direct.h"
#include "compiler/lower/shared/cell.h"
#include "compiler/lower/shared/reduce.h"
#include "compiler/lower/shared/strategy.h"
#include "compiler/lower/shared/table_sums.h"
#include "compiler/support/error.h"

namespace halo::lower {
namespace {

constexpr int kUsualChunk = 256;  // rows

int chunk_rows_of(const schedule::Schedule& schedule) {
    const int chunk = std::get<schedule::Direct>(schedule.strategy).chunk;
    return chunk > 0 ? chunk : kUsualChunk;
}

using kernel::Block;
using kernel::Builtin;
using kernel::Expr;
using kernel::Type;

constexpr const char* kThreadConstants[] = {"kThreadsX", "kThreadsY", "kThreadsZ"};

Expr variable(const char* name) {
    return kernel::variable(name, Type::i32);
}

// Where a row's columns lie while a pass works on it.
struct StagedRow {
    std::vector<int> columns;  // of the table, by place
    int width = 1;             // elements from row to row
    bool whole = false;        // the table's own layout: copied in vectors
    int vector = 1;            // elements loaded at a time
    // Elements of a row that hold something; a copy of whole rows brings their padding along.
    int loaded() const { return whole ? width : static_cast<int>(columns.size()); }
};

StagedRow staged_row(const TablePass& pass, const TableShape& shape) {
    StagedRow row;
    const int used = static_cast<int>(pass.columns.size());
    row.whole = used > 0 && pass.columns.back() == used - 1 && padded_width(used, shape.type) == shape.width;
    row.columns = pass.columns;
    row.width = std::max(1, padded_width(used, shape.type));
    row.vector = row.width >= 4 && shape.type != Type::f64 ? 4 : std::min(row.width, 2);
    return row;
}

class TableStage {
public:
    TableStage(Context& context, const schedule::Schedule& schedule, Images& images)
        : context_(context), schedule_(schedule), images_(images) {}

    StrategyResult lower() {
        declare_constants();
        const Expr cell = cells_ > 1 ? variable("cell") : Expr(0);
        TableSums sums(context_, count_, cell);
        declare_first_cells();
        CellSources sources = cell_sources(cell);
        begin_reductions(context_, body());
        body().push_back(kernel::Comment{"What the rows of the tables do not change."});
        sums.thread_values(sources, body());
        sums.declare_arrays(body());
        append(body(), over_cells(sums.begin_cell(sources)));
        for (const TablePass& pass : sums.passes())
            add_pass(sums, pass, sources);
        body().push_back(kernel::BlankLine{});
        append(body(), over_cells(finish_cell(sums.with_sums(sources), cell)));
        store_images();
        finish_reductions(context_, body());
        return std::move(result_);
    }

private:
    Block& body() { return result_.function.body; }
    Type type_of(const Level& level) const { return storage_type(context_.stage().field(level).storage); }

    void declare_constants() {
        for (int axis = 0; axis < context_.rank(); ++axis) {
            result_.tile[axis] = schedule_.tile(axis);
            if (schedule_.cells[axis] != 1 && axis > 0)
                throw UnsupportedError(
                    "where tables are summed a thread's cells lie along the first axis; give 1 along the "
                    "others");
            threads_[axis] =
                named_constant(result_.function, kThreadConstants[axis], schedule_.threads[axis]);
        }
        cells_ = schedule_.cells[0];
        count_ = named_constant(result_.function, "kCellsX", cells_);
    }

    void declare_first_cells() {
        for (int axis = 0; axis < context_.rank(); ++axis) {
            const Expr tile = axis == 0 ? threads_[0] * count_ : threads_[axis];
            body().push_back(
                kernel::Declare{Type::i32, Context::kIndexNames[axis],
                                kernel::block_index(axis) * tile + thread_along(schedule_, axis)});
            first_[axis] = variable(Context::kIndexNames[axis]);
        }
        body().push_back(kernel::BlankLine{});
    }

    CellIndex index_of(const Expr& cell) const {
        CellIndex index = first_;
        index[0] = index[0] + cell * threads_[0];
        return index;
    }

    // Threads past the grid run along with the others: what they read is that of the last cells.
    CellSources cell_sources(const Expr& cell) {
        CellSources sources;
        sources.index = index_of(cell);
        sources.fast_functions = true;
        sources.load = [this, index = sources.index](const Level& level, const ir::Offset& shift) {
            CellIndex at;
            for (int axis = 0; axis < context_.rank(); ++axis)
                at[axis] = kernel::min(index[axis], context_.extent(axis) - 1) + shift[axis];
            return loaded(context_.element(level, context_.element_offset(at)),
                          context_.stage().field(level));
        };
        return sources;
    }

    Block over_cells(Block work) {
        if (cells_ == 1) return work;
        return {kernel::For{"cell", 0, count_, 1, kernel::Unroll::full, std::move(work)}};
    }

    // ---- a pass over one table
    // ---------------------------------------------------------------------------------

    void add_pass(TableSums& sums, const TablePass& pass, const CellSources& sources) {
        const ir::Table& table = context_.program()[pass.table];
        const TableShape shape = table_shape(table);
        const StagedRow staged = staged_row(pass, shape);
        const Expr rows = context_.rows(pass.table);
        body().push_back(kernel::BlankLine{});
        if (staged.columns.empty()) {  // every row adds the same
            Block each =
                sums.row(pass, sources, nullptr, [&](Block work) { return loop_of(std::move(work)); });
            body().push_back(kernel::For{"row", 0, rows, 1, kernel::Unroll::leave, std::move(each)});
            return;
        }
        const std::string chunk = context_.names().take(table.name + "_chunk");
        const Expr chunk_rows = named_constant(
            result_.function, context_.names().take("kRowsOf_" + table.name), chunk_rows_of(schedule_));
        kernel::DeclareArray array{shape.type, chunk, {chunk_rows * staged.width}};
        array.memory = kernel::Memory::shared;
        array.alignment = 16;
        body().push_back(kernel::Comment{"The rows of " + table.name + ", a chunk after the other."});
        body().push_back(std::move(array));
        Block step{kernel::Declare{Type::i32, "rows", kernel::min(chunk_rows, rows - variable("first"))},
                   kernel::Barrier{}};
        step.push_back(load_chunk(pass, shape, staged, chunk));
        step.push_back(kernel::Barrier{});
        Block each;
        const std::string values = context_.names().take(table.name + "_row");
        each.push_back(kernel::DeclareArray{shape.type, values, {staged.loaded()}});
        for (int at = 0; at < staged.loaded(); at += staged.vector)
            load_values(shape, staged, values, chunk, at, each);
        append(each, sums.row(
                         pass, sources,
                         [&](int column) {
                             const auto found =
                                 std::find(staged.columns.begin(), staged.columns.end(), column);
                             const int place = static_cast<int>(found - staged.columns.begin());
                             return kernel::element(values, {place}, shape.type);
                         },
                         [&](Block work) { return loop_of(std::move(work)); }));
        step.push_back(kernel::For{"row", 0, variable("rows"), 1, kernel::Unroll::leave, std::move(each)});
        body().push_back(kernel::For{"first", 0, rows, chunk_rows, kernel::Unroll::leave, std::move(step)});
    }

    kernel::Statement loop_of(Block work) {
        return kernel::For{"cell", 0, count_, 1, kernel::Unroll::full, std::move(work)};
    }

    Expr thread_number() const {
        Expr number = thread_along(schedule_, 0);
        Expr stride = threads_[0];
        for (int axis = 1; axis < context_.rank(); ++axis) {
            number = number + stride * thread_along(schedule_, axis);
            stride = stride * threads_[axis];
        }
        return number;
    }
    Expr thread_count() const {
        Expr count = threads_[0];
        for (int axis = 1; axis < context_.rank(); ++axis)
            count = count * threads_[axis];
        return count;
    }

    kernel::Statement load_chunk(const TablePass& pass, const TableShape& shape, const StagedRow& staged,
                                 const std::string& chunk) {
        const std::string table = context_.table(pass.table);
        const Expr row = variable("row");
        const Expr from = kernel::convert(variable("first") + row, Type::i64) * shape.width;
        Block copy;
        if (staged.whole && staged.vector > 1) {
            for (int at = 0; at < staged.width; at += staged.vector) {
                copy.push_back(
                    kernel::CopyVector{kernel::element(chunk, {row * staged.width + at}, shape.type),
                                       kernel::address_of(table, from + at, shape.type), staged.vector});
            }
        } else {
            for (std::size_t place = 0; place < staged.columns.size(); ++place) {
                const int at = static_cast<int>(place);
                copy.push_back(
                    kernel::Assign{kernel::element(chunk, {row * staged.width + at}, shape.type),
                                   kernel::element(table, {from + staged.columns[place]}, shape.type)});
            }
        }
        return kernel::For{"row",          thread_number(),       variable("rows"),
                           thread_count(), kernel::Unroll::leave, std::move(copy)};
    }

    static void load_values(const TableShape& shape, const StagedRow& staged, const std::string& values,
                            const std::string& chunk, int at, Block& body) {
        const Expr place = variable("row") * staged.width + at;
        if (staged.vector == 1 || at + staged.vector > staged.loaded()) {
            for (int e = at; e < std::min(at + staged.vector, staged.loaded()); ++e) {
                body.push_back(
                    kernel::Assign{kernel::element(values, {e}, shape.type),
                                   kernel::element(chunk, {variable("row") * staged.width + e}, shape.type)});
            }
            return;
        }
        body.push_back(kernel::LoadVector{kernel::element(values, {at}, shape.type),
                                          kernel::address_of(chunk, place, shape.type), staged.vector});
    }

    // ---- the end
    // -----------------------------------------------------------------------------------------------

    Block finish_cell(CellSources sources, const Expr& cell) {
        const CellIndex index = index_of(cell);
        Expr inside;
        for (int axis = 0; axis < context_.rank(); ++axis)
            inside = inside && index[axis] < context_.extent(axis);
        Block work;
        const Expr at = declare_place(context_, index, work);
        sources.load = sources_at(context_, index, at).load;
        const CellValues values = lower_cell(context_, sources, work);
        store_cell(context_, index, at, values, work);
        reduce_cell(context_, values, Expr(), work);
        return {kernel::If{inside, std::move(work), {}}};
    }

    // A thread without a cell in the grid has no images to store.
    void store_images() {
        const auto& writes = context_.stage().writes;
        if (std::none_of(writes.begin(), writes.end(),
                         [&](const Write& write) { return Images::needed(context_, write); }))
            return;
        Expr inside;
        for (int axis = 0; axis < context_.rank(); ++axis)
            inside = inside && first_[axis] < context_.extent(axis);
        Block images;
        images_.append(context_, first_, {cells_, 1, 1}, {schedule_.threads[0], 1, 1}, images);
        body().push_back(kernel::BlankLine{});
        body().push_back(kernel::If{inside, std::move(images), {}});
    }

    Context& context_;
    const schedule::Schedule& schedule_;
    Images& images_;
    StrategyResult result_;
    int cells_ = 1;
    Expr count_ = 1;
    CellIndex threads_{1, 1, 1}, first_;
};

}  // namespace

StrategyResult lower_table(Context& context, const schedule::Schedule& schedule, Images& images) {
    return TableStage(context, schedule, images).lower();
}

}  // namespace halo::lower
