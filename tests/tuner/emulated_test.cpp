// The whole tuner on emulated kernels: built, checked against the interpreter and one cell a thread, kept,
// resumed, and used by what chooses schedules for a run. Which of them is fastest on an emulator means
// nothing and is not looked at.
#include "emulated_device.h"
#include "tuning.h"

#include <fstream>
#include <iterator>
#include <mutex>
#include <utility>

#include "compiler/driver/console/exit_code.h"
#include "compiler/schedule/print.h"

using namespace halo;
using namespace halo::test;
using driver::StageReport;

namespace {

class EmulatedMachine final : public driver::GpuMachine {
public:
    std::string kind() const override { return "emulated"; }
    std::string description() const override { return device_.description(); }
    schedule::Target target() const override { return figures; }
    driver::TuneDevice tune_device() const override { return {"emulated", "sm_90", 132, compiler}; }

    driver::CompiledCode compile(const driver::Code& code) const override {
        const std::lock_guard lock(mutex_);
        ++compiled;
        const driver::CodeParts parts = driver::parts_of(code);
        driver::CompiledCode result;
        result.steps.cubin = parts.steps;
        rt::KernelUsage usage;
        usage.name = code.lowered.kernels_of_stages.front();
        usage.registers = 32;
        if (spill(code)) usage.spill_load_bytes = spilled_bytes;
        result.steps.usage = {usage};
        if (code.lowered.plan.time_block) {
            usage.name = code.lowered.plan.time_block->kernel.name;
            usage.registers = 64;
            result.block = rt::CompiledCuda{parts.block, "", {usage}, false};
        }
        return result;
    }
    std::unique_ptr<driver::Engine> start(const driver::Code& code, const driver::Extent& extent,
                                          const driver::CompiledCode& made) override {
        return start(code, extent, made, rt::SessionOptions());
    }
    std::unique_ptr<driver::Engine> start_poisoned(const driver::Code& code, const driver::Extent& extent,
                                                   const driver::CompiledCode& made) override {
        rt::SessionOptions options;
        options.poison = true;
        return start(code, extent, made, options);
    }
    std::unique_ptr<driver::Engine> start(const driver::Code& code, const driver::Extent& extent,
                                          const driver::CompiledCode& made,
                                          const rt::SessionOptions& options) {
        if (no_room(extent)) throw rt::Error(rt::ErrorCode::out_of_memory, "no room");
        if (fail_start(code, extent)) throw rt::Error(rt::ErrorCode::launch_failed, "an illegal address");
        std::vector<std::unique_ptr<rt::Module>> modules;
        // What is tried: the kernel for several steps, where there is one.
        std::vector<std::string> texts{made.steps.cubin};
        if (made.block) texts.push_back(made.block->cubin);
        if (break_start(code, extent)) negate(texts.back());
        for (const std::string& text : texts)
            modules.push_back(device_.load(text, code.lowered.plan.name));
        return driver::make_session_engine(
            rt::Session(code.lowered.plan, extent, device_, std::move(modules), options));
    }
    std::unique_ptr<driver::Engine> load(const ir::Program& program, const driver::Extent& extent,
                                         const driver::CodeOptions& options, driver::LoadTimings&) override {
        const ir::Program optimized = driver::optimize(program, options);
        const driver::Code code =
            driver::cuda_code(optimized, driver::choose_plan(optimized, options).plan());
        return start(code, extent, compile(code));
    }

    std::string compiler = "an emulator";
    schedule::Target figures;
    std::int64_t spilled_bytes = 8;
    std::function<bool(const driver::Code&)> spill = [](const driver::Code&) { return false; };
    using OnGrid = std::function<bool(const driver::Code&, const driver::Extent&)>;
    OnGrid break_start = [](const driver::Code&, const driver::Extent&) { return false; };  // wrong results
    OnGrid fail_start = break_start;
    std::function<bool(const driver::Extent&)> no_room = [](const driver::Extent&) { return false; };
    mutable int compiled = 0;

private:
    // A mistake of the compiler, so to speak. Everywhere: what the first turns of a walk compute in advance
    // may be of no cell.
    static void negate(std::string& text) {
        std::size_t at = text.find("fmaf(");
        REQUIRE(at != std::string::npos);
        for (; at != std::string::npos; at = text.find("fmaf(", at + 6))
            text.insert(at, "-");
    }

