#include "compiler/schedule/stream_plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/schedule/stream_model.h"

namespace halo::schedule {

namespace {

int words(ir::Scalar type) {
    return size_of(type) == 8 ? 2 : 1;
}

int rows_of(int rank, const Schedule& schedule) {
    return rank == 3 ? schedule.cells[1] : 1;
}

// The pieces on one side of a thread's vector, the nearest first: whole vectors, except that the last has the
// least power of two of cells that suffices.
std::vector<std::array<int, 2>> side_pieces(int count, int vector, bool left) {
    std::vector<std::array<int, 2>> pieces;  // column, width
    for (int done = 0; done < count; done += vector) {
        int width = 1;
        while (width < std::min(vector, count - done))
            width *= 2;
        pieces.push_back({left ? -done - width : vector + done, width});
    }
    return pieces;
}

// The pieces that a thread reads, each with the planes in which it is read.
class Pieces {
public:
    Pieces(const LevelRead& read, int rank, const Schedule& schedule)
        : vector_(schedule.cells[0]), rows_(rows_of(rank, schedule)), axis_(rank - 1) {
        columns_ = side_pieces(read.radius[0][0], vector_, true);
        columns_.push_back({0, vector_});
        for (const auto& piece : side_pieces(read.radius[0][1], vector_, false))
            columns_.push_back(piece);
        for (const ir::Offset& offset : read.offsets)
            for (int y = 0; y < rows_; ++y)
                add(axis_ == 2 ? offset[1] + y : 0, offset[0], offset[axis_]);
    }

    struct Planes {
        std::set<int> read;
        int width = 1;
        bool own = false;
    };
    const std::map<std::pair<int, int>, Planes>& all() const { return pieces_; }  // by row and column

    bool are_shared_by_planes() const {
        return std::ranges::any_of(
            pieces_, [](const auto& piece) { return !piece.second.own && piece.second.read.size() > 1; });
    }
    // Elements of the queue where all pieces are kept in it.
    int window_elements() const {
        int elements = 0;
        for (const auto& [place, planes] : pieces_)
            elements += planes.width * (*planes.read.rbegin() - *planes.read.begin() + 1);
        return elements;
    }

private:
    void add(int row, int first, int plane) {
        for (const auto& [column, width] : columns_) {
            if (first + vector_ <= column || column + width <= first) continue;
            Planes& planes = pieces_[{row, column}];
            planes.read.insert(plane);
            planes.width = width;
            planes.own = column == 0 && row >= 0 && row < rows_;
        }
    }

    const int vector_, rows_, axis_;
    std::vector<std::array<int, 2>> columns_;
    std::map<std::pair<int, int>, Planes> pieces_;
};

void widen(StreamPlan& plan, const StreamPiece& piece, int vector, int rows) {
    auto& columns = plan.around[0];
    columns[0] = std::max(columns[0], -piece.column);
    columns[1] = std::max(columns[1], piece.column + piece.width - vector);
    auto& lines = plan.around[1];
    lines[0] = std::max(lines[0], -piece.row);
    lines[1] = std::max(lines[1], piece.row - rows + 1);
}

}  // namespace

StreamPlan plan_stream(const LevelRead& read, int rank, const Schedule& schedule) {
    const Pieces pieces(read, rank, schedule);
    StreamPlan plan;
    plan.keeps_windows = pieces.are_shared_by_planes() &&
                         pieces.window_elements() * words(read.type) <= stream_model::kMostWindowWords;
    std::set<int> gathered;
    for (const auto& [place, planes] : pieces.all()) {
        StreamPiece piece{place.first, place.second, planes.width, 0, 0, planes.own};
        widen(plan, piece, schedule.cells[0], rows_of(rank, schedule));
        if (planes.own || plan.keeps_windows) {
            piece.plane = *planes.read.rbegin();
            piece.oldest = *planes.read.begin();
            plan.pieces.push_back(piece);
            continue;
        }
        for (const int plane : planes.read) {
            piece.plane = piece.oldest = plane;
            plan.pieces.push_back(piece);
            gathered.insert(plane);
        }
    }
    plan.gathered.assign(gathered.begin(), gathered.end());
    plan.ring_low = plan.ring_high = plan.pieces.front().plane;
    for (const StreamPiece& piece : plan.pieces) {
        if (plan.is_kept(piece)) {
            plan.low = std::min(plan.low, piece.oldest);
            plan.high = std::max(plan.high, piece.plane);
        }
        plan.ring_low = std::min(plan.ring_low, piece.plane);
        plan.ring_high = std::max(plan.ring_high, piece.plane);
    }
    return plan;
}

int queue_words(const StreamPlan& plan, ir::Scalar type) {
    int elements = 0;
    for (const StreamPiece& piece : plan.pieces)
        if (plan.is_kept(piece)) elements += piece.width * (piece.plane - piece.oldest + 1);
    return elements * words(type);
}

int gathered_words(const StreamPlan& plan, ir::Scalar type) {
    int elements = 0;
    for (const StreamPiece& piece : plan.pieces)
        if (!plan.is_kept(piece)) elements += piece.width;
    return elements * words(type);
}

int planes_ahead(const Schedule& schedule) {
    const int ahead = std::get<Stream>(schedule.strategy).ahead;
    return ahead > 0 ? ahead : stream_model::kUsualAhead;
}

int unroll_factor(const Footprint& footprint, const Schedule& schedule) {
    if (const int asked = std::get<Stream>(schedule.strategy).unroll; asked > 0) return asked;
    int planes = 1;
    for (const LevelRead& read : footprint.reads)
        planes = std::max(planes, plan_stream(read, footprint.rank, schedule).planes());
    const Operations& operations = footprint.operations;
    const int iteration = (operations.fmas + operations.adds + operations.multiplies + 1) *
                          schedule.cells[0] * rows_of(footprint.rank, schedule);
    int factor = planes;
    while (factor > 1 && (planes % factor != 0 || factor * iteration > stream_model::kMostUnrolled))
        --factor;
    return factor;
}

}  // namespace halo::schedule
