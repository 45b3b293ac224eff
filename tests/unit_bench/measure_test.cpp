// Every strategy on an emulated GPU, verified and timed as on one of metal: what is right is right, and what
// is wrong is found.
#include <chrono>

#include "catch.h"
#include "compiler/bench/measure.h"
#include "compiler/emit/emit.h"
#include "compiler/support/error.h"
#include "emulated_device.h"

using namespace halo;

namespace {

class EmulatedLab : public bench::Lab {
public:
    bool is_gpu() const override { return true; }
    rt::Device& device() override { return device_; }
    bench::MachineFacts facts() override { return {}; }
    bench::Variants variants(const ir::Program& program, const bench::Extent& extent,
                             const std::vector<std::string>& asked) override {
        bench::Variants variants = bench::gpu_variants(program, schedule::Target(), extent, asked);
        // Its kernels are long ones to emulate: one is measured that is asked for, in few threads.
        std::erase_if(variants.all, [](const bench::Variant& each) { return each.name == "temporal"; });
        return variants;
    }
    lower::Lowered lower(const ir::Program& program, const bench::Variant& variant,
                         const bench::Extent& extent) override {
        if (variant.name == refused) throw UnsupportedError("not today");
        if (variant.name == broken) throw rt::Error(rt::ErrorCode::launch_failed, "the GPU has fallen over");
        return bench::lower_variant(program, schedule::Target(), variant, extent);
    }
    std::vector<std::unique_ptr<rt::Module>> load(const lower::Lowered& lowered) override {
        std::string text = emit::print_cuda(lowered.kernels);
        std::size_t at = spoilt_from.empty() ? std::string::npos : text.find(spoilt_from);
        for (; at != std::string::npos; at = text.find(spoilt_from, at + spoilt_to.size()))
            text.replace(at, spoilt_from.size(), spoilt_to);
        std::vector<std::unique_ptr<rt::Module>> modules;
        modules.push_back(device_.load(text, lowered.plan.name));
        return modules;
    }
    double compile_seconds(const lower::Lowered&) override { return 0; }
    double seconds(const std::function<void()>& work) override {
        const auto start = std::chrono::steady_clock::now();
        work();
        // As if it took long: a few steps are enough.
        return 1 + std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    void measure_limits(bench::MachineFacts&) override {}
    double core_clock_ghz() override { return 0; }

    std::string spoilt_from, spoilt_to;  // in the emitted text
    std::string refused, broken;         // variants

private:
    emulator::EmulatedDevice device_;
};

bench::Case small_case(const char* spec, const char* type, bench::Extent extent,
                       bench::Section section = bench::Section::sweeps) {
    bench::Case one{spec, spec, type, extent, section};
    one.steps = 1;
    return one;
}

}  // namespace

TEST_CASE("every strategy is verified and timed") {
    EmulatedLab lab;
    for (const bench::Case& each :
         {small_case("bench/star2d1", "f64", {40, 9, 1}),
          small_case("bench/star3d1_periodic", "f32", {24, 5, 6}),
          small_case("derivative_y", "f32", {16, 8, 3}, bench::Section::derivatives)}) {
        const bench::CaseResult result = bench::measure(lab, each, {});
        INFO(each.name() << " " << result.trouble);
        CHECK(result.trouble.empty());
        REQUIRE(result.measurements.size() >= 3);
        for (const bench::Measurement& one : result.measurements) {
            INFO(one.schedule << ": " << one.wrong);
            CHECK(one.wrong.empty());
            CHECK(one.seconds > 0);
            CHECK(one.steps == 1);
        }
        CHECK(result.find("naive") != nullptr);
        REQUIRE(result.choice() != nullptr);
        CHECK(result.bytes_per_cell == (each.type == "f64" ? 16 : 8));
    }
}

TEST_CASE("what the compiler chooses can be measured alone") {
    EmulatedLab lab;
    const bench::Case one = small_case("bench/star3d1_periodic", "f32", {24, 5, 6});
    const std::vector<std::string> asked{"tile cells=1x2"};
    const bench::CaseResult all = bench::measure(lab, one, asked),
                            few = bench::measure(lab, one, asked, true);
    CHECK(few.measurements.size() < all.measurements.size());
    CHECK(few.chosen == all.chosen);
    CHECK(few.choice() != nullptr);
    CHECK(few.find("naive") != nullptr);
    CHECK(few.find("tile cells=1x2") != nullptr);
    CHECK(few.is_right());
}

TEST_CASE("sums over tables are verified with random rows") {
    EmulatedLab lab;
    bench::Case sum = small_case("coulomb", "f32", {9, 4, 2}, bench::Section::sums);
    sum.rows = 20;
    const bench::CaseResult result = bench::measure(lab, sum, {});
    REQUIRE(result.choice() != nullptr);
    INFO(result.choice()->wrong);
    CHECK(result.is_right());
}

TEST_CASE("a kernel that computes something else is found, and not timed") {
    EmulatedLab lab;
    lab.spoilt_from = "0.17f";
    lab.spoilt_to = "0.17000001f";
    const bench::CaseResult result = bench::measure(lab, small_case("bench/star2d1", "f32", {40, 9, 1}), {});
    REQUIRE_FALSE(result.measurements.empty());
    CHECK_FALSE(result.is_right());
    for (const bench::Measurement& one : result.measurements) {
        CHECK(one.wrong.find("instead of") != std::string::npos);
        CHECK(one.seconds == 0);
    }
}

TEST_CASE("what a strategy refuses is left out, what breaks is wrong, and the others are measured") {
    EmulatedLab lab;
    lab.refused = "tile";
    lab.broken = "stream";
    const bench::CaseResult result = bench::measure(lab, small_case("bench/star2d1", "f32", {40, 9, 1}), {});
    CHECK(result.find("tile") == nullptr);
    CHECK(result.trouble == "tile: not today");
    REQUIRE(result.find("stream") != nullptr);
    CHECK(result.find("stream")->wrong == "the GPU has fallen over");
    CHECK_FALSE(result.is_right());
    REQUIRE(result.choice() != nullptr);
    CHECK(result.choice()->wrong.empty());
}

TEST_CASE("a schedule that is asked for is measured, or refused with the reason") {
    EmulatedLab lab;
    const bench::Case star = small_case("bench/star2d1", "f32", {40, 9, 1});
    const std::string good = "direct threads=16x4 cells=2x2";
    const std::string several = "temporal steps=2 warps=1 cells=1 ahead=1 blocks=2";
    bench::CaseResult result =
        bench::measure(lab, star, {good, several, "direct threads=4096x1", "sideways", "temporal warps=99"});
    REQUIRE(result.find(several) != nullptr);
    CHECK(result.find(several)->wrong.empty());
    CHECK(result.trouble.find("temporal warps=99: `warps` is a whole number") != std::string::npos);
    REQUIRE(result.find(good) != nullptr);
    CHECK(result.find(good)->wrong.empty());
    CHECK(result.find(good)->schedule.find("threads=16x4 cells=2x2") != std::string::npos);
    CHECK(result.trouble.find("direct threads=4096x1: ") != std::string::npos);
    CHECK(result.trouble.find("sideways: ") != std::string::npos);
    CHECK(result.is_right());
}
