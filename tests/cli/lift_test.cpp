// haloc lift from outside.
#include <csignal>

#include "catch.h"
#include "process.h"

using halo::test::Folder;
using halo::test::Outcome;

namespace {

#ifdef HALO_HAS_LLVM

constexpr char kSolver[] = R"(#include "width.h"
void smooth(int n, const double *restrict u, double *restrict w) {
    for (int i = WIDTH; i < n - WIDTH; i++) w[i] = 0.5 * (u[i - WIDTH] + u[i + WIDTH]);
}
void relax(int n, double *u) {
    for (int i = 1; i < n - 1; i++) u[i] = 0.5 * (u[i - 1] + u[i + 1]);
}
)";

TEST_CASE("lift writes a spec that haloc runs") {
    const Folder folder;
    folder.write("solver.c", kSolver);
    folder.write("width.h", "#define WIDTH 2\n");
    const Outcome lifted = folder.haloc(
        {"lift", "solver.c", "--function", "smooth", "--verify", "-o", "smooth.halo", "--", "-I."});
    INFO(lifted.err);
    REQUIRE(lifted.code == 0);
    CHECK(lifted.err.find("smooth.halo written, verified") != std::string::npos);
    CHECK(folder.read("smooth.halo").find("# Verified: ") != std::string::npos);
    CHECK(folder.read("smooth.halo").find("w = 0.5 * (u[x-2] + u[x+2])") != std::string::npos);
    CHECK(folder.haloc({"check", "--strict", "smooth.halo"}).code == 0);
    CHECK(folder.haloc({"fmt", "--check", "smooth.halo"}).code == 0);
    CHECK(folder.haloc({"run", "smooth.halo", "--device", "cpu", "--grid", "20", "--steps", "1"}).code == 0);
}

TEST_CASE("lift says so where nothing was verified") {
    const Folder folder;
    folder.write("solver.c", kSolver);
    folder.write("width.h", "#define WIDTH 1\n");
    const Outcome lifted = folder.haloc({"lift", "solver.c", "--function", "smooth"});
    REQUIRE(lifted.code == 0);
    CHECK(lifted.out.find("# Not verified: ") != std::string::npos);
}

TEST_CASE("lift refuses with the place, and writes nothing") {
    const Folder folder;
    folder.write("solver.c", kSolver);
    folder.write("width.h", "#define WIDTH 1\n");
    const Outcome refused = folder.haloc({"lift", "solver.c", "--function", "relax", "-o", "relax.halo"});
    CHECK(refused.code == 1);
    CHECK(refused.out.empty());
    CHECK(refused.err.find("solver.c:6:") != std::string::npos);
    CHECK(refused.err.find("already changed") != std::string::npos);
    CHECK(refused.err.find("^~~") != std::string::npos);
    CHECK(folder.read("relax.halo").empty());
}

TEST_CASE("lift finds the nests of a longer function") {
    const Folder folder;
    folder.write("main.c", R"(#include <stdio.h>
#include <stdlib.h>
int main(void) {
    int n = 40;
    double *u = calloc(n, sizeof(double)), *w = calloc(n, sizeof(double));
    for (int i = 0; i < n; i++) u[i] = rand();
    for (int t = 0; t < 10; t++) {
        for (int i = 1; i < n - 1; i++) w[i] = 0.5 * (u[i - 1] + u[i + 1]);
        for (int i = 1; i < n - 1; i++) u[i] = w[i];
        printf("%g\n", u[n / 2]);
    }
    return 0;
}
)");
    const Outcome lifted =
        folder.haloc({"lift", "main.c", "--function", "main", "--verify", "-o", "main.halo"});
    INFO(lifted.err);
    REQUIRE(lifted.code == 0);
    CHECK(lifted.err.find("main.c:6:") != std::string::npos);  // refused: rand
    CHECK(lifted.err.find("`rand` is called here") != std::string::npos);
    CHECK(lifted.err.find("main.c:7: this loop stays in the program") != std::string::npos);
    CHECK(lifted.err.find("line 8: `main_1`") != std::string::npos);
    CHECK(folder.read("main.halo").find("stencil main_2(x)") != std::string::npos);
    CHECK(folder.haloc({"check", "--strict", "main.halo"}).code == 0);
    CHECK(folder.haloc({"fmt", "--check", "main.halo"}).code == 0);
}

