// A spec, tuned on some machine with a store in a folder of its own.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <vector>

#include "catch.h"
#include "compiler/driver/console/arguments.h"
#include "compiler/driver/running/request.h"
#include "compiler/driver/spec/spec.h"
#include "compiler/driver/tuning/tuner.h"

namespace halo::test {

class StoreFolder {
public:
    StoreFolder() {
        char name[] = "/tmp/halo-tuner-XXXXXX";
        path_ = ::mkdtemp(name);
    }
    ~StoreFolder() { std::filesystem::remove_all(path_); }
    StoreFolder(const StoreFolder&) = delete;
    StoreFolder& operator=(const StoreFolder&) = delete;
    std::filesystem::path store() const { return path_ / "tuned.json"; }

private:
    std::filesystem::path path_;
};

// One spec on one grid on a machine: what `haloc tune` and then `haloc run` decide.
class Tuning {
public:
    Tuning(driver::GpuMachine& machine, const std::string& text, const std::string& grid,
           const std::string& pinned = {})
        : machine_(machine), spec_(driver::check_text("spec.halo", text)) {
        for (const Diagnostic& mistake : spec_.diagnostics)
            UNSCOPED_INFO(mistake.message);
        REQUIRE(spec_.ok);
        const std::string only_one;
        const sema::AnalyzedStencil& stencil = driver::choose_stencil(spec_, only_one);
        driver::RunArguments arguments;
        arguments.grid = grid;
        request_ = driver::request_for_tuning(arguments, spec_, stencil, console_);
        options_.target = machine.target();
        options_.extent = request_.extent;
        if (!pinned.empty()) options_.schedules = {pinned};
        program_ = driver::optimize(stencil.program, options_);
        console_.set_quiet(true);
    }

    driver::TuneReport tune_all(const StoreFolder& folder, const driver::TunerSettings& settings) {
        const driver::TunerInput input{machine_,
                                       program_,
                                       request_,
                                       spec_.analysis.find_run(program_.name),
                                       driver::choose_schedules(program_, options_),
                                       driver::pinned_grouping(options_, program_.rank()),
                                       driver::details_of_run(options_)};
        return driver::tune_program(input, tune::Store(folder.store()), settings, console_);
    }
    std::vector<driver::StageReport> tune(const StoreFolder& folder, const driver::TunerSettings& settings) {
        return tune_all(folder, settings).stages;
    }
    // What `run` would take for several steps at once, in a run of so many.
    driver::PlanChoice several(const StoreFolder& folder, const driver::TuneDevice& device,
                               std::int64_t steps) const {
        driver::CodeOptions options = options_;
        options.steps = steps;
        options.tuned = std::make_shared<driver::TunedSchedules>(folder.store(), device);
        return driver::choose_plan(program_, options);
    }
    // What `run` would take for each stage.
    std::vector<driver::StageChoice> choices(const StoreFolder& folder,
                                             const driver::TuneDevice& device) const {
        driver::CodeOptions options = options_;
        options.tuned = std::make_shared<driver::TunedSchedules>(folder.store(), device);
        return driver::choose_schedules(program_, options);
    }

private:
    driver::GpuMachine& machine_;
    driver::Console console_;
    driver::CheckedSpec spec_;
    driver::RunRequest request_;
    driver::CodeOptions options_;
    ir::Program program_;
};

inline constexpr const char* kHeat3d = R"(stencil heat(x, y, z) {
    param k = 0.1
    field u: f32 { boundary fixed 1 }
    u[t+1] = u + k * laplacian(u)
    reduce total = sum(u[t+1])
}
)";

}  // namespace halo::test
