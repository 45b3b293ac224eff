#include "compiler/schedule/pipeline.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "compiler/ir/in_place.h"
#include "compiler/ir/shown_cells.h"
#include "compiler/schedule/invariant.h"
#include "compiler/schedule/packed_stages.h"

namespace halo::schedule {

namespace {

using Reads = std::map<ir::Level, std::set<ir::Offset>>;

// What the statements of a stage read of other stages' levels, or of memory.
Reads reads_of(const ir::Program& program, const ir::Stage& stage) {
    Reads reads;
    std::vector<ir::ExprId> roots;
    std::set<ir::Level> written;
    for (const int index : stage.statements) {
        for (const ir::ExprId root : ir::roots_of(program.statements[index]))
            roots.push_back(root);
        const auto* assign = std::get_if<ir::Assign>(&program.statements[index]);
        if (assign == nullptr) continue;
        written.insert({assign->target, assign->time});
        if (ir::is_partial(*assign) && assign->time == 1) reads[{assign->target, 0}].insert(ir::Offset{});
    }
    const std::vector<bool> reached = ir::reachable_exprs(program, roots);
    for (std::size_t e = 0; e < program.exprs.size(); ++e) {
        const auto* access = std::get_if<ir::Access>(&program.exprs[e].node);
        if (!reached[e] || access == nullptr) continue;
        if (!program[access->field].grid.is_whole())
            continue;  // they stay in caches: each stage reads memory
        if (!written.contains({access->field, access->time}))
            reads[{access->field, access->time}].insert(access->offset);
    }
    return reads;
}

class Builder {
public:
    Builder(const ir::Program& program, int steps) : program_(program) {
        pipeline_.rank = program.rank();
        pipeline_.steps = steps;
    }

    std::variant<Pipeline, std::string> build() {
        if (std::string why = pipeline_refusal(program_); !why.empty()) return why;
        list_stages();
        if (pipeline_.stages.empty()) return std::string("the program has no state");
        if (!find_windows())
            return std::string("the neighbours of a state are read at two of its levels at once");
        place_stages();
        size_queues();
        order_steps();
        find_invariants();
        find_halo();
        if (const auto [first, last] = pipeline_.arrival(); last < first)
            return std::string("a step reads nothing of the one before");
        return std::move(pipeline_);
    }

private:
    // ---- stages
    // ------------------------------------------------------------------------------------------------------

    void list_stages() {
        std::set<std::uint32_t> fields;
        const std::vector<ir::Stage> stages = ir::form_stages(program_);
        for (const ir::Stage& stage : stages) {
            Pipeline::Stage entry;
            entry.stage = stage;
            for (const auto& [level, offsets] : reads_of(program_, stage)) {
                entry.uses.push_back({level.field, level.time, {offsets.begin(), offsets.end()}, 0});
                fields.insert(level.field.index);
            }
            for (const int index : stage.statements) {
                const auto* assign = std::get_if<ir::Assign>(&program_.statements[index]);
                if (assign == nullptr) continue;
                writers_[assign->target.index] = static_cast<int>(pipeline_.stages.size());
                fields.insert(assign->target.index);
            }
            pipeline_.stages.push_back(std::move(entry));
        }
        pack(stages);
        const std::vector<bool> stored = ir::stored_fields(program_, stages);
        for (const std::uint32_t field : fields) {
            if (!stored[field]) continue;
            Pipeline::Queue queue;
            queue.field = ir::FieldId{field};
            queue.role = program_.fields[field].role;
            if (const auto writer = writers_.find(field); writer != writers_.end())
                queue.writer = writer->second;
            // A state that no statement writes stays as it is.
            if (queue.writer < 0) queue.role = ir::Role::input;
            places_[field] = pipeline_.queues.size();
            pipeline_.queues.push_back(queue);
        }
        for (const Pipeline::Stage& stage : pipeline_.stages) {
            for (const Pipeline::Use& use : stage.uses) {
                Pipeline::Queue& queue = queue_of(use.field);
                if (queue.role == ir::Role::intermediate) continue;
                if (use.time > 0) queue.is_read_next = true;
                if (use.time <= 0) queue.arriving = std::max(queue.arriving, 1 - use.time);
            }
        }
    }

