// The shapes of resident schedules that are considered.
#include <algorithm>
#include <set>
#include <tuple>

#include "compiler/schedule/resident.h"
#include "compiler/schedule/resident_model.h"

namespace halo::schedule {

namespace {

using Axes = rt::Lengths;

struct ShapeLister {
    int rank = 3;
    const Extent& extent;
    const ResidentPins& pins;
    std::vector<ResidentSchedule> list;
    std::set<std::tuple<Axes, Axes>> known;

    void add(const Axes& threads, const Axes& cells) {
        ResidentSchedule schedule{pins.threads.value_or(threads), pins.cells.value_or(cells), {}, {}, {}, 0};
        const int all = schedule.all_threads();
        if (!pins.threads && (all < resident_model::kFewestThreads || all > resident_model::kMostThreads))
            return;
        if (!known.emplace(schedule.threads, schedule.cells).second) return;
        list.push_back(fitted(schedule, extent));
    }

    void add_powers_of_two() {
        const std::vector<int> planes = rank == 3 ? std::vector{1, 2, 4, 8} : std::vector{1};
        for (const int x : {32, 16, 8, 64})
            for (const int y : {1, 2, 4, 8, 16, 32})
                for (const int z : planes)
                    for (const int of_x : {4, 2, 1})
                        for (const int of_y : {1, 2, 4, 8})
                            for (const int of_z : planes)
                                add({x, y, z}, {of_x, of_y, of_z});
    }

    // Lengths of tiles that divide an axis into at most so many equal ones, except for the last.
    std::vector<std::int64_t> tiles_along(int axis, std::int64_t most) const {
        std::vector<std::int64_t> tiles;
        const std::int64_t n = axis < rank ? extent[static_cast<std::size_t>(axis)] : 1;
        for (std::int64_t count = 1; count <= std::min(n, most); ++count) {
            const std::int64_t tile = (n + count - 1) / count;
            if (tiles.empty() || tiles.back() != tile) tiles.push_back(tile);
        }
        return tiles;
    }

    std::int64_t count(int axis, std::int64_t tile) const {
        return axis < rank ? (extent[static_cast<std::size_t>(axis)] + tile - 1) / tile : 1;
    }

    // Cells of a thread along an axis but the first, at most.
    int most_cells(int axis) const {
        return axis >= rank       ? 1
               : axis == rank - 1 ? resident_model::kMostCellsOfLastAxis
                                  : resident_model::kMostCellsOfAxis;
    }

    // Adds all shapes whose threads' cells cover such a tile with little waste.
    void add_tile(const std::array<std::int64_t, 3>& tile) {
        const std::int64_t all = tile[0] * tile[1] * tile[2];
        if (all > resident_model::kMostThreads * resident_model::kMostCells) return;
        const auto threads = [&](std::size_t axis, int cells) { return (tile[axis] + cells - 1) / cells; };
        for (const int x : {4, 2, 1}) {
            for (int y = 1; y <= most_cells(1); ++y) {
                const std::int64_t of_plane = threads(0, x) * threads(1, y);
                if (of_plane > resident_model::kMostThreads) continue;
                for (int z = 1; z <= most_cells(2); ++z) {
                    const std::int64_t of_block = of_plane * threads(2, z);
                    if (of_block < resident_model::kFewestThreads || of_block > resident_model::kMostThreads)
                        continue;
                    if (static_cast<double>(of_block * x * y * z) >
                        resident_model::kMostWaste * static_cast<double>(all))
                        continue;
                    add({static_cast<int>(threads(0, x)), static_cast<int>(threads(1, y)),
                         static_cast<int>(threads(2, z))},
                        {x, y, z});
                }
            }
        }
    }

    // Adds shapes of which nearly as many tiles as there are SMs cover the grid.
    void add_fitted(std::int64_t sms) {
        for (const std::int64_t x : tiles_along(0, sms)) {
            const std::int64_t left = sms / count(0, x);
            for (const std::int64_t y : tiles_along(1, left)) {
                for (const std::int64_t z : tiles_along(2, left / count(1, y))) {
                    const std::int64_t all = count(0, x) * count(1, y) * count(2, z);
                    if (static_cast<double>(all) >= resident_model::kLeastUsed * static_cast<double>(sms))
                        add_tile({x, y, z});
                }
            }
        }
    }
};

}  // namespace

ResidentSchedule fitted(ResidentSchedule schedule, const Extent& extent) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const std::int64_t tile = schedule.tile(static_cast<int>(axis));
        schedule.is_whole[axis] = extent[axis] % tile == 0;
        schedule.is_alone[axis] = extent[axis] <= tile;
    }
    schedule.row_rest = static_cast<int>(extent[0] % schedule.cells[0]);
    return schedule;
}

std::vector<ResidentSchedule> resident_schedules(int rank, const Extent& extent, const Target& target,
                                                 const ResidentPins& pins) {
    ShapeLister lister{rank, extent, pins, {}, {}};
    lister.add_powers_of_two();
    if (!pins.threads && !pins.cells) lister.add_fitted(target.sms);
    return std::move(lister.list);
}

}  // namespace halo::schedule
