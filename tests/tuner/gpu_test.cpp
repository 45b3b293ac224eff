// The tuner on a GPU: a few seconds of a small 3D heat spec.
#include "tuning.h"

#include "compiler/schedule/print.h"
#include "runtime/cuda/cuda.h"
#include "runtime/nvrtc/nvrtc.h"
#include "skip.h"

using namespace halo;
using namespace halo::test;

namespace {
const SkipUnless gpu(rt::cuda_status().why.empty(), rt::cuda_status().why);
const SkipUnless compiler(rt::Nvrtc::find() != nullptr, rt::Nvrtc::why_missing());
}  // namespace

TEST_CASE("a small heat spec is tuned on the GPU, and a run takes the winner") {
    const std::unique_ptr<driver::GpuMachine> machine = driver::open_gpu(0);
    const StoreFolder folder;
    Tuning tuning(*machine, kHeat3d, "192,160,128");
    driver::TunerSettings settings;
    settings.budget_seconds = 8;
    settings.jobs = 8;
    const driver::StageReport report = tuning.tune(folder, settings).front();
    for (const std::string& each : report.dropped)
        WARN("left out: " << each);
    REQUIRE(report.kind == driver::StageReport::Kind::tuned);
    WARN(report.trials << " tried; " << report.schedule << " at " << report.seconds * 1e6
                       << " us a step, the model's " << report.model_schedule << " at "
                       << report.model_seconds.value_or(0) * 1e6);
    CHECK(report.trials >= 2);
    CHECK(report.wrong == 0);
    REQUIRE(report.model_seconds);
    const driver::StageChoice choice = tuning.choices(folder, machine->tune_device()).front();
    CHECK(choice.tuned);
    CHECK(schedule::print(choice.schedule, 3) == report.schedule);
    // Another few seconds go on where these ended.
    settings.budget_seconds = 0;
    const driver::StageReport next = tuning.tune(folder, settings).front();
    CHECK(next.trials == 0);
    CHECK(next.known_trials == report.trials);
}

TEST_CASE("several steps at once are tuned on the GPU, and a run takes what was found") {
    const std::unique_ptr<driver::GpuMachine> machine = driver::open_gpu(0);
    const StoreFolder folder;
    Tuning tuning(*machine, R"(stencil heat(x, y) {
    field u: f32 { boundary clamp }
    u[t+1] = u + 0.1 * laplacian(u)
}
)",
                  "4096,4001");
    driver::TunerSettings settings;
    settings.budget_seconds = 16;
    settings.jobs = 8;
    const driver::TuneReport reports = tuning.tune_all(folder, settings);
    REQUIRE(reports.steps);
    const driver::StageReport& report = *reports.steps;
    for (const std::string& each : report.dropped)
        WARN("left out: " << each);
    REQUIRE(report.kind == driver::StageReport::Kind::tuned);
    WARN(report.trials << " tried; " << report.schedule << " at " << report.seconds * 1e6
                       << " us a step, single steps at " << report.model_seconds.value_or(0) * 1e6);
    CHECK(report.trials >= 2);
    CHECK(report.wrong == 0);
    CHECK(report.refused == 0);
    const driver::PlanChoice choice = tuning.several(folder, machine->tune_device(), 1);
    CHECK(schedule::print(choice.plan().grouping, 2) == report.schedule);
    for (const driver::GroupingVerdict& each : choice.groupings)
        CHECK(each.reason.find("haloc tune") != std::string::npos);
}