    emulator::EmulatedDevice device_;
    mutable std::mutex mutex_;
};

driver::TunerSettings quick() {
    driver::TunerSettings settings;
    settings.budget_seconds = 0;  // the model's choice, and what it is compared with
    settings.jobs = 2;
    settings.odd_grid = driver::Extent{19, 7, 5};
    settings.sample_seconds = 1e-4;
    return settings;
}

// Of candidates registers are limited, of what they are checked against they are not.
bool is_candidate(const driver::Code& code) {
    return code.text.find("__launch_bounds__(128, ") != std::string::npos;
}

constexpr const char* kFewChoices = "direct cells=1x1x1 min_blocks=1";  // so that all are soon tried

}  // namespace

TEST_CASE("a winner is checked, kept and taken by the next run") {
    EmulatedMachine machine;
    const StoreFolder folder;
    Tuning tuning(machine, kHeat3d, "40,12,9", "direct threads=32x4x1 cells=1x1x1");
    driver::TunerSettings settings = quick();
    settings.budget_seconds = 60;
    const std::vector<StageReport> reports = tuning.tune(folder, settings);
    REQUIRE(reports.size() == 1);
    const StageReport& report = reports.front();
    CHECK(report.kind == StageReport::Kind::tuned);
    CHECK(report.stop == tune::SearchResult::Stop::exhausted);
    CHECK(report.trials >= 3);  // min_blocks alone was left to choose
    CHECK(report.wrong == 0);
    CHECK(report.refused == 0);
    CHECK(report.seconds > 0);
    CHECK(report.model_seconds);
    const std::vector<driver::StageChoice> choices = tuning.choices(folder, machine.tune_device());
    REQUIRE(choices.size() == 1);
    CHECK(choices[0].tuned);
    CHECK(schedule::print(choices[0].schedule, 3) == report.schedule);
    CHECK(choices[0].known->finished);
    CHECK(std::ssize(choices[0].known->trials) == report.trials);
    CHECK(choices[0].known->trials.front().outcome.registers == 32);

    // Tuned once, it is not measured again, unless that is asked for.
    const int before = machine.compiled;
    CHECK(tuning.tune(folder, settings).front().kind == StageReport::Kind::known);
    CHECK(machine.compiled == before);
    settings.again = true;
    CHECK(tuning.tune(folder, settings).front().kind == StageReport::Kind::tuned);

    // What was tuned around pinned values is not taken where nothing is pinned, nor with another compiler.
    CHECK_FALSE(Tuning(machine, kHeat3d, "40,12,9").choices(folder, machine.tune_device())[0].tuned);
    driver::TuneDevice other = machine.tune_device();
    other.compiler = "another";
    const driver::StageChoice choice = tuning.choices(folder, other)[0];
    CHECK_FALSE(choice.tuned);
    CHECK(choice.notes.back().find("tuned with an emulator") != std::string::npos);
    other = machine.tune_device();
    other.name = "another device";
    CHECK_FALSE(tuning.choices(folder, other)[0].known);
    CHECK_FALSE(Tuning(machine, kHeat3d, "40,12,10", "direct threads=32x4x1 cells=1x1x1")
                    .choices(folder, machine.tune_device())[0]
                    .known);
}

TEST_CASE("a search whose budget is spent goes on the next time") {
    EmulatedMachine machine;
    const StoreFolder folder;
    Tuning tuning(machine, kHeat3d, "40,12,9", kFewChoices);
    const StageReport first = tuning.tune(folder, quick()).front();
    CHECK(first.stop == tune::SearchResult::Stop::budget);
    CHECK(first.trials == 1);
    CHECK(first.schedule == first.model_schedule);
    CHECK(tuning.choices(folder, machine.tune_device())[0].tuned);
    CHECK_FALSE(tuning.choices(folder, machine.tune_device())[0].known->finished);
    const StageReport second = tuning.tune(folder, quick()).front();
    CHECK(second.known_trials == 1);
    CHECK(second.trials == 0);
}

