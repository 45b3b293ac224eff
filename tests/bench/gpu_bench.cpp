// Single sweeps on a GPU against the copy bandwidth measured in the same run: `ninja gpu_bench &&
// bin/gpu_bench`.
//
//   gpu_bench                 the table of docs/performance.md
//   gpu_bench --sums          sums over tables alone
//   gpu_bench --try NAME 'direct threads=32x4 cells=4x2x4' …   one stencil by the schedules given
//
// Every line is checked twice before it is timed: on an awkward small grid against the reference interpreter,
// and on its own grid, bit for bit, against one cell a thread.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

#include "compare_engines.h"
#include "compiler/emit/emit.h"
#include "compiler/schedule/defaults.h"
#include "compiler/schedule/parse.h"
#include "compiler/schedule/print.h"
#include "random_program.h"
#include "runtime/core/session.h"
#include "runtime/cuda/cuda.h"
#include "runtime/nvrtc/nvrtc.h"

using namespace halo;
using namespace halo::test;

namespace {

struct Stencil {
    std::string name;
    std::string text;
    Extent extent;
    int steps;  // of one timing
};

std::string heat(int rank, const char* type, const char* boundary) {
    const char* axes = rank == 2 ? "x, y" : "x, y, z";
    return fmt::format(
        "stencil heat({}) {{\n param k = 0.1\n field u: {} {{ boundary {} }}\n u[t+1] = u + k * "
        "laplacian(u)\n}}\n",
        axes, type, boundary);
}

std::string derivative(const char* axis) {
    return fmt::format(
        "stencil derivative(x, y, z) {{\n spacing x = 1/63, y = 1/63, z = 1/63\n field f: f32 {{ boundary "
        "periodic }}\n"
        " field df: f32\n df = d(f, {}, order=8)\n}}\n",
        axis);
}

std::vector<Stencil> stencils() {
    std::vector<Stencil> all;
    for (const char* type : {"f32", "f64"}) {
        all.push_back(
            {fmt::format("2D 5-point {} 16384²", type), heat(2, type, "fixed 1"), {16384, 16384, 1}, 20});
        all.push_back(
            {fmt::format("3D 7-point {} 512³", type), heat(3, type, "fixed 1"), {512, 512, 512}, 20});
        all.push_back(
            {fmt::format("3D 7-point {} 1024³", type), heat(3, type, "fixed 1"), {1024, 1024, 1024}, 6});
    }
    all.push_back({"3D 7-point f32 512³ periodic", heat(3, "f32", "periodic"), {512, 512, 512}, 20});
    all.push_back({"heat f32 128³, 5000 steps", heat(3, "f32", "fixed 10"), {128, 128, 128}, 5000});
    for (int n : {64, 256}) {
        for (const char* axis : {"x", "y", "z"}) {
            all.push_back({fmt::format("8th-order d/d{} f32 {}³", axis, n),
                           derivative(axis),
                           {n, n, n},
                           n == 64 ? 1280 : 320});
        }
    }
    return all;
}

// Sums over tables: an example's spec on a large grid. flops: of one row at one cell, as they are usually
// counted (CUDA's case studies); calls: of the special function units, which bound them.
struct Sums {
    std::string name;
    Extent extent;
    std::int64_t rows;
    int flops, calls;
};

std::vector<Sums> sums() {
    return {{"mri_fhd", {128, 128, 128}, 20000, 13, 2}, {"coulomb", {512, 512, 64}, 20000, 9, 1}};
}

std::string example(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(std::string(HALO_SOURCE_DIR "/dsl_examples/") + name + ".halo").rdbuf();
    return text.str();
}

class Bench {
public:
    Bench() : device_(rt::open_cuda_device()) { measure_copy(); }

    void head() const {
        fmt::print("{}; copy of 4 GiB on the device: {:.2f} TB/s (read + written)\n\n",
                   device_->description(), copy_ / 1e12);
        fmt::print(
            "| stencil | schedule | GStencil/s | TB/s | of copy | registers | spilled |\n| --- | --- | --- | "
            "--- | --- | --- | --- |\n");
    }

