// Several steps at once on pieces of the grid that stay in a cache (time_tiles.h), on devices that can.
//
// Whether a plan may run so is decided in can_tile_time() alone, from the plan: all that is not known to be
// safe there takes its steps one after the other.
#include <algorithm>
#include <iterator>
#include <set>

#include "runtime/core/plan_check.h"
#include "runtime/core/session_state.h"

namespace halo::rt {

namespace {

constexpr int kMostSteps = 16;

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
        case Argument::Kind::planes:
        case Argument::Kind::neighbour:
            return false;
        case Argument::Kind::scalar:
        case Argument::Kind::extent:
        case Argument::Kind::pitch:
        case Argument::Kind::slice:
        case Argument::Kind::partials:
        case Argument::Kind::coefs:
        case Argument::Kind::table:
        case Argument::Kind::rows:
            break;
    }
    return true;
}

// Its blocks are planes of the grid, or its rows.
bool counts_planes_or_rows(const KernelPlan& kernel, const Geometry& geometry) {
    const int slowest = geometry.rank - 1;
    for (int axis = 0; axis < slowest; ++axis) {
        const bool whole = kernel.tile[axis] >= geometry.extent[axis];
        if (!whole && (axis != 1 || kernel.tile[axis] != 1)) return false;
    }
    return kernel.tile[slowest] == 1;
}

}  // namespace

bool Session::State::can_tile_time() const {
    if (plan.rank < 2 || plan.kernels.empty() || options.time_tiles.steps == 1 || !device->cache_share())
        return false;
    // The past of an output moves on by copying, and what a reduction comes to is known after its step.
    const bool moves = std::any_of(plan.fields.begin(), plan.fields.end(), [](const FieldPlan& field) {
        return field.role != Role::state && field.history > 0;
    });
    if (moves || (changing && !plan.reductions.empty())) return false;
    return std::all_of(plan.kernels.begin(), plan.kernels.end(), [&](const KernelPlan& kernel) {
        if (kernel.domain.kind == Domain::Kind::rows) return true;  // of no step
        return !kernel.fills_halo && is_whole_grid(kernel.domain) &&
               counts_planes_or_rows(kernel, geometry) &&
               std::all_of(kernel.arguments.begin(), kernel.arguments.end(), is_known);
    });
}

std::array<bool, kMaxRank> Session::State::periodic_axes() const {
    std::array<bool, kMaxRank> periodic{};
    for (const FieldPlan& field : plan.fields)
        for (int axis = 0; axis < plan.rank; ++axis)
            for (int side = 0; side < 2; ++side)
                periodic[axis] = periodic[axis] || field.image(axis, side).wraps();
    return periodic;
}

Sweep Session::State::sweep_of(int kernel, PreparedLaunch& launch) const {
    const KernelPlan& kernel_plan = plan.kernels[kernel];
    const std::array<bool, kMaxRank> rings = periodic_axes();
    Sweep sweep;
    sweep.kernel = kernels[kernel];
    sweep.arguments = launch.pointers.data();
    sweep.rows = plan.rank == 2 || blocks[kernel][1] == geometry.extent[1];
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
                    use.reach[axis] =
                        std::max(use.reach[axis], image_distance(*field, axis, geometry.extent[axis],
                                                                 argument.use->reach[axis], rings[axis]));
        } else {
            continue;
        }
        sweep.uses.push_back(use);
    }
    for (const auto& refresh : launch.refresh)
        sweep.refresh.push_back(
            {&fields[refresh.field].images, plan.fields[refresh.field].type, refresh.array});
    return sweep;
}

// The sweeps of `count` steps, from the next one on. Where scalars change with the step, `own` keeps each
// step's launches.
std::vector<Sweep> Session::State::sweeps_of(std::int64_t count, std::vector<PreparedLaunch>& own) {
    std::vector<Sweep> sweeps;
    const std::vector<double> values = changing ? param_values() : std::vector<double>();
    if (changing) own.reserve(static_cast<std::size_t>(count) * plan.kernels.size());
    for (std::int64_t step = steps_done; step < steps_done + count; ++step) {
        for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
            const int kernel = static_cast<int>(k);
            if (plan.kernels[k].domain.kind == Domain::Kind::rows) continue;
            const std::int64_t in_cycle = modulo(step + phase_shift, cycle);
            PreparedLaunch* launch = &launches[static_cast<std::size_t>(in_cycle)][k];
            if (!launch->changing.empty()) {
                own.push_back(prepare_launch(plan.kernels[k], in_cycle, values));
                launch = &own.back();
                update(*launch, plan.kernels[k], step, values);
            }
            sweeps.push_back(sweep_of(kernel, *launch));
        }
    }
    return sweeps;
}

// The lags are those of any step to start from: only the slots differ that arrays have.
void Session::State::choose_time_tiles() {
    time_tiles.emplace();
    if (!can_tile_time()) return;
    const CacheShare cache = *device->cache_share();
    // Tiles of such a grid win nothing, and looking for them takes its time.
    if (options.time_tiles.steps == 0 && array_bytes() < cache.own_bytes * cache.threads) return;
    std::vector<PreparedLaunch> own;
    const int asked = options.time_tiles.steps;
    const int most = asked > 0 ? asked : kMostSteps;
    const std::vector<Sweep> sweeps = sweeps_of(most, own);
    std::optional<Lags> lags = find_lags(sweeps);
    if (!lags) return;
    TileNeeds needs;
    const std::size_t each = sweeps.size() / static_cast<std::size_t>(most);
    for (std::size_t last = each; last <= sweeps.size(); last += each) {
        // Kernels that share nothing need not lag behind each other.
        auto lag = needs.lags.empty() ? std::array<std::int64_t, kMaxRank>{} : needs.lags.back();
        for (std::size_t s = last - each; s < last; ++s)
            for (int axis = 0; axis < kMaxRank; ++axis)
                lag[axis] = std::max(lag[axis], (*lags)[s][axis]);
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
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const FieldPlan& field = plan.fields[i];
        if (field.component > 0) continue;
        for (const Level& level : fields[i].slots)
            if (arrays.count(first_cell(static_cast<int>(i), level)) > 0)
                needs.cell_bytes += size_of(field.type) * field.interleave;
    }
    time_tiles->shape = choose_shape(geometry, needs, cache, options.time_tiles);
    time_tiles->lags = std::move(*lags);
}

std::int64_t Session::State::step_time_tiles(std::int64_t count) {
    if (!time_tiles) choose_time_tiles();
    const std::int64_t steps = std::min<std::int64_t>(count, time_tiles->shape.steps);
    if (steps < 2) return 0;
    std::vector<PreparedLaunch> own;
    TimeTiles tiles;
    tiles.geometry = geometry;
    tiles.shape = time_tiles->shape;
    tiles.rings = periodic_axes();
    tiles.sweeps = sweeps_of(steps, own);
    tiles.lags.assign(time_tiles->lags.begin(),
                      time_tiles->lags.begin() + static_cast<std::ptrdiff_t>(tiles.sweeps.size()));
    device->run_time_tiles(tiles);
    return steps;
}

}  // namespace halo::rt