TEST_CASE("code that is wrong or spills does not win") {
    EmulatedMachine machine;
    const StoreFolder folder;
    Tuning tuning(machine, kHeat3d, "40,12,9", "direct threads=32x4x1 cells=1x1x1");
    driver::TunerSettings settings = quick();
    settings.budget_seconds = 60;
    SECTION("wrong on every grid") {
        machine.break_start = [](const driver::Code& code, const driver::Extent&) {
            return is_candidate(code);
        };
        const StageReport report = tuning.tune(folder, settings).front();
        CHECK(report.kind == StageReport::Kind::failed);
        CHECK(report.wrong >= 3);
        REQUIRE_FALSE(report.dropped.empty());
        CHECK(report.dropped.front().find("against the interpreter") != std::string::npos);
        CHECK_FALSE(tuning.choices(folder, machine.tune_device())[0].tuned);
    }
    SECTION("wrong on the run's grid alone") {
        machine.break_start = [](const driver::Code& code, const driver::Extent& extent) {
            return is_candidate(code) && extent[0] == 40;
        };
        const StageReport report = tuning.tune(folder, settings).front();
        CHECK(report.kind == StageReport::Kind::failed);
        CHECK(report.dropped.front().find("against one cell a thread") != std::string::npos);
    }
    SECTION("wrong on the run's grid alone, which the device has not room for twice") {
        int started = 0;
        machine.no_room = [&](const driver::Extent& extent) { return extent[0] == 40 && ++started == 2; };
        machine.break_start = [](const driver::Code& code, const driver::Extent& extent) {
            return is_candidate(code) && extent[0] == 40;
        };
        const StageReport report = tuning.tune(folder, settings).front();
        CHECK(started > 2);
        CHECK(report.kind == StageReport::Kind::failed);
        CHECK(report.dropped.front().find("against one cell a thread") != std::string::npos);
    }
    SECTION("spilled, all of it") {
        machine.spill = [](const driver::Code&) { return true; };
        const StageReport report = tuning.tune(folder, settings).front();
        CHECK(report.kind == StageReport::Kind::failed);
        CHECK(report.spilled >= 3);
        CHECK(report.dropped.front().find("spilled") != std::string::npos);
    }
}

TEST_CASE("a schedule that the device fails with is not tried again") {
    EmulatedMachine machine;
    const StoreFolder folder;
    Tuning tuning(machine, kHeat3d, "40,12,9", "direct threads=32x4x1 cells=1x1x1");
    driver::TunerSettings settings = quick();
    settings.budget_seconds = 60;
    bool failed = false;
    machine.fail_start = [&](const driver::Code& code, const driver::Extent&) {
        return is_candidate(code) && !std::exchange(failed, true);
    };
    try {
        tuning.tune(folder, settings);
        FAIL("nothing was thrown");
    } catch (const driver::CommandError& trouble) {
        CHECK(trouble.code() == driver::ExitCode::device);
        CHECK(std::string(trouble.what()).find("an illegal address") != std::string::npos);
    }
    const StageReport report = tuning.tune(folder, settings).front();
    CHECK(report.kind == StageReport::Kind::tuned);
    CHECK(report.known_trials == 1);
    CHECK(report.refused == 1);
    CHECK(report.schedule != report.model_schedule);  // the first to be tried
}

TEST_CASE("each stage is tuned, and stages without a choice are passed over") {
    EmulatedMachine machine;
    const StoreFolder folder;
    Tuning tuning(machine, R"(stencil two(x, y) {
    field u: f64 { boundary periodic }
    field v: f64 { boundary periodic }
    let w { boundary periodic } = u[x+1] - u[x-1]
    u[t+1] = u + 0.1 * (w[y+1] - w[y-1])
    v[t+1] = v + w[x+1]
}
)",
                  "24,17");
    driver::TunerSettings settings = quick();
    settings.odd_grid = driver::Extent{13, 9, 1};
    const std::vector<StageReport> reports = tuning.tune(folder, settings);
    CHECK(reports.size() >= 2);
    for (const StageReport& report : reports)
        CHECK(report.kind == StageReport::Kind::tuned);
    for (const driver::StageChoice& choice : tuning.choices(folder, machine.tune_device()))
        CHECK(choice.tuned);
}

TEST_CASE("what tables and points are given is part of what is timed and checked") {
    EmulatedMachine machine;
    const StoreFolder folder;
    Tuning tuning(machine, R"(stencil sums(x, y) {
    spacing x = 1, y = 1
    field u: f32 { boundary periodic }
    table atoms { p, q: f32 }
    points phones: linear
    u[t+1] = u + sum(a in atoms) { a.q * (a.p - u) }
    sample u[t+1] at phones into phones.trace[t]
}

run sums {
    grid 24, 17
    steps 5
    rows atoms = 50
    init atoms.p = row / 50
    init atoms.q = 0.001 * row
    phones at [3.5 + i, 2] for i in 0..4
}
)",
                  "");
    driver::TunerSettings settings = quick();
    settings.odd_grid = driver::Extent{13, 9, 1};
    const std::vector<StageReport> reports = tuning.tune(folder, settings);
    REQUIRE(reports.size() == 2);
    CHECK(reports[0].kind == StageReport::Kind::tuned);
    CHECK(reports[1].kind == StageReport::Kind::no_choice);
}

