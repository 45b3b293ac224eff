// The rings of a streaming block: the places of a plane's vectors in memory and in shared memory, the threads
// that copy them, and the iterations in which they do.
#include <algorithm>

#include "compiler/lower/stream/levels.h"

namespace halo::lower {

using kernel::Block;
using kernel::Expr;
using kernel::Type;
using schedule::StagedLevel;
using schedule::StreamPiece;

namespace {

constexpr int kMostKeptCopies = 8;  // of a thread, whose places stay in registers

int vectors_in_tile_row(const StagedLevel& level) {
    return level.tile[0] / level.vector;
}

int halo_vectors(const StagedLevel& level) {
    return (level.low[0] + level.high[0]) / level.vector;
}

bool same_layout(const StagedLevel& a, const StagedLevel& b) {
    return a.low == b.low && a.high == b.high && a.vector == b.vector && a.pitch == b.pitch;
}

int threads_of(const schedule::Schedule& schedule) {
    return schedule.threads[0] * schedule.threads[1];
}

}  // namespace

// ---- the copies of each thread
// -----------------------------------------------------------------------------------------------------

std::size_t StreamLevels::shape_of(const StagedLevel& level) {
    const auto known = std::find_if(shapes_.begin(), shapes_.end(),
                                    [&](const Shape& shape) { return same_layout(*shape.level, level); });
    if (known != shapes_.end()) return static_cast<std::size_t>(known - shapes_.begin());
    shapes_.push_back({});
    shapes_.back().level = &level;
    return shapes_.size() - 1;
}

void StreamLevels::declare_shape(Shape& shape, Block& body) {
    const StagedLevel& level = *shape.level;
    const std::string name = context_.array(staging_.level_of(level));
    const auto declare = [&](const std::string& wanted, const Expr& value) {
        const std::string declared = context_.local(wanted);
        body.push_back(kernel::Declare{Type::i32, declared, value});
        return kernel::variable(declared, Type::i32);
    };
    const int in_row = vectors_in_tile_row(level), threads = threads_of(schedule_);
    if (threads % in_row == 0) {
        shape.row_step = threads / in_row;
        shape.row = has_rows() ? declare(name + "_copy_row", place_.thread / in_row) : Expr(0);
        shape.column = declare(name + "_copy_column", place_.thread % in_row * level.vector);
    }
    if (numbered_vectors(shape) > 0) declare_numbered(shape, name, body);
    Expr own = place_.first[0] - place_.tile[0] + level.origin;
    if (has_rows()) own = (place_.first[1] - place_.tile[1] + level.low[1]) * level.pitch + own;
    shape.own = declare(name + "_here", own);
}

// Vectors of a plane that are not copied by rows.
int StreamLevels::numbered_vectors(const Shape& shape) const {
    const StagedLevel& level = *shape.level;
    const int in_tile = shape.row_step > 0 ? 0 : vectors_in_tile_row(level);
    return (in_tile + halo_vectors(level)) * level.rows;
}

void StreamLevels::declare_numbered(Shape& shape, const std::string& name, Block& body) const {
    const int copies = (numbered_vectors(shape) + threads_of(schedule_) - 1) / threads_of(schedule_);
    if (copies > kMostKeptCopies) return;
    body.push_back(kernel::Comment{std::string("Where the vectors lie that this thread copies of ") +
                                   (shape.row_step > 0 ? "the halo beside the tile." : "a plane.")});
    shape.source = context_.local(name + "_source");
    shape.target = context_.local(name + "_target");
    body.push_back(kernel::DeclareArray{Type::i64, shape.source, {copies}});
    body.push_back(kernel::DeclareArray{Type::i32, shape.target, {copies}});
    const Expr n = copies > 1 ? local("n") : Expr(0);
    Block one{kernel::Declare{Type::i32, context_.local("vector"), place_.thread + n * place_.threads}};
    const Vector vector = find_vector(shape, local("vector"), one);
    one.push_back(kernel::Assign{kernel::element(shape.source, {n}, Type::i64), source_of(shape, vector)});
    one.push_back(kernel::Assign{kernel::element(shape.target, {n}, Type::i32), target_of(shape, vector)});
    if (copies == 1) one = {kernel::Scope{std::move(one)}};
    append(body, loop_over(context_.local("n"), copies, std::move(one)));
}

// ---- copies to the ring
// ------------------------------------------------------------------------------------------------

Expr StreamLevels::plane_offset(const Expr& plane) const {
    return has_rows() ? plane * context_.slice() : kernel::convert(plane, Type::i64) * context_.pitch();
}

// Finds the row and column of a plane's vector from its number. Vectors of the tile come first, unless they
// are copied by rows; then those of the halo left and right of it.
StreamLevels::Vector StreamLevels::find_vector(const Shape& shape, const Expr& number, Block& body) const {
    const StagedLevel& level = *shape.level;
    const auto declare = [&](const char* wanted, const Expr& value) {
        const std::string name = context_.local(wanted);
        body.push_back(kernel::Declare{Type::i32, name, value});
        return kernel::variable(name, Type::i32);
    };
    const int in_tile = vectors_in_tile_row(level), in_row = halo_vectors(level);
    const int left = level.low[0] / level.vector, right = in_row - left;
    const int first = shape.row_step > 0 ? 0 : in_tile * level.rows;
    Expr row, column;
    if (in_row > 0) {
        const Expr halo = first > 0 ? declare("halo_vector", number - first) : number;
        const Expr in_halo = in_row > 1 ? halo % in_row : Expr(0);
        row = halo / in_row;
        column = in_halo - left;
        if (left == 0) column = in_halo + in_tile;
        if (left > 0 && right > 0) column = kernel::select(in_halo < left, column, column + in_tile);
        if (first > 0) {
            row = kernel::select(halo < 0, number / in_tile, row);
            column = kernel::select(halo < 0, number % in_tile, column);
        }
    } else {
        row = number / in_tile;
        column = number % in_tile;
    }
    Vector vector;
    vector.row = has_rows() ? declare("ring_row", row) : Expr(0);
    vector.column = declare("ring_column", column * level.vector);
    return vector;
}

// Copies from past the halo are clamped to the last vector of a row, and to the last row.
Expr StreamLevels::last_column(int vector) const {
    const Expr last = context_.extent(0) + (context_.layout().halo[0][1] - 1);
    return vector > 1 ? last / vector * vector : last;
}

Expr StreamLevels::source_of(const Shape& shape, const Vector& vector) const {
    const StagedLevel& level = *shape.level;
    const Expr x = kernel::min(place_.tile[0] + vector.column, last_column(level.vector));
    if (!has_rows()) return kernel::convert(x, Type::i64);
    const Expr last = context_.extent(1) + (context_.layout().halo[1][1] - 1);
    const Expr y = kernel::min(place_.tile[1] + vector.row - level.low[1], last);
    return kernel::convert(y, Type::i64) * context_.pitch() + x;
}

Expr StreamLevels::target_of(const Shape& shape, const Vector& vector) const {
    return vector.row * shape.level->pitch + vector.column + shape.level->origin;
}

// Copies the tile's own columns; the copies of a warp are coalesced into whole lines.
Block StreamLevels::copy_rows(const Stream& stream, const Expr& from, const Expr& to) const {
    const Shape& shape = shapes_[stream.shape];
    const StagedLevel& level = *stream.ring;
    const int whole = level.rows / shape.row_step, rest = level.rows % shape.row_step;
    const auto copy = [&](const Expr& n) -> Block {
        const Vector vector{shape.row + n * shape.row_step, shape.column};
        return {kernel::CopyAsync{
            kernel::element(staging_.name_of(level), {to + target_of(shape, vector)}, type_of(stream)),
            kernel::address_of(context_.array(stream.level), from + source_of(shape, vector),
                               type_of(stream)),
            level.vector}};
    };
    Block rows;
    if (whole > 0) rows = loop_over(context_.local("n"), whole, copy(whole > 1 ? local("n") : Expr(0)));
    if (rest > 0) {
        const Expr row = has_rows() ? shape.row : place_.thread / vectors_in_tile_row(level);
        rows.push_back(kernel::If{row < rest, copy(whole), {}});
    }
    return rows;
}

// The block's threads copy a plane asynchronously to a slot of the ring.
Block StreamLevels::copy_plane(const Stream& stream, const Expr& plane, const Expr& slot) const {
    const Shape& shape = shapes_[stream.shape];
    const StagedLevel& level = *stream.ring;
    const Type type = type_of(stream);
    const std::string array = context_.array(stream.level);
    Block copy;
    const std::string at = context_.local(array + "_plane"), into = context_.local(array + "_into");
    copy.push_back(kernel::Declare{Type::i64, at, plane_offset(plane)});
    copy.push_back(kernel::Declare{Type::i32, into, slot * level.plane_elements});
    const Expr from = kernel::variable(at, Type::i64), to = kernel::variable(into, Type::i32);
    if (shape.row_step > 0) append(copy, copy_rows(stream, from, to));
    const auto copy_vector = [&](const Expr& source, const Expr& target) {
        return kernel::CopyAsync{kernel::element(staging_.name_of(level), {to + target}, type),
                                 kernel::address_of(array, from + source, type), level.vector};
    };
    const int threads = threads_of(schedule_), vectors = numbered_vectors(shape);
    if (vectors == 0) return copy;
    if (shape.source.empty()) {
        Block one;
        const Vector vector = find_vector(shape, local("vector"), one);
        one.push_back(copy_vector(source_of(shape, vector), target_of(shape, vector)));
        copy.push_back(kernel::For{context_.local("vector"), place_.thread, vectors, place_.threads,
                                   kernel::Unroll::leave, std::move(one)});
        return copy;
    }
    const auto numbered = [&](const Expr& n) {
        return copy_vector(kernel::element(shape.source, {n}, Type::i64),
                           kernel::element(shape.target, {n}, Type::i32));
    };
    const int whole = vectors / threads, rest = vectors % threads;
    if (whole > 0)
        append(copy, loop_over(context_.local("n"), whole, {numbered(whole > 1 ? local("n") : Expr(0))}));
    if (rest > 0) copy.push_back(kernel::If{place_.thread < rest, {numbered(whole)}, {}});
    return copy;
}

// The slot of the plane that is `planes` after the first one in the ring.
Expr StreamLevels::slot_after(const Stream& stream, int planes) const {
    const Expr slot = kernel::variable(stream.slot, Type::i32);
    if (planes == 0) return slot;
    const int ring = stream.ring->planes;
    return kernel::select(slot < ring - planes, slot + planes, slot - (ring - planes));
}

void StreamLevels::begin(Block& body) {
    for (const Stream& stream : streams_)
        preload(stream, body);
    body.push_back(kernel::BlankLine{});
    body.push_back(kernel::Comment{"The planes of the first turn, and those that are on their way then."});
    const Expr slot = kernel::variable("slot", Type::i32);
    for (const Stream& stream : streams_) {
        const Expr first = place_.first_plane + stream.plan.ring_low;
        const int arriving = stream.plan.arriving();
        if (arriving == 1) {
            body.push_back(kernel::Scope{copy_plane(stream, first, 0)});
        } else {
            body.push_back(kernel::For{"slot", 0, arriving, 1, kernel::Unroll::none,
                                       copy_plane(stream, first + slot, slot)});
        }
    }
    body.push_back(kernel::CommitCopies{});
    if (ahead_ == 1) return;
    const Expr early = local("early");
    Block iteration;
    for (const Stream& stream : streams_) {
        const Expr plane = place_.first_plane + early + stream.plan.ring_high;
        iteration.push_back(kernel::If{plane < place_.end_plane + stream.plan.ring_high,
                                       copy_plane(stream, plane, early + (stream.plan.arriving() - 1)),
                                       {}});
    }
    iteration.push_back(kernel::CommitCopies{});
    body.push_back(
        kernel::For{context_.local("early"), 1, ahead_, 1, kernel::Unroll::none, std::move(iteration)});
}

void StreamLevels::arrive(Block& iteration) {
    iteration.push_back(
        kernel::Comment{"All threads have what was due, and are done with the oldest planes."});
    iteration.push_back(kernel::AwaitCopies{ahead_ - 1});
    iteration.push_back(kernel::Barrier{});
    Block copies;
    for (const Stream& stream : streams_) {
        const Expr plane = place_.first[streaming_axis_] + (stream.plan.ring_high + ahead_);
        append(copies,
               {kernel::Scope{copy_plane(stream, plane, slot_after(stream, stream.ring->planes - 1))}});
    }
    iteration.push_back(
        kernel::If{place_.first[streaming_axis_] + ahead_ < place_.end_plane, std::move(copies), {}});
    iteration.push_back(kernel::CommitCopies{});
    iteration.push_back(kernel::BlankLine{});
}

}  // namespace halo::lower