    void pack(const std::vector<ir::Stage>& stages) {
        const bool is_packed = std::ranges::any_of(program_.statements, [&](const ir::Statement& statement) {
            const auto* assign = std::get_if<ir::Assign>(&statement);
            return assign != nullptr && program_[assign->target].role == ir::Role::state &&
                   is_of_bytes(program_[assign->target]);
        });
        if (!is_packed) return;
        auto work = packed_stages(program_, stages);  // as it is not refused
        pipeline_.cells_of_word = lower::kPackedCells;
        for (std::size_t j = 0; j < pipeline_.stages.size(); ++j)
            pipeline_.stages[j].packed = std::move((*work)[j]);
    }

    Pipeline::Queue& queue_of(ir::FieldId field) { return pipeline_.queues[places_.at(field.index)]; }

    bool find_windows() {
        const int streaming_axis = pipeline_.streaming_axis();
        for (const Pipeline::Stage& stage : pipeline_.stages) {
            for (const Pipeline::Use& use : stage.uses) {
                Pipeline::Queue& queue = queue_of(use.field);
                for (const ir::Offset& offset : use.offsets) {
                    if (!is_within_plane(offset, streaming_axis)) continue;
                    if (queue.has_window && queue.window_time != use.time) return false;
                    queue.has_window = true;
                    queue.window_time = use.time;
                    for (int axis = 0; axis < streaming_axis; ++axis) {
                        queue.reach[axis][0] = std::max(queue.reach[axis][0], -offset[axis]);
                        queue.reach[axis][1] = std::max(queue.reach[axis][1], offset[axis]);
                    }
                    queue.has_corners = queue.has_corners || (streaming_axis == 2 && offset[0] && offset[1]);
                }
            }
        }
        return true;
    }

    // ---- places in time
    // ----------------------------------------------------------------------------------------------

    rt::ImageMap shown_along(ir::FieldId field, int side) const {
        return ir::shown_cells(program_, program_[field], pipeline_.streaming_axis(), side).map;
    }

    // At a face of the streaming axis, halo images are of planes on the other side of the cell.
    bool reflects(ir::FieldId field) const {
        return std::ranges::any_of(std::array{0, 1}, [&](int side) {
            const rt::ImageMap map = shown_along(field, side);
            return map.reflects() || map.repeats_edge();
        });
    }

    struct Span {  // planes that a use reads, low <= 0 <= high
        int low = 0, high = 0;
        void add(int plane) {
            low = std::min(low, plane);
            high = std::max(high, plane);
        }
        void reflect() {
            const int most = std::max(-low, high);
            low = -most;
            high = most;
        }
    };

    Span own_span(const Pipeline::Use& use) const {
        Span span;
        for (const ir::Offset& offset : use.offsets)
            span.add(offset[pipeline_.streaming_axis()]);
        if (reflects(use.field)) span.reflect();
        return span;
    }

    // Planes whose neighbours within the plane are read, with the stage's own plane; empty where there are
    // none. The own plane is included as halo images along the streaming axis come from windows of it.
    std::optional<Span> window_span(const Pipeline::Use& use) const {
        std::optional<Span> span;
        for (const ir::Offset& offset : use.offsets) {
            if (!is_within_plane(offset, pipeline_.streaming_axis())) continue;
            if (!span) span.emplace();
            span->add(offset[pipeline_.streaming_axis()]);
        }
        if (span && (span->low != 0 || span->high != 0) && reflects(use.field)) {
            // Halo images are of whole planes, also of those that are read along the streaming axis alone.
            const Span own = own_span(use);
            span->add(own.low);
            span->add(own.high);
            span->reflect();
        }
        return span;
    }

