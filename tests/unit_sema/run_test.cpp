#include "analyze_text.h"
#include "compiler/ir/interpreter.h"

using halo::DiagnosticKind;
using Kinds = std::vector<DiagnosticKind>;

namespace {

const std::string kStencil =
    "stencil heat(x, y) {\n"
    "    const n = 8\n"
    "    param dt = 0.1, tolerance\n"
    "    param coef c[0..1] = [1, 2]\n"
    "    spacing x = 1/2\n"
    "    origin y = -4\n"
    "    def bump(r) = exp(-r^2)\n"
    "    field u: f32 { boundary clamp }\n"
    "    field k: f64\n"
    "    u[t+1] = u + dt * c[0] * k * laplacian(u)\n"
    "    reduce change = max(abs(u[t+1] - u))\n"
    "    reduce total = sum(u)\n"
    "}\n";

Analyzed run(const std::string& body) {
    Analyzed result = analyze_text(kStencil + "run heat {\n" + body + "\n}\n");
    INFO(result.messages);
    REQUIRE(result.kinds.empty());
    REQUIRE(result.analysis.runs.size() == 1);
    return result;
}

Kinds run_mistakes(const std::string& body) {
    return analyze_text(kStencil + "run heat {\n" + body + "\n}\n").kinds;
}

}  // namespace

TEST_CASE("a run gives grid, steps, files and pictures") {
    const Analyzed made = run(
        "grid 4*n, 16\nsteps 100*n\n"
        "load k from \"k.npy\"\n"
        "save u to \"u.npy\" every 10\nsave k to \"k2.npy\"\n"
        "plot u to \"u.png\"\nplot u at x = n to \"x.png\" every n\nplot u at pos(y) = -1/2 to \"y.png\"");
    const halo::sema::RunSpec& spec = made.analysis.runs[0];
    CHECK(spec.stencil == "heat");
    REQUIRE(spec.grid.has_value());
    CHECK(*spec.grid == halo::rt::Extent{32, 16, 1});
    CHECK(spec.steps == 800);
    REQUIRE(spec.saves.size() == 2);
    CHECK(spec.saves[0].frames.every == 10);
    CHECK(spec.saves[1].frames.every == 0);
    CHECK(spec.loads.at(0).path == "k.npy");
    REQUIRE(spec.plots.size() == 3);
    CHECK_FALSE(spec.plots[0].cut.has_value());
    CHECK(spec.plots[1].cut->axis == 0);
    CHECK(spec.plots[1].cut->index == 8);
    CHECK(spec.plots[2].cut->at_position);
    CHECK(spec.plots[2].cut->position == -0.5);
}

TEST_CASE("a run films fields") {
    const Analyzed made =
        run("grid 16, 16\nmovie u every n from 0 to 10*n to \"u.mp4\" range -1..n flip x fps 2*n\n"
            "movie u at x = 3 every 5 to \"x.gif\"");
    REQUIRE(made.kinds.empty());
    const std::vector<halo::sema::Plot>& movies = made.analysis.runs[0].movies;
    REQUIRE(movies.size() == 2);
    CHECK(movies[0].frames == halo::sema::Frames{8, 0, 80});
    CHECK(movies[0].range == std::pair(-1.0, 8.0));
    CHECK(movies[0].flipped[0]);
    CHECK(movies[0].fps == 16);
    CHECK(movies[1].cut->index == 3);
    CHECK(movies[1].frames.from == 5);
    CHECK(movies[1].fps == 25);
    CHECK(run_mistakes("movie u to \"u.mp4\"") == Kinds{DiagnosticKind::unexpected_token});
    CHECK(run_mistakes("movie u every 5 to \"u.png\"") == Kinds{DiagnosticKind::file_format});
    CHECK(run_mistakes("movie u every 5 to \".gif\"") == Kinds{DiagnosticKind::file_format});
    CHECK(run_mistakes("movie u every 5 to \"u.mp4\" fps 0") == Kinds{DiagnosticKind::out_of_range});
    CHECK(run_mistakes("movie u every 5 to \"u.gif\" fps 51") == Kinds{DiagnosticKind::out_of_range});
    CHECK(run_mistakes("movie u every 5 to \"u.mp4\" fps 51").empty());
    CHECK(run_mistakes("grid 8, 8\nmovie u at y = 9 every 5 to \"u.gif\"") ==
          Kinds{DiagnosticKind::invalid_cut});
}

