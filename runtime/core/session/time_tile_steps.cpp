#include "runtime/core/session/time_tile_steps.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "runtime/core/plan_check.h"

namespace halo::rt::session {

namespace {

constexpr int kMostSteps = 16;
// Of a call for a few steps that is made longer for a tile: who waits for it may want to stop it.
constexpr double kSecondsOfCall = 1;

bool is_known(const Argument& argument) {
    switch (argument.kind) {
        case Argument::Kind::field:
            return argument.use.has_value();
        case Argument::Kind::points:
        case Argument::Kind::count:
        case Argument::Kind::step_partials:
        case Argument::Kind::exchange:
        case Argument::Kind::steps:
        case Argument::Kind::sent:
        case Argument::Kind::iterations:
        case Argument::Kind::partial_count:
        case Argument::Kind::device_scalars:
        case Argument::Kind::planes:
        case Argument::Kind::neighbour:
            return false;
        case Argument::Kind::scalar:
        case Argument::Kind::extent:
        case Argument::Kind::pitch:
        case Argument::Kind::slice:
        case Argument::Kind::volume:
        case Argument::Kind::partials:
        case Argument::Kind::coefs:
        case Argument::Kind::table:
        case Argument::Kind::rows:
            break;
    }
    return true;
}

// Whether the kernel's blocks are planes of the grid, or its rows.
bool counts_planes_or_rows(const KernelPlan& kernel, const Geometry& geometry) {
    const int slowest = geometry.rank - 1;
    for (int axis = 0; axis < slowest; ++axis) {
        const bool whole = kernel.tile[axis] >= geometry.extent[axis];
        if (!whole && (axis != 1 || kernel.tile[axis] != 1)) return false;
    }
    return kernel.tile[slowest] == 1;
}

}  // namespace

std::int64_t TimeTileSteps::whole_steps(std::int64_t steps) const {
    if (!chosen_ || chosen_->shape.steps < 2 || (trial_.is_over() && !trial_.wins())) return steps;
    const std::optional<double> single = trial_.seconds_of_single();
    if (!trial_.is_over() && !single) return std::max<std::int64_t>(steps, 2);
    std::int64_t tile = chosen_->shape.steps;
    if (single && *single * static_cast<double>(tile) > kSecondsOfCall)
        tile = std::max<std::int64_t>(2, static_cast<std::int64_t>(kSecondsOfCall / *single));
    const std::int64_t last = has_unread_steps(parts_.setup.plan) ? 1 : 0;  // it has results, and is single
    if (!trial_.is_over()) return std::max(steps, tile + TileTrial::kSingles + 1 + last);
    return (steps + tile - 1) / tile * tile + last;
}

// Whether a kernel runs in the steps of tiles, which are without results.
bool TimeTileSteps::is_in_steps(const KernelPlan& kernel) const {
    return kernel.runs(false) && kernel.within.contains(parts_.clock.steps_done) &&
           kernel.domain.kind != Domain::Kind::rows;
}

bool TimeTileSteps::can_run() const {
    const LaunchPlan& plan = parts_.setup.plan;
    const auto is_in = [this](const KernelPlan& kernel) { return is_in_steps(kernel); };
    if (plan.rank < 2 || plan.rank > 3 || !plan.repeats.empty() ||
        std::ranges::none_of(plan.kernels, is_in) || parts_.setup.options.time_tiles.steps == 1 ||
        !parts_.setup.device->cache_share())
        return false;
    // Refuses plans whose outputs have a past, which moves by copying, and plans with reductions that a step
    // reads, which are known only after their step.
    const bool moves = std::any_of(plan.fields.begin(), plan.fields.end(), [](const FieldPlan& field) {
        return field.role != Role::state && field.history > 0;
    });
    if (moves || has_coarse_grids(plan) || (parts_.launches.change_with_step() && !plan.reductions.empty()))
        return false;
    return std::all_of(plan.kernels.begin(), plan.kernels.end(), [&](const KernelPlan& kernel) {
        if (!is_in_steps(kernel)) return true;
        return !kernel.fills_halo && is_whole_grid(kernel.domain) &&
               counts_planes_or_rows(kernel, parts_.setup.geometry) &&
               std::all_of(kernel.arguments.begin(), kernel.arguments.end(), is_known);
    });
}

std::array<bool, kMaxRank> TimeTileSteps::periodic_axes() const {
    const LaunchPlan& plan = parts_.setup.plan;
    std::array<bool, kMaxRank> periodic{};
    for (const FieldPlan& field : plan.fields)
        for (int axis = 0; axis < plan.rank; ++axis)
            for (int side = 0; side < 2; ++side)
                periodic[axis] = periodic[axis] || field.image(axis, side).wraps();
    return periodic;
}

Sweep TimeTileSteps::sweep_of(int kernel, PreparedLaunch& launch) const {
    const LaunchPlan& plan = parts_.setup.plan;
    const Extent& extent = parts_.setup.geometry.extent;
    const KernelPlan& kernel_plan = plan.kernels[static_cast<std::size_t>(kernel)];
    const std::array<bool, kMaxRank> rings = periodic_axes();
    Sweep sweep;
    sweep.kernel = &parts_.kernels[kernel];
    sweep.arguments = launch.pointers.data();
    sweep.rows = plan.rank == 2 || parts_.kernels.blocks(kernel)[1] == extent[1];
    for (std::size_t i = 0; i < kernel_plan.arguments.size(); ++i) {
        const Argument& argument = kernel_plan.arguments[i];
        Sweep::Use use;
        use.array = launch.values[i].address;
        if (argument.kind == Argument::Kind::partials) {
            use.written = true;
        } else if (argument.kind == Argument::Kind::field) {
            use.read = argument.use->read;
            use.written = argument.use->written;
            const auto first = plan.fields.begin() + argument.field;
            for (int axis = 0; axis < plan.rank; ++axis)
                for (auto field = first; field != first + first->interleave; ++field)
                    use.reach[axis] = std::max(
                        use.reach[axis],
                        image_distance(*field, axis, extent[axis], argument.use->reach[axis], rings[axis]));
        } else {
            continue;
        }
        sweep.uses.push_back(use);
    }
    for (const auto& refresh : launch.refresh)
        sweep.refresh.push_back({&parts_.arrays.images(refresh.field),
                                 plan.fields[static_cast<std::size_t>(refresh.field)].type, refresh.array});
    return sweep;
}

// The sweeps of `count` steps, from the next one on. Where scalars change with the step, `own` keeps each
// step's launches.
std::vector<Sweep> TimeTileSteps::sweeps_of(std::int64_t count, std::vector<PreparedLaunch>& own) const {
    const std::vector<KernelPlan>& kernels = parts_.setup.plan.kernels;
    const Clock& clock = parts_.clock;
    const bool changing = parts_.launches.change_with_step();
    std::vector<Sweep> sweeps;
    const std::vector<double> params = changing ? parts_.params.values() : std::vector<double>();
    if (changing) own.reserve(static_cast<std::size_t>(count) * kernels.size());
    for (std::int64_t step = clock.steps_done; step < clock.steps_done + count; ++step) {
        const std::int64_t phase = step + clock.phase_shift;
        for (std::size_t k = 0; k < kernels.size(); ++k) {
            const int kernel = static_cast<int>(k);
            if (!is_in_steps(kernels[k])) continue;
            PreparedLaunch* launch = &parts_.launches.at(kernel, phase);
            if (!launch->changing.empty()) {
                own.push_back(parts_.launches.prepare(kernels[k], modulo(phase, clock.cycle), params));
                launch = &own.back();
                parts_.launches.update(*launch, kernels[k], step, params);
            }
            sweeps.push_back(sweep_of(kernel, *launch));
        }
    }
    return sweeps;
}

TileNeeds TimeTileSteps::needs_of(const std::vector<Sweep>& sweeps, const Lags& lags, int steps) const {
    const LaunchPlan& plan = parts_.setup.plan;
    TileNeeds needs;
    const std::size_t each = sweeps.size() / static_cast<std::size_t>(steps);
    for (std::size_t last = each; last <= sweeps.size(); last += each) {
        // Kernels that share nothing need not lag behind each other.
        auto lag = needs.lags.empty() ? std::array<std::int64_t, kMaxRank>{} : needs.lags.back();
        for (std::size_t s = last - each; s < last; ++s)
            for (int axis = 0; axis < kMaxRank; ++axis)
                lag[axis] = std::max(lag[axis], lags[s][axis]);
        needs.lags.push_back(lag);
    }
    needs.strips = plan.rank == 3;
    needs.rings = periodic_axes();
    std::set<const void*> arrays;
    for (const Sweep& sweep : sweeps) {
        needs.strips = needs.strips && sweep.rows;
        for (const Sweep::Use& use : sweep.uses) {
            arrays.insert(use.array);
            for (int axis = 0; axis < plan.rank; ++axis)
                needs.reach[axis] = std::max(needs.reach[axis], use.reach[axis]);
        }
    }
    for (std::size_t i = 0; i < plan.fields.size(); ++i) {
        const FieldPlan& field = plan.fields[i];
        const int index = static_cast<int>(i);
        if (field.component > 0 || !field.grid.is_whole()) continue;
        for (const Level& level : parts_.arrays.slots(index))
            if (arrays.count(parts_.arrays.first_cell(index, level)) > 0)
                needs.cell_bytes += size_of(field.type) * field.interleave;
    }
    return needs;
}

// Chooses the shape once: the lags are those of any step to start from, as only the slots of arrays differ.
void TimeTileSteps::choose() {
    chosen_.emplace();
    same_kernels_ = steps_of_same_kernels(parts_.setup.plan, parts_.clock.steps_done);
    if (!can_run()) return;
    const TimeTileOptions& options = parts_.setup.options.time_tiles;
    const CacheShare cache = *parts_.setup.device->cache_share();
    // A grid that fits the caches gains nothing from tiles, and the search for them takes time.
    if (options.steps == 0 && parts_.arrays.bytes() < cache.own_bytes * cache.threads) return;
    std::vector<PreparedLaunch> own;
    const int most = options.steps > 0 ? options.steps : kMostSteps;
    const std::vector<Sweep> sweeps = sweeps_of(most, own);
    std::optional<Lags> lags = find_lags(sweeps);
    if (!lags) return;
    chosen_->shape = choose_shape(parts_.setup.geometry, needs_of(sweeps, *lags, most), cache, options);
    chosen_->lags = std::move(*lags);
    if (options.steps == 0 && chosen_->shape.steps > 1) trial_.start(chosen_->shape.steps);
}

// The single step before this one of `count` that are left of a call, if it is one that is timed.
void TimeTileSteps::end_single(std::int64_t count) {
    const std::optional<Single> single = std::exchange(single_, std::nullopt);
    if (!single || single->count != count + 1) return;  // in another call: more was done since
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - single->begin;
    trial_.add_single(seconds.count());
}

std::int64_t TimeTileSteps::step(std::int64_t count, bool with_results) {
    if (!same_kernels_.contains(parts_.clock.steps_done)) {
        chosen_.reset();
        trial_ = TileTrial();
        single_.reset();
    }
    if (!chosen_) choose();
    const bool leaves_last = with_results && has_unread_steps(parts_.setup.plan);
    const std::int64_t most =
        trial_.is_over() ? chosen_->shape.steps : trial_.steps_of_tile(chosen_->shape.steps);
    const std::int64_t steps = std::min<std::int64_t>(count - (leaves_last ? 1 : 0), most);
    if (!trial_.is_over()) {
        end_single(count);
        if (steps < 2 || trial_.wants_singles()) {
            single_ = {count, std::chrono::steady_clock::now()};
            return 0;
        }
    } else if (steps < 2 || !trial_.wins()) {
        return 0;
    }
    std::vector<PreparedLaunch> own;
    TimeTiles tiles;
    tiles.geometry = parts_.setup.geometry;
    tiles.shape = chosen_->shape;
    tiles.rings = periodic_axes();
    tiles.sweeps = sweeps_of(steps, own);
    tiles.lags.assign(chosen_->lags.begin(),
                      chosen_->lags.begin() + static_cast<std::ptrdiff_t>(tiles.sweeps.size()));
    const auto begin = std::chrono::steady_clock::now();
    parts_.setup.device->run_time_tiles(tiles);
    if (!trial_.is_over())
        trial_.add_tile(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
                        steps);
    parts_.clock.advance(steps, steps);
    return steps;
}

}  // namespace halo::rt::session
