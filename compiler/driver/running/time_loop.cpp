#include "compiler/driver/running/time_loop.h"

#include <algorithm>
#include <cmath>

#include "compiler/driver/console/interrupt.h"
#include "compiler/driver/console/progress.h"
#include "compiler/driver/console/stopwatch.h"
#include "compiler/driver/ranks/agreement.h"

namespace halo::driver {

namespace {

// A piece takes about this long: short enough to answer Ctrl-C soon, and long enough that waiting for the
// device costs little.
constexpr double kPieceSeconds = 0.05;

// Steps of the next piece, from what the last one took. Grows by no more than 8 at a time, since the first
// pieces also pay for what is done once.
std::int64_t next_piece(std::int64_t steps, double seconds) {
    double wanted = static_cast<double>(steps) * kPieceSeconds / std::max(seconds, 1e-6);
    return static_cast<std::int64_t>(std::clamp(wanted, 1.0, 8.0 * static_cast<double>(steps)));
}

bool reductions_are_finite(Engine& engine, const RunRequest& request) {
    if (!request.watch) return true;
    return std::ranges::none_of(request.reductions, [&](const std::string& name) {
        return std::isnan(engine.reduction(name)) && std::ranges::count(request.chained, name) == 0;
    });
}

// Writes a checkpoint where one is due, unless states are no longer finite.
void write_checkpoint(Engine& engine, Checkpoints& checkpoints, Watch& watch, Progress& progress,
                      LoopResult& result, const Console& console) {
    if (result.stop != LoopResult::Stop::steps || !checkpoints.is_due(result.steps)) return;
    watch.check(result.steps);
    if (watch.trouble()) {
        result.stop = LoopResult::Stop::not_finite;
        return;
    }
    Stopwatch clock;
    progress.clear();
    checkpoints.write(engine, result.steps, console);
    result.output_seconds += clock.lap();
}

}  // namespace

LoopResult run_steps(Engine& engine, const RunRequest& request, std::int64_t before, Outputs& outputs,
                     Watch& watch, Checkpoints* checkpoints, Onlooker* onlooker, rt::Ranks& ranks,
                     const Console& console) {
    LoopResult result;
    result.steps = before;
    if (before > 0 && request.until && engine.holds(*request.until)) result.stop = LoopResult::Stop::until;
    Progress progress(console, request.name, cell_count(request.extent), request.steps, before);
    if (before == 0 && request.steps > 0) {
        Stopwatch clock;
        outputs.write(engine, 0, false);
        result.output_seconds += clock.lap();
    }
    std::int64_t piece = 1;
    const std::int64_t end = request.last_step();
    while (result.steps < end && result.stop == LoopResult::Stop::steps) {
        std::int64_t count = std::min(engine.whole_steps(piece), end - result.steps);
        if (std::optional<std::int64_t> due = outputs.steps_to_next(result.steps))
            count = std::min(count, *due);
        if (checkpoints != nullptr)
            count = std::min(count, checkpoints->steps_to_next(result.steps).value_or(count));
        if (onlooker != nullptr) {
            count = std::min(count, onlooker->look(engine, result.steps, result.seconds));
            if (count == 0) {
                result.stop = LoopResult::Stop::interrupted;
                break;
            }
        }

        Stopwatch clock;
        rt::RunResult done = engine.run_beside([&] { outputs.fetch(); }, count, request.until);
        double seconds = clock.lap();
        result.steps += done.steps;
        result.seconds += seconds;
        const Decision next =
            agree(ranks, {next_piece(count, seconds), watch.is_due(), InterruptGuard::requested()});
        piece = next.steps;

        if (done.stop == rt::RunResult::Stop::until) {
            result.stop = LoopResult::Stop::until;
        } else if (!reductions_are_finite(engine, request)) {
            result.stop = LoopResult::Stop::not_finite;
        } else if (next.stop) {
            result.stop = LoopResult::Stop::interrupted;
        }
        bool last = result.steps == end || result.stop != LoopResult::Stop::steps;
        if (last) break;
        if (next.check) watch.check(result.steps);
        if (watch.trouble()) {
            result.stop = LoopResult::Stop::not_finite;
            break;
        }
        progress.update(result.steps);
        clock.lap();
        outputs.write(engine, result.steps, false);
        result.output_seconds += clock.lap();
        if (outputs.trouble()) result.stop = LoopResult::Stop::not_finite;
        if (checkpoints != nullptr) write_checkpoint(engine, *checkpoints, watch, progress, result, console);
    }
    watch.check_last(result.steps);
    if (watch.trouble()) result.stop = LoopResult::Stop::not_finite;
    progress.clear();
    // Before the files: a process that is told to end may have little time left.
    if (checkpoints != nullptr && result.stop != LoopResult::Stop::not_finite)
        checkpoints->write(engine, result.steps, console);
    Stopwatch clock;
    outputs.write(engine, result.steps, true);
    result.output_seconds += clock.lap();
    return result;
}

}  // namespace halo::driver
