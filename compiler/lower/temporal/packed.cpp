// Stages of a temporal kernel whose cells are packed, four of a row in a word: a row has whole words, and so
// do the columns beside it.
#include <algorithm>

#include "compiler/lower/temporal/stage.h"
#include "compiler/support/error.h"

namespace halo::lower {

using kernel::Block;
using kernel::Expr;
using kernel::Type;

// What a window holds so many cells further on along the first axis.
PackedSource TemporalStages::shifted_in(const Window& window, const Queue& queue, int shift) const {
    const int before = (shift % kPackedCells + kPackedCells) % kPackedCells;
    const Expr x = frame_.x() + (frame_.beside(queue, 0) + (shift - before) / kPackedCells);
    return {window(frame_.y(), x), before == 0 ? Expr() : window(frame_.y(), x + 1), before};
}

PackedSources TemporalStages::packed_sources(int stage) {
    const auto& uses = frame_.pipeline.stages[static_cast<std::size_t>(stage)].uses;
    const auto use_of = [&uses](const Level& level) -> const Use& {
        for (const Use& use : uses)
            if (use.field == level.field && use.time == level.time) return use;
        throw InternalError("a stage reads a level that its pipeline does not know");
    };
    PackedSources sources;
    sources.load = [this, use_of](const Level& level, const ir::Offset& offset) {
        const Use& use = use_of(level);
        const Queue& queue = *frame_.pipeline.find(use.field);
        const int plane = offset[frame_.streaming_axis];
        if (offset[0] == 0) return PackedSource{cell_at(use, queue, plane, frame_.y(), frame_.x()), {}, 0};
        return shifted_in(window_at(use, queue, plane), queue, offset[0]);
    };
    sources.row_sum = [this, load = sources.load](const RowSum& sum, int row) {
        const Queue& queue = *frame_.pipeline.find(sum.level.field);
        const auto carried = std::ranges::find(queue.row_sums, sum);
        const bool is_carried = carried != queue.row_sums.end();
        Lanes lanes = sum_in_row(frame_.context.program(), sum, is_carried ? sum.high : row, {load, {}});
        if (!is_carried) return lanes;
        const RegisterArray& sums =
            planes_.at(queue.field).row_sums[static_cast<std::size_t>(carried - queue.row_sums.begin())];
        for (std::size_t word = 0; word < lanes.words.size(); ++word)
            lanes.words[word] = sums.at({step(), row - sum.low, frame_.x(), static_cast<int>(word)});
        return lanes;
    };
    return sources;
}

Block TemporalStages::packed_cells(int stage, const std::vector<RegisterArray>& fresh) {
    Context& context = frame_.context;
    Block row;
    const std::optional<PackedValues> values = lower_packed(context, packed_sources(stage), row);
    if (!values) throw InternalError("cells that can be packed are not");
    const auto& assigns = context.stage().assigns;
    for (std::size_t w = 0; w < fresh.size(); ++w) {
        const auto place = std::ranges::find(assigns, context.stage().writes[w].assign) - assigns.begin();
        row.push_back(kernel::Assign{fresh[w].at({frame_.y(), frame_.x()}),
                                     values->assigned[static_cast<std::size_t>(place)]});
    }
    // The names of one word's values are its own.
    if (frame_.values_x == 1) row = {kernel::Scope{std::move(row)}};
    return frame_.over_cells(std::move(row));
}

void TemporalStages::add_row_sums(const Queue& queue, const Use& use, const Expr& stage_plane, Block& body) {
    const Planes& planes = planes_.at(queue.field);
    const int newest = use.distance - queue.window_distance;  // plane, as the use counts: `high` of all sums
    PackedSources sources;
    sources.load = [this, &queue, window = window_at(use, queue, newest)](const Level&,
                                                                          const ir::Offset& offset) {
        return shifted_in(window, queue, offset[0]);
    };
    Block sums, images;
    for (std::size_t number = 0; number < planes.row_sums.size(); ++number) {
        const RegisterArray& array = planes.row_sums[number];
        const Lanes lanes = sum_in_row(frame_.context.program(), queue.row_sums[number], newest, sources);
        const int last = array.dim(1) - 1;
        for (std::size_t word = 0; word < lanes.words.size(); ++word)
            sums.push_back(kernel::Assign{array.at({step(), last, frame_.x(), static_cast<int>(word)}),
                                          lanes.words[word]});
        for (int earlier = 0; earlier < last; ++earlier)
            images.push_back(copy_cells(array.at({step(), earlier, 0, 0}), array.at({step(), last, 0, 0}),
                                        array.dim(2) * array.dim(3)));
    }
    body.push_back(kernel::Comment{"Sums of neighbours in the newest row, which later rows read, too."});
    append(body, frame_.over_cells(std::move(sums)));
    // The first plane is shown in place of those before it, once it is there.
    if (!frame_.face(use.field, frame_.streaming_axis, 0).map.repeats_edge()) return;
    const Expr level = level_index(use, queue);
    const int slot = queue.slots - 1 - queue.window_distance;
    for (int earlier = 0; earlier < slot; ++earlier)
        images.push_back(copy_cells(planes.own.at({level, earlier, 0, 0}), planes.own.at({level, slot, 0, 0}),
                                    frame_.all_values()));
    body.push_back(kernel::If{frame_.near_face && stage_plane == -newest, std::move(images), {}});
}

Expr TemporalStages::image_word(const Queue& queue, const Window& window, const FaceRule& rule, const Expr& y,
                                int side, int past) const {
    const int reach = queue.reach[0][static_cast<std::size_t>(side)];
    std::array<int, kPackedCells> cells{};  // of the thread, that each byte shows
    for (int byte = 0; byte < kPackedCells; ++byte) {
        const int distance = side == 0 ? kPackedCells * past - byte : kPackedCells * (past - 1) + byte + 1;
        const int inwards = rule.inwards(std::min(distance, reach));  // those further on are not read
        cells[static_cast<std::size_t>(byte)] = side == 0 ? inwards : frame_.cells_x - 1 - inwards;
    }
    const int first = *std::ranges::min_element(cells) / kPackedCells;
    std::uint32_t numbers = 0;
    for (std::size_t byte = kPackedCells; byte-- > 0;)
        numbers = numbers << 4 | static_cast<std::uint32_t>(cells[byte] - first * kPackedCells);
    const int left = frame_.beside(queue, 0), last = frame_.values_x - 1;
    return kernel::call_helper(kernel::Helper::byte_perm,
                               {window(y, left + first), window(y, left + std::min(first + 1, last)),
                                kernel::int_literal(numbers, Type::u32)});
}

}  // namespace halo::lower