TEST_CASE("lift writes a source that calls the stencil") {
    const Folder folder;
    folder.write("solver.c", kSolver);
    folder.write("width.h", "#define WIDTH 2\n");
    const Outcome made =
        folder.haloc({"lift", "solver.c", "--function", "smooth", "--replace", "solver_halo.c"});
    INFO(made.err);
    REQUIRE(made.code == 0);
    CHECK(made.out.empty());
    CHECK(folder.read("solver.c") == kSolver);
    const std::string text = folder.read("solver_halo.c");
    CHECK(text.find("#include \"halocline/lifted.h\"") != std::string::npos);
    CHECK(text.find("if (halo_smooth((double *)w, n, (double *)u, 1)) return;") != std::string::npos);
    CHECK(text.find("# Verified: ") != std::string::npos);  // nothing else is written

    const Outcome same =
        folder.haloc({"lift", "solver.c", "--function", "smooth", "--replace", "./solver.c"});
    CHECK(same.code == 2);
    CHECK(same.err.find("never overwritten") != std::string::npos);
    CHECK(folder.read("solver.c") == kSolver);

    folder.write("kernel.cu",
                 R"(__global__ void twice(int n, const float *__restrict__ u, float *__restrict__ w) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) w[i] = 2 * u[i];
}
)");
    const Outcome kernel = folder.haloc({"lift", "kernel.cu", "--function", "twice", "--replace", "made.cu"});
    CHECK(kernel.code == 1);
    CHECK(kernel.err.find("kernels are not replaced") != std::string::npos);
    CHECK(folder.read("made.cu").empty());
}

TEST_CASE("mistakes in the use of lift are named") {
    const Folder folder;
    folder.write("solver.c", kSolver);
    folder.write("width.h", "#define WIDTH 1\n");
    const Outcome none = folder.haloc({"lift", "none.c", "--function", "smooth"});
    CHECK(none.code == 4);
    CHECK(none.err.find("none.c") != std::string::npos);
    const Outcome misspelt = folder.haloc({"lift", "solver.c", "--function", "smoth"});
    CHECK(misspelt.code == 2);
    CHECK(misspelt.err.find("it has smooth, relax") != std::string::npos);
    folder.write("broken.c", "void smooth(int n {\n");
    const Outcome broken = folder.haloc({"lift", "broken.c", "--function", "smooth"});
    CHECK(broken.code == 2);
    CHECK(broken.err.find("does not compile") != std::string::npos);
    for (const char* same : {"solver.c", "./solver.c"}) {
        const Outcome over = folder.haloc({"lift", "solver.c", "--function", "smooth", "-o", same});
        CHECK(over.code == 2);
        CHECK(over.err.find("-o names the source itself, which is never overwritten") != std::string::npos);
        CHECK(folder.read("solver.c") == kSolver);
    }
    folder.write("heat.halo", "stencil heat(x) {\n    field u: f32\n    u[t+1] = u\n}\n");
    const Outcome spec = folder.haloc({"lift", "heat.halo", "--function", "heat"});
    CHECK(spec.code == 2);
    CHECK(spec.err.find("heat.halo is no C, C++ or CUDA by its name") != std::string::npos);
    CHECK(spec.err.find("halo-lift") == std::string::npos);  // no arguments but the user's own
    folder.write("solver.inc", kSolver);
    const std::vector<std::string> said = {"lift", "solver.inc", "--function", "smooth", "--", "-x", "c"};
    CHECK(folder.haloc(said).code == 0);
    const Outcome no_folder = folder.haloc({"lift", "solver.c", "--function", "smooth", "-p", "nowhere"});
    CHECK(no_folder.code == 4);
    CHECK(no_folder.err.find("compile_commands.json") != std::string::npos);
}

