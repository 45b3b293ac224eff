// Pieces: one program on one grid that is cut into pieces, each a Session on a device of its own.
//
// Every piece computes its ghosts (decomposition.h) along with its own cells. Wrong values move inwards from
// the ghosts' outer cells by as many cells a step as a step reads; `interval` steps are what the ghosts are
// deep enough for. Then the pieces give each other the levels that steps read.
//
// Reductions are combined plane by plane along the last axis, in the order of the whole grid, so the cut
// makes no difference. They need pieces that are cut along that axis alone, and kernels whose blocks have one
// plane each.
//
// Within a step pieces wait for each other where it reads a reduction, and after each iteration of a repeat,
// to exchange what that leaves (RepeatPlan::ghosts_due).
//
// A piece has the same cells on coarser grids: it begins between cells of all of them (Grid::unit), and its
// ghosts are as deep on each. Levels of each grid are exchanged by transfers of its own.
//
// Host arrays are those of the whole grid, dense, x fastest. Each session runs the program of its part, with
// the piece's extents. Devices work side by side as far as they do not wait for each other: all their work is
// queued by the calling thread, one thread at a time.
//
// A process has all pieces, or is one of several (Ranks) that have one each, the piece of the rank's number.
// Then every call here is made by all ranks alike: each of those that step, reduce or fetch may be
// collective.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/core/session.h"
#include "runtime/pieces/decomposition.h"
#include "runtime/pieces/exchange.h"
#include "runtime/pieces/transport.h"
#include "runtime/ranks/ranks.h"

namespace halo::rt {

// How ghosts come from one piece to the next.
enum class ExchangeScheme : std::uint8_t {
    synchronous,   // they are copied when all steps to the exchange are done
    asynchronous,  // they are copied while the planes that do not need them are computed
    direct         // kernels store them at the neighbours, too
};

// Why kernels for so many steps cannot take part in an exchange so often, by a scheme but the first; empty:
// they can.
std::string why_not_each(std::int64_t interval, ExchangeScheme scheme, int steps_at_once);

struct PiecesOptions {
    std::int64_t interval = 1;         // steps from one exchange to the next
    std::vector<std::string> carried;  // fields that a step reads of the one before
    // The last of these that can be (Pieces::scheme()), up to this one. All but the first need a kernel for
    // several steps (TimeBlock::OfPieces), of which the interval is a multiple, and a grid that is cut
    // along its last axis alone; direct exchange needs one for as many steps as the interval has.
    ExchangeScheme scheme = ExchangeScheme::direct;
    // Planes below and above that states need of the step before. Fewer ghosts are computed where it is
    // given.
    std::array<std::int64_t, 2> reach{0, 0};
};

class Pieces {
public:
    // sessions: by Decomposition::pieces; they must outlive this, and are driven by it alone. Throws Error
    // (bad_argument) where a session's extents are not its piece's, or several reduce by other blocks.
    Pieces(Decomposition cut, std::vector<Session*> sessions, PiecesOptions options);
    // The same for one piece of a rank; all must be cut alike.
    Pieces(Decomposition cut, Session& session, PiecesOptions options, Ranks& ranks,
           std::unique_ptr<Transport> transport);

    // Collective, of several ranks and before the first step: exchanges by this transport, too, and keeps it
    // where it is clearly faster for the slowest rank.
    void consider(std::unique_ptr<Transport> other);
    // That were considered; the one that is kept comes first.
    const std::vector<TransportTime>& transports() const { return transports_; }

    // Of this process's first piece: what all have in common.
    const LaunchPlan& plan() const { return sessions_.front()->plan(); }
    const std::vector<Session*>& sessions() const { return sessions_; }  // of this process's pieces
    const Decomposition& cut() const { return cut_; }
    std::int64_t interval() const { return options_.interval; }
    // Whether each piece computes the same cells as that of the other's, so that levels of its session lie
    // cell by cell where those of the other session do.
    bool is_cut_like(const Pieces& other) const;
    ExchangeScheme scheme() const { return scheme_; }
    // What the other schemes lack; empty: nothing. The same in all ranks.
    const std::string& why_synchronous() const { return why_synchronous_; }
    std::string why_not_direct() const;                          // what that one lacks besides
    bool is_given_values() const { return ranks_->is_first(); }  // by trace()