    void run(const Stencil& stencil, const std::optional<std::string>& pinned) {
        const ir::Program program = load_program(stencil.text);
        std::vector<schedule::Schedule> schedules;
        std::int64_t bytes = 0;
        for (const ir::Stage& stage : ir::form_stages(program)) {
            schedule::Pins pins;
            if (pinned) pins = schedule::parse(*pinned, program.rank()).pins;
            schedules.push_back(
                schedule::choose(program, stage, schedule::Target{}, stencil.extent, pins).schedule);
            bytes += schedule::footprint(program, stage).bytes();
        }
        const lower::Lowered lowered = lower::lower_cuda(program, schedules);
        const std::string wrong = check(program, lowered, stencil);
        if (!wrong.empty()) {
            fmt::print("| {} | {} | WRONG: {} | | | | |\n", stencil.name,
                       schedule::print(schedules[0], program.rank()), wrong);
            return;
        }
        rt::Session session = make_session(lowered, stencil.extent);
        const double seconds = time(session, stencil.steps);
        const double cells = static_cast<double>(session.cells());
        const rt::KernelInfo info = session.kernel_info(0);
        const double rate = cells * static_cast<double>(bytes) / seconds;
        fmt::print("| {} | {} | {:.1f} | {:.2f} | {:.1f} % | {} | {} |\n", stencil.name,
                   schedule::print(schedules[0], program.rank()), cells / seconds / 1e9, rate / 1e12,
                   100 * rate / copy_, info.registers, info.spill_bytes);
        std::fflush(stdout);
    }

    void run(const Sums& what, const std::optional<std::string>& pinned) {
        constexpr double kFastBound =
            300 * 0x1p-17;  // of sums of 300 rows, where functions are approximations
        constexpr double kClock = 1.98e9, kCallsPerClock = 16;  // of an SM
        const ir::Program program = load_program(example(what.name));
        schedule::Pins pins;
        if (pinned) pins = schedule::parse(*pinned, program.rank()).pins;
        const ir::Stage stage = ir::form_stages(program).front();
        const schedule::Schedule chosen =
            schedule::choose(program, stage, schedule::Target{}, what.extent, pins).schedule;
        const lower::Lowered lowered = lower::lower_cuda(program, {chosen});
        const Reference reference(program, {67, 35, 3}, 1, 3);
        const std::string wrong = difference(
            reference, lowered, *device_, [&](const auto& code, auto&) { return load(code); }, kFastBound);
        if (!wrong.empty()) return fmt::print("{}: WRONG: {}\n", what.name, wrong);
        rt::Session session(lowered.plan, what.extent, *device_, load(lowered));
        Random random(7);
        const rt::TablePlan& table = lowered.plan.tables.front();
        std::vector<double> rows(static_cast<std::size_t>(what.rows * table.given));
        for (double& value : rows)
            value = static_cast<double>(random.next() >> 40) / static_cast<double>(1 << 24);
        session.set_table(table.name, rows);
        const double seconds = time(session, 1);
        const double terms = static_cast<double>(session.cells()) * static_cast<double>(what.rows) / seconds;
        const double bound = kCallsPerClock * kClock * device_->info().multiprocessors / what.calls;
        const int kernel = static_cast<int>(lowered.plan.kernels.size()) - 1;
        const rt::KernelInfo info = session.kernel_info(kernel);
        fmt::print("| {} {} rows | {} | {:.0f} | {:.1f} | {:.1f} % | {} | {} |\n", what.name, what.rows,
                   schedule::print(chosen, program.rank()), terms / 1e9, terms * what.flops / 1e12,
                   100 * terms / bound, info.registers, info.spill_bytes);
        std::fflush(stdout);
    }

    static void head_of_sums() {
        fmt::print(
            "\n| sums over tables | schedule | 10⁹ terms/s | TFLOP/s | of the special function units | "
            "registers | "
            "spilled |\n| --- | --- | --- | --- | --- | --- | --- |\n");
    }

private:
    // Seconds a step: the median of several runs of `steps`.
    double time(rt::Session& session, int steps) {
        const auto timer = device_->make_timer();
        session.step(steps);
        std::vector<double> seconds;
        for (int repeat = 0; repeat < 7; ++repeat) {
            timer->start();
            session.step(steps);
            timer->stop();
            seconds.push_back(timer->milliseconds() / 1e3 / steps);
        }
        std::sort(seconds.begin(), seconds.end());
        return seconds[seconds.size() / 2];
    }

