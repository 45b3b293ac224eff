// A sweep along an axis: each thread goes along a line of cells. What it has just written it keeps in
// registers for the next cell. Along the first axis the lines of a warp lie a row apart: there they pass
// through shared memory, so that the warp reads and writes whole rows.
#include <algorithm>
#include <map>
#include <set>

#include "compiler/lower/direct/direct.h"

namespace halo::lower {
namespace {

using kernel::Block;
using kernel::Expr;
using kernel::Type;

constexpr int kLanes = 32;
constexpr int kMostSharedBytes = 48 * 1024;  // that a kernel may declare
constexpr int kCellsInFlight = 4;            // of a line, whose loads do not wait for the cells before
constexpr int kRowsAtATime = 8;              // that a loop copies

class Lines {
public:
    Lines(Context& context, const schedule::Schedule& schedule, Images& images)
        : context_(context),
          schedule_(schedule),
          images_(images),
          sweep_(*context.stage().in_place->sweep),
          along_(sweep_.axis) {
        before_[along_] = sweep_.upwards ? -1 : 1;
        for (int axis = 0; axis < context.rank(); ++axis)
            bounds_.push_back(region_bounds(context, context.stage().in_place->region, axis));
    }

    StrategyResult lower() {
        CellIndex begin{0, 0, 0};
        for (int axis = 0; axis < context_.rank(); ++axis) {
            result_.tile[axis] = axis == along_ ? kWholeAxis : schedule_.threads[axis];
            begin[axis] = bounds_[axis].begin;
        }
        cell_ = declare_first_cell(context_, schedule_, {1, 1, 1}, result_.function, begin, along_);
        Expr outside, inside;
        for (int axis = 0; axis < context_.rank(); ++axis) {
            if (axis == along_) continue;
            outside = outside || cell_[axis] >= bounds_[axis].end;
            inside = inside && cell_[axis] < bounds_[axis].end;
        }
        if (sweeps_whole_lines(context_.stage())) choose_carried();
        choose_tiles();
        if (tiles_.empty()) {
            if (outside.has_value()) body().push_back(kernel::If{outside, {kernel::Return{}}, {}});
            body().push_back(kernel::BlankLine{});
            declare_carried(Expr());
            kernel::Statement loop = sweep_loop(along_, sweep_.upwards, bounds_[along_], cell());
            auto& cells = std::get<kernel::For>(loop.kind);
            cells.unroll = kernel::Unroll::some;
            cells.turns = kCellsInFlight;
            body().push_back(std::move(loop));
        } else {
            by_chunks(inside);
        }
        return std::move(result_);
    }

private:
    // Lines of a level in shared memory: those of the warp and beside it, and a chunk's cells and those
    // beside it.
    struct Tile {
        std::string name;
        ir::Offset low{}, high{};
        bool is_written = false, is_loaded = false;
        bool lies_in_another = false;  // what is written takes the place of what was read
        int columns() const { return (kLanes + high[0] - low[0]) | 1; }  // odd, for no bank conflicts
        int beside() const { return high[1] - low[1]; }                  // lines beside the warp's
    };

    Block& body() { return result_.function.body; }
    Type type_of(const Level& level) const { return storage_type(context_.stage().field(level).storage); }

    // ---- which levels are kept

    // Those of which the cell before is read, whose value is still in a register.
    void choose_carried() {
        for (const Read& read : context_.stage().reads) {
            if (!context_.stage().sweeps_level(read.level) || is_narrow(context_.stage().field(read.level)))
                continue;
            if (std::ranges::find(read.offsets, before_) != read.offsets.end())
                carried_[read.level] = context_.local(context_.label(read.level) + "_before");
        }
    }

