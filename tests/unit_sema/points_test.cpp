#include "analyze_text.h"
#include "compiler/ir/analysis.h"

using halo::DiagnosticKind;
using Kinds = std::vector<DiagnosticKind>;
namespace ir = halo::ir;

namespace {

const char* const kShots =
    "param dt = 0.5\n"
    "field p: f32 { boundary periodic }\n"
    "points shots, phones: sinc\n"
    "p[t+1] = p\n";

}  // namespace

TEST_CASE("columns and traces of points come to be by being used, columns first") {
    const Analyzed made = stencil(std::string(kShots) +
                                  "inject p[t+1] at shots += dt^2 * shots.wavelet[t] * shots.gain\n"
                                  "sample p[t+1] at phones into phones.trace[t]\n"
                                  "inject p[t+1] at shots += shots.wavelet[t] - shots.shift");
    const ir::Points& shots = made.program().points[0];
    CHECK(shots.name == "shots");
    CHECK(shots.interpolation == ir::Interpolation::sinc);
    CHECK(shots.radius == 4);
    CHECK(shots.columns == std::vector<std::string>{"gain", "shift"});
    REQUIRE(shots.traces.size() == 1);
    CHECK_FALSE(shots.traces[0].sampled);
    CHECK(made.value(1) == "f32(dt * dt) * shots.wavelet[t] * shots.gain");
    CHECK(made.value(3) == "shots.wavelet[t] - shots.shift");
    const ir::Points& phones = made.program().points[1];
    REQUIRE(phones.traces.size() == 1);
    CHECK(phones.traces[0].sampled);
    const auto& sample = std::get<ir::Sample>(made.program().statements[2]);
    CHECK(sample.points.index == 1);
    CHECK(made.value(2) == "p[t+1]");
}

TEST_CASE("numbers of points go through defs") {
    const Analyzed made = stencil(std::string(kShots) +
                                  "def scaled(a, b) = 2 * a + b\n"
                                  "inject p[t+1] at shots += scaled(shots.wavelet[t], shots.gain)");
    CHECK(made.value(1) == "2 * shots.wavelet[t] + shots.gain");
}

TEST_CASE("words of points are names elsewhere") {
    const Analyzed made = stencil("field points, inject, sample: f32\npoints[t+1] = inject + sample");
    CHECK(made.program().points.empty());
    CHECK(made.program().fields.size() == 3);
}

TEST_CASE("integers are sampled as numbers, and not injected into") {
    const Analyzed made =
        stencil("field n: i32\nfield u: f32\npoints a\nn = 3\nu = 1\nsample n at a into a.count[t]");
    CHECK(made.value(2) == "f32(n)");
    CHECK(mistakes("field n: i32\npoints a\nn = 3\ninject n at a += 1") ==
          Kinds{DiagnosticKind::type_mismatch});
    CHECK(mistakes("field n: bool\npoints a\nn[t+1] = true\nsample n at a into a.s[t]") ==
          Kinds{DiagnosticKind::type_mismatch});
}

TEST_CASE("a component is injected into, a vector is not") {
    const std::string head = "field v: (x: f32, y: f32)\npoints a\nv[t+1] = v\n";
    const Analyzed made = stencil(head + "inject v[t+1].y at a += 1");
    CHECK(std::get<ir::Inject>(made.program().statements[2]).target.index == 1);
    CHECK(mistakes(head + "inject v[t+1] at a += 1") == Kinds{DiagnosticKind::component_mismatch});
}

TEST_CASE("a trace is sampled once, and not injected too") {
    const std::string head = std::string(kShots) + "sample p at phones into phones.s[t]\n";
    CHECK(mistakes(head + "sample p at phones into phones.s[t]") == Kinds{DiagnosticKind::written_twice});
    CHECK(mistakes(head + "inject p[t+1] at phones += phones.s[t]") == Kinds{DiagnosticKind::misused_name});
    CHECK(mistakes(head + "inject p[t+1] at phones += phones.s[t-1]") == Kinds{DiagnosticKind::time_level});
    CHECK(mistakes(std::string(kShots) + "inject p[t+1] at shots += shots.w[t]\n"
                                         "sample p at shots into shots.w[t]") ==
          Kinds{DiagnosticKind::written_twice});
}