    // Rows of other threads come through shared memory, which takes until the next iteration.
    static int iterations_to_exchange(const Pipeline::Queue& queue) { return queue.lines() > 0 ? 1 : 0; }

    // Iterations by which a stage has to follow a level's newest plane.
    int distance_needed(const Pipeline::Use& use) {
        int needed = own_span(use).high;
        if (const std::optional<Span> window = window_span(use))
            needed = std::max(needed, window->high + iterations_to_exchange(queue_of(use.field)));
        return needed;
    }

    void place_stages() {
        std::vector<Pipeline::Stage>& stages = pipeline_.stages;
        for (std::size_t j = 0; j < stages.size(); ++j) {
            for (const Pipeline::Use& use : stages[j].uses) {
                const Pipeline::Queue& queue = queue_of(use.field);
                const bool same_step = queue.role == ir::Role::intermediate || use.time == 1;
                if (queue.role == ir::Role::input || !same_step) continue;
                stages[j].lag = std::max(stages[j].lag, stages[queue.writer].lag + distance_needed(use));
            }
        }
        pipeline_.period = 1;
        for (const Pipeline::Stage& stage : stages) {
            for (const Pipeline::Use& use : stage.uses) {
                const Pipeline::Queue& queue = queue_of(use.field);
                if (queue.role != ir::Role::state || use.time == 1) continue;
                const int wanted = stages[queue.writer].lag + distance_needed(use) - stage.lag;
                const int periods = 1 - use.time;
                pipeline_.period = std::max(pipeline_.period, (wanted + periods - 1) / periods);
            }
        }
        for (Pipeline::Stage& stage : stages) {
            for (Pipeline::Use& use : stage.uses) {
                const Pipeline::Queue& queue = queue_of(use.field);
                use.distance = stage.lag;
                if (queue.role == ir::Role::input) continue;
                use.distance -= stages[queue.writer].lag;
                if (queue.role == ir::Role::state) use.distance += (1 - use.time) * pipeline_.period;
            }
        }
    }

    void size_queues() {
        for (Pipeline::Queue& queue : pipeline_.queues) {
            if (queue.role == ir::Role::input) continue;
            int oldest = 0, oldest_elsewhere = 0, window_first = -1, window_last = -1;
            for (const Pipeline::Stage& stage : pipeline_.stages) {
                for (const Pipeline::Use& use : stage.uses) {
                    if (use.field != queue.field) continue;
                    const int own_oldest = use.distance - own_span(use).low;
                    oldest = std::max(oldest, own_oldest);
                    if (use.time != queue.window_time)
                        oldest_elsewhere = std::max(oldest_elsewhere, own_oldest);
                    const std::optional<Span> window = window_span(use);
                    if (!window) continue;
                    const int first = use.distance - window->high, last = use.distance - window->low;
                    window_first = window_first < 0 ? first : std::min(window_first, first);
                    window_last = std::max(window_last, last);
                }
            }
            queue.slots = oldest + 1;
            if (!queue.has_window) continue;
            queue.window_distance = window_first;
            queue.windows = window_last - window_first + 1;
            if (!queue.keeps_windows()) continue;
            if (carry_row_sums(queue, oldest_elsewhere)) continue;
            if (fold(queue)) {
                queue.slots = std::max(queue.window_distance, oldest_elsewhere) + 1;
                continue;
            }
            // Older planes of that time are read from the windows, too.
            queue.windows = std::max(oldest, window_last) - window_first + 1;
            queue.slots = std::max(window_first, oldest_elsewhere) + 1;
        }
    }

