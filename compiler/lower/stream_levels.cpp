#include "compiler/lower/stream_levels.h"

#include <algorithm>

#include "compiler/schedule/footprint.h"
#include "compiler/support/error.h"

namespace halo::lower {

using kernel::Block;
using kernel::Expr;
using kernel::Type;
using schedule::StagedLevel;
using schedule::StreamPiece;

namespace {

constexpr int kMostKeptCopies = 8;  // places that a thread remembers; of more it works them out at every turn

Expr variable(const char* name) {
    return kernel::variable(name, Type::i32);
}

int vectors_in_tile_row(const StagedLevel& level) {
    return level.tile[0] / level.vector;
}

int vectors_beside(const StagedLevel& level) {
    return (level.low[0] + level.high[0]) / level.vector;
}

bool lie_alike(const StagedLevel& a, const StagedLevel& b) {
    return a.low == b.low && a.high == b.high && a.vector == b.vector && a.pitch == b.pitch;
}

int threads_of(const schedule::Schedule& schedule) {
    return schedule.threads[0] * schedule.threads[1];
}

}  // namespace

StreamLevels::StreamLevels(Context& context, const schedule::Schedule& schedule)
    : context_(context),
      schedule_(schedule),
      staging_(context, schedule),
      walked_(context.rank() - 1),
      ahead_(schedule::planes_ahead(schedule)) {
    const schedule::Footprint footprint = schedule::footprint(context.program(), context.stage().stage);
    for (const schedule::LevelRead& read : footprint.reads) {
        Stream stream{{read.field, read.time}, nullptr, {}, 0, {}, {}, {}};
        stream.ring = staging_.find(stream.level);
        stream.plan = schedule::plan_stream(read, context.rank(), schedule);
        streams_.push_back(std::move(stream));
    }
    for (const Read& read : context.stage().reads) {
        if (staging_.find(read.level) == nullptr)
            throw InternalError("a level is read that its footprint does not know");
    }
}

Type StreamLevels::type_of(const Stream& stream) const {
    return kernel_type(context_.stage().field(stream.level).type);
}

Expr StreamLevels::local(const char* name) const {
    return kernel::variable(context_.local(name), Type::i32);
}

Expr StreamLevels::row_variable(int count) const {
    return count > 1 ? variable("y") : Expr(0);
}

// ---- what lasts for the whole walk
// ----------------------------------------------------------------------------------------------

void StreamLevels::declare(const StreamPlace& place, kernel::KernelFunction& function) {
    place_ = place;
    Block& body = function.body;
    for (Stream& stream : streams_)
        stream.shape = shape_of(*stream.ring);
    for (Shape& shape : shapes_)
        declare_shape(shape, body);
    for (Stream& stream : streams_)
        declare_registers(stream, body);
}

std::size_t StreamLevels::shape_of(const StagedLevel& level) {
    const auto known = std::find_if(shapes_.begin(), shapes_.end(),
                                    [&](const Shape& shape) { return lie_alike(*shape.level, level); });
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
    return (in_tile + vectors_beside(level)) * level.rows;
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

void StreamLevels::declare_registers(Stream& stream, Block& body) {
    const schedule::StreamPlan& plan = stream.plan;
    const std::string array = context_.array(stream.level);
    const auto& around = plan.around;
    const int lines = rows() + around[1][0] + around[1][1];
    const int columns = schedule_.cells[0] + around[0][0] + around[0][1];
    const auto declare_array = [&](const std::string& name, int planes, int height, int width, bool zero) {
        kernel::DeclareArray declared{type_of(stream), name, {}};
        if (planes > 1) declared.dims.push_back(planes);
        if (has_rows() && height > 1) declared.dims.push_back(height);
        declared.dims.push_back(width);
        declared.zero = zero;
        body.push_back(std::move(declared));
    };
    const bool has_queue = std::ranges::any_of(
        plan.pieces, [&](const StreamPiece& piece) { return plan.is_kept(piece); });
    // What is loaded in the middle of the queue is passed through the rest of it for nothing.
    if (has_queue) {
        const bool zero = std::ranges::any_of(plan.pieces, [&](const StreamPiece& piece) {
            return plan.is_kept(piece) && (piece.plane < plan.high || piece.oldest > plan.low);
        });
        stream.queue = context_.local(array + (plan.planes() > 1 ? "_queue" : "_cells"));
        declare_array(stream.queue, plan.planes(), plan.keeps_windows ? lines : rows(),
                      plan.keeps_windows ? columns : schedule_.cells[0], zero || plan.keeps_windows);
    }
    if (!plan.gathered.empty()) stream.near = context_.local(array + "_near");
    stream.slot = context_.local(array + "_slot");
    body.push_back(kernel::Declare{Type::i32, stream.slot, 0, true});
}

// ---- planes on their way to the ring
// ------------------------------------------------------------------------------------------------

Expr StreamLevels::plane_offset(const Expr& plane) const {
    return has_rows() ? plane * context_.slice() : kernel::convert(plane, Type::i64) * context_.pitch();
}

// Which of a plane's vectors has a number: those of the tile's columns come first, unless they are copied by
// rows; then the halo's left and right.
StreamLevels::Vector StreamLevels::find_vector(const Shape& shape, const Expr& number, Block& body) const {
    const StagedLevel& level = *shape.level;
    const auto declare = [&](const char* wanted, const Expr& value) {
        const std::string name = context_.local(wanted);
        body.push_back(kernel::Declare{Type::i32, name, value});
        return kernel::variable(name, Type::i32);
    };
    const int in_tile = vectors_in_tile_row(level), beside = vectors_beside(level);
    const int left = level.low[0] / level.vector, right = beside - left;
    const int first = shape.row_step > 0 ? 0 : in_tile * level.rows;
    Expr row, column;
    if (beside > 0) {
        const Expr halo = first > 0 ? declare("halo_vector", number - first) : number;
        const Expr in_halo = beside > 1 ? halo % beside : Expr(0);
        row = halo / beside;
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

// Past the halo a row's last vector is read again, and the last row.
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

// The tile's own columns, whose lines a warp copies whole.
Block StreamLevels::copy_rows(const Stream& stream, const Expr& from, const Expr& to) const {
    const Shape& shape = shapes_[stream.shape];
    const StagedLevel& level = *stream.ring;
    const int whole = level.rows / shape.row_step, rest = level.rows % shape.row_step;
    const auto copy = [&](const Expr& n) -> Block {
        const Vector vector{shape.row + n * shape.row_step, shape.column};
        return {kernel::CopyAsync{
            kernel::element(staging_.name_of(level), {to + target_of(shape, vector)}, type_of(stream)),
            kernel::address_of(context_.array(stream.level), from + source_of(shape, vector), type_of(stream)),
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

// The block's threads copy a plane into a slot of the ring, in the background.
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

// The slot of the plane that is so many after the first of those in the ring.
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
    const Expr slot = variable("slot");
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
    Block turn;
    for (const Stream& stream : streams_) {
        const Expr plane = place_.first_plane + early + stream.plan.ring_high;
        turn.push_back(kernel::If{plane < place_.end_plane + stream.plan.ring_high,
                                  copy_plane(stream, plane, early + (stream.plan.arriving() - 1)),
                                  {}});
    }
    turn.push_back(kernel::CommitCopies{});
    body.push_back(kernel::For{context_.local("early"), 1, ahead_, 1, kernel::Unroll::none, std::move(turn)});
}

void StreamLevels::arrive(Block& turn) {
    turn.push_back(kernel::Comment{"All threads have what was due, and are done with the oldest planes."});
    turn.push_back(kernel::AwaitCopies{ahead_ - 1});
    turn.push_back(kernel::Barrier{});
    Block copies;
    for (const Stream& stream : streams_) {
        const Expr plane = place_.first[walked_] + (stream.plan.ring_high + ahead_);
        append(copies, {kernel::Scope{copy_plane(stream, plane, slot_after(stream, stream.ring->planes - 1))}});
    }
    turn.push_back(kernel::If{place_.first[walked_] + ahead_ < place_.end_plane, std::move(copies), {}});
    turn.push_back(kernel::CommitCopies{});
    turn.push_back(kernel::BlankLine{});
}

// ---- from the ring to registers
// --------------------------------------------------------------------------------------------------------

std::vector<StreamLevels::Rows> StreamLevels::rows_of(const Stream& stream) const {
    std::vector<Rows> groups;
    for (const StreamPiece& piece : stream.plan.pieces) {
        const auto above = std::find_if(groups.begin(), groups.end(), [&](const Rows& rows) {
            return rows.first.column == piece.column && rows.first.width == piece.width &&
                   rows.first.plane == piece.plane && rows.first.oldest == piece.oldest &&
                   rows.first.own == piece.own && rows.first.row + rows.count == piece.row;
        });
        if (above != groups.end()) {
            ++above->count;
        } else {
            groups.push_back({piece, 1});
        }
    }
    // Those along the walk come first: they were due long ago. Then by rows.
    std::ranges::stable_sort(groups, [](const Rows& a, const Rows& b) { return a.first.plane > b.first.plane; });
    return groups;
}

// `row` counts from the thread's first; so does `column`.
Expr StreamLevels::queue_element(const Stream& stream, const Expr& slot, const Expr& row, int column) const {
    const schedule::StreamPlan& plan = stream.plan;
    const int above = plan.keeps_windows ? plan.around[1][0] : 0;
    const int below = plan.keeps_windows ? plan.around[1][1] : 0;
    const int left = plan.keeps_windows ? plan.around[0][0] : 0;
    std::vector<Expr> indices;
    if (plan.planes() > 1) indices.push_back(slot);
    if (has_rows() && rows() + above + below > 1) indices.push_back(row + above);
    indices.push_back(column + left);
    return kernel::element(stream.queue, std::move(indices), type_of(stream));
}

Expr StreamLevels::near_element(const Stream& stream, int plane, const Expr& row, const Expr& column) const {
    const auto& gathered = stream.plan.gathered;
    const auto& around = stream.plan.around;
    std::vector<Expr> indices;
    if (gathered.size() > 1) {
        const auto at = std::find(gathered.begin(), gathered.end(), plane) - gathered.begin();
        indices.push_back(static_cast<int>(at));
    }
    if (has_rows() && rows() + around[1][0] + around[1][1] > 1) indices.push_back(row + around[1][0]);
    indices.push_back(column + around[0][0]);
    return kernel::element(stream.near, std::move(indices), type_of(stream));
}

namespace {

kernel::Statement load_piece(Expr to, const std::string& array, const Expr& at, int width) {
    const Type type = to.type();
    if (width == 1) return kernel::Assign{std::move(to), kernel::element(array, {at}, type)};
    return kernel::LoadVector{std::move(to), kernel::address_of(array, at, type), width};
}

}  // namespace

// What the turns before the first would have left in the queue, from memory.
void StreamLevels::preload(const Stream& stream, Block& body) const {
    const auto& halo = context_.layout().halo;
    Block loads;
    for (const Rows& rows : rows_of(stream)) {
        const StreamPiece& piece = rows.first;
        const int planes = piece.plane - piece.oldest;
        if (!stream.plan.is_kept(piece) || planes == 0) continue;
        const Expr y = row_variable(rows.count) + piece.row;
        const int first_slot = piece.oldest - stream.plan.low;
        const Expr slot = planes > 1 ? variable("slot") : Expr(first_slot);
        Expr at = plane_offset(place_.first_plane + (slot + stream.plan.low));
        if (has_rows()) {
            const Expr row =
                kernel::min(place_.first[1] + y, context_.extent(1) + (halo[1][1] - 1));
            at = at + kernel::convert(row, Type::i64) * context_.pitch();
        }
        Expr last = context_.extent(0) - 1;
        if (schedule_.cells[0] > 1) last = last / place_.counts[0] * place_.counts[0];
        at = at + (kernel::min(place_.first[0], last) + piece.column);
        Block load{load_piece(queue_element(stream, slot, y, piece.column),
                              context_.array(stream.level), at, piece.width)};
        load = loop_over("y", rows.count, std::move(load));
        if (planes > 1)
            load = {kernel::For{"slot", first_slot, first_slot + planes, 1, kernel::Unroll::full,
                                std::move(load)}};
        append(loads, std::move(load));
    }
    if (loads.empty()) return;
    body.push_back(kernel::BlankLine{});
    body.push_back(kernel::Comment{"What is read of " + context_.array(stream.level) +
                                   " behind the first plane that is on its way."});
    append(body, std::move(loads));
}

void StreamLevels::load(Block& turn) {
    for (const Stream& stream : streams_) {
        const auto& around = stream.plan.around;
        if (!stream.plan.gathered.empty()) {
            kernel::DeclareArray near{type_of(stream), stream.near, {}};
            if (stream.plan.gathered.size() > 1)
                near.dims.push_back(static_cast<int>(stream.plan.gathered.size()));
            const int lines = rows() + around[1][0] + around[1][1];
            if (has_rows() && lines > 1) near.dims.push_back(lines);
            near.dims.push_back(schedule_.cells[0] + around[0][0] + around[0][1]);
            turn.push_back(std::move(near));
        }
        const int plane_elements = stream.ring->plane_elements;
        Expr base;
        int known = stream.plan.ring_high + 1;
        for (const Rows& rows : rows_of(stream)) {
            const StreamPiece& piece = rows.first;
            if (piece.plane != known) {
                const int planes = piece.plane - stream.plan.ring_low;
                const std::string name =
                    context_.local(context_.array(stream.level) + "_at_" + std::to_string(planes));
                turn.push_back(kernel::Declare{
                    Type::i32, name,
                    slot_after(stream, planes) * plane_elements + shapes_[stream.shape].own});
                base = kernel::variable(name, Type::i32);
                known = piece.plane;
            }
            const Expr y = row_variable(rows.count) + piece.row;
            const Expr at = base + (y * stream.ring->pitch + piece.column);
            const Expr to = stream.plan.is_kept(piece)
                                ? queue_element(stream, piece.plane - stream.plan.low, y, piece.column)
                                : near_element(stream, piece.plane, y, piece.column);
            append(turn, loop_over("y", rows.count,
                                   {load_piece(to, staging_.name_of(*stream.ring), at, piece.width)}));
        }
        gather_own(stream, turn);
    }
}

// A plane that neighbours are read in has the thread's own cells among them.
void StreamLevels::gather_own(const Stream& stream, Block& turn) const {
    for (const int plane : stream.plan.gathered) {
        for (const Rows& rows : rows_of(stream)) {
            const StreamPiece& piece = rows.first;
            if (!piece.own || plane > piece.plane || plane < piece.oldest) continue;
            const Expr y = row_variable(rows.count) + piece.row;
            const Expr x = schedule_.cells[0] > 1 ? variable("x") : Expr(0);
            const Expr slot = plane - stream.plan.low;
            std::vector<Expr> indices;
            if (stream.plan.planes() > 1) indices.push_back(slot);
            if (has_rows() && this->rows() > 1) indices.push_back(y);
            indices.push_back(x);
            Block copy{kernel::Assign{near_element(stream, plane, y, x),
                                      kernel::element(stream.queue, std::move(indices), type_of(stream))}};
            append(turn, loop_over("y", rows.count, loop_over("x", place_.counts[0], std::move(copy))));
        }
    }
}

Expr StreamLevels::read(const Level& level, const ir::Offset& offset, const Expr& y, const Expr& x) const {
    const Stream& stream = *std::find_if(streams_.begin(), streams_.end(),
                                         [&](const Stream& each) { return each.level == level; });
    const int line = has_rows() ? offset[1] : 0;
    const int plane = offset[walked_];
    const bool own_column = offset[0] == 0 && line == 0;
    if (!stream.plan.keeps_windows && !own_column)
        return near_element(stream, plane, y + line, x + offset[0]);
    const auto& around = stream.plan.around;
    const bool windows = stream.plan.keeps_windows;
    const int above = windows ? around[1][0] : 0, below = windows ? around[1][1] : 0;
    std::vector<Expr> indices;
    if (stream.plan.planes() > 1) indices.push_back(plane - stream.plan.low);
    if (has_rows() && rows() + above + below > 1) indices.push_back(y + (line + above));
    indices.push_back(x + (offset[0] + (windows ? around[0][0] : 0)));
    return kernel::element(stream.queue, std::move(indices), type_of(stream));
}

void StreamLevels::advance(Block& turn) {
    bool commented = false;
    for (const Stream& stream : streams_) {
        const schedule::StreamPlan& plan = stream.plan;
        if (!stream.queue.empty() && plan.planes() > 1) {
            if (!commented) turn.push_back(kernel::Comment{"Every plane moves up its queue."});
            commented = true;
            const bool windows = plan.keeps_windows;
            const int lines = rows() + (windows ? plan.around[1][0] + plan.around[1][1] : 0);
            const int columns = schedule_.cells[0] + (windows ? plan.around[0][0] + plan.around[0][1] : 0);
            const Expr slot = variable("slot"), y = row_variable(lines);
            const Expr x = columns > 1 ? variable("x") : Expr(0);
            const auto at = [&](const Expr& place) {
                std::vector<Expr> indices{place};
                if (lines > 1) indices.push_back(y);
                indices.push_back(x);
                return kernel::element(stream.queue, std::move(indices), type_of(stream));
            };
            Block shift = loop_over(
                "y", lines, loop_over("x", columns, {kernel::Assign{at(slot), at(slot + 1)}}));
            turn.push_back(
                kernel::For{"slot", 0, plan.planes() - 1, 1, kernel::Unroll::full, std::move(shift)});
        }
        turn.push_back(
            kernel::Assign{kernel::variable(stream.slot, Type::i32), slot_after(stream, 1)});
    }
}

}  // namespace halo::lower
