#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "catch.h"
#include "process.h"
#include "specs.h"

using namespace halo::test;

TEST_CASE("emit writes CUDA with its launcher, the same each time") {
    Folder folder;
    folder.write("heat.halo", kHeat);
    CHECK(folder.haloc({"emit", "heat.halo", "-o", "heat.cu"}).code == 0);
    std::string first = folder.read("heat.cu");
    CHECK(first.find("__global__") != std::string::npos);
    CHECK_FALSE(folder.read("heat.h").empty());
    // What goes to standard output is the kernels alone, and the file holds the very same text.
    std::string kernels = folder.haloc({"emit", "heat.halo"}).out;
    CHECK(first.find(kernels) != std::string::npos);
    CHECK(folder.haloc({"emit", "heat.halo", "-o", "heat.cu", "-q"}).err.empty());
    CHECK(folder.read("heat.cu") == first);
}

TEST_CASE("kernels of several grids are printed, and no file is written that would launch them") {
    Folder folder;
    folder.write("two.halo",
                 "stencil two(x) {\n    field u: f32 { boundary clamp }\n    field e: f32 on coarse(2) { "
                 "boundary clamp }\n"
                 "    e = u[2*x] + u[2*x+1]\n    u[t+1] = e[x/2]\n}\n");
    CHECK(folder.haloc({"emit", "two.halo"}).out.find("two_e") != std::string::npos);
    const Outcome file = folder.haloc({"emit", "two.halo", "-o", "two.cu"});
    CHECK(file.code != 0);
    CHECK(file.err.find("is not built yet where fields lie on several grids") != std::string::npos);
    const Outcome fixed = folder.haloc({"emit", "two.halo", "--fixed-grid", "--grid", "64"});
    CHECK(fixed.code != 0);
    CHECK(fixed.err.find("code for one grid alone is not built yet") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(folder.path() + "/two.cu"));
}

TEST_CASE("emit knows its targets") {
    Folder folder;
    folder.write("heat.halo", kHeat);
    CHECK(folder.haloc({"emit", "--target", "cpu", "heat.halo"}).out.find("__global__") == std::string::npos);
    CHECK(folder.haloc({"emit", "--target", "stencil", "heat.halo"}).out.find("stencil heat(x, y)") == 0);
    Outcome plan = folder.haloc({"emit", "--target", "plan", "heat.halo"});
    CHECK(nlohmann::json::parse(plan.out).is_object());
    Outcome wrong = folder.haloc({"emit", "--target", "fortran", "heat.halo"});
    CHECK(wrong.code == 2);
    CHECK(wrong.err.find("fortran") != std::string::npos);
}

TEST_CASE("emit takes a schedule and refuses what cannot be") {
    Folder folder;
    folder.write("heat.halo", kHeat);
    std::string direct =
        folder.haloc({"emit", "heat.halo", "--schedule", "direct threads=32x4 cells=1x1"}).out;
    CHECK(direct.find("32x4 threads") != std::string::npos);
    Outcome unknown = folder.haloc({"emit", "heat.halo", "--schedule", "strem"});
    CHECK(unknown.code == 2);
    CHECK(unknown.err.find("strem") != std::string::npos);
    CHECK(unknown.err.find("did you mean `stream`?") != std::string::npos);
    Outcome large = folder.haloc({"emit", "heat.halo", "--schedule", "direct threads=64x64"});
    CHECK(large.code == 2);
    CHECK(large.err.find("1,024") != std::string::npos);
    Outcome twice = folder.haloc({"emit", "heat.halo", "--schedule", "direct", "--schedule", "direct"});
    CHECK(twice.code == 2);
    CHECK(twice.err.find("1 stage") != std::string::npos);
}

