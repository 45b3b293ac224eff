#include "compiler/lower/temporal/share.h"

namespace halo::lower {

using kernel::Block;
using kernel::Expr;
using kernel::Type;

namespace {

class Sharing {
public:
    Sharing(TemporalFrame& frame, Block& body) : frame_(frame), body_(body) {}

    PlanesOut run() {
        declare_thread();
        declare_tiles();
        declare_parts();
        const PlanesOut out = declare_planes();
        declare_shares(out.count);
        return out;
    }

private:
    void declare_thread() {
        frame_.warp = 0;
        if (frame_.warps > 1) {
            body_.push_back(
                kernel::Comment{"The same in all lanes: read from lane 0, so that the compiler knows."});
            declare("warp", kernel::shuffle(kernel::Shuffle::From::lane, kernel::thread_index(1), 0));
            frame_.warp = variable("warp");
        }
        declare("lane_x", kernel::thread_index(0) * frame_.k_cells_x);
        frame_.lane_x = variable("lane_x");
        // Without a name: with one, NVRTC takes two more registers for periodic stars of f64.
        frame_.row = frame_.warp * frame_.k_cells_y;
    }

    void declare_tiles() {
        body_.push_back(kernel::BlankLine{});
        body_.push_back(kernel::Comment{frame_.two_rows
                                            ? "All planes of all tiles are divided evenly among the blocks."
                                            : "All rows of all tiles are divided evenly among the warps."});
        place_ = kernel::block_index(0);
        workers_ = kernel::builtin(kernel::Builtin::blocks_x);
        if (!frame_.two_rows) {
            declare("place", place_ * frame_.k_warps + frame_.warp);
            declare("all_warps", workers_ * frame_.k_warps);
            place_ = variable("place");
            workers_ = variable("workers");
        }
        if (frame_.shape.out_single != frame_.shape.out)
            body_.push_back(kernel::Comment{"Tiles at a face have no ghost zone there."});
        if (frame_.shape.shift > 0)
            declare_shifted_tiles();
        else
            declare("tiles_x", tiles_along(0, frame_.k_out_x));
        Expr tiles = variable("tiles_x");
        if (frame_.two_rows) {
            declare("tiles_y", tiles_along(1, frame_.k_out_y));
            tiles = tiles * variable("tiles_y");
        }
        declare("tiles", tiles);
    }

    // schedule::TemporalShape::tiles_along.
    void declare_shifted_tiles() {
        body_.push_back(kernel::Comment{
            "Where it saves a tenth of the tiles their outputs begin in the middle of a sector."});
        declare("unshifted", tiles_along(0, frame_.k_out_x));
        const Expr unshifted = variable("unshifted");
        declare("tiles_x", kernel::select(unshifted <= schedule::kMostShiftedTiles,
                                          tiles_along(0, frame_.k_out_x, frame_.shape.shift), unshifted));
    }

    Expr tiles_along(int axis, const Expr& out, int shift = 0) {
        const auto at = static_cast<std::size_t>(axis);
        const int out_cells = frame_.shape.out[at], single = frame_.shape.out_single[at];
        return (frame_.context.extent(axis) + out - (1 + single + shift - out_cells)) / out;
    }

    // So that what neighbouring tiles read is in the cache. Parts of tiles for warps make no whole blocks
    // everywhere, and a launch of some of all traversals has its own rest (schedule::parts_of_tile).
    void declare_parts() {
        const Expr tiles = variable("tiles"), parts = variable("parts");
        const auto side_by_side = [&](const Expr& holds) {
            declare("worker", kernel::select(holds, place_ % tiles * parts + place_ / tiles, place_));
        };
        if (frame_.two_rows) {
            body_.push_back(kernel::Comment{"Equal parts of tiles are traversed side by side."});
            declare("parts", workers_ / tiles);
            side_by_side(parts * tiles == workers_);
            return;
        }
        body_.push_back(kernel::Comment{
            "Equal parts of tiles are traversed side by side, where few warps are left without one."});
        const Expr all = variable("all_warps");
        declare("parts", all / tiles);
        declare("is_even", parts > 0 && all % tiles < schedule::kMostIdleBlocks * frame_.k_warps,
                Type::boolean);
        const Expr is_even = variable("is_even", Type::boolean);
        declare("workers", kernel::select(is_even, parts * tiles, all));
        side_by_side(is_even);
    }

    PlanesOut declare_planes() {
        Context& context = frame_.context;
        if (!frame_.schedule.of_pieces) return {context.extent(frame_.streaming_axis), {}};
        const Expr begin = context.planes(rt::PlanesPart::begin, "given_begin");
        const Expr end = context.planes(rt::PlanesPart::end, "given_end");
        if (frame_.schedule.gives_ghosts) {
            frame_.below_end = context.planes(rt::PlanesPart::below_end, "below_end");
            frame_.above_begin = context.planes(rt::PlanesPart::above_begin, "above_begin");
        }
        declare("given", end - begin);
        return {variable("given"), begin};
    }

    void declare_shares(const Expr& planes) {
        const Expr all = kernel::convert(variable("tiles"), Type::i64) * planes;
        const Expr worker = variable("worker");
        declare("share_begin", all * worker / workers_, Type::i64);
        declare("share_end", all * (worker + 1) / workers_, Type::i64);
        const Expr begin = variable("share_begin", Type::i64), end = variable("share_end", Type::i64);
        declare("first_tile", kernel::convert(begin / planes, Type::i32));
        Expr end_tile = kernel::convert((end + planes - 1) / planes, Type::i32);
        if (!frame_.two_rows) end_tile = kernel::select(place_ < workers_, end_tile, 0);
        declare("end_tile", end_tile);
    }

    static Expr variable(const char* name, Type type = Type::i32) { return kernel::variable(name, type); }
    void declare(const char* name, const Expr& value, Type type = Type::i32) {
        body_.push_back(kernel::Declare{type, name, value});
    }

    TemporalFrame& frame_;
    Block& body_;
    Expr place_, workers_;  // a block's number among all; a warp's, in two dimensions
};

}  // namespace

PlanesOut declare_share(TemporalFrame& frame, Block& body) {
    return Sharing(frame, body).run();
}

}  // namespace halo::lower
