#include "compiler/lower/stream/levels.h"

#include <algorithm>

#include "compiler/schedule/footprint.h"
#include "compiler/support/error.h"

namespace halo::lower {

using kernel::Block;
using kernel::Expr;
using kernel::Type;
using schedule::StagedLevel;
using schedule::StreamPiece;

StreamLevels::StreamLevels(Context& context, const schedule::Schedule& schedule)
    : context_(context),
      schedule_(schedule),
      staging_(context, schedule),
      streaming_axis_(context.rank() - 1),
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
    return count > 1 ? kernel::variable("y", Type::i32) : Expr(0);
}

// ---- declarations for the whole traversal
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
    const bool has_queue =
        std::ranges::any_of(plan.pieces, [&](const StreamPiece& piece) { return plan.is_kept(piece); });
    // Queues whose pieces do not fill all slots begin as zeros, as whole queues are shifted.
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
    // Later planes first. Then by rows.
    std::ranges::stable_sort(groups,
                             [](const Rows& a, const Rows& b) { return a.first.plane > b.first.plane; });
    return groups;
}

// `row` and `column` count from the thread's first cell.
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

// Loads from memory what iterations before the first one would have left in the queue.
void StreamLevels::preload(const Stream& stream, Block& body) const {
    const auto& halo = context_.layout().halo;
    Block loads;
    for (const Rows& rows : rows_of(stream)) {
        const StreamPiece& piece = rows.first;
        const int planes = piece.plane - piece.oldest;
        if (!stream.plan.is_kept(piece) || planes == 0) continue;
        const Expr y = row_variable(rows.count) + piece.row;
        const int first_slot = piece.oldest - stream.plan.low;
        const Expr slot = planes > 1 ? kernel::variable("slot", Type::i32) : Expr(first_slot);
        Expr at = plane_offset(place_.first_plane + (slot + stream.plan.low));
        if (has_rows()) {
            const Expr row = kernel::min(place_.first[1] + y, context_.extent(1) + (halo[1][1] - 1));
            at = at + kernel::convert(row, Type::i64) * context_.pitch();
        }
        Expr last = context_.extent(0) - 1;
        if (schedule_.cells[0] > 1) last = last / place_.counts[0] * place_.counts[0];
        at = at + (kernel::min(place_.first[0], last) + piece.column);
        Block load{load_piece(queue_element(stream, slot, y, piece.column), context_.array(stream.level), at,
                              piece.width)};
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

void StreamLevels::load(Block& iteration) {
    for (const Stream& stream : streams_) {
        const auto& around = stream.plan.around;
        if (!stream.plan.gathered.empty()) {
            kernel::DeclareArray near{type_of(stream), stream.near, {}};
            if (stream.plan.gathered.size() > 1)
                near.dims.push_back(static_cast<int>(stream.plan.gathered.size()));
            const int lines = rows() + around[1][0] + around[1][1];
            if (has_rows() && lines > 1) near.dims.push_back(lines);
            near.dims.push_back(schedule_.cells[0] + around[0][0] + around[0][1]);
            iteration.push_back(std::move(near));
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
                iteration.push_back(
                    kernel::Declare{Type::i32, name,
                                    slot_after(stream, planes) * plane_elements + shapes_[stream.shape].own});
                base = kernel::variable(name, Type::i32);
                known = piece.plane;
            }
            const Expr y = row_variable(rows.count) + piece.row;
            const Expr at = base + (y * stream.ring->pitch + piece.column);
            const Expr to = stream.plan.is_kept(piece)
                                ? queue_element(stream, piece.plane - stream.plan.low, y, piece.column)
                                : near_element(stream, piece.plane, y, piece.column);
            append(iteration, loop_over("y", rows.count,
                                        {load_piece(to, staging_.name_of(*stream.ring), at, piece.width)}));
        }
        gather_own(stream, iteration);
    }
}

// Copies the thread's own cells to planes that are gathered, so that all reads of these are from one array.
void StreamLevels::gather_own(const Stream& stream, Block& iteration) const {
    for (const int plane : stream.plan.gathered) {
        for (const Rows& rows : rows_of(stream)) {
            const StreamPiece& piece = rows.first;
            if (!piece.own || plane > piece.plane || plane < piece.oldest) continue;
            const Expr y = row_variable(rows.count) + piece.row;
            const Expr x = schedule_.cells[0] > 1 ? kernel::variable("x", Type::i32) : Expr(0);
            const Expr slot = plane - stream.plan.low;
            std::vector<Expr> indices;
            if (stream.plan.planes() > 1) indices.push_back(slot);
            if (has_rows() && this->rows() > 1) indices.push_back(y);
            indices.push_back(x);
            Block copy{kernel::Assign{near_element(stream, plane, y, x),
                                      kernel::element(stream.queue, std::move(indices), type_of(stream))}};
            append(iteration, loop_over("y", rows.count, loop_over("x", place_.counts[0], std::move(copy))));
        }
    }
}

Expr StreamLevels::read(const Level& level, const ir::Offset& offset, const Expr& y, const Expr& x) const {
    const Stream& stream = *std::find_if(streams_.begin(), streams_.end(),
                                         [&](const Stream& each) { return each.level == level; });
    const int line = has_rows() ? offset[1] : 0;
    const int plane = offset[streaming_axis_];
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

void StreamLevels::advance(Block& iteration) {
    bool commented = false;
    for (const Stream& stream : streams_) {
        const schedule::StreamPlan& plan = stream.plan;
        if (!stream.queue.empty() && plan.planes() > 1) {
            if (!commented) iteration.push_back(kernel::Comment{"Every plane moves up its queue."});
            commented = true;
            const bool windows = plan.keeps_windows;
            const int lines = rows() + (windows ? plan.around[1][0] + plan.around[1][1] : 0);
            const int columns = schedule_.cells[0] + (windows ? plan.around[0][0] + plan.around[0][1] : 0);
            const Expr slot = kernel::variable("slot", Type::i32), y = row_variable(lines);
            const Expr x = columns > 1 ? kernel::variable("x", Type::i32) : Expr(0);
            const auto at = [&](const Expr& place) {
                std::vector<Expr> indices{place};
                if (lines > 1) indices.push_back(y);
                indices.push_back(x);
                return kernel::element(stream.queue, std::move(indices), type_of(stream));
            };
            Block shift =
                loop_over("y", lines, loop_over("x", columns, {kernel::Assign{at(slot), at(slot + 1)}}));
            iteration.push_back(
                kernel::For{"slot", 0, plan.planes() - 1, 1, kernel::Unroll::full, std::move(shift)});
        }
        iteration.push_back(kernel::Assign{kernel::variable(stream.slot, Type::i32), slot_after(stream, 1)});
    }
}

}  // namespace halo::lower
