// Time tiles on the CPU give the interpreter's bits: all boundaries, awkward grids, numbers of steps that
// they do not divide, and programs that must not be tiled.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "catch.h"
#include "compare_engines.h"
#include "compiler/emit/emit.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/cpu/jit.h"

namespace {

using namespace halo;

constexpr int kSteps = 7;

class Engines {
public:
    Engines() {
        for (const int threads : {1, 2, 3})
            devices_.push_back(rt::make_cpu_device(threads));
    }

    // The most steps that were done at once, of all tiles and threads.
    int check(const std::string& text, const test::Extent& extent) {
        const ir::Program program = test::load_program(text);
        const lower::Lowered lowered = lower::lower_cpu(program);
        const test::Reference reference(program, extent, kSteps, 1);
        rt::JitOptions options;
        options.use_cache = false;
        const rt::CompiledObject object = rt::compile_object(emit::print_cpp(lowered.kernels), options);
        const test::Load load = [&](const lower::Lowered&, rt::Device& device) {
            std::vector<std::unique_ptr<rt::Module>> modules;
            modules.push_back(device.load(object.bytes, "tiled"));
            return modules;
        };
        int most = 1;
        for (const auto& device : devices_) {
            for (const rt::TimeTileOptions& tiles : {rt::TimeTileOptions{2, 1}, rt::TimeTileOptions{3, 4},
                                                     rt::TimeTileOptions{4, 0}, rt::TimeTileOptions{7, 2}}) {
                INFO(text << "on " << extent[0] << " x " << extent[1] << " x " << extent[2] << ", "
                          << tiles.steps << " steps at once, strips of " << tiles.rows << " rows, "
                          << device->description());
                int steps = 1;
                CHECK(test::difference(reference, lowered, *device, load, 0, tiles, &steps) == "");
                most = std::max(most, steps);
            }
        }
        return most;
    }

private:
    std::vector<std::unique_ptr<rt::Device>> devices_;
};

std::string diffusion(int rank, const std::string& boundary, int reach) {
    std::string sum;
    for (const char* axis : {"x", "y", "z"})
        if (axis[0] - 'x' < rank) sum += fmt::format(" + u[{0}-{1}] + u[{0}+{1}] + u[{0}-1]", axis, reach);
    return fmt::format(
        "stencil diffusion({}) {{\n    field u: f32 {{ boundary {} }}\n    u[t+1] = 0.1 * (u{})\n}}\n",
        rank == 2 ? "x, y" : "x, y, z", boundary, sum);
}

}  // namespace

TEST_CASE("time tiles: every boundary on awkward grids") {
    Engines engines;
    for (const char* boundary :
         {"fixed 1", "clamp", "mirror", "periodic", "free", "x periodic, y.low mirror, y.high fixed 2",
          "x.low clamp, x.high mirror, y periodic"}) {
        for (const int reach : {1, 2}) {
            const std::string plane = diffusion(2, boundary, reach);
            CHECK(engines.check(plane, {5, 47, 1}) == 7);
            engines.check(plane, {1, 9, 1});
            engines.check(plane, {9, 1, 1});
            for (const char* last : {", z periodic", ", z.low clamp, z.high fixed 3"}) {
                const bool all = std::string(boundary).find('x') == std::string::npos;
                const std::string volume = diffusion(3, boundary + std::string(all ? "" : last), reach);
                CHECK(engines.check(volume, {3, 19, 31}) == 7);
                engines.check(volume, {4, 1, 8});
                engines.check(volume, {2, 8, 1});
                if (all) break;
            }
        }
    }
}

TEST_CASE("time tiles: steps that read one way, and see the other in a mirror") {
    Engines engines;
    for (const char* reads : {"u[y+1]", "u[y+2]", "u[y-2]", "u[x-1, y+2]"}) {
        const std::string text = fmt::format(
            "stencil one_way(x, y) {{\n    field u: f32 {{ boundary mirror }}\n"
            "    u[t+1] = 0.5*u + 0.25*{}\n}}\n",
            reads);
        CHECK(engines.check(text, {5, 47, 1}) == 7);
        engines.check(text, {3, 9, 1});
    }
}