    // All that are read in the planes of the lines, or none: what is swept is read at the cell and before it
    // alone, as the rest of it is in shared memory when the next cells are computed.
    void choose_tiles() {
        if (along_ != 0 || context_.rank() == 1 || schedule_.threads != rt::Lengths{1, kLanes, 1}) return;
        const StageView& stage = context_.stage();
        if (!sweeps_whole_lines(stage)) return;
        std::map<Level, Tile> tiles;
        std::int64_t bytes = 0;
        const auto add = [&](const Level& level, Tile tile) {
            tile.name = context_.local(context_.label(level) + "_lines");
            bytes += std::int64_t{kLanes + tile.beside()} * tile.columns() * kernel::size_of(type_of(level));
            tiles[level] = std::move(tile);
        };
        for (const Write& write : stage.writes) {
            if (is_narrow(stage.field(write.level)) || !can_be_copied(write.level)) return;
            Tile tile;
            tile.is_written = true;
            add(write.level, tile);
        }
        for (const Read& read : stage.reads) {
            if (stage.sweeps_level(read.level)) {
                const bool is_kept = std::ranges::all_of(read.offsets, [&](const ir::Offset& offset) {
                    return offset == ir::Offset{} || offset == before_;
                });
                if (!is_kept) return;
            } else if (read.low[2] == 0 && read.high[2] == 0 && can_be_copied(read.level)) {
                add(read.level, {"", read.low, read.high, false, true});
            }
        }
        if (bytes <= kMostSharedBytes) tiles_ = std::move(tiles);
    }

    // Element by element, asynchronously: 4 or 8 bytes that lie beside those of the next cell.
    bool can_be_copied(const Level& level) const {
        return kernel::size_of(type_of(level)) >= 4 &&
               ir::interleave(context_.program(), level.field).count() == 1;
    }

    // ---- a cell

    // Before the first cell of a line it is what memory holds there. inside: of the threads that have a line.
    void declare_carried(const Expr& inside) {
        CellIndex first = cell_;
        first[along_] = sweep_.upwards ? bounds_[along_].begin : bounds_[along_].end - 1;
        const Expr at = context_.element_offset(first);
        for (const auto& [level, name] : carried_) {
            const Type type = type_of(level);
            Expr value = element_beside(context_, at, level, before_);
            if (inside.has_value()) {
                const Expr none =
                    kernel::is_real(type) ? kernel::real_literal(0, type) : kernel::int_literal(0, type);
                value = kernel::select(inside, value, none);
            }
            body().push_back(kernel::Declare{type, name, value, true});
        }
    }

    Block cell() {
        Block block;
        const Expr at = declare_place(context_, cell_, block);
        CellSources sources = sources_at(context_, cell_, at);
        sources.load = [this, memory = sources.load](const Level& level, const ir::Offset& offset) {
            return load(level, offset, memory);
        };
        std::vector<std::pair<Level, Expr>> values;
        const auto store = [&](const Level& level, Expr value) {
            if (!std::holds_alternative<kernel::Variable>(value->kind) &&
                (carried_.contains(level) || !tiles_.empty())) {
                const std::string name = context_.local(context_.label(level) + "_here");
                block.push_back(kernel::Declare{type_of(level), name, value});
                value = kernel::variable(name, type_of(level));
            }
            if (!tiles_.contains(level)) block.push_back(kernel::Assign{context_.element(level, at), value});
            if (std::holds_alternative<kernel::Variable>(value->kind)) here_[level] = value;
            values.emplace_back(level, value);
        };
        const auto finish = [&](Block& changed) {
            images_.append(context_, cell_, {1, 1, 1}, {1, 1, 1}, changed);
        };
        if (!lower_line_cell(context_, sources, block, store)) {
            change_cell(
                context_, sources, [&](const Level& level) { return context_.element(level, at); }, finish,
                block);
            return block;
        }
        share_tiles(block);
        for (const auto& [level, value] : values)
            if (tiles_.contains(level))
                block.push_back(kernel::Assign{element(level, lane(), chunk_column()), value});
        for (const auto& [level, value] : values)
            if (const auto name = carried_.find(level); name != carried_.end())
                block.push_back(kernel::Assign{kernel::variable(name->second, type_of(level)), value});
        if (tiles_.empty()) finish(block);
        return block;
    }