// Reductions that steps read, complex fields, noise, integers, narrow types, several stages.
TEST_CASE("the model's choice for examples of all kinds passes the check") {
    for (const char* name :
         {"burgers2d", "schroedinger2d", "cahn_hilliard_cook", "game_of_life", "heat_f16"}) {
        std::ifstream file(std::string(HALO_SOURCE_DIR "/dsl_examples/") + name + ".halo");
        REQUIRE(file);
        const std::string text(std::istreambuf_iterator<char>(file), {});
        INFO(name);
        const driver::CheckedSpec spec = driver::check_text("spec.halo", text);
        const int rank = driver::choose_stencil(spec, "").program.rank();
        EmulatedMachine machine;
        const StoreFolder folder;
        Tuning tuning(machine, text, rank == 3 ? "20,13,9" : rank == 2 ? "26,17" : "70");
        driver::TunerSettings settings = quick();
        settings.odd_grid = rank == 3   ? driver::Extent{19, 11, 10}
                            : rank == 2 ? driver::Extent{23, 19, 1}
                                        : driver::Extent{67, 1, 1};
        for (const StageReport& report : tuning.tune(folder, settings)) {
            for (const std::string& each : report.dropped)
                UNSCOPED_INFO(each);
            CHECK((report.kind == StageReport::Kind::tuned || report.kind == StageReport::Kind::no_choice));
        }
    }
}

namespace {

constexpr const char* kHeat2d = R"(stencil heat(x, y) {
    field u: f32 { boundary clamp }
    u[t+1] = u + 0.1 * laplacian(u)
    reduce total = sum(u[t+1])
}
)";
constexpr const char* kFewForSteps = "temporal steps=3 warps=2 cells=1 ahead=2 min_blocks=1 blocks=3";

bool several_at_once(const driver::Code& code) {
    return code.lowered.plan.time_block.has_value();
}

}  // namespace

TEST_CASE("schedules for several steps are checked, kept and taken by the next run, however short") {
    EmulatedMachine machine;
    const StoreFolder folder;
    Tuning tuning(machine, kHeat2d, "70,61", kFewForSteps);
    driver::TunerSettings settings = quick();
    settings.budget_seconds = 600;
    settings.odd_grid = driver::Extent{19, 7, 1};
    const driver::TuneReport reports = tuning.tune_all(folder, settings);
    CHECK(reports.stages.empty());  // what is pinned is for several steps
    REQUIRE(reports.steps);
    const StageReport& report = *reports.steps;
    for (const std::string& each : report.dropped)
        UNSCOPED_INFO(each);
    CHECK(report.kind == StageReport::Kind::tuned);
    CHECK(report.stop == tune::SearchResult::Stop::exhausted);
    CHECK(report.trials >= 3);  // unroll alone was left to choose
    CHECK(report.wrong + report.refused + report.spilled == 0);
    CHECK(report.schedule.find(kFewForSteps) == std::string::npos);
    const driver::PlanChoice choice = tuning.several(folder, machine.tune_device(), 1);
    REQUIRE(choice.taken() != nullptr);
    CHECK(schedule::print(choice.plan().grouping, 2) == report.schedule);
    CHECK(choice.taken()->reason.find("tuned: ") == 0);
    const int before = machine.compiled;
    CHECK(tuning.tune_all(folder, settings).steps->kind == StageReport::Kind::known);
    CHECK(machine.compiled == before);

    driver::TuneDevice other = machine.tune_device();
    other.compiler = "another";
    CHECK(tuning.several(folder, other, 1).taken()->reason.find("tuned with an emulator is not used") !=
          std::string::npos);
    CHECK(Tuning(machine, kHeat2d, "70,61").several(folder, machine.tune_device(), 1).taken() == nullptr);
}