TEST_CASE("time tiles: levels of the past, several kernels, reductions, and what changes with the step") {
    Engines engines;
    const char* wave = R"(stencil wave(x, y) {
    param c = 0.1
    field u: f64 { boundary x mirror, y clamp }
    u[t+1] = 2*u - u[t-1] + c * (u[x-1] + u[x+1] + u[y-1] + u[y+1] - 4*u) + 0.01 * step
}
)";
    CHECK(engines.check(wave, {9, 40, 1}) == 7);
    const char* coupled = R"(stencil coupled(x, y, z) {
    field p: f32 { boundary fixed 0 }
    field v: f32 { boundary fixed 0 }
    field w: f32 { boundary periodic }
    field flow: f32 { boundary clamp }
    v[t+1] = v + 0.1 * (p[x+1] - p[y-1])
    w[t+1] = w + 0.1 * (p[z+1] - p)
    flow = v[t+1] - v[t+1, x-1] + w[t+1, y-1] - w[t+1, z-2]
    p[t+1] = p + 0.1 * (flow[y-2] + flow[z+1])
    reduce most = max(abs(p[t+1]))
    reduce all = sum(p[t+1])
}
)";
    CHECK(engines.check(coupled, {5, 6, 90}) == 7);
}

TEST_CASE("time tiles: none where they are not known to be safe") {
    Engines engines;
    const char* formula = R"(stencil formula(x, y) {
    field u: f32 { boundary antimirror }
    u[t+1] = 0.25 * (u[x-1] + u[x+1] + u[y-1] + u[y+1])
}
)";
    CHECK(engines.check(formula, {9, 40, 1}) == 1);
    const char* feedback = R"(stencil feedback(x, y) {
    field u: f32 { boundary clamp }
    reduce most = max(abs(u))
    u[t+1] = 0.25 * (u[x-1] + u[x+1] + u[y-1] + u[y+1]) / (1 + most)
}
)";
    CHECK(engines.check(feedback, {9, 40, 1}) == 1);
    const char* region = R"(stencil region(x, y) {
    field u: f32 { boundary clamp }
    u[t+1] = 0.25 * (u[x-1] + u[x+1] + u[y-1] + u[y+1])
    where idx(y) < 3 {
    u[t+1] = 1
    }
}
)";
    engines.check(region, {9, 40, 1});
    const char* line = R"(stencil line(x) {
    field u: f32 { boundary clamp }
    u[t+1] = 0.5 * (u[x-1] + u[x+1])
}
)";
    CHECK(engines.check(line, {90, 1, 1}) == 1);
}

// What is left of planes, rows and lines of cells that are computed together; see kChoices in
// compiler/lower/cpu_lines.cpp.
TEST_CASE(
    "the CPU computes planes and rows together, whatever their number, in strips and in parts of planes") {
    const char* const head =
        "stencil s(x, y, z) {\n accuracy 8\n field u: f32 { boundary x clamp, y mirror, z periodic }\n";
    const char* const box = R"( def weight(n) = if n == 0 then 0.3 else if n == 1 then 0.05 else 0.02
    u[t+1] = sum(k in -1..1, j in -1..1, i in -1..1) weight(i*i + j*j + k*k) * u[x+i, y+j, z+k] })";
    const char* const several = R"( field v: f64 { boundary fixed 1 }
    u[t+1] = u + 0.1 * (v[z-1] + v[z+1] + v[y-1] + v[y+1] - 4*v)
    v[t+1] = v + 0.1 * (u[t+1, z+2] - u[t+1, z-1]) })";
    const std::vector<std::string> texts{
        std::string(head) + box, head + std::string("u[t+1] = u + 0.01 * laplacian(u) }"),
        head + std::string("u[t+1] = u + 0.1 * sum(j in -2..2) u[y+j] }"), head + std::string(several)};
    for (const std::string& text : texts) {
        const ir::Program program = test::load_program(text);
        const lower::Lowered lowered = lower::lower_cpu(program);
        rt::JitOptions options;
        options.use_cache = false;
        const rt::CompiledObject object = rt::compile_object(emit::print_cpp(lowered.kernels), options);
        for (std::int64_t planes = 5; planes <= 10; ++planes) {
            const test::Extent extent{planes == 7 ? 5 : 37, 4 + planes % 3, planes};
            const test::Reference reference(program, extent, kSteps, 1);
            for (const int threads : {1, 2, 3}) {
                const std::unique_ptr<rt::Device> device = rt::make_cpu_device(threads);
                const test::Load load = [&](const lower::Lowered&, rt::Device& on) {
                    std::vector<std::unique_ptr<rt::Module>> modules;
                    modules.push_back(on.load(object.bytes, "together"));
                    return modules;
                };
                for (const rt::TimeTileOptions& tiles :
                     {rt::TimeTileOptions{1, 0}, rt::TimeTileOptions{2, 1}, rt::TimeTileOptions{3, 3}}) {
                    INFO(text << "on " << extent[0] << " x " << extent[1] << " x " << extent[2] << ", "
                              << tiles.steps << " steps at once, " << device->description());
                    CHECK(test::difference(reference, lowered, *device, load, 0, tiles) == "");
                }
            }
        }
    }
}