TEST_CASE("kernels at points are printed and explained, and have a launcher") {
    Folder folder;
    folder.write("taps.halo", R"(stencil taps(x) {
    field u: f32 { boundary periodic }
    points taps: sinc 3
    u[t+1] = (u[x-1] + u[x+1]) / 2
    inject u[t+1] at taps += taps.force[t]
    sample u at taps into taps.heard[t]
}
)");
    const Outcome kernels = folder.haloc({"emit", "taps.halo"});
    CHECK(kernels.out.find("taps_inject_taps(") != std::string::npos);
    CHECK(kernels.out.find("taps_sample_taps(") != std::string::npos);
    CHECK(folder.haloc({"emit", "taps.halo", "-o", "taps.cu"}).code == 0);
    CHECK(folder.names() == std::vector<std::string>{"taps.cu", "taps.h", "taps.halo"});
    const Outcome explained = folder.haloc({"explain", "taps.halo", "--grid", "100"});
    CHECK(explained.out.find("taps.heard (sampled)") != std::string::npos);
    CHECK(explained.out.find("taps_inject_taps") != std::string::npos);
    CHECK(explained.out.find("for each cell that the points touch") != std::string::npos);
    // A schedule for all stages is for those that have a choice.
    CHECK(folder.haloc({"emit", "taps.halo", "--schedule", "direct threads=64 cells=2"}).code == 0);
}

TEST_CASE("explain names the schedule, the reason and the bound") {
    Folder folder;
    folder.write("heat.halo", kHeat);
    Outcome outcome = folder.haloc({"explain", "heat.halo"});
    CHECK(outcome.code == 0);
    for (const char* title :
         {"reads", "writes", "per cell", "bound", "schedule", "why", "shared", "compiled"}) {
        INFO(title);
        CHECK(outcome.out.find(std::string("\n  ") + title) != std::string::npos);
    }
    nlohmann::json json = nlohmann::json::parse(folder.haloc({"explain", "--json", "heat.halo"}).out);
    REQUIRE(json["stages"].size() == 1);
    CHECK(json["stages"][0]["bytes_read"] == 8);
    CHECK(json["stages"][0]["bytes_written"] == 8);
    Outcome tile = folder.haloc({"explain", "heat.halo", "--schedule", "tile threads=32x8 cells=1x1"});
    CHECK(tile.out.find("(pinned)") != std::string::npos);
    CHECK(tile.out.find("padding") != std::string::npos);
}

TEST_CASE("explain says what ends a repeat, and which kernel is of which stage") {
    Folder folder;
    folder.write("p.halo", R"(stencil s(x) {
    field u, v: f64 { boundary fixed 0 }
    repeat k until change < 1, at most 50 {
        u[k+1] = (u[k, x-1] + u[k, x+1]) / 2
        reduce change = max(abs(u[k+1] - u[k]))
    }
    v[t+1] = v[x+1] + u[t+1, x-1]
}
)");
    const Outcome outcome = folder.haloc({"explain", "p.halo", "--grid", "1000"});
    CHECK(outcome.code == 0);
    CHECK(contains(outcome.out, "stage 2 of 4, done 50 times in a step at most, until change < 1\n"));
    CHECK(contains(outcome.out, "stage 3 of 4, in whose place two arrays are exchanged\n"));
    const std::string last = outcome.out.substr(outcome.out.find("stage 4 of 4"));
    CHECK(contains(last, "kernel      s_v\n"));
    CHECK(contains(last, "a step with the most iterations: "));
    CHECK(folder.haloc({"emit", "p.halo", "--style", "kernel-only", "-o", "p.cu"}).code == 0);
    const std::string rule = folder.read("p.cu");
    CHECK(contains(rule,
                   "// s_u_next to s_until_change: in this order, again and again until change < 1, 50 times "
                   "at most.\n"));
    CHECK(
        contains(rule, "// over: 6 words (long long) of what repeats until change < 1; the first 3 are 0 "));
    CHECK_FALSE(contains(rule, "// pitch: "));
}

TEST_CASE("explain says what cells share with their neighbours") {
    Folder folder;
    folder.write("blur.halo", R"(
stencil blur(x, y) {
    coef w[-1..1, -1..1] = [[1/16, 1/9, 1/16], [1/9, 1/4, 1/9], [1/16, 1/9, 1/16]]
    field u: f32 { boundary clamp }
    u[t+1] = sum(j in -1..1, i in -1..1) w[j, i] * u[x+i, y+j]
})");
    const std::string text = folder.haloc({"explain", "blur.halo", "--grid", "512,512"}).out;
    CHECK(text.find("9 flops (2 add, 1 mul, 3 fma)") != std::string::npos);
    CHECK(text.find("and 5") != std::string::npos);
    const Outcome json = folder.haloc({"explain", "--json", "blur.halo", "--grid", "512,512"});
    CHECK(nlohmann::json::parse(json.out)["stages"][0]["flops_alone"] == 14);
    // As it is written, a cell has nothing but products from its neighbours.
    const std::string strict = folder.haloc({"explain", "blur.halo", "--grid", "512,512", "--strict-fp"}).out;
    CHECK(strict.find("11 flops (8 add, 3 mul) and 6") != std::string::npos);
}

