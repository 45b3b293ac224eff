#include "compiler/bench/scaling_measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/bench/lab.h"
#include "compiler/bench/random_data.h"
#include "compiler/bench/scaling_link.h"
#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/console/progress.h"
#include "compiler/support/error.h"
#include "runtime/core/error.h"

namespace halo::bench {

namespace {

using rt::ExchangeScheme;

// Odd, and more than two of any interval: ghosts are exchanged, and some steps are done singly.
constexpr int kStepsCompared = 69;
// Cells; a larger grid is checked on fewer planes, until there are so many at most: data go over the host.
constexpr double kMostChecked = 2.2e9, kCheckedOfMore = 1.1e9;
// Of Cahn and Hilliard's equation on a larger grid, halos between the narrowest and the widest are not
// checked.
constexpr double kMostOfAllWidths = 1e8;
// Of each repeated run. Where the device computes for most of a step, its clock needs time to become steady.
constexpr double kSecondsOfRun = 0.02, kLongRunSeconds = 0.1, kLongStep = 50e-6;
constexpr int kRunRepeats = 5;
constexpr std::uint64_t kSeed = 7;

std::string grid_of(const Extent& extent) {
    Case named;
    named.extent = extent;
    return named.grid();
}

// A smaller grid for checking, that is cut along the same axes.
Extent checked_extent(Extent extent, int rank) {
    const auto cells = [&] { return static_cast<double>(driver::cell_count(extent)); };
    if (cells() <= kMostChecked) return extent;
    while (cells() > kCheckedOfMore)
        extent[static_cast<std::size_t>(rank - 1)] /= 2;
    return extent;
}

std::vector<driver::MeasuredTime> measured_times(const std::vector<ScalingRun>& of_one) {
    std::vector<driver::MeasuredTime> times;
    for (const ScalingRun& run : of_one)
        if (run.devices == 1 && run.seconds > 0) times.push_back({run.cells(), run.seconds / run.cells()});
    std::ranges::sort(times, {}, &driver::MeasuredTime::cells);
    return times;
}

// Fills in seconds and spread.
void time_run(driver::Engine& engine, ScalingRun& run) {
    constexpr std::int64_t kFew = 4;
    const std::int64_t unit = (kFew + run.interval - 1) / run.interval * run.interval;
    engine.run(unit, std::nullopt);
    driver::Stopwatch watch;
    engine.run(unit, std::nullopt);
    const double each = watch.lap() / static_cast<double>(unit);
    const auto wanted =
        static_cast<std::int64_t>(std::ceil((each < kLongStep ? kSecondsOfRun : kLongRunSeconds) / each));
    const std::int64_t steps = std::max(wanted / unit, std::int64_t{1}) * unit;
    engine.run(steps, std::nullopt);
    std::vector<double> times;
    for (int repeat = 0; repeat < kRunRepeats; ++repeat) {
        watch.lap();
        engine.run(steps, std::nullopt);
        times.push_back(watch.lap());
    }
    const auto [least, most] = std::ranges::minmax_element(times);
    run.seconds = median(times) / static_cast<double>(steps);
    run.spread = (*most - *least) / median(times);
}

}  // namespace

ScalingSizes scaling_sizes(bool is_gpu, bool quick) {
    if (!is_gpu) return {48, {32, 48, 60, 64}, {2, 4, 8, 16}};
    if (quick) return {512, {1024, 1536, 2048, 3000, 4096}, {2, 4, 8, 16}};
    return {1024, {1024, 1536, 2048, 3000, 4096, 6000, 8192, 12000, 16384}, {2, 4, 8, 16}};
}

ScalingBenchmark::ScalingBenchmark(ScalingLab& lab, ScalingResults& results, ScalingSizes sizes,
                                   Report report)
    : lab_(lab),
      results_(results),
      sizes_(std::move(sizes)),
      report_(std::move(report)),
      star_(scaling_program("bench/star3d1")) {
    // A kernel does all steps to the next exchange at once: the other schemes want it so, and all lengths and
    // schemes have the same.
    const ScalingProgram program = scaling_program("cahn_hilliard");
    const std::int64_t length = sizes_.lengths.back();
    std::erase_if(sizes_.widths, [&](std::int64_t width) {
        const auto steps = static_cast<int>(width / program.reach);
        try {
            cahn_hilliard_[width] = lab_.with_steps(program, steps, {length, length, 1});
            return false;
        } catch (const UnsupportedError& refused) {
            results_.missing.push_back(
                fmt::format("Cahn-Hilliard with halos of {}: {}", width, refused.what()));
            return true;
        }
    });
}

bool ScalingBenchmark::is_spent() {
    spent_ += watch_.lap();
    return spent_ >= results_.budget;
}

const driver::FieldValues& ScalingBenchmark::values(const ScalingProgram& program, const Extent& extent) {
    if (given_.spec == program.spec && given_.extent == extent) return given_.values;
    given_ = {program.spec, extent, {}, true};
    const std::int64_t cells = driver::cell_count(extent);
    given_.values = driver::FieldValues::zeros(rt::ElementType::f32, cells);
    fill_random(given_.values.elements.data(), cells, "f32", kSeed);
    return given_.values;
}

// The values that one device computes from them; null where the grid does not fit there.
const driver::FieldValues* ScalingBenchmark::expected(const RunRequest& wanted, const Extent& extent) {
    if (expected_.spec != wanted.program->spec || expected_.extent != extent) {
        expected_ = {wanted.program->spec, extent, {}, false};
        try {
            const LoadedPieces one =
                lab_.load(*wanted.program, extent, 1, kStepsCompared, ExchangeScheme::synchronous);
            one.engine->upload(wanted.program->field, 0, values(*wanted.program, extent));
            one.engine->run(kStepsCompared, std::nullopt);
            expected_.values = one.engine->download(wanted.program->field);
            expected_.is_valid = true;
        } catch (const rt::Error& error) {
            if (error.code() != rt::ErrorCode::out_of_memory) throw;
        }
    }
    return expected_.is_valid ? &expected_.values : nullptr;
}

std::string ScalingBenchmark::check(const RunRequest& wanted, driver::Engine& engine, const Extent& extent) {
    engine.upload(wanted.program->field, 0, values(*wanted.program, extent));
    engine.run(kStepsCompared, std::nullopt);
    const driver::FieldValues got = engine.download(wanted.program->field);
    const driver::FieldValues& one = *expected(wanted, extent);
    const std::int64_t at = first_difference(got.elements.data(), one.elements.data(), got.bytes());
    if (at < 0) return "";
    return fmt::format("after {} steps of {} cells, {} differs from one device's at cell {}", kStepsCompared,
                       grid_of(extent), wanted.program->field, at / rt::size_of(got.type));
}

driver::PiecesPlan ScalingBenchmark::plan(const RunRequest& wanted,
                                          const std::vector<ScalingRun>& of_one) const {
    driver::PiecesRequest request;
    request.count = wanted.devices;
    request.interval = wanted.interval;
    request.on_gpu = lab_.is_gpu();
    request.scheme = wanted.scheme;
    request.measured = measured_times(of_one);
    // Without a measured rate the plan follows from the built-in figures.
    if (!of_one.empty()) request.network = link_of(results_.link, wanted.devices, lab_.is_gpu());
    const driver::PiecesPlan plan = lab_.plan(*wanted.program, wanted.extent, request);
    if (wanted.devices > 1 && plan.scheme != wanted.scheme)
        throw UnsupportedError(fmt::format("the exchange there is {}", driver::scheme_word(plan.scheme)));
    return plan;
}

// Checks the grid, and times it.
void ScalingBenchmark::run(const RunRequest& wanted, ScalingRun& run) {
    const Extent checked = checked_extent(wanted.extent, wanted.program->program.rank());
    const auto load = [&](const Extent& extent) {
        return lab_.load(*wanted.program, extent, wanted.devices, wanted.interval, wanted.scheme,
                         wanted.first);
    };
    // One device is the reference of the others, so it is not checked itself.
    const bool is_checked = wanted.devices > 1 && wanted.is_checked && expected(wanted, checked) != nullptr;
    if (is_checked && checked != wanted.extent) run.wrong = check(wanted, *load(checked).engine, checked);
    const LoadedPieces loaded = load(wanted.extent);
    run.pieces = loaded.words;
    if (is_checked && checked == wanted.extent)
        run.wrong = check(wanted, *loaded.engine, checked);
    else
        loaded.engine->upload(wanted.program->field, 0, values(*wanted.program, wanted.extent));
    if (is_checked) run.checked = grid_of(checked);
    if (run.wrong.empty()) time_run(*loaded.engine, run);
}

bool ScalingBenchmark::measure(const RunRequest& wanted, const std::vector<ScalingRun>& of_one,
                               ScalingRun& result) {
    result.devices = wanted.devices;
    result.first = wanted.first;
    result.extent = wanted.extent;
    result.scheme = wanted.scheme;
    result.interval = wanted.interval.value_or(1);
    result.width = result.interval * wanted.program->reach;
    std::string why;
    try {
        if (wanted.devices > 1) {
            const double seconds = plan(wanted, of_one).seconds();
            if (!of_one.empty()) result.predicted = seconds;
        }
        run(wanted, result);
        return true;
    } catch (const UnsupportedError& refused) {
        why = refused.what();
    } catch (const driver::CommandError& refused) {  // an exchange that cannot be
        why = refused.what();
    } catch (const rt::Error& error) {
        const bool is_refused =
            error.code() == rt::ErrorCode::out_of_memory || error.code() == rt::ErrorCode::bad_argument;
        if (!is_refused) throw;
        why = error.what();
    }
    results_.missing.push_back(wanted.name + ": " + why);
    return false;
}

// Within the devices that are there by what was measured; past them between nodes by what is assumed.
driver::Network ScalingBenchmark::network(int devices) const {
    const driver::Link within = link_of(results_.link, std::min(devices, lab_.devices()), lab_.is_gpu());
    return {within, between_nodes(within, results_.between_nodes), results_.node_devices};
}

void ScalingBenchmark::add(std::vector<ScalingRun>& runs, const RunRequest& wanted,
                           const std::vector<ScalingRun>& of_one) {
    auto kind = std::ranges::find(results_.kinds, wanted.kind, &MeasuredKind::name);
    if (kind == results_.kinds.end())
        kind = results_.kinds.insert(results_.kinds.end(), MeasuredKind{wanted.kind, 0, 0});
    ++kind->wanted;
    if (is_spent()) {
        ++kind->left_out;
        return;
    }
    ScalingRun run;
    if (!measure(wanted, of_one, run)) return;
    report_(run.wrong.empty() ? fmt::format("{}: {}", wanted.name, driver::format_rate(run.rate()))
                              : fmt::format("{}: WRONG: {}", wanted.name, run.wrong));
    runs.push_back(std::move(run));
}

void ScalingBenchmark::link() {
    results_.link = measure_link(lab_);
    for (const DevicePair& pair : results_.link.pairs)
        report_(fmt::format("copies from {} to {}: {} the least, {}/s the largest", pair.from, pair.to,
                            driver::format_step_time(pair.least_seconds()),
                            driver::format_bytes(pair.bytes_per_second())));
}

// With an interval as long as any: the steps are done one after the other as pieces do them.
void ScalingBenchmark::rates() {
    constexpr std::int64_t kInterval = 32, kLeastSide = 12, kCubes = 5;
    std::int64_t side = sizes_.side;
    for (int cube = 0; cube < kCubes && side >= kLeastSide; ++cube, side /= 2) {
        const Extent extent{side, side, side};
        add(results_.rates,
            {&star_, extent, 1, kInterval, ExchangeScheme::synchronous,
             fmt::format("{} on one device", grid_of(extent)), "cubes on one device"},
            {});
    }
}

void ScalingBenchmark::alone() {
    if (results_.rates.empty() || !lab_.is_gpu()) return;  // a CPU's are all the same
    results_.alone.push_back(results_.rates.front());
    const Extent extent = results_.rates.front().extent;
    for (int device = 1; device < lab_.devices(); ++device) {
        RunRequest wanted{&star_,
                          extent,
                          1,
                          results_.rates.front().interval,
                          ExchangeScheme::synchronous,
                          fmt::format("{} on device {}", grid_of(extent), device),
                          "a cube on each device alone"};
        wanted.first = device;
        add(results_.alone, wanted, {});
    }
}

// The interval is what `haloc run --devices` chooses by the built-in figures.
void ScalingBenchmark::strong() {
    if (results_.rates.empty()) return;
    const std::int64_t side = sizes_.side;
    results_.strong.push_back(results_.rates.front());
    for (const int count : lab_.counts()) {
        if (count == 1) continue;
        add_planned(results_.strong, {side, side, side}, count, "one cube");
    }
}

void ScalingBenchmark::weak() {
    if (results_.rates.empty()) return;
    const std::int64_t side = sizes_.side;
    results_.weak.push_back(results_.rates.front());
    for (const int count : lab_.counts())
        if (count > 1) add_planned(results_.weak, {side, side, side * count}, count, "a cube each");
}

void ScalingBenchmark::add_planned(std::vector<ScalingRun>& runs, const Extent& extent, int devices,
                                   const std::string& kind) {
    for (const ExchangeScheme scheme : results_.schemes) {
        RunRequest wanted{
            &star_,
            extent,
            devices,
            std::nullopt,
            scheme,
            fmt::format("{} on {} devices, {}", grid_of(extent), devices, driver::scheme_word(scheme)),
            fmt::format("{} on {} devices", kind, devices)};
        try {
            const driver::PiecesPlan built_in = plan(wanted, {});
            wanted.interval = built_in.interval;
            const std::size_t before = runs.size();
            add(runs, wanted, results_.rates);
            if (runs.size() > before) runs.back().explained = built_in.efficiency() * devices;
        } catch (const UnsupportedError& refused) {
            results_.missing.push_back(wanted.name + ": " + refused.what());
        }
    }
}

ScalingBenchmark::RunRequest ScalingBenchmark::wanted_length(std::int64_t length, int devices,
                                                             std::int64_t width,
                                                             ExchangeScheme scheme) const {
    const ScalingProgram& program = cahn_hilliard_.at(width);
    RunRequest wanted;
    wanted.program = &program;
    wanted.extent = {length, length, 1};
    wanted.devices = devices;
    wanted.interval = width / program.reach;
    wanted.scheme = scheme;
    wanted.kind =
        devices == 1 ? "Cahn-Hilliard on one device" : fmt::format("Cahn-Hilliard on {} devices", devices);
    wanted.name = fmt::format("{}, {}, halos of {}{}", wanted.kind, grid_of(wanted.extent), width,
                              devices == 1 ? "" : ", " + driver::scheme_word(scheme));
    const bool is_outermost =
        width == cahn_hilliard_.begin()->first || width == cahn_hilliard_.rbegin()->first;
    wanted.is_checked =
        is_outermost || static_cast<double>(driver::cell_count(wanted.extent)) <= kMostOfAllWidths;
    return wanted;
}

// Measures a length on one device, by the kernels of each width.
void ScalingBenchmark::length_on_one(std::int64_t length) {
    if (!on_one_.insert(length).second) return;
    for (const std::int64_t width : sizes_.widths)
        add(results_.lengths, wanted_length(length, 1, width, ExchangeScheme::synchronous), {});
}

void ScalingBenchmark::lengths_on(const std::vector<int>& devices,
                                  const std::vector<ExchangeScheme>& schemes) {
    for (const std::int64_t length : sizes_.lengths) {
        length_on_one(length);
        for (const std::int64_t width : sizes_.widths) {
            std::vector<ScalingRun> of_one;
            for (const ScalingRun& run : results_.lengths)
                if (run.devices == 1 && run.width == width) of_one.push_back(run);
            for (const int count : devices)
                for (const ExchangeScheme scheme : schemes)
                    add(results_.lengths, wanted_length(length, count, width, scheme), of_one);
        }
    }
}

// The most informative runs come first, in case the budget is not enough: all devices before two, and the
// simplest scheme and the fastest before the one between them. On one device also a grid of half the least
// length: pieces are smaller than the grids that they are of.
void ScalingBenchmark::lengths() {
    length_on_one(sizes_.lengths.front() / 2);
    std::vector<int> devices{lab_.devices()};
    if (lab_.devices() > 2) devices.push_back(2);
    std::vector<ExchangeScheme> schemes = results_.schemes;
    const bool has_between = std::erase(schemes, ExchangeScheme::asynchronous) > 0;
    for (const int count : devices)
        lengths_on({count}, schemes);
    if (has_between) lengths_on(devices, {ExchangeScheme::asynchronous});
}

void ScalingBenchmark::beyond() {
    for (const bool is_weak : {false, true})
        for (const ExchangeScheme scheme : results_.schemes)
            add_beyond(is_weak, scheme);
}

void ScalingBenchmark::add_beyond(bool is_weak, ExchangeScheme scheme) {
    constexpr int kMostDevices = 1024;
    const std::int64_t side = sizes_.side;
    for (int count = 1; count <= kMostDevices; count *= 2) {
        const Extent extent{side, side, is_weak ? side * count : side};
        driver::PiecesRequest request;
        request.count = count;
        request.on_gpu = lab_.is_gpu();
        request.is_one_process = count <= results_.node_devices;
        if (count > 1) request.scheme = scheme;
        request.measured = measured_times(results_.rates);
        request.network = network(count);
        try {
            const driver::PiecesPlan plan = lab_.plan(star_, extent, request);
            // Kernels cannot store to another node's memory, and thin pieces allow the first scheme alone.
            const bool is_direct_between = scheme == ExchangeScheme::direct && !request.is_one_process;
            if (count > 1 && (plan.scheme != scheme || is_direct_between)) return;
            results_.beyond.push_back({count, is_weak, scheme, plan.interval,
                                       static_cast<double>(driver::cell_count(extent)), plan.seconds(),
                                       plan.cut.counts});
        } catch (const rt::Error&) {
            return;  // pieces would be thinner than their ghosts
        }
    }
}

}  // namespace halo::bench