    void measure_copy() {
        constexpr std::int64_t kBytes = std::int64_t{4} << 30;
        rt::DeviceMemory from(*device_, kBytes), to(*device_, kBytes);
        device_->set_bytes(from.address(), 0x3c, kBytes);
        const auto timer = device_->make_timer();
        std::vector<double> seconds;
        for (int repeat = 0; repeat < 9; ++repeat) {
            timer->start();
            device_->copy_on_device(to.address(), from.address(), kBytes);
            timer->stop();
            seconds.push_back(timer->milliseconds() / 1e3);
        }
        std::sort(seconds.begin(), seconds.end());
        copy_ = 2.0 * static_cast<double>(kBytes) / seconds[seconds.size() / 2];
    }

    std::vector<std::unique_ptr<rt::Module>> load(const lower::Lowered& lowered) {
        rt::NvrtcOptions options;
        options.arch = device_->info().arch();
        std::vector<std::unique_ptr<rt::Module>> modules;
        const std::string text = emit::print_cuda(lowered.kernels);
        modules.push_back(device_->load(rt::Nvrtc::find()->compile(text, lowered.plan.name, options).cubin,
                                        lowered.plan.name));
        return modules;
    }

    rt::Session make_session(const lower::Lowered& lowered, const Extent& extent) {
        rt::Session session(lowered.plan, extent, *device_, load(lowered));
        std::vector<float> values(static_cast<std::size_t>(session.cells()));
        Random random(7);
        for (float& value : values)
            value = static_cast<float>(random.next() >> 40) / static_cast<float>(1 << 24);
        for (const rt::FieldPlan& field : lowered.plan.fields) {
            if (field.role != rt::Role::output) session.upload(field.name, 0, std::span<const float>(values));
        }
        return session;
    }

    std::string check(const ir::Program& program, const lower::Lowered& lowered, const Stencil& stencil) {
        const Extent awkward = program.rank() == 3 ? Extent{67, 35, 21} : Extent{301, 77, 1};
        const Reference reference(program, awkward, 2, 1);
        const std::string small =
            difference(reference, lowered, *device_, [&](const auto& code, auto&) { return load(code); });
        if (!small.empty()) return small;
        schedule::Schedule plain;
        plain.threads = {32, 4, 1};
        const std::size_t stages = ir::form_stages(program).size();
        rt::Session ours = make_session(lowered, stencil.extent);
        ours.step(2);
        const std::string field = lowered.plan.fields.back().name;
        std::vector<double> result = ours.download(field);
        rt::Session naive =
            make_session(lower::lower_cuda(program, std::vector(stages, plain)), stencil.extent);
        naive.step(2);
        const std::vector<double> expected = naive.download(field);
        const auto differs = std::mismatch(result.begin(), result.end(), expected.begin());
        if (differs.first == result.end()) return "";
        return fmt::format("cell {} is {} instead of {}", differs.first - result.begin(), *differs.first,
                           *differs.second);
    }

    std::unique_ptr<rt::CudaDevice> device_;
    double copy_ = 0;  // bytes a second
};

}  // namespace

int main(int argc, char** argv) {
    try {
        Bench bench;
        bench.head();
        if (argc > 2 && std::strcmp(argv[1], "--try") == 0) {
            for (const Stencil& stencil : stencils()) {
                if (stencil.name.find(argv[2]) == std::string::npos) continue;
                bench.run(stencil, std::nullopt);
                for (int n = 3; n < argc; ++n)
                    bench.run(stencil, argv[n]);
            }
            return 0;
        }
        if (argc > 1 && std::strcmp(argv[1], "--sums") == 0) {
            Bench::head_of_sums();
            for (const Sums& each : sums()) {
                bench.run(each, std::nullopt);
                for (int n = 2; n < argc; ++n)
                    bench.run(each, argv[n]);
            }
            return 0;
        }
        for (const Stencil& stencil : stencils())
            bench.run(stencil, std::nullopt);
        Bench::head_of_sums();
        for (const Sums& each : sums())
            bench.run(each, std::nullopt);
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