TEST_CASE("a file that cannot be written is a file trouble, and nothing is left behind") {
    Folder folder;
    folder.write("heat.halo", kHeat);
    Outcome outcome = folder.haloc({"emit", "heat.halo", "-o", "none/heat.cu"});
    CHECK(outcome.code == 4);
    CHECK(outcome.err.find("none/heat.cu") != std::string::npos);
    CHECK(folder.names() == std::vector<std::string>{"heat.halo"});
    CHECK(folder.haloc({"emit", "heat.halo", "-o", "/dev/full"}).code == 4);
}

TEST_CASE("explain says whether all steps are done on the chip, and why not") {
    Folder folder;
    const std::string text =
        "stencil heat(x, y, z) {\n    field u: f32 { boundary fixed 0 }\n    u[t+1] = u + 0.1 * "
        "laplacian(u)\n}\n"
        "run heat {\n    grid N, N, N\n    steps S\n}\n";
    const auto explained = [&](const std::string& cells, const std::string& steps) {
        std::string spec = text;
        for (std::size_t at = 0; (at = spec.find(" N", at)) != std::string::npos;)
            spec.replace(at + 1, 1, cells);
        spec.replace(spec.find("steps S") + 6, 1, steps);
        folder.write("heat.halo", spec);
        return nlohmann::json::parse(folder.haloc({"explain", "--json", "heat.halo"}).out);
    };
    const nlohmann::json is_long = explained("128", "5000000");
    CHECK(is_long["resident"]["schedule"].get<std::string>().starts_with("resident threads="));
    CHECK(is_long["resident"]["reason"].get<std::string>().find("and single steps take") !=
          std::string::npos);
    CHECK(is_long["temporal"]["reason"].get<std::string>().find("and all steps on the chip take") !=
          std::string::npos);
    // What single steps take is said once: the stages' times, and what others are compared with.
    const double single = is_long["single_steps"]["predicted_seconds_per_step"];
    CHECK(is_long["stages"][0]["predicted_seconds"] == single);
    CHECK(single > is_long["single_steps"]["predicted_launch_seconds"].get<double>());
    const nlohmann::json is_short = explained("128", "50");
    CHECK_FALSE(is_short["resident"].contains("schedule"));
    CHECK(is_short["resident"]["reason"].get<std::string>().find("the run is too short") !=
          std::string::npos);
    const nlohmann::json is_large = explained("512", "5000000");
    CHECK_FALSE(is_large["resident"].contains("schedule"));
    CHECK(is_large["resident"]["reason"].get<std::string>().starts_with("the grid does not fit on the chip"));
}

TEST_CASE("explain predicts the time of a coarse grid's cells, and of iterations that are done together") {
    Folder folder;
    const auto explained = [&](const std::string& statements) {
        folder.write("s.halo", "stencil s(x, y, z) {\n    field u: f64 { boundary fixed 0 }\n" + statements +
                                   "}\nrun s {\n    grid 512, 512, 512\n    steps 100000\n}\n");
        return nlohmann::json::parse(folder.haloc({"explain", "--json", "s.halo"}).out);
    };
    const nlohmann::json grids =
        explained("    field e: f64 on coarse(8)\n    e = 1 + idx(x)\n    u[t+1] = u + idx(x)\n");
    const double coarse = grids["stages"][0]["predicted_seconds"];
    CHECK(coarse < 0.1 * grids["stages"][1]["predicted_seconds"].get<double>());
    const nlohmann::json jacobi =
        explained("    repeat k to 40 { u[k+1] = (sum(a in axes) (u[k, a-1] + u[k, a+1])) / 6 }\n");
    CHECK(jacobi["temporal"]["schedule"].get<std::string>().starts_with("temporal steps="));
    CHECK(jacobi["temporal"]["reason"].get<std::string>().find("iterations in one pass") !=
          std::string::npos);
    const double together = jacobi["temporal"]["predicted_seconds_per_step"],
                 singly = jacobi["single_steps"]["predicted_seconds_per_step"];
    CHECK(together < 0.7 * singly);
    CHECK(together > 0.1 * singly);
}

