// The stages of a temporal kernel: the queues that planes pass through, and the work of one iteration of a
// traversal.
#pragma once

#include "compiler/lower/shared/cell.h"
#include "compiler/lower/shared/packed_stage.h"
#include "compiler/lower/temporal/frame.h"

namespace halo::lower {

class TemporalStages {
public:
    // views: of the core program's stages, parallel to the pipeline's. levels: new ones that are stored.
    TemporalStages(TemporalFrame& frame, const StageViews& views, int levels);

    // Before the traversals: queues in registers, and rows in shared memory from byte `shared` on. Returns
    // the bytes in use after them.
    std::int64_t declare(kernel::Block& body, std::int64_t shared);

    // Reductions of every step: a thread's own results before the tiles, and the block's after them.
    void begin_reductions(kernel::Block& body);
    void finish_reductions(kernel::Block& body);

    // What an iteration does once its planes have arrived; `copies` fetches later ones.
    void iterate(kernel::Block copies, kernel::Block& body);

    // The levels that come from memory, and the ring that each arrives in.
    std::vector<Level> arriving() const;
    std::string ring(const Level& level) const;

    // Planes between the one that arrives in an iteration and the first of those that are stored in it.
    int least_stored_lag() const;

private:
    using Queue = schedule::Pipeline::Queue;
    using Use = schedule::Pipeline::Use;
    // A window's element by row and column, counted from the first one that there is.
    using Window = std::function<kernel::Expr(const kernel::Expr& y, const kernel::Expr& x)>;
    struct Planes {
        RegisterArray own;      // [level][slot][y][x]
        RegisterArray windows;  // [step][window][y][x], where several are kept
        RegisterArray sums;     // [step][value][y][x], of a fold
        // Of packed cells: [step][plane][x][word] for each of the queue's row sums, the newest plane last.
        std::vector<RegisterArray> row_sums;
        std::string rows;  // in shared memory
    };

    void arrive(kernel::Block& body);
    void compute_invariants(kernel::Block& body);
    void do_stage(int index, kernel::Block& body);
    CellSources sources(int stage, const kernel::Expr& plane);

    // ---- stages whose sums grow as planes arrive (temporal_fold.cpp)
    const Use* folded_use(int stage) const;  // null where the stage has none
    CellSources folded_sources(int stage, const kernel::Expr& stage_plane, const Use& use, int plane);
    kernel::Expr sum(const Use& use, int plane, const schedule::Fold::Carried& value) const;
    kernel::Block add_plane(int stage, const kernel::Expr& stage_plane, const Use& use, int plane);
    void add_planes(int stage, const kernel::Expr& stage_plane, const Use& use, kernel::Block& body);
    void show_first_plane(int stage, const kernel::Expr& stage_plane, const Use& use, kernel::Block& body);
    // A plane past a face of the streaming axis takes its value when it comes. newest: its first cell.
    void show_past_faces(const Queue& queue, const kernel::Expr& plane, const kernel::Expr& newest,
                         kernel::Block& body);

    // The loops over what a thread computes: `stage` of the context, to arrays for each level that is
    // written.
    kernel::Block cells(int stage, const kernel::Expr& plane, const Use* folded,
                        const std::vector<RegisterArray>& fresh, const std::string& stage_name);

    // ---- stages whose cells are packed in words (packed.cpp)
    kernel::Block packed_cells(int stage, const std::vector<RegisterArray>& fresh);
    PackedSources packed_sources(int stage);
    // Finds the newest plane's sums, of which the first plane's stand in for those before it.
    void add_row_sums(const Queue& queue, const Use& use, const kernel::Expr& stage_plane,
                      kernel::Block& body);
    PackedSource shifted_in(const Window& window, const Queue& queue, int shift) const;
    // The word that lies `past` words past a face of the first axis.
    kernel::Expr image_word(const Queue& queue, const Window& window, const FaceRule& rule,
                            const kernel::Expr& y, int side, int past) const;

    // ---- what a stage reads
    void gather_input(const Use& use, const Queue& queue, kernel::Block& body);
    void gather_window(const Use& use, const Queue& queue, kernel::Block& body);
    void show_face_rows(const Queue& queue, const Window& window, bool fixed_alone, kernel::Block& body);
    void gather_columns(const Queue& queue, const Window& window, kernel::Block& body);
    void show_face_columns(const Queue& queue, const Window& window, bool fixed_alone, kernel::Block& body);
    void show_face_planes(const Use& use, const Queue& queue, const kernel::Expr& plane, kernel::Block& body);
    kernel::Block face_plane(const Use& use, const Queue& queue, const FaceRule& rule, int to, int from);
    kernel::Expr read(const Use& use, const Queue& queue, const ir::Offset& offset);
    // Of the plane so far from the stage's: a window of it, and one of the thread's own cells.
    Window window_at(const Use& use, const Queue& queue, int plane);
    kernel::Expr cell_at(const Use& use, const Queue& queue, int plane, const kernel::Expr& y,
                         const kernel::Expr& x);
    bool is_window(const Use& use, const Queue& queue, int plane) const;

    // ---- what it leaves
    void push(const Queue& queue, const kernel::Expr& plane, const RegisterArray& fresh, kernel::Block& body);
    void share_rows(const Queue& queue, kernel::Block& body);
    void store(const Queue& queue, const kernel::Expr& plane, const RegisterArray& fresh,
               kernel::Block& body);
    int stored_levels(const Queue& queue) const;  // the newest
    int stored_lag(const Queue& queue, int back) const;
    kernel::Block stored_rows(const Queue& queue, const std::string& array, int lag,
                              const RegisterArray& fresh) const;
    // One of the thread's cells in that row y.
    kernel::Expr fresh_cell(const Queue& queue, const RegisterArray& fresh) const;
    void shift(kernel::Block& body);

    // ---- reductions (temporal_reduce.cpp)
    RegisterArray of_thread(const ir::Reduce& reduce) const;  // [step]
    // y and x loops over a thread's cells, around what one of them does; `plane` is the stage's.
    kernel::Block reduced_rows(const CellValues& values, const std::string& stage_name,
                               const kernel::Expr& plane, kernel::Block cell);

    void clear_rows(const Queue& queue, kernel::Block& body);
    kernel::Expr step() const;
    kernel::Expr level_index(const Use& use, const Queue& queue) const;
    std::vector<kernel::Expr> rows_place(const kernel::Expr& index, const kernel::Expr& warp, int line,
                                         bool earlier) const;
    std::array<int, 2> planes_read(const Use& use, const Queue& queue) const;
    bool gathers(const Use& use, const Queue& queue, int stage) const;
    kernel::Expr at_face(int axis, int side) const;

    TemporalFrame& frame_;
    std::vector<const StageView*> views_;
    const int levels_;
    std::map<ir::FieldId, Planes> planes_;
    std::map<ir::FieldId, RegisterArray> gathered_;  // windows of one stage, and planes of inputs
};

}  // namespace halo::lower
