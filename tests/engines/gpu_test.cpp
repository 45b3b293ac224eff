// The examples and random programs on a GPU, by every strategy, through NVRTC.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>

#include "catch.h"
#include "compiler/emit/emit.h"
#include "compiler/ir/recurrences.h"
#include "compiler/schedule/defaults.h"
#include "property.h"
#include "random_bytes.h"
#include "random_schedule.h"
#include "random_time_loop.h"
#include "read_spec.h"
#include "runtime/core/session.h"
#include "runtime/core/text.h"
#include "runtime/cuda/cuda.h"
#include "runtime/nvrtc/nvrtc.h"
#include "skip.h"

using namespace halo;
using namespace halo::test;

namespace {

const SkipUnless device_present(!rt::cuda_status().devices.empty(), rt::cuda_status().why);
const SkipUnless compiler_present(rt::Nvrtc::find() != nullptr, rt::Nvrtc::why_missing());

rt::CudaDevice& gpu() {
    static const std::unique_ptr<rt::CudaDevice> device = rt::open_cuda_device();
    return *device;
}

std::vector<std::unique_ptr<rt::Module>> load(const lower::Lowered& lowered, rt::Device& device) {
    rt::NvrtcOptions options;
    options.arch = gpu().info().arch();
    std::vector<std::unique_ptr<rt::Module>> modules;
    const std::string text = emit::print_cuda(lowered.kernels);
    modules.push_back(
        device.load(rt::Nvrtc::find()->compile(text, lowered.plan.name, options).cubin, lowered.plan.name));
    return modules;
}

// Of sums of 300 terms at most, each within the bounds of docs/floating-point.md.
constexpr double kFastBound = 300 * 0x1p-17;

// A few steps of functions that the device rounds in its own way, by 2 units in the last place at most.
constexpr double kLibraryBound = 0x1p-18;

// Of sweeps in parts, in f64: what goes from part to part of a line is rounded otherwise.
constexpr double kPartsBound = 1e-12;

double bound_of(const ir::Program& program) {
    double bound = 0;
    for (const ir::Expr& expr : program.exprs) {
        const auto* call = std::get_if<ir::Call>(&expr.node);
        const auto* noise = std::get_if<ir::Noise>(&expr.node);
        if (call && call->fast) return kFastBound;
        const bool is_rounded_alike =
            call && (call->function == ir::Function::sqrt || call->function == ir::Function::rsqrt ||
                     call->function == ir::Function::abs || call->function == ir::Function::floor ||
                     call->function == ir::Function::ceil || call->function == ir::Function::round ||
                     call->function == ir::Function::trunc);
        if ((call && !is_rounded_alike) ||
            (noise && noise->kind == ir::NoiseKind::normal && expr.type == ir::Scalar::f64))
            bound = kLibraryBound;
    }
    for (const ir::Statement& statement : program.statements)
        if (const auto* assign = std::get_if<ir::Assign>(&statement); assign && ir::is_in_parts(*assign))
            bound = std::max(bound, kPartsBound);
    return bound;
}

void check_random(schedule::Strategy strategy, Seeds seeds) {
    GeneratorOptions options;
    options.max_cells = 20000;
    options.tables = true;
    options.series = true;
    options.points = true;
    options.sweeps = true;
    options.repeats = true;
    options.shared_cells = true;
    check_engine(options, seeds,
                 [&](const RandomProgram& source, const ir::Program& program, const Reference& reference) {
                     Random random(source.seed + 1);
                     const std::vector<schedule::Schedule> schedules =
                         random_schedules(program, strategy, random);
                     if (schedules.empty()) return std::string();
                     return difference(reference, lower::lower_cuda(program, {schedules}), gpu(), load);
                 });
}

void check_resident(std::uint64_t first, std::uint64_t count) {
    constexpr int kTimes = 20;  // for blocks to run ahead of others
    check_on_the_chip(seeds_from_environment(first, count), kTimes,
                      [](const Reference& reference, const lower::Lowered& lowered) {
                          return difference(reference, lowered, gpu(), load);
                      });
}

void check_several(std::uint64_t first, std::uint64_t count) {
    check_several_steps(seeds_from_environment(first, count),
                        [](const Reference& reference, const lower::Lowered& lowered) {
                            return difference(reference, lowered, gpu(), load);
                        });
}

}  // namespace