TEST_CASE("what a run looks at after every step is found at each of several") {
    Folder folder;
    folder.write("relax.halo",
                 "stencil relax(x, y) {\n    field u: f32 { boundary clamp }\n    field place: i32\n"
                 "    u[t+1] = (u[x-1] + u[x+1] + u[y-1] + u[y+1]) / 4\n"
                 "    reduce mass = sum(u)\n    reduce change = max(abs(u[t+1] - u))\n"
                 "    reduce ahead = max(u[t+1, x+1])\n    reduce placed = max(u) where place > 0\n}\n"
                 "run relax {\n    grid 512, 512\n    steps 100 until change < 1e-3\n}\n");
    const auto plan = nlohmann::json::parse(
        folder.haloc({"emit", "--target", "plan", "relax.halo", "--schedule", "temporal steps=2"}).out);
    CHECK(plan["time_block"]["reductions"] == std::vector<int>{1});
    const auto explained = nlohmann::json::parse(
        folder.haloc({"explain", "--json", "relax.halo", "--schedule", "temporal steps=2"}).out);
    CHECK(explained["temporal"]["reductions"] == std::vector<std::string>{"change"});
    const auto until = [&](const std::string& reduction) {
        std::string text = folder.read("relax.halo");
        const std::string run = "steps 100 until change";
        text.replace(text.find(run), run.size(), "steps 1000000000 until " + reduction);  // not too short
        folder.write("until.halo", text);
        return nlohmann::json::parse(folder.haloc({"explain", "--json", "until.halo"}).out)["temporal"];
    };
    CHECK(until("ahead")["reductions"] == std::vector<std::string>{"ahead"});
    const auto refused = until("placed");
    CHECK_FALSE(refused.contains("schedule"));
    CHECK(refused["reason"].get<std::string>().starts_with("`placed` is looked at after every step"));
}

TEST_CASE("emit writes what is asked for beside the CUDA") {
    Folder folder;
    folder.write("heat.halo", kHeat);
    CHECK(
        folder.haloc({"emit", "heat.halo", "-o", "heat.cu", "--with", "plan,cmake", "--arch", "sm_80,sm_90"})
            .code == 0);
    CHECK(folder.read("heat.json").find("\"kernels\"") != std::string::npos);
    CHECK(folder.read("heat.cmake").find("CUDA_ARCHITECTURES \"80-real;90-real\"") != std::string::npos);
    CHECK(folder.haloc({"emit", "heat.halo", "-o", "alone.cu", "--style", "kernel-only"}).code == 0);
    CHECK(folder.read("alone.h").empty());
    const std::string alone = folder.read("alone.cu");
    CHECK(alone.find(folder.haloc({"emit", "heat.halo"}).out) == 0);
    CHECK(alone.find("//   heat_step<<<dim3((nx + ") != std::string::npos);
    const Outcome unknown = folder.haloc({"emit", "heat.halo", "-o", "x.cu", "--arch", "sm_12"});
    CHECK(unknown.code == 2);
    CHECK(unknown.err.find("it is one of sm_75, sm_80") != std::string::npos);
    const Outcome nowhere = folder.haloc({"emit", "heat.halo", "--with", "plan"});
    CHECK(nowhere.code == 2);
    CHECK(nowhere.err.find("--with is for a .cu file") != std::string::npos);
    CHECK(nowhere.err.find("-o heat.cu") != std::string::npos);
}