TEST_CASE(
    "that several steps at once are wrong or spill is found, and that single steps are faster is kept") {
    EmulatedMachine machine;
    machine.figures.sms = 1;
    const StoreFolder folder;
    driver::TunerSettings settings = quick();
    settings.budget_seconds = 600;
    settings.odd_grid = driver::Extent{19, 7, 1};
    SECTION("wrong") {
        machine.break_start = [](const driver::Code& code, const driver::Extent&) {
            return several_at_once(code);
        };
        const StageReport report =
            *Tuning(machine, kHeat2d, "70,61", kFewForSteps).tune_all(folder, settings).steps;
        CHECK(report.kind == StageReport::Kind::failed);
        CHECK(report.wrong >= 3);
        REQUIRE_FALSE(report.dropped.empty());
        // On a grid on which two tiles of 32 meet.
        CHECK(report.dropped.front().find("on 49 x ") != std::string::npos);
    }
    SECTION("spilled") {
        machine.spill = several_at_once;
        machine.spilled_bytes = 136;  // a few more than are let pass
        const char* const kStage = "direct cells=1x1 min_blocks=1 threads=32x4";
        Tuning tuning(machine, kHeat2d, "70,61");
        settings.budget_seconds = 0;
        CHECK(Tuning(machine, kHeat2d, "70,61", kStage).tune_all(folder, settings).steps->why ==
              "the stages are pinned");
        CHECK(tuning.tune_all(folder, settings).steps->trials == 1);
        const driver::TuneDevice device = machine.tune_device();
        for (const driver::GroupingVerdict& each : tuning.several(folder, device, 1000).groupings)
            CHECK(each.reason.find("haloc tune") == std::string::npos);
        // As if the stage's search had come to its end.
        const tune::Store store(folder.store());
        for (auto [key, entry] : store.read()) {
            entry.finished = entry.stage == 0;
            store.put(key, entry);
        }
        settings.budget_seconds = 20;
        const StageReport report = *tuning.tune_all(folder, settings).steps;
        CHECK(report.kind == StageReport::Kind::tuned);
        CHECK(report.known_trials == 1);
        CHECK(report.schedule == schedule::kSingleSteps);
        CHECK(report.spilled >= 1);
        CHECK(report.dropped.front().find("with 64 registers") != std::string::npos);
        const driver::PlanChoice choice = tuning.several(folder, device, 1000000000);
        CHECK(choice.taken() == nullptr);
        CHECK(choice.groupings.front().reason.find("single steps, ") == 0);
    }
}

// From random numbers these become NaN within the steps of a check.
TEST_CASE("programs that random numbers break are verified from their own initial data") {
    constexpr const char* kSixSteps = "temporal steps=6 warps=2 cells=1 ahead=1 blocks=3";
    for (const auto& [name, pinned] : std::vector<std::pair<std::string, std::string>>{
             {"gray_scott", kSixSteps},
             {"maxwell2d", kSixSteps},
             {"shallow_water", ""}}) {  // which has no kernel for several
        std::ifstream file(HALO_SOURCE_DIR "/dsl_examples/" + name + ".halo");
        REQUIRE(file);
        const std::string text(std::istreambuf_iterator<char>(file), {});
        INFO(name);
        EmulatedMachine machine;
        const StoreFolder folder;
        driver::TunerSettings settings = quick();
        settings.odd_grid = driver::Extent{19, 7, 1};
        Tuning tuning(machine, text, "70,61", pinned);
        const driver::TuneReport reports = tuning.tune_all(folder, settings);
        REQUIRE(reports.steps);
        std::vector<StageReport> all = reports.stages;
        if (all.empty()) all.push_back(*reports.steps);
        for (const StageReport& report : all) {
            for (const std::string& each : report.dropped)
                UNSCOPED_INFO(each);
            CHECK(report.kind == StageReport::Kind::tuned);
            CHECK(report.trials >= 1);
            CHECK(report.wrong + report.unverified + report.refused == 0);
        }
    }
}

TEST_CASE("what leaves no numbers is not called wrong, and calmer values are tried") {
    EmulatedMachine machine;
    const StoreFolder folder;
    driver::TunerSettings settings = quick();
    settings.odd_grid = driver::Extent{19, 7, 1};
    const auto report_of = [&](const std::string& init) {
        return Tuning(
                   machine,
                   "stencil root(x, y) {\n field u: f32 { boundary clamp }\n u[t+1] = sqrt(u - 2) + 0.0001 * "
                   "(u[x+1] - u)\n}\nrun root {\n grid 40, 12\n steps 9\n init u = " +
                       init + "\n}\n",
                   "", "direct threads=32x4 cells=1x1")
            .tune(folder, settings)
            .front();
    };
    SECTION("and are enough") {
        const StageReport report = report_of("if idx(x) < len(x) / 2 then 0 else 16");
        CHECK(report.kind == StageReport::Kind::tuned);
        CHECK(report.wrong + report.unverified == 0);
    }
    SECTION("and still show what is wrong") {
        machine.break_start = [](const driver::Code& code, const driver::Extent&) {
            return is_candidate(code);
        };
        CHECK(report_of("if idx(x) < len(x) / 2 then 0 else 16").wrong >= 1);
    }
    SECTION("and are not enough") {
        const StageReport report = report_of("1");
        CHECK(report.kind == StageReport::Kind::failed);
        CHECK(report.wrong == 0);
        CHECK(report.unverified >= 1);
        CHECK(report.dropped.front().find("nothing to compare") != std::string::npos);
    }
}