TEST_CASE("runs place points, and give their numbers") {
    const Analyzed made = analyze_text("stencil s(x, y) {\n" + std::string(kShots) +
                                       "def ricker(a) = 1 - a^2\n"
                                       "inject p[t+1] at shots += shots.wavelet[t] * shots.gain\n"
                                       "sample p at phones into phones.trace[t]\n}\n"
                                       "run s {\n"
                                       "shots at [1, 2], [sqrt(4), 3/2]\n"
                                       "phones at [2*i, j + 1/4] for i in 0..1, j in 0..2\n"
                                       "init shots.wavelet = ricker(time) * point\n"
                                       "init shots.gain = point + dt\n"
                                       "save phones.trace to \"a.npy\" every 10\n"
                                       "plot phones.trace to \"a.png\"\n}\n");
    INFO(made.messages);
    REQUIRE(made.kinds.empty());
    const halo::sema::RunSpec& run = made.analysis.runs.front();
    REQUIRE(run.places.size() == 2);
    CHECK(run.places[0].positions == std::vector<double>{1, 2, 2, 1.5});
    CHECK(run.places[1].positions == std::vector<double>{0, .25, 0, 1.25, 0, 2.25, 2, .25, 2, 1.25, 2, 2.25});
    REQUIRE(run.point_fills.size() == 2);
    const ir::Program& wavelet = run.point_fills[0].init;
    CHECK(run.point_fills[0].is_trace);
    CHECK(wavelet.rank() == 2);
    CHECK(ir::verify(wavelet).empty());
    CHECK(ir::print(wavelet, std::get<ir::Assign>(wavelet.statements[0]).value).find("idx(step)") !=
          std::string::npos);
    CHECK(run.point_fills[1].init.rank() == 1);
    CHECK(run.trace_saves.at(0).field == "phones.trace");
    CHECK(run.trace_saves.at(0).frames.every == 10);
    CHECK(run.trace_plots.size() == 1);
}

TEST_CASE("what a run says of points must fit them") {
    const auto in_run = [](const std::string& line) {
        return analyze_text("stencil s(x, y) {\n" + std::string(kShots) +
                            "inject p[t+1] at shots += shots.wavelet[t]\n"
                            "sample p at phones into phones.trace[t]\n}\nrun s {\n" +
                            line + "\n}\n")
            .kinds;
    };
    CHECK(in_run("shots at [1, 2, 3]") == Kinds{DiagnosticKind::point_shape});
    CHECK(in_run("shots at [1, 2]\nshots at [1, 2]") == Kinds{DiagnosticKind::duplicate_setting});
    CHECK(in_run("shots at [1, 2]\nload shots from \"a.npy\"") == Kinds{DiagnosticKind::duplicate_setting});
    CHECK(in_run("p at [1, 2]") == Kinds{DiagnosticKind::misused_name});
    CHECK(in_run("hosts at [1, 2]") == Kinds{DiagnosticKind::unknown_name});
    CHECK(in_run("shots at [dt, 2]") == Kinds{DiagnosticKind::not_constant});
    CHECK(in_run("init shots.weight = 1") == Kinds{DiagnosticKind::unknown_column});
    CHECK(in_run("load phones.trace from \"a.npy\"") == Kinds{DiagnosticKind::misused_name});
    CHECK(in_run("load shots.wavelet from \"a.csv\"") == Kinds{DiagnosticKind::file_format});
    CHECK(in_run("save shots.wavelet to \"a.npy\"") == Kinds{DiagnosticKind::unknown_column});
    CHECK(in_run("save phones to \"a.npy\"") == Kinds{DiagnosticKind::unknown_column});
    CHECK(in_run("plot phones.trace at x = 3 to \"a.png\"") == Kinds{DiagnosticKind::invalid_cut});
    CHECK(in_run("init shots.wavelet = x") != Kinds{});
}
