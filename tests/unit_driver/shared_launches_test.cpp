// Which stages the model has share a launch.
#include <string>
#include <vector>

#include "catch.h"
#include "compiler/driver/planning/compile.h"
#include "compiler/driver/spec/spec.h"

using namespace halo;
using namespace halo::driver;

namespace {

constexpr const char* kChain = R"(stencil s(x, y) {
    field u: f64 { boundary clamp }
    field a, b: f64 { boundary clamp }
    field e: f64 on coarse(8) { boundary clamp }
    field f: f64 on coarse(8) { boundary clamp }
    a = u[x-1] + u[x+1]
    b = a[y-1] + a[y+1]
    e = b[8*x, 8*y+1]
    f = e[x-1] + e[x+1]
    u[t+1] = u + b[x-1] - b[x+1] + f[x/8, y/8]
    reduce most = max(u[t+1][x-1])
})";

// By stage: the number of threads that its schedule shares a launch by.
std::vector<int> fused(const CodeOptions& options) {
    const CheckedSpec spec = check_text("s.halo", kChain);
    REQUIRE(spec.ok);
    const ir::Program program = optimize(choose_stencil(spec, "").program, options);
    std::vector<int> found;
    for (const StageChoice& stage : choose_schedules(program, options))
        found.push_back(std::get<schedule::Direct>(stage.schedule.strategy).fuse);
    return found;
}

CodeOptions on_grid(std::int64_t cells) {
    CodeOptions options;
    options.extent = {cells, cells, 1};
    return options;
}

}  // namespace

TEST_CASE("small stages beside each other share a launch, whatever grid they are of") {
    CHECK(fused(on_grid(32)) == std::vector<int>{512, 512, 512, 512, 512, 0});
    CHECK(fused(on_grid(40)) == std::vector<int>{0, 0, 512, 512, 0, 0});
    CHECK(fused(on_grid(256)) == std::vector<int>{0, 0, 512, 512, 0, 0});
    CHECK(fused(on_grid(1024)) == std::vector<int>{0, 0, 0, 0, 0, 0});
}

TEST_CASE(
    "no launch is shared on a grid that is not known, by code for any grid, and where it is pinned so") {
    const std::vector<int> none(6, 0);
    CHECK(fused({}) == none);
    CodeOptions options = on_grid(32);
    options.shares_launches = false;
    CHECK(fused(options) == none);
    options = on_grid(32);
    options.schedules = {"direct fuse=0"};
    CHECK(fused(options) == none);
    options = on_grid(256);
    options.schedules = {"direct threads=32x4 fuse=128"};
    CHECK(fused(options) == std::vector<int>(6, 128));
}