    void order_steps() {
        if (pipeline_.stages.size() != 1) return;
        std::vector<Pipeline::Use>& uses = pipeline_.stages.front().uses;
        const auto is_input = [&](const Pipeline::Use& use) {
            return queue_of(use.field).role == ir::Role::input;
        };
        pipeline_.later_first = std::ranges::all_of(uses, [&](const Pipeline::Use& use) {
            const Pipeline::Queue& queue = queue_of(use.field);
            const bool holds_one = queue.slots == 2 && !queue.keeps_windows();
            return is_input(use) || (holds_one && use.distance - own_span(use).high >= 1);
        });
        if (!pipeline_.later_first) return;
        for (Pipeline::Use& use : uses)
            if (!is_input(use)) --use.distance;
        for (Pipeline::Queue& queue : pipeline_.queues) {
            if (queue.role == ir::Role::input) continue;
            --queue.slots;
            --queue.window_distance;
        }
    }

    // Keeps the sums of rows in place of windows, where a single stage reads neighbours and does so in sums
    // alone. A plane's sums are found when it is the newest.
    bool carry_row_sums(Pipeline::Queue& queue, int oldest_elsewhere) const {
        const auto [reader, read] = only_reader(queue);
        if (!pipeline_.is_packed() || reader == nullptr || mirrors(queue.field)) return false;
        const ir::Level level{queue.field, queue.window_time};
        int oldest = read->distance;
        for (const lower::PackedWork::Read& each : reader->packed->reads) {
            if (each.level != level) continue;
            if (is_within_plane(each.offset, pipeline_.streaming_axis())) return false;
            oldest = std::max(oldest, read->distance - each.offset[pipeline_.streaming_axis()]);
        }
        const int newest = own_span(*read).high;
        std::vector<lower::RowSum> sums;
        for (const lower::RowSum& sum : reader->packed->row_sums) {
            if (sum.level != level) continue;
            if (sum.high != newest) return false;
            sums.push_back(sum);
        }
        if (sums.empty()) return false;
        queue.row_sums = std::move(sums);
        queue.windows = 1;
        queue.window_distance = read->distance - newest;
        queue.slots = std::max({queue.window_distance, oldest, oldest_elsewhere}) + 1;
        return true;
    }

    bool mirrors(ir::FieldId field) const {
        return std::ranges::any_of(std::array{0, 1},
                                   [&](int side) { return shown_along(field, side).reflects(); });
    }

    struct Reader {
        const Pipeline::Stage* stage = nullptr;
        const Pipeline::Use* use = nullptr;
    };
    // Of the level whose neighbours are read; nothing where several stages read it.
    Reader only_reader(const Pipeline::Queue& queue) const {
        Reader reader;
        for (const Pipeline::Stage& stage : pipeline_.stages) {
            for (const Pipeline::Use& use : stage.uses) {
                if (use.field != queue.field || use.time != queue.window_time) continue;
                if (reader.stage != nullptr) return {};
                reader = {&stage, &use};
            }
        }
        return reader;
    }

    // Folds instead of keeping windows, where that takes fewer registers.
    bool fold(Pipeline::Queue& queue) const {
        constexpr int kValuesOfWindow = 2;  // for each cell: a window has neighbours' cells besides
        const auto [reader, read] = only_reader(queue);
        if (pipeline_.is_packed() || reader == nullptr) return false;
        // An iteration adds to the sums of a single level.
        for (const Pipeline::Queue& other : pipeline_.queues)
            for (const Pipeline::Use& use : reader->uses)
                if (other.fold && use.field == other.field && use.time == other.window_time) return false;
        queue.fold = form_fold(program_, reader->stage, queue.field, queue.window_time);
        if (queue.fold && queue.fold->values() > kValuesOfWindow * (queue.windows - 1)) queue.fold.reset();
        // The neighbours of the newest plane are there with it, except for those of other threads, which come
        // an iteration later.
        if (queue.fold && read->distance - queue.fold->high < iterations_to_exchange(queue))
            queue.fold.reset();
        if (!queue.fold) return false;
        queue.windows = 1;
        queue.window_distance = read->distance - queue.fold->high;
        return true;
    }