TEST_CASE("lift --all says what lifts of a build, what it brings and what stands in the way") {
    const Folder folder;
    folder.write("solver.c", std::string(kSolver) + R"(
int count(const double *u) { return u[0] > 0; }
double smooth_and_sum(int n, double *restrict u, double *restrict w) {
    double s = 0;
    for (int i = 0; i < n; i++) u[i] = rand();
    for (int i = 0; i < n; i++) w[i] = 2 * u[i];
    return s;
}
void relax_back(int n, double *v) {
    for (int i = 1; i < n - 1; i++) v[i] = 0.5 * (v[i - 1] + v[i + 1]);
}
)");
    folder.write("width.h", "#define WIDTH 1\nint rand(void);\n");
    folder.write("broken.c", "void smooth(int n {\n");
    std::string commands;
    for (const char* file : {"broken.c", "solver.c", "gone.c"})
        commands += std::string(commands.empty() ? "[" : ",") + R"({"directory": ")" + folder.path() +
                    R"(", "file": ")" + file + R"(", "command": "cc -I. -c )" + file + R"("})";
    folder.write("compile_commands.json", commands + "]");
    const Outcome all = folder.haloc({"lift", "--all", "-p", ".", "--json", "all.json"});
    INFO(all.out << all.err);
    CHECK(all.code == 0);
    const auto has = [&](const std::string& text) { return all.out.find(text) != std::string::npos; };
    CHECK(has("broken.c: not read: "));
    CHECK(has("gone.c: not read: cannot read "));
    CHECK(has("  smooth (line 2): lifts, verified\n    `smooth`: 16 bytes and 2 flops a cell, "));
    CHECK(has("  relax (line 5): refused\n"));
    CHECK(has("solver.c:6:51: this reads a cell of `u`"));
    CHECK(has("  smooth_and_sum (line 10): 1 of 2 loop nests lifts, "));
    CHECK(
        has("4 functions with loops over arrays in 1 file (1 without left out); 2 files not read\n"
            "1 whole, 1 in part, 2 refused; "));
    CHECK(has("     2  this reads a cell of `…` that an earlier iteration"));
    CHECK(has("     1  `…` is called here"));
    CHECK(all.out.find("     2  ") < all.out.find("     1  "));
    const std::string json = folder.read("all.json");
    CHECK(json.find(R"("predicted_gstencil_per_s": )") != std::string::npos);
    CHECK(json.find(R"("complete": true)") != std::string::npos);
    CHECK(json.find(R"("left_out": 1)") != std::string::npos);

    const Outcome fast = folder.haloc({"lift", "--all", "--no-verify", "solver.c", "--", "-I.", "-DX=1"});
    CHECK(fast.code == 0);
    CHECK(fast.out.find("smooth (line 2): lifts, not verified: --no-verify was given") != std::string::npos);
    CHECK(fast.out.find("refused; 0 verified") != std::string::npos);
    folder.write("refused.c", "void f(int n, double *u) { for (int i = 1; i < n; i++) u[i] = u[i - 1]; }\n");
    CHECK(folder.haloc({"lift", "--all", "refused.c", "--", "-DX"}).code == 1);
    folder.write("plain.c", "int f(int n) { return n; }\n");
    CHECK(folder.haloc({"lift", "--all", "plain.c", "broken.c", "--", "-DX"}).code == 2);
    CHECK(folder.haloc({"lift", "--all", "gone.c"}).code == 4);
    CHECK(Folder().haloc({"lift", "--all", "-p", "nowhere"}).code == 4);
    CHECK(folder.haloc({"lift", "--all"}).code == 2);
    CHECK(folder.haloc({"lift", "--all", "solver.c", "--function", "smooth"}).code == 2);
    CHECK(folder.haloc({"lift", "solver.c", "--function", "smooth", "--no-verify"}).code == 2);
    CHECK(folder.haloc({"lift", "solver.c", "plain.c", "--function", "smooth"}).code == 2);
    CHECK(folder.haloc({"lift", "solver.c"}).code == 2);
}

TEST_CASE("Ctrl-C ends lift --all, which tells what was done") {
    const Folder folder;
    // Each run of it is so long that it is left out: verifying it takes many seconds.
    folder.write("slow.c",
                 "void g(int n, double *u) {\n"
                 "    for (int i = 0; i < n; i++) u[i] = 2 * u[i];\n"
                 "    for (volatile int i = 0; i < 2000000000; i = i + 1) {}\n}\n");
    halo::test::Invocation stopped;
    stopped.arguments = {"lift", "--all", "slow.c", "--json", "all.json", "--", "-DX"};
    stopped.folder = folder.path();
    stopped.watch = [sent = false](int pid, const std::string& err) mutable {
        if (sent || err.find("looking at 1 file") == std::string::npos) return;
        sent = true;
        ::kill(pid, SIGINT);
    };
    const Outcome outcome = halo::test::run_haloc(stopped);
    INFO(outcome.err);
    CHECK(outcome.code == 130);
    CHECK(outcome.err.find("interrupted: 0 of 1 file were done") != std::string::npos);
    CHECK(folder.read("all.json").find(R"("complete": false)") != std::string::npos);
}

#else

TEST_CASE("lift says what it lacks") {
    const Folder folder;
    folder.write("solver.c", "void f(void) {}\n");
    const Outcome lifted = folder.haloc({"lift", "solver.c", "--function", "f"});
    CHECK(lifted.code == 3);
    CHECK(lifted.err.find("without LLVM") != std::string::npos);
}

#endif

}  // namespace