    // As Session has them, of the whole grid. Of several ranks each downloads the cells that it has, and
    // leaves the others as they are.
    void set_param(const std::string& name, double value);
    void set_coef(const std::string& name, std::span<const double> values);
    void set_table(const std::string& name, std::span<const double> values);
    void upload_elements(const std::string& field, int time, const void* elements, std::int64_t bytes);
    void download_elements(const std::string& field, int time, void* elements, std::int64_t bytes);
    void upload_box(const std::string& field, int time, const Box& box, const void* elements);
    void download_box(const std::string& field, int time, const Box& box, void* elements);
    std::vector<Box> own_boxes() const;       // this process's pieces' own cells
    std::vector<Box> computed_boxes() const;  // with their ghosts; cells may be in several
    void continue_from(const StepsBefore& before);
    void go_back_to(std::int64_t step);  // to a state whose ghosts are what the neighbours have
    void start_again();
    void step(std::int64_t count, bool with_results = true);
    // Gives the ghosts of all levels what the neighbours have, where steps have not left them so.
    void fill_ghosts();
    // Levels were put in the place of others, or copied: their ghosts are not known to be good for a step.
    void ghosts_due();
    double reduction(const std::string& name);  // of the last step
    std::vector<RepeatCounts> repeat_counts() const { return sessions_.front()->repeat_counts(); }
    void set_points(const std::string& points, std::span<const double> positions);
    void set_point_values(const std::string& points, const std::string& name, std::span<const double> values);
    // At the first rank; nothing elsewhere.
    std::vector<double> trace(const std::string& points, const std::string& name);
    void synchronize();

private:
    Pieces(Decomposition cut, std::vector<Session*> sessions, PiecesOptions options,
           std::unique_ptr<Ranks> alone, Ranks* ranks, std::unique_ptr<Transport> transport);

    std::int64_t cells() const;
    bool is_shared() const { return ranks_->count() > 1; }
    // Of this process's session `index`.
    std::size_t number(std::size_t index) const { return first_ + index; }
    const Piece& piece(std::size_t index) const { return cut_.pieces[number(index)]; }
    const FieldPlan* find_field(const std::string& name) const;  // null where none has an array
    std::int64_t element_bytes(const std::string& field) const;
    Box whole_box_of(const std::string& field) const;  // of one that there is
    void check_size(const std::string& field, std::int64_t bytes) const;
    void exchange();
    double seconds_of_exchange();
    // levels: by this process's pieces, the same for all.
    void transfer(const std::vector<std::vector<LevelArray>>& levels);
    bool mirrors_ghosts(std::size_t index, const FieldPlan& field) const;
    bool mirrors_ghosts_in_step(std::size_t index) const;
    // pieces_blocks.cpp
    void choose_scheme();
    std::string why_synchronous_here()
        const;  // for kernels to take part in the exchange, of this process's pieces
    std::string why_synchronous_anywhere() const;
    std::int64_t blocks_within(std::int64_t count) const;
    void step_blocks(std::int64_t count);
    void step_direct();
    void wait_for_each_other();
    void step_beside_exchange(std::int64_t blocks);
    void launch_interiors_first(std::int64_t steps_after);
    std::array<std::int64_t, 2> ghosts_for(std::size_t index, std::int64_t steps) const;
    PlaneRange planes_for(std::size_t index, std::int64_t steps_after) const;
    void wait_for_main_stream(Device::StreamKind kind);
    void join_main_stream();
    void join_streams();
    void step_each(std::int64_t count, bool with_results);
    void step_together(std::int64_t count, bool with_results);
    // Of a reduction, by this process's pieces.
    double combined(const std::string& name, const std::vector<PartialResults>& parts) const;
    std::vector<std::size_t> owners(const std::string& points) const;  // by point: the piece that samples it
    std::vector<std::vector<LevelArray>> carried_levels() const;

    // A grid of the program's: the pieces in its cells, and what they give each other.
    struct OfGrid {
        int factor = 1;
        Decomposition cut;
        std::array<std::vector<Transfer>, kMaxRank> transfers;
    };
    void add_grid(int factor);
    const OfGrid& of_grid(int factor) const;

    struct Carried {  // an array
        std::string name;
        std::span<const FieldPlan> components;  // that it holds; the first has its name
        std::int64_t element = 0;               // bytes of a cell
        int factor = 1;                         // of its grid
        int levels = 1;                         // that are given: older ones were, when they were younger
    };

    Decomposition cut_;
    std::unique_ptr<Ranks> alone_;  // where this process has all pieces
    Ranks* ranks_;
    std::size_t first_ = 0;           // number of this process's first piece
    std::vector<Session*> sessions_;  // of this process's pieces
    std::unique_ptr<Transport> transport_;
    std::vector<TransportTime> transports_;
    PiecesOptions options_;
    std::vector<OfGrid> grids_;  // the grid itself comes first
    std::vector<Carried> carried_;
    std::vector<bool> mirrors_ghosts_;  // by session
    std::int64_t good_for_ = 0;         // steps that the ghosts are
    bool past_is_due_ = false;          // the next exchange is of all levels
    ExchangeScheme scheme_ = ExchangeScheme::synchronous;
    std::string why_synchronous_;
    std::set<std::pair<Device*, Device*>> waiting_;  // of direct exchange: the first for the second
    bool in_step_ = false;       // nothing was asked for since the last block that is not waited for
    bool wait_in_step_ = false;  // pieces do, for each other
    std::map<std::string, std::vector<double>> positions_;  // by points
    StepsBefore before_;
    std::int64_t done_ = 0;  // steps, with those before
};

}  // namespace halo::rt