    // A single use computes the value where it needs it.
    void find_invariants() {
        std::vector<ir::ExprId> roots;
        for (const Pipeline::Stage& stage : pipeline_.stages)
            for (const int index : stage.stage.statements)
                for (const ir::ExprId root :
                     ir::roots_of(program_.statements[static_cast<std::size_t>(index)]))
                    roots.push_back(root);
        for (Pipeline::Queue& queue : pipeline_.queues) {
            const auto uses = std::ranges::count_if(pipeline_.stages, [&](const Pipeline::Stage& stage) {
                return std::ranges::any_of(
                    stage.uses, [&](const Pipeline::Use& use) { return use.field == queue.field; });
            });
            // What a face shows of an input would be made of a negative.
            const bool has_negatives = ir::has_formula(program_[queue.field]);
            if (queue.role == ir::Role::input && queue.writer < 0 && !has_negatives &&
                !pipeline_.is_packed() && uses * pipeline_.steps > 1)
                queue.invariant = step_invariant(program_, roots, queue.field);
        }
    }

    // ---- the ghost zone of a tile
    // ---------------------------------------------------------------------------------

    using Halo = std::array<std::array<int, 2>, ir::kMaxRank>;

    static void widen(Halo& halo, const Halo& by, const ir::Offset& offset) {
        for (int axis = 0; axis < ir::kMaxRank; ++axis) {
            halo[axis][0] = std::max(halo[axis][0], by[axis][0] - std::min(0, offset[axis]));
            halo[axis][1] = std::max(halo[axis][1], by[axis][1] + std::max(0, offset[axis]));
        }
    }

    // A mirror at the high face of the streaming axis has images of planes before it, so a traversal that
    // begins near that face has to compute them, too. Images at the low face are of planes that come later in
    // any traversal.
    bool mirrors_far_face(ir::FieldId field) const { return shown_along(field, 1).reflects(); }

    ir::Offset seen_in_mirror(ir::Offset offset) const {
        int& plane = offset[pipeline_.streaming_axis()];
        plane = -std::abs(plane);
        return offset;
    }

    // Finds, backwards through all steps, the cells around the output in which each level has to be right.
    void find_halo() {
        std::map<std::pair<std::uint32_t, int>, Halo> needed;  // by field and level; lets by step
        std::vector<std::vector<const Pipeline::Queue*>> written(pipeline_.stages.size());
        for (const Pipeline::Queue& queue : pipeline_.queues)
            if (queue.writer >= 0) written[static_cast<std::size_t>(queue.writer)].push_back(&queue);
        for (int step = pipeline_.steps - 1; step >= 0; --step) {
            for (std::size_t j = pipeline_.stages.size(); j-- > 0;) {
                const Pipeline::Stage& stage = pipeline_.stages[j];
                Halo own{};
                for (const Pipeline::Queue* queue : written[j]) {
                    const int level = queue->role == ir::Role::state ? step + 1 : step;
                    widen(own, needed[{queue->field.index, level}], ir::Offset{});
                }
                for (const Pipeline::Use& use : stage.uses) {
                    const Pipeline::Queue& queue = queue_of(use.field);
                    const int level = queue.role == ir::Role::state ? step + use.time : step;
                    for (const ir::Offset& offset : use.offsets) {
                        Halo& of_level = needed[{use.field.index, level}];
                        widen(of_level, own, offset);
                        if (mirrors_far_face(use.field)) widen(of_level, own, seen_in_mirror(offset));
                    }
                }
            }
        }
        for (const auto& [level, halo] : needed)
            widen(pipeline_.halo, halo, ir::Offset{});
    }

    const ir::Program& program_;
    Pipeline pipeline_;
    std::map<std::uint32_t, int> writers_;         // stages, by field
    std::map<std::uint32_t, std::size_t> places_;  // in the pipeline's queues, by field
};

}  // namespace

std::variant<Pipeline, std::string> form_pipeline(const ir::Program& program, int steps) {
    return Builder(program, steps).build();
}

}  // namespace halo::schedule