TEST_CASE("annotated CUDA names the lines of the spec, and is the same but for that") {
    Folder folder;
    folder.write("flow.halo", R"(stencil flow(x, y) {
    param dt = 0.1, nu = 0.5
    field v: (x: f32, y: f32) { boundary mirror, v.x x antimirror }
    field speed: f32
    let pull { boundary clamp } =  # what slows it down
        nu * laplacian(v.x)
        - 0.5 * v.x
    v[t+1] = v + dt * nu * laplacian(v) + [dt * pull[x+1], 0]
    speed = norm(v)
    on x.low { speed = 0 }
    reduce fastest = max(speed)
}
)");
    for (const char* schedule :
         {"direct threads=32x8 cells=2x1", "tile threads=32x8 cells=1x1", "stream threads=64 cells=1"}) {
        INFO(schedule);
        const std::string plain = folder.haloc({"emit", "flow.halo", "--schedule", schedule}).out;
        const Outcome annotated = folder.haloc({"emit", "flow.halo", "--annotate", "--schedule", schedule});
        REQUIRE(annotated.code == 0);
        for (const char* note :
             {"// flow.halo:5: let pull { boundary clamp } = nu * laplacian(v.x) - 0.5 * v.x\n",
              "// flow.halo:8: v[t+1] = v + dt * nu * laplacian(v) + [dt * pull[x+1], 0]\n",
              "// flow.halo:9: speed = norm(v)\n", "// flow.halo:10: on x.low { speed = 0 }\n",
              "// flow.halo:11: reduce fastest = max(speed)\n",
              "// flow.halo:3: field v: (x: f32, y: f32) { boundary mirror, v.x x antimirror }\n"}) {
            INFO(note);
            CHECK(annotated.out.find(note) != std::string::npos);
        }
        std::istringstream lines(annotated.out);
        std::string rest;
        for (std::string line; std::getline(lines, line);)
            if (line.find("// flow.halo:") == std::string::npos) rest += line + '\n';
        CHECK(rest == plain);
    }
    const Outcome other = folder.haloc({"emit", "flow.halo", "--annotate", "--target", "cpu"});
    CHECK(other.code == 2);
    CHECK(other.err.find("--annotate is for CUDA") != std::string::npos);
}

TEST_CASE("CUDA for one grid alone has its numbers, and no guards where blocks fill it") {
    Folder folder;
    folder.write("heat.halo",
                 "stencil heat(x, y) {\n    field u: f32 { boundary fixed 1 }\n"
                 "    u[t+1] = u + 0.1 * laplacian(u)\n}\n");
    const std::vector<std::string> arguments{
        "emit", "heat.halo", "--fixed-grid", "--schedule", "direct threads=32x8 cells=1x1", "--grid"};
    const auto emitted = [&](const std::string& grid) {
        std::vector<std::string> all = arguments;
        all.push_back(grid);
        const Outcome outcome = folder.haloc(all);
        INFO(outcome.err);
        REQUIRE(outcome.code == 0);
        return outcome.out;
    };
    const std::string filled = emitted("64,32"), ragged = emitted("65,32");
    CHECK(filled.find("// For a grid of 64 x 32 cells alone.") != std::string::npos);
    CHECK(filled.find("constexpr int pitch = 128;") != std::string::npos);
    CHECK(filled.find("int nx") == std::string::npos);
    CHECK(filled.find("if (i") == std::string::npos);
    CHECK(ragged.find("constexpr int nx = 65;") != std::string::npos);
    CHECK(ragged.find("if (i >= nx) return;") != std::string::npos);
    CHECK(ragged.find("j >= ny") == std::string::npos);
    CHECK(folder
              .haloc(
                  {"emit", "heat.halo", "--fixed-grid", "--grid", "64,32", "-o", "heat.cu", "--with", "plan"})
              .code == 0);
    CHECK(folder.read("heat.h").find("heat_create(heat_solver** solver);") != std::string::npos);
    CHECK(folder.read("heat.h").find("nx = 64, ny = 32 cells") != std::string::npos);
    CHECK(folder.read("heat.cu").find("//   --fixed-grid --grid 64,32\n") != std::string::npos);
    const nlohmann::json plan = nlohmann::json::parse(folder.read("heat.json"));
    CHECK(plan["fixed_grid"]["extent"] == std::vector<int>{64, 32, 1});
    folder.write("bare.halo", "stencil bare(x) {\n    field u: f32\n    u[t+1] = 2*u\n}\n");
    const Outcome unknown = folder.haloc({"emit", "bare.halo", "--fixed-grid"});
    CHECK(unknown.code == 2);
    CHECK(unknown.err.find("--fixed-grid: how large is the grid?") != std::string::npos);
    const Outcome other = folder.haloc({"emit", "heat.halo", "--fixed-grid", "--target", "cpu"});
    CHECK(other.code == 2);
    CHECK(other.err.find("--fixed-grid is for CUDA") != std::string::npos);
    const Outcome small = folder.haloc({"emit", "heat.halo", "--fixed-grid", "--grid", "16,16", "-o",
                                        "small.cu", "--schedule", "temporal steps=2"});
    CHECK(small.code != 0);
    CHECK(small.err.find("a grid of 16 cells along x is smaller than the tiles") != std::string::npos);
}