TEST_CASE("examples by the schedules that are chosen for them", "[examples]") {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(HALO_SOURCE_DIR "/dsl_examples")) {
        if (entry.path().extension() != ".halo") continue;
        const ir::Program program = load_program(read_spec(entry.path()));
        if (reads_sums(program)) continue;
        std::vector<Extent> grids{{256, 256, 1}, {301, 77, 1}};
        if (program.rank() == 4) grids = {{64, 17, 9, 8}, {33, 5, 6, 7}};
        if (program.rank() == 3) grids = {{64, 64, 64}, {67, 35, 21}};
        if (program.rank() == 1) grids = {{4096, 1, 1}, {301, 1, 1}};
        for (const Extent& extent : grids) {
            INFO(entry.path().filename() << " on " << rt::extent_text(program.rank(), extent));
            std::vector<schedule::Schedule> schedules;
            for (const ir::Stage& stage : ir::form_stages(program)) {
                schedules.push_back(schedule::choose(program, stage, schedule::Target{}, extent).schedule);
            }
            const Reference reference(program, extent, 5, 1);
            CHECK(difference(reference, lower::lower_cuda(program, {schedules}), gpu(), load,
                             bound_of(program)) == "");
        }
    }
}

TEST_CASE("random programs on the GPU, direct", "[direct]") {
    check_random(schedule::Direct{}, seeds_from_environment(11001, 100));
}

TEST_CASE("random programs on the GPU, tile", "[tile]") {
    check_random(schedule::Tile{}, seeds_from_environment(12001, 100));
}

TEST_CASE("random programs on the GPU, stream", "[stream]") {
    check_random(schedule::Stream{}, seeds_from_environment(13001, 100));
}

// Nine of ten are done several at once, and each kernel takes a second or two to compile: three entries of
// ctest.
TEST_CASE("random time loops on the GPU, several steps at once, first third", "[temporal_first]") {
    check_several(14001, 30);
}
TEST_CASE("random time loops on the GPU, several steps at once, second third", "[temporal_second]") {
    check_several(14031, 30);
}
TEST_CASE("random time loops on the GPU, several steps at once, last third", "[temporal_last]") {
    check_several(14061, 30);
}

TEST_CASE("random time loops of single bytes on the GPU, several steps at once", "[temporal_bytes]") {
    check_byte_loops(seeds_from_environment(19001, 40),
                     [](const Reference& reference, const lower::Lowered& lowered) {
                         return difference(reference, lowered, gpu(), load);
                     });
}

TEST_CASE("iterations of random repeats on the GPU, several at once", "[iterations]") {
    check_iterations(seeds_from_environment(18001, 40),
                     [](const Reference& reference, const lower::Lowered& lowered) {
                         return difference(reference, lowered, gpu(), load);
                     });
}

TEST_CASE("random time loops on the GPU end at the step that a reduction says", "[until]") {
    check_stopping(seeds_from_environment(16001, 60),
                   [](const Reference& reference, const lower::Lowered& lowered, const rt::RunOptions& run) {
                       return difference(reference, lowered, gpu(), load, 0, {}, nullptr, &run);
                   });
}

// Each loop is a text of its own, of which the resident kernel takes the compiler seconds: four entries of
// ctest.
TEST_CASE("random time loops on the GPU with the grid on the chip, first quarter", "[resident_first]") {
    check_resident(15001, 38);
}
TEST_CASE("random time loops on the GPU with the grid on the chip, second quarter", "[resident_second]") {
    check_resident(15039, 38);
}
TEST_CASE("random time loops on the GPU with the grid on the chip, third quarter", "[resident_third]") {
    check_resident(15077, 37);
}
TEST_CASE("random time loops on the GPU with the grid on the chip, last quarter", "[resident_last]") {
    check_resident(15114, 37);
}