    // A cell's results are stored when all of it is computed, so they can take the place of what it alone
    // read: an SM holds more warps then, whose loads are on their way while others compute.
    void share_tiles(Block& block) {
        std::set<std::string> taken;
        for (auto& [level, tile] : tiles_) {
            if (!tile.is_written || tile.is_loaded) continue;
            const auto place = std::ranges::find_if(tiles_, [&, &to = level](const auto& each) {
                const Tile& read = each.second;
                return read.is_loaded && !read.is_written && read.low == ir::Offset{} &&
                       read.high == ir::Offset{} && type_of(each.first) == type_of(to) &&
                       !taken.contains(read.name);
            });
            if (place == tiles_.end()) continue;
            taken.insert(place->second.name);
            block.push_back(kernel::Comment{context_.label(level) + " takes the place of " +
                                            context_.label(place->first) + " in shared memory."});
            tile.name = place->second.name;
            tile.lies_in_another = true;
        }
    }

    Expr load(const Level& level, const ir::Offset& offset,
              const std::function<Expr(const Level&, const ir::Offset&)>& memory) {
        if (const auto name = carried_.find(level); name != carried_.end() && offset == before_)
            return kernel::variable(name->second, type_of(level));
        if (const auto value = here_.find(level); value != here_.end() && offset == ir::Offset{})
            return value->second;
        const auto tile = tiles_.find(level);
        if (tile == tiles_.end()) return memory(level, offset);
        tile->second.is_loaded = true;
        return loaded(element(level, lane() + (offset[1] - tile->second.low[1]),
                              chunk_column() + (offset[0] - tile->second.low[0])),
                      context_.stage().field(level));
    }

    // ---- along the first axis, by chunks through shared memory

    std::string name(const char* wanted) const { return context_.local(wanted); }
    Expr local(const char* wanted) const { return kernel::variable(name(wanted), Type::i32); }
    Expr lane() const { return local("lane"); }
    static Expr lanes() { return kernel::variable("kThreadsY", Type::i32); }
    Expr chunk_column() const { return cell_[0] - local("first"); }
    Expr element(const Level& level, const Expr& line, const Expr& column) const {
        const Tile& tile = tiles_.at(level);
        return kernel::element(tile.name, {line * tile.columns() + column}, type_of(level));
    }

    void by_chunks(const Expr& inside) {
        const Expr chunk_cells =
            named_constant(result_.function, "kChunk", kLanes, "cells of a line at a time");
        // An int, unlike threadIdx: lines beside the warp's first one may lie before the grid.
        body().push_back(kernel::Declare{Type::i32, name("lane"), kernel::thread_index(1)});
        body().push_back(kernel::Declare{Type::i32, name("first_line"), cell_[1] - lane()});
        Block cells = cell();  // says which tiles are loaded
        for (const auto& [level, tile] : tiles_) {
            if (tile.lies_in_another) continue;
            kernel::DeclareArray array{
                type_of(level), tile.name, {(lanes() + tile.beside()) * tile.columns()}};
            array.memory = kernel::Memory::shared;
            body().push_back(std::move(array));
        }
        declare_carried(inside);
        const Expr begin = bounds_[0].begin, end = bounds_[0].end;
        const Expr chunks = (end - begin + (kLanes - 1)) / chunk_cells;
        const auto declare_range = [&](Block& block) {
            block.push_back(kernel::Declare{Type::i32, name("first"), begin + local("chunk") * chunk_cells});
            block.push_back(
                kernel::Declare{Type::i32, name("last"), kernel::min(local("first") + chunk_cells, end)});
        };
        // What is stored from a tile has to be gone before it is loaded again.
        bool is_early = true;
        kernel::DeclareLambda fetch{name("fetch"), {{name("chunk")}}, {}, {}};
        declare_range(fetch.body);
        for (auto& [level, tile] : tiles_) {
            if (tile.is_loaded) fetch.body.push_back(load_lines(level, tile));
            is_early = is_early && !tile.lies_in_another && !(tile.is_loaded && tile.is_written);
        }
        fetch.body.push_back(kernel::CommitCopies{});
        body().push_back(kernel::BlankLine{});
        body().push_back(
            kernel::Comment{"Copies a chunk of the lines to shared memory, row by row, asynchronously."});
        body().push_back(std::move(fetch));
        const Expr first_chunk = sweep_.upwards ? Expr(0) : chunks - 1;
        const Expr next = sweep_.upwards ? local("chunk") + 1 : local("chunk") - 1;
        const Expr has_next = sweep_.upwards ? next < chunks : next >= 0;
        const kernel::Statement fetch_next =
            kernel::If{has_next, {kernel::RunLambda{name("fetch"), {next}}}, {}};
        body().push_back(kernel::RunLambda{name("fetch"), {first_chunk}});
        Block chunk;
        declare_range(chunk);
        chunk.push_back(kernel::AwaitCopies{0});
        chunk.push_back(kernel::Barrier{kernel::Barrier::Of::warp});
        Block line{sweep_loop(0, sweep_.upwards, {local("first"), local("last")}, std::move(cells))};
        chunk.push_back(kernel::If{inside, std::move(line), {}});
        chunk.push_back(kernel::Barrier{kernel::Barrier::Of::warp});
        if (is_early) chunk.push_back(fetch_next);
        chunk.push_back(store_lines());
        chunk.push_back(kernel::Barrier{kernel::Barrier::Of::warp});
        if (!is_early) chunk.push_back(fetch_next);
        kernel::For loop{name("chunk"), 0, chunks, 1, kernel::Unroll::none, std::move(chunk)};
        loop.downwards = !sweep_.upwards;
        body().push_back(std::move(loop));
    }