// Strips and what is tried out are for grids that a core's caches do not hold.
TEST_CASE("time tiles: single steps in strips, tiles that are tried out and tiles give the same bits") {
    constexpr int kLongSteps = 70;
    struct Case {
        std::string text;
        test::Extent extent;
    };
    for (const Case& each :
         {Case{diffusion(3, "clamp", 4), {33, 611, 13}}, Case{diffusion(2, "mirror", 1), {700, 811, 1}},
          Case{diffusion(3, "x fixed 1, y periodic, z mirror", 2), {65, 130, 70}}}) {
        const lower::Lowered lowered = lower::lower_cpu(test::load_program(each.text));
        rt::JitOptions options;
        options.use_cache = false;
        const rt::CompiledObject object = rt::compile_object(emit::print_cpp(lowered.kernels), options);
        const auto cells_after = [&](int threads, const rt::TimeTileOptions& tiles, std::int64_t strip,
                                     bool streams = false) {
            const std::unique_ptr<rt::Device> device = rt::make_cpu_device(threads);
            std::vector<std::unique_ptr<rt::Module>> modules;
            modules.push_back(device->load(object.bytes, "tiled"));
            rt::Module& module = *modules.front();
            rt::SessionOptions session_options;
            session_options.time_tiles = tiles;
            rt::Session session(lowered.plan, each.extent, *device, std::move(modules), session_options);
            if (strip >= 0) module.find_kernel(lowered.plan.kernels.front())->set_order({strip, streams});
            std::vector<float> cells(
                static_cast<std::size_t>(each.extent[0] * each.extent[1] * each.extent[2]));
            for (std::size_t i = 0; i < cells.size(); ++i)
                cells[i] = static_cast<float>(i * 7919 % 1013) / 1013.0F;
            session.upload("u", 0, std::span<const float>(cells));
            // As `haloc run` asks: a few steps a call, or as many more as tiles take.
            for (std::int64_t done = 0, count = 1; done < kLongSteps; done += count) {
                count = std::min<std::int64_t>(session.whole_steps(2), kLongSteps - done);
                CHECK(count >= std::min<std::int64_t>(2, kLongSteps - done));
                if (tiles.steps > 1 && done > 0 && done + 2 * tiles.steps < kLongSteps)
                    CHECK(count == tiles.steps);
                session.step(count);
            }
            session.download("u", 0, std::span<float>(cells));
            return cells;
        };
        const std::vector<float> expected = cells_after(1, {1, 0}, 0);
        for (const int threads : {1, 2}) {
            INFO(each.text << threads << " threads");
            CHECK(cells_after(threads, {1, 0}, -1) == expected);
            CHECK(cells_after(threads, {1, 0}, 5) == expected);
            CHECK(cells_after(threads, {1, 0}, 5, true) == expected);
            CHECK(cells_after(threads, {1, 0}, 0, true) == expected);
            CHECK(cells_after(threads, {0, 0}, -1) == expected);
            CHECK(cells_after(threads, {3, 17}, -1) == expected);
        }
    }
}