TEST_CASE("fast functions stay within their stated bounds", "[functions]") {
    const ir::Program program = load_program(
        "stencil fast_functions(x) {\n    fast sin, cos, exp, log, rsqrt\n    field u, w: f32\n"
        "    field s, c, e, l, r: f32\n    s = sin(u)\n    c = cos(u)\n    e = exp(u)\n    l = log(w)\n"
        "    r = rsqrt(w)\n}\n");
    const Extent extent{1 << 22, 1, 1};
    std::vector<schedule::Schedule> schedules;
    for (const ir::Stage& stage : ir::form_stages(program))
        schedules.push_back(schedule::choose(program, stage, schedule::Target{}, extent).schedule);
    const lower::Lowered lowered = lower::lower_cuda(program, {schedules});
    rt::Session session(lowered.plan, extent, gpu(), load(lowered, gpu()));
    Random random(3);
    std::vector<float> u(1 << 22), w(1 << 22);
    for (std::size_t n = 0; n < u.size(); ++n) {
        const double unit = static_cast<double>(random.next() >> 40) / (1 << 24) - 0.5;
        u[n] = static_cast<float>(n % 2 ? 2 * 3.14159265 * unit : 160 * unit);
        w[n] = static_cast<float>(n % 2 ? 0.5 + 3 * (unit + 0.5) / 2 : std::exp(160 * unit));
    }
    session.upload("u", 0, std::span<const float>(u));
    session.upload("w", 0, std::span<const float>(w));
    session.step();
    // The largest error, as a multiple of its bound.
    const auto worst = [&](const char* field, const auto& exact, const auto& bound,
                           const std::vector<float>& from) {
        const std::vector<double> values = session.download(field);
        double most = 0;
        for (std::size_t n = 0; n < from.size(); ++n) {
            const double x = from[n];
            const double right = exact(x);
            most = std::max(most, std::abs(values[n] - right) / bound(x, right));
        }
        INFO(field << " is off by " << most << " of its bound");
        CHECK(most <= 1);
    };
    const auto ulp = [](double value) { return std::ldexp(1.0, std::max(std::ilogb(value), -126) - 23); };
    const auto circular = [](double x, double) { return 0x1p-21 + 0x1p-23 * std::abs(x); };
    worst("s", [](double x) { return std::sin(x); }, circular, u);
    worst("c", [](double x) { return std::cos(x); }, circular, u);
    worst(
        "e", [](double x) { return std::exp(x); },
        [&](double x, double value) { return (2 + 1.2 * std::abs(x)) * ulp(value); }, u);
    worst(
        "l", [](double x) { return std::log(x); },
        [&](double x, double value) { return x >= 0.5 && x <= 2 ? 0x1p-21 : 3 * ulp(value); }, w);
    worst(
        "r", [](double x) { return 1 / std::sqrt(x); }, [&](double, double value) { return 2 * ulp(value); },
        w);
}

TEST_CASE("quotients of f32 are those of the processor, bit by bit", "[functions]") {
    const ir::Program program =
        load_program("stencil quotients(x) {\n    field a, b: f32\n    field q: f32\n    q = a / b\n}\n");
    const Extent extent{1 << 24, 1, 1};
    std::vector<schedule::Schedule> schedules;
    for (const ir::Stage& stage : ir::form_stages(program))
        schedules.push_back(schedule::choose(program, stage, schedule::Target{}, extent).schedule);
    const lower::Lowered lowered = lower::lower_cuda(program, {schedules});
    rt::Session session(lowered.plan, extent, gpu(), load(lowered, gpu()));
    std::vector<float> special;
    for (const float each :
         {0.0F, 0x1p-149F, 3 * 0x1p-149F, 0x1.fffffcp-127F, 0x1p-126F, 0x1.000002p-126F, 0x1p-64F,
          0x1.fffffep-1F, 1.0F, 0x1.000002p0F, 1.5F, 3.0F, 10.0F, 0x1p64F, 0x1.fffffep127F,
          std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
        special.push_back(each);
        special.push_back(-each);
    }
    Random random(5);
    std::vector<float> a(1 << 24), b(1 << 24);
    for (std::size_t n = 0; n < a.size(); ++n) {
        const std::uint64_t bits = random.next();
        const auto low = static_cast<std::uint32_t>(bits), high = static_cast<std::uint32_t>(bits >> 32);
        a[n] = std::bit_cast<float>(low), b[n] = std::bit_cast<float>(high);
        switch (n % 4) {
            case 0:  // any two
                break;
            case 1:  // of like size, as in most programs
                a[n] = std::bit_cast<float>(low >> 9 | 0x3f800000),
                b[n] = std::bit_cast<float>(high >> 9 | 0x3f800000);
                break;
            case 2:  // quotients that are exact, and those halfway between two numbers, where they are
                     // subnormal
                b[n] = static_cast<float>(1 + high % 4096);
                a[n] = b[n] * static_cast<float>(low % 4096) * 0x1p-149F;
                break;
            case 3:  // and by a power of two
                a[n] = static_cast<float>(low % (1 << 24)) * 0x1p-100F;
                b[n] = std::ldexp(1.0F, static_cast<int>(high % 80));
                break;
        }
    }
    for (std::size_t n = 0; n < special.size() * special.size(); ++n)
        a[n] = special[n / special.size()], b[n] = special[n % special.size()];
    session.upload("a", 0, std::span<const float>(a));
    session.upload("b", 0, std::span<const float>(b));
    session.step();
    const std::vector<double> values = session.download("q");
    for (std::size_t n = 0; n < a.size(); ++n) {
        const float got = static_cast<float>(values[n]), right = a[n] / b[n];
        const bool is_nan = std::isnan(right) && std::isnan(got);
        if (is_nan || std::bit_cast<std::uint32_t>(got) == std::bit_cast<std::uint32_t>(right)) continue;
        INFO(fmt::format("{:a} / {:a} is {:a}, not {:a}", a[n], b[n], right, got));
        REQUIRE(false);
    }
}