    // The warp's; all its lines are in one plane.
    Expr first_line() const { return local("first_line"); }

    Expr place_of(const Expr& column, const Expr& line) {
        return context_.element_offset({column, line, cell_[2]});
    }

    kernel::Statement load_lines(const Level& level, const Tile& tile) {
        const bool has_sides = tile.high[0] > tile.low[0];
        const Expr line = local("line"), x = has_sides ? local("column") : lane();
        const Expr row = first_line() + (line + tile.low[1]);
        const Expr from = context_.address(level, place_of(local("first") + (x + tile.low[0]), row));
        Block copy{kernel::CopyAsync{element(level, line, x), from, 1}};
        const Expr count = local("last") - local("first") + (tile.high[0] - tile.low[0]);
        if (has_sides)
            copy = {
                kernel::For{name("column"), lane(), count, kLanes, kernel::Unroll::leave, std::move(copy)}};
        const Expr in_grid = row < bounds_[1].end + tile.high[1];
        return over_lines(lanes() + tile.beside(), has_sides ? in_grid : in_grid && lane() < count,
                          std::move(copy));
    }

    // With the images of the cells at faces.
    kernel::Statement store_lines() {
        const Expr line = local("line");
        const Expr row = first_line() + line, column = local("first") + lane();
        Block copy;
        for (const Write& write : context_.stage().writes)
            copy.push_back(kernel::Assign{context_.element(write.level, place_of(column, row)),
                                          element(write.level, line, lane())});
        images_.append(context_, {column, row, cell_[2]}, {1, 1, 1}, {1, 1, 1}, copy);
        return over_lines(lanes(), row < bounds_[1].end && column < local("last"), std::move(copy));
    }

    kernel::Statement over_lines(const Expr& count, const Expr& inside, Block copy) const {
        kernel::For lines{
            name("line"), 0, count, 1, kernel::Unroll::some, {kernel::If{inside, std::move(copy), {}}}};
        lines.turns = kRowsAtATime;
        return lines;
    }

    Context& context_;
    const schedule::Schedule& schedule_;
    Images& images_;
    const ir::LineSweep& sweep_;
    const int along_;
    ir::Offset before_{};  // from a cell to the one before it
    std::vector<Bounds> bounds_;
    StrategyResult result_;
    CellIndex cell_;
    std::map<Level, std::string> carried_;  // the variable of the value at the cell before
    std::map<Level, Tile> tiles_;           // empty where levels are read where they lie
    std::map<Level, Expr> here_;            // values that the cell has by now
};

}  // namespace

StrategyResult lower_sweep(Context& context, const schedule::Schedule& schedule, Images& images) {
    const ir::LineSweep& sweep = *context.stage().in_place->sweep;
    if (sweep.inner) return lower_planes(context, schedule, images);
    if (schedule.threads[sweep.axis] > 1) return lower_parts(context, schedule, images);
    return Lines(context, schedule, images).lower();
}

}  // namespace halo::lower
