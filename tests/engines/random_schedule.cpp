#include "random_schedule.h"

#include <algorithm>

#include "compiler/ir/analysis.h"
#include "compiler/schedule/footprint.h"
#include "compiler/schedule/legality.h"
#include "compiler/schedule/strategies.h"

namespace halo::test {
namespace {

using schedule::Schedule;
using schedule::Strategy;

Schedule draw(int rank, Strategy strategy, bool sums_tables, Random& random) {
    Schedule drawn;
    drawn.strategy = strategy;
    const std::vector<halo::rt::Lengths> threads =
        rank == 1   ? std::vector<halo::rt::Lengths>{{32, 1, 1}, {64, 1, 1}}
        : rank == 2 ? std::vector<halo::rt::Lengths>{{32, 1, 1}, {16, 4, 1}, {8, 4, 1}}
                    : std::vector<halo::rt::Lengths>{{32, 2, 1}, {16, 2, 1}, {8, 4, 2}, {4, 4, 4}};
    drawn.threads = random.pick(threads);
    drawn.cells[0] = random.pick(std::vector<int>{1, 1, 2, 4});
    for (int axis = 1; axis < std::min(rank, 3); ++axis)
        drawn.cells[axis] = random.between(1, 3);
    const auto draw_own = [&](schedule::Setting setting, const std::vector<int>& values) {
        if (schedule::own_setting(drawn, setting)) schedule::set_own(drawn, setting, random.pick(values));
    };
    if (schedule::kind_of(drawn).streams) {
        drawn.threads[rank - 1] = drawn.cells[rank - 1] = 1;
        while (drawn.threads[0] * drawn.threads[1] % 32 != 0)
            drawn.threads[0] *= 2;
    }
    draw_own(schedule::Setting::planes, {0, 1, 4, 7});
    draw_own(schedule::Setting::ahead, {0, 1, 2, 5});
    draw_own(schedule::Setting::unroll, {0, 1, 2, 3});
    if (sums_tables) {
        drawn.cells[1] = drawn.cells[2] = 1;
        draw_own(schedule::Setting::chunk, {0, 1, 16, 100});
    }
    draw_own(schedule::Setting::padding, {0, 1, 4});
    return drawn;
}

bool is_legal(const ir::Program& program, const ir::Stage& stage, const Schedule& schedule) {
    return schedule::is_legal(schedule::check(program, stage, schedule, schedule::Target{}));
}

// Most of the stages that can have launches with those beside them, in every second program.
// The draws after it stay what they are: `random` is a copy.
void share_launches(std::vector<Schedule>& schedules, Random random) {
    const int threads = random.pick(std::vector<int>{0, 0, 64, 256});
    for (Schedule& each : schedules)
        if (random.between(0, 3) > 0) schedule::set_own(each, schedule::Setting::fuse, threads);
}

}  // namespace

std::vector<Schedule> random_schedules(const ir::Program& program, Strategy strategy, Random& random) {
    std::vector<Schedule> schedules;
    for (const ir::Stage& stage : ir::form_stages(program)) {
        const schedule::Footprint footprint = schedule::footprint(program, stage);
        Schedule drawn = draw(program.rank(), footprint.in_place ? schedule::Direct{} : strategy,
                              footprint.table_sums > 0, random);
        if (footprint.in_place) drawn.cells = {1, 1, 1};
        if (footprint.swept_within) {  // a block a plane
            for (int axis = 0; axis < program.rank(); ++axis)
                if (!footprint.sweeps_along(axis)) drawn.threads[static_cast<std::size_t>(axis)] = 1;
            schedules.push_back(drawn);
            continue;
        }
        if (footprint.swept_axis) {  // a thread a line
            drawn.threads[static_cast<std::size_t>(*footprint.swept_axis)] = 1;
            // Lines of a warp, which pass through shared memory.
            if (*footprint.swept_axis == 0 && program.rank() > 1 && random.between(0, 1) == 0)
                drawn.threads = {1, 32, 1};
            schedules.push_back(drawn);
            continue;
        }
        if (footprint.interleaved && footprint.table_sums == 0) drawn.cells[0] = 1;
        if (!is_legal(program, stage, drawn)) {
            drawn.cells = {1, 1, 1};
            drawn.threads = {32, 1, 1};
            schedule::set_own(drawn, schedule::Setting::padding, 0);
            if (schedule::own_setting(drawn, schedule::Setting::ahead).value_or(0) > 1)
                schedule::set_own(drawn, schedule::Setting::ahead, 1);
        }
        if (!is_legal(program, stage, drawn)) return {};
        schedules.push_back(drawn);
    }
    share_launches(schedules, random);
    return schedules;
}

std::vector<schedule::Schedule> schedules_by_plane(const ir::Program& program) {
    schedule::Schedule by_plane;
    by_plane.threads = {32, 1, 1};
    return std::vector(ir::form_stages(program).size(), by_plane);
}

}  // namespace halo::test
