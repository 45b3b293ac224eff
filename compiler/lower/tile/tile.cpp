// tile: a block copies its tile of every level that is read at neighbours, halo included, to shared memory,
// and computes its cells from there. The pencils of a derivative along one axis are tiles that are long in
// that axis.
#include <algorithm>

#include "compiler/lower/shared/cell.h"
#include "compiler/lower/shared/reduce.h"
#include "compiler/lower/shared/staging.h"
#include "compiler/lower/shared/strategy.h"
#include "compiler/lower/tile/tile.h"

namespace halo::lower {
namespace {

using kernel::Block;
using kernel::Expr;
using kernel::Type;

constexpr const char* kLoopNames[] = {"x", "y", "z"};

class Tile {
public:
    Tile(Context& context, const schedule::Schedule& schedule, Images& images)
        : context_(context), schedule_(schedule), images_(images), staging_(context, schedule) {}

    StrategyResult lower() {
        result_.dynamic_shared_bytes = staging_.dynamic_bytes();
        declare_tile();
        for (const schedule::StagedLevel& level : staging_.levels())
            load(level);
        if (!staging_.levels().empty()) {
            body().push_back(kernel::Barrier{});
            body().push_back(kernel::BlankLine{});
        }
        begin_reductions(context_, body());
        compute();
        store_images();
        finish_reductions(context_, body());
        return std::move(result_);
    }

private:
    Block& body() { return result_.function.body; }
    kernel::KernelFunction& function() { return result_.function; }
    Type type_of(const Level& level) const { return kernel_type(context_.stage().field(level).type); }
    static Expr loop_variable(int axis) { return kernel::variable(kLoopNames[axis], Type::i32); }

    void declare_tile() {
        static constexpr const char* kTileNames[] = {"kTileX", "kTileY", "kTileZ"};
        static constexpr const char* kThreadNames[] = {"kThreadsX", "kThreadsY", "kThreadsZ"};
        static constexpr const char* kOriginNames[] = {"tile_i", "tile_j", "tile_k"};
        for (int axis = 0; axis < context_.rank(); ++axis) {
            result_.tile[axis] = schedule_.tile(axis);
            tile_[axis] = named_constant(function(), kTileNames[axis], schedule_.tile(axis));
            threads_[axis] = named_constant(function(), kThreadNames[axis], schedule_.threads[axis]);
        }
        staging_.declare("_tile", body());
        if (!staging_.levels().empty()) body().push_back(kernel::BlankLine{});
        body().push_back(kernel::Comment{"The tile's first cell."});
        for (int axis = 0; axis < context_.rank(); ++axis) {
            const std::string name = context_.local(kOriginNames[axis]);
            body().push_back(kernel::Declare{Type::i32, name, kernel::block_index(axis) * tile_[axis]});
            origin_[axis] = kernel::variable(name, Type::i32);
        }
        body().push_back(kernel::BlankLine{});
    }

    // Copies one level's tile and halo; what lies past the array is left out, and no cell reads it.
    void load(const schedule::StagedLevel& level) {
        const Level key = staging_.level_of(level);
        const std::string array = context_.array(key);
        body().push_back(kernel::Comment{"Load the tile of " + array + " and its halo."});
        Block copy;
        CellIndex at;
        for (int axis = 0; axis < context_.rank(); ++axis)
            at[axis] = origin_[axis] + (loop_variable(axis) - level.low[axis]);
        const Expr offset = context_.element_offset(at);
        const Expr to = staging_.element(level, loop_variable(2), loop_variable(1), loop_variable(0));
        const Type type = kernel_type(level.type);
        if (level.vector > 1) {
            copy.push_back(kernel::CopyVector{to, kernel::address_of(array, offset, type), level.vector});
        } else {
            copy.push_back(kernel::Assign{to, kernel::element(array, {offset}, type)});
        }
        for (int axis = 0; axis < context_.rank(); ++axis) {
            const int step = axis == 0 ? level.vector : 1;
            const Expr all = tile_[axis] + (level.low[axis] + level.high[axis]);
            const Expr inside =
                context_.extent(axis) - origin_[axis] + (level.low[axis] + context_.layout().halo[axis][1]);
            copy = {kernel::For{kLoopNames[axis], thread_along(schedule_, axis) * step,
                                kernel::min(all, inside), threads_[axis] * step, kernel::Unroll::leave,
                                std::move(copy)}};
        }
        body().push_back(std::move(copy.front()));
    }

