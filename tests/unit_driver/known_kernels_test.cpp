// How steps are grouped where a kernel for several may be compiled already.
#include <string>

#include "catch.h"
#include "compiler/driver/planning/compile.h"
#include "compiler/driver/spec/spec.h"

using namespace halo;
using namespace halo::driver;

namespace {

constexpr const char* kHeat = R"(stencil heat(x, y, z) {
    field u: f32 { boundary fixed 1 }
    u[t+1] = u + 0.1 * laplacian(u)
}
)";

struct Chosen {
    PlanChoice choice;
    int asked = 0;
    bool several() const { return choice.taken() != nullptr; }
    std::string reasons() const {
        std::string text;
        for (const GroupingVerdict& verdict : choice.groupings)
            text += verdict.reason + "\n";
        return text;
    }
};

// known: what the cache says of every kernel; nothing: it is not asked.
Chosen choose(std::int64_t steps, const std::optional<KnownKernel>& known, bool waits = false) {
    const CheckedSpec spec = check_text("heat.halo", kHeat);
    REQUIRE(spec.ok);
    CodeOptions options;
    options.extent = {256, 256, 256};
    options.steps = steps;
    options.wait_for_time_block = waits;
    Chosen chosen;
    if (known)
        options.find_kernel = [&](const ir::Program& program, const schedule::Plan& plan) {
            ++chosen.asked;
            CHECK(cuda_code(program, plan).lowered.plan.time_block);
            return *known;
        };
    chosen.choice = choose_plan(optimize(choose_stencil(spec, "").program, options), options);
    return chosen;
}

bool has(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

constexpr std::int64_t kShort = 2000;  // less than a tenth of a second
const KnownKernel kMissing{false, "the key"}, kCompiled{true, "the key"};

}  // namespace

TEST_CASE(
    "a run that is over before its kernel would be compiled does single steps, and says what it lacks") {
    const Chosen unasked = choose(kShort, std::nullopt);
    CHECK_FALSE(unasked.several());
    CHECK(unasked.choice.lacking.empty());
    CHECK(has(unasked.reasons(), "the run is too short"));
    const Chosen asked = choose(kShort, kMissing);
    CHECK_FALSE(asked.several());
    CHECK(asked.asked >= 1);
    CHECK(asked.choice.lacking == "the key");
    CHECK(has(asked.reasons(), "the run is too short"));
    CHECK(has(asked.reasons(), "is not in the cache"));
}

TEST_CASE("a kernel that is compiled is taken however short the run is") {
    for (const bool waits : {false, true}) {
        const Chosen chosen = choose(kShort, kCompiled, waits);
        REQUIRE(chosen.several());
        CHECK(chosen.asked == 1);
        CHECK(chosen.choice.lacking.empty());
        CHECK(has(chosen.choice.taken()->reason, "its kernel is in the disk cache"));
        // The same as a long run takes.
        CHECK(chosen.choice.taken()->grouping == choose(1000000, kMissing).choice.taken()->grouping);
    }
}

TEST_CASE("nothing is asked where the run is over at once, nor where it is worth compiling in any case") {
    const Chosen at_once = choose(10, kCompiled);
    CHECK_FALSE(at_once.several());
    CHECK(at_once.asked == 0);
    CHECK(at_once.choice.lacking.empty());
    const Chosen in_any_case = choose(1000000, kMissing);
    CHECK(in_any_case.several());
    CHECK(in_any_case.asked == 0);
    CHECK(in_any_case.choice.lacking.empty());
}

TEST_CASE("a run's kernel of several steps is for its grid alone, and those of single steps are for any") {
    const CheckedSpec spec = check_text("heat.halo", kHeat);
    REQUIRE(spec.ok);
    const auto parts = [&](const schedule::Extent& extent, bool of_host) {
        CodeOptions options;
        options.extent = extent;
        options.arrays_of_host = of_host;
        const ir::Program program = optimize(choose_stencil(spec, "").program, options);
        CodeOptions large = options;
        large.extent = {512, 512, 512};
        return parts_of(cuda_code(program, choose_plan(program, large).plan(), details_of_run(options)));
    };
    const CodeParts here = parts({512, 512, 512}, false), there = parts({500, 512, 512}, false);
    const CodeParts of_host = parts({512, 512, 512}, true);
    CHECK(here.steps == there.steps);
    CHECK(here.steps == of_host.steps);
    CHECK(has(here.block, "constexpr int nx_2 = 512;"));
    CHECK(has(there.block, "constexpr int nx_2 = 500;"));
    CHECK_FALSE(has(of_host.block, "nx_2"));
    CHECK_FALSE(has(here.steps, "nx_2"));
}