TEST_CASE("a run sets params and launch-time weights") {
    const Analyzed made = run("dt = 1/4\ntolerance = sqrt(4)\nc = [3, 1/2]");
    const halo::sema::RunSpec& spec = made.analysis.runs[0];
    REQUIRE(spec.params.size() == 2);
    CHECK(spec.params[0].value == 0.25);
    CHECK(spec.params[1].value == 2);
    CHECK(spec.coefs.at(0).values == std::vector<double>{3, 0.5});
}

TEST_CASE("until is a condition over params and reductions") {
    const Analyzed made = run("steps 10 until change < tolerance * dt or total > n");
    const halo::sema::Until& until = *made.analysis.runs[0].until;
    REQUIRE(until.host.params.size() == 4);
    CHECK(until.host.params[2].name == "change");
    CHECK(until.host.params[3].name == "total");
    CHECK(halo::ir::print(until.host, until.condition) == "change < tolerance * dt or total > 8");
}

TEST_CASE("init is a program that fills fields, in f64") {
    const Analyzed made = run("init u = bump(x) + idx(y) * dt\ninit k = if y < 0 then 1 else len(x)");
    const halo::ir::Program& init = *made.analysis.runs[0].init;
    REQUIRE(init.fields.size() == 2);
    CHECK(init.params.size() == 2);
    halo::ir::Interpreter interpreter(init, {4, 6, 1}, halo::ir::Arithmetic::declared);
    interpreter.set_param("dt", 0.5);
    interpreter.set_param("tolerance", 0);
    interpreter.step();
    for (int j = 0; j < 6; ++j) {
        for (int i = 0; i < 4; ++i) {
            const float u = static_cast<float>(std::exp(-(i * 0.5) * (i * 0.5)) + j * 0.5);
            CHECK(interpreter.field("u")[i + 4 * j] == Approx(u));
            CHECK(interpreter.field("k")[i + 4 * j] == (j < 4 ? 1 : 4));
        }
    }
}

TEST_CASE("mistakes of a run") {
    CHECK(run_mistakes("init u = k") == Kinds{DiagnosticKind::misused_name});
    CHECK(run_mistakes("steps 5 until u > 1") == Kinds{DiagnosticKind::misused_name});
    CHECK(run_mistakes("steps 5 until pos(x) > 1") == Kinds{DiagnosticKind::not_uniform});
    CHECK(run_mistakes("steps 5 until change") == Kinds{DiagnosticKind::type_mismatch});
    CHECK(run_mistakes("steps dt") == Kinds{DiagnosticKind::not_constant});
    CHECK(run_mistakes("grid 8, 8\nplot u at y = 9 to \"u.png\"") == Kinds{DiagnosticKind::invalid_cut});
    CHECK(run_mistakes("c = [1]") == Kinds{DiagnosticKind::coef_shape});
    CHECK(run_mistakes("dt = 1\ndt = 2") == Kinds{DiagnosticKind::duplicate_setting});
    CHECK(run_mistakes("save u to \"u.txt\" every 0") ==
          Kinds{DiagnosticKind::file_format, DiagnosticKind::out_of_range});
    CHECK(run_mistakes("init w = x").size() == 1);
}

TEST_CASE("what is wrong in a stencil is not said again for its run") {
    const Kinds kinds = analyze_text(
                            "stencil s(x) {\n const n = nope\n param a = b\n spacing x = 0\n field u: f32\n "
                            "u[t+1] = n * a * u\n}\n"
                            "run s {\n grid n\n steps 5 until a < n\n init u = n * x\n a = 3\n}\n")
                            .kinds;
    CHECK(kinds ==
          Kinds{DiagnosticKind::unknown_name, DiagnosticKind::unknown_name, DiagnosticKind::out_of_range});
}