    void compute() {
        CellIndex cell;
        for (int axis = 0; axis < context_.rank(); ++axis) {
            cell[axis] = kernel::variable(Context::kIndexNames[axis], Type::i32);
        }
        Block work;
        Expr inside;
        for (int axis = 0; axis < context_.rank(); ++axis) {
            const Expr x = schedule_.cells[axis] > 1 ? loop_variable(axis) : thread_along(schedule_, axis);
            work.push_back(kernel::Declare{Type::i32, Context::kIndexNames[axis], origin_[axis] + x});
            inside = inside && cell[axis] < context_.extent(axis);
        }
        work.push_back(kernel::If{inside, compute_cell(cell), {}});
        for (int axis = 0; axis < context_.rank(); ++axis) {
            if (schedule_.cells[axis] == 1) continue;
            work = {kernel::For{kLoopNames[axis], thread_along(schedule_, axis), tile_[axis], threads_[axis],
                                kernel::Unroll::full, std::move(work)}};
        }
        append(body(), std::move(work));
    }

    Block compute_cell(const CellIndex& cell) {
        Block work;
        const Expr offset = context_.element_offset(cell);
        work.push_back(kernel::Declare{offset.type(), "at", offset});
        const Expr at = kernel::variable("at", offset.type());
        CellSources sources;
        sources.index = cell;
        sources.load = [&](const Level& level, const ir::Offset& shift) {
            const schedule::StagedLevel* staged = staging_.find(level);
            if (!staged) return kernel::element(context_.array(level), {at}, type_of(level));
            CellIndex place{0, 0, 0};
            for (int axis = 0; axis < context_.rank(); ++axis) {
                const Expr x =
                    schedule_.cells[axis] > 1 ? loop_variable(axis) : thread_along(schedule_, axis);
                place[axis] = x + (staged->low[axis] + shift[axis]);
            }
            return staging_.element(*staged, place[2], place[1], place[0]);
        };
        const CellValues values = lower_cell(context_, sources, work);
        for (const Write& write : context_.stage().writes) {
            kernel::Statement store =
                kernel::Assign{kernel::element(context_.array(write.level), {at}, type_of(write.level)),
                               stored_value(context_.stage(), write, values)};
            if (const Expr inside = inside_store_bounds(context_, write, cell); inside.has_value()) {
                store = kernel::If{inside, {std::move(store)}, {}};
            }
            work.push_back(std::move(store));
        }
        reduce_cell(context_, values, Expr(), work);
        return work;
    }

    // A thread without a cell in the grid has no images to store.
    void store_images() {
        const auto& writes = context_.stage().writes;
        if (std::none_of(writes.begin(), writes.end(),
                         [&](const Write& w) { return Images::needed(context_, w); }))
            return;
        static constexpr const char* kFirstNames[] = {"first_i", "first_j", "first_k"};
        CellIndex first;
        rt::Lengths cells{};
        Expr inside;
        body().push_back(kernel::BlankLine{});
        for (int axis = 0; axis < context_.rank(); ++axis) {
            const std::string name = context_.local(kFirstNames[axis]);
            body().push_back(kernel::Declare{Type::i32, name, origin_[axis] + thread_along(schedule_, axis)});
            first[axis] = kernel::variable(name, Type::i32);
            inside = inside && first[axis] < context_.extent(axis);
            cells[axis] = schedule_.cells[axis];
        }
        Block images;
        images_.append(context_, first, cells, schedule_.threads, images);
        body().push_back(kernel::If{inside, std::move(images), {}});
    }

    Context& context_;
    const schedule::Schedule& schedule_;
    Images& images_;
    Staging staging_;
    StrategyResult result_;
    CellIndex tile_{1, 1, 1}, threads_{1, 1, 1}, origin_;
};

}  // namespace

StrategyResult lower_tile(Context& context, const schedule::Schedule& schedule, Images& images) {
    return Tile(context, schedule, images).lower();
}

}  // namespace halo::lower
