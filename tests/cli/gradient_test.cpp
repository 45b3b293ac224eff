// haloc tangent, adjoint and gradient from outside.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "process.h"

using halo::test::Folder;
using halo::test::Outcome;
using Report = nlohmann::json;

namespace {

// The specs of docs/gradients.md: a plate that is heated, and a wave with a source and receivers.
std::string example_of_page(int number = 0) {
    std::ifstream file(HALO_SOURCE_DIR "/docs/gradients.md");
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    const std::string fence = "```halo\n";
    std::size_t begin = page.find(fence) + fence.size();
    for (; number > 0; --number)
        begin = page.find(fence, begin) + fence.size();
    return page.substr(begin, page.find("```\n", begin) - begin);
}

Report run_json(const Folder& folder, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--json", "-q"});
    const Outcome outcome = folder.haloc(arguments);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    return Report::parse(outcome.out);
}

double misfit_with(const Folder& folder, const std::string& option, const std::string& value) {
    return run_json(
        folder, {"run", "control.halo", "--device", "interpreter", option, value})["reductions"]["misfit"];
}

}  // namespace

TEST_CASE("the gradient of the page's example is what two runs differ by") {
    const Folder folder;
    folder.write("control.halo", example_of_page());
    const Report gradient = run_json(folder, {"gradient", "control.halo", "--of", "misfit", "--with",
                                              "q,T,kappa", "--device", "interpreter", "--save", "q=dq.npy"});
    CHECK(gradient["steps"] == 50);
    const double slope =
        (misfit_with(folder, "--set", "kappa=0.200001") - misfit_with(folder, "--set", "kappa=0.199999")) /
        2e-6;
    CHECK(gradient["numbers"]["kappa"].get<double>() == Approx(slope).epsilon(1e-7));
    // One cell of the field, at x = 8, y = 9; the file has a header of 128 bytes.
    const auto heated = [](double by) {
        return fmt::format(
            "q = 0.02 * exp(-((x - 8)^2 + (y - 8)^2) / 10) + (if idx(x) == 8 and idx(y) == 9 then {} else 0)",
            by);
    };
    const double change =
        (misfit_with(folder, "--init", heated(1e-5)) - misfit_with(folder, "--init", heated(-1e-5))) / 2e-5;
    const std::string bytes = folder.read("dq.npy");
    REQUIRE(bytes.size() == 128 + 8 * 20 * 16);
    double cell = 0;
    std::memcpy(&cell, bytes.data() + 128 + 8 * (8 + 20 * 9), sizeof cell);
    CHECK(cell == Approx(change).epsilon(1e-7));
}

TEST_CASE("--explain says what a gradient keeps, does again, and reads, and does no step") {
    const Folder folder;
    folder.write("control.halo", example_of_page());
    const auto explained = [&](const std::string& device, const std::string& snapshots, bool as_json) {
        std::vector<std::string> arguments{"gradient", "control.halo", "--of",     "misfit",      "--with",
                                           "q,T",      "--save",       "q=q.npy",  "--snapshots", snapshots,
                                           "--device", device,         "--explain"};
        if (as_json) arguments.emplace_back("--json");
        const Outcome outcome = folder.haloc(arguments);
        INFO(outcome.err);
        REQUIRE(outcome.code == 0);
        return outcome.out;
    };
    // An f64 of 20 x 16 cells: T is copied and read, and two of its own read and written; the objective reads
    // q and wanted.
    CHECK(explained("interpreter", "50", false) ==
          "50 steps forward and back; 50 snapshots of 0.00256 MB in memory; 0 steps done again\n"
          "a step back\n"
          "  reads copies of T: 0.00256 MB\n"
          "  advances T_adj, q_adj\n"
          "  moves 0.0179 MB at least: 0.0102 MB read, 0.00768 MB written\n"
          "the first step back, which has the objective\n"
          "  reads copies of T: 0.00256 MB\n"
          "  reads q, wanted\n"
          "  advances T_adj, q_adj\n"
          "  moves 0.023 MB at least: 0.0154 MB read, 0.00768 MB written\n");
    CHECK_FALSE(std::ifstream(folder.path() + "/q.npy").good());
    const Report few = Report::parse(explained("interpreter", "5", true));
    const Report run = run_json(folder, {"gradient", "control.halo", "--of", "misfit", "--with", "q,T",
                                         "--snapshots", "5", "--device", "interpreter"});
    CHECK(few["steps_done_again"] == run["steps_done_again"]);
    CHECK(few["snapshot_bytes"] == run["snapshot_bytes"]);
    CHECK(few["step_back"]["copied"] == std::vector<std::string>{"T"});
    CHECK(few["step_back"]["inputs"].empty());
    CHECK(few["first_step_back"]["inputs"] == std::vector<std::string>{"q", "wanted"});
#ifdef HALO_HAS_LLVM
    const Report on_cpu = Report::parse(explained("cpu", "50", true))["step_back"];
    CHECK(on_cpu["read_in_place"] == std::vector<std::string>{"T"});
    CHECK(on_cpu["bytes_copied"] == 0);
#endif
}

TEST_CASE("the gradient has the same bits for any number of snapshots") {
    const Folder folder;
    folder.write("control.halo", example_of_page());
    const auto gradient = [&](const std::string& device, const std::string& snapshots, bool every_step) {
        std::vector<std::string> arguments{"gradient",  "control.halo", "--of",   "misfit",      "--with",
                                           "q,T,kappa", "--device",     device,   "--snapshots", snapshots,
                                           "--save",    "q=q.npy",      "--save", "T=T.npy"};
        if (every_step) arguments.emplace_back("--every-step");
        Report report = run_json(folder, arguments);
        const int done_again = report["steps_done_again"];
        CHECK((done_again == 0) == (snapshots == "50"));
        for (const char* key : {"seconds", "snapshots", "steps_done_again"})
            report.erase(key);
        return report.dump() + folder.read("q.npy") + folder.read("T.npy");
    };
    for (const bool every_step : {false, true}) {
        const std::string all = gradient("interpreter", "50", every_step);
        CHECK(gradient("interpreter", "1", every_step) == all);
        CHECK(gradient("interpreter", "4", every_step) == all);
    }
#ifdef HALO_HAS_LLVM
    const std::string all = gradient("cpu", "50", false);
    CHECK(gradient("cpu", "3", false) == all);
    CHECK(gradient("cpu", "17", false) == all);
#endif
}

#ifdef HALO_HAS_LLVM
TEST_CASE("a gradient in pieces has the bits of one device, and says how they are cut") {
    const Folder folder;
    folder.write("control.halo", example_of_page());
    folder.write("shot.halo", example_of_page(1));
    const auto gradient = [&](const std::vector<std::string>& what, std::vector<std::string> where) {
        std::vector<std::string> arguments{"gradient", "--device", "cpu"};
        arguments.insert(arguments.end(), what.begin(), what.end());
        arguments.insert(arguments.end(), where.begin(), where.end());
        Report report = run_json(folder, arguments);
        for (const char* key : {"seconds", "snapshots", "snapshot_bytes", "steps_done_again"})
            report.erase(key);
        return report.dump() + folder.read("a.npy") + folder.read("b.npy");
    };
    folder.haloc({"run", "shot.halo", "-q", "--device", "cpu"});
    for (const std::vector<std::string>& what : std::vector<std::vector<std::string>>{
             {"control.halo", "--of", "misfit", "--with", "q,T,kappa", "--save", "q=a.npy", "--save",
              "T=b.npy"},
             {"control.halo", "--of", "misfit", "--with", "q,T,kappa", "--save", "q=a.npy", "--save",
              "T=b.npy", "--every-step"},
             {"shot.halo", "--of", "phones.seen", "--measured", "seen.npy", "--set", "dt=0.45", "--with",
              "v,dt,shots.wavelet", "--save", "v=a.npy", "--save", "shots.wavelet=b.npy"}}) {
        const std::string alone = gradient(what, {});
        CHECK(gradient(what, {"--devices", "3"}) == alone);
        CHECK(gradient(what, {"--devices", "0,0,0,0,0", "--snapshots", "4"}) == alone);
    }
    const auto said = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments{"gradient", "control.halo", "--of",     "misfit",
                                           "--with",   "q,T",          "--device", "cpu"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Outcome outcome = folder.haloc(arguments);
        return outcome.out + outcome.err;
    };
    const std::string explained = said({"--devices", "2", "--explain"});
    INFO(explained);
    const std::string cut = "\n  2 pieces, 2 along y, of 8 cells and 2 ghosts a side; ";
    for (const std::string step : {"\na step forward", "0.00512 MB written"})
        CHECK(explained.find(step + cut) != std::string::npos);
    CHECK(said({"--devices", "17"}).find("it can be cut into 8") != std::string::npos);
    CHECK(said({"--devices", "2,x"}).find("no number of devices") != std::string::npos);
    folder.write("line.halo",
                 "stencil line(x) {\n    field u: f64 { boundary mirror }\n"
                 "    u[t+1] = u / 2 + u[x-1] / 4\n    reduce R = sum(u[t+1]^2)\n}\n");
    const Outcome line = folder.haloc({"gradient", "line.halo", "--of", "R", "--with", "u", "--grid", "9",
                                       "--steps", "3", "--device", "cpu", "--devices", "2"});
    CHECK(line.err.find("runs on one device alone") != std::string::npos);
}
#endif

TEST_CASE("steps that read their number are done again as they were") {
    const Folder folder;
    folder.write("driven.halo",
                 "stencil driven(x) {\n    param dt = 0.1, force = 2\n    field u: f64 { boundary mirror }\n"
                 "    u[t+1] = u + dt * (laplacian(u) + force * sin(time) * u * (1 - u))\n"
                 "    reduce R = sum(u[t+1]^2)\n}\n\nrun driven {\n    grid 17\n    steps 20\n    init u = x "
                 "/ 20\n}\n");
    const auto gradient = [&](const std::string& device, const std::string& snapshots) {
        return run_json(folder, {"gradient", "driven.halo", "--of", "R", "--with", "force,u", "--every-step",
                                 "--device", device, "--snapshots", snapshots});
    };
    const Report kept = gradient("interpreter", "20");
    for (const char* snapshots : {"1", "3"})
        CHECK(gradient("interpreter", snapshots)["numbers"] == kept["numbers"]);
#ifdef HALO_HAS_LLVM
    for (const char* snapshots : {"1", "3", "20"})
        CHECK(gradient("cpu", snapshots)["numbers"]["force"].get<double>() ==
              Approx(kept["numbers"]["force"].get<double>()).epsilon(1e-12));
#endif
}

TEST_CASE("derived specs are specs in the usual layout") {
    const Folder folder;
    folder.write("control.halo", example_of_page());
    for (const char* command : {"adjoint", "tangent"}) {
        const Outcome made =
            folder.haloc({command, "control.halo", "--of", "misfit", "--with", "q,T", "-o", "made.halo"});
        INFO(made.err);
        REQUIRE(made.code == 0);
        CHECK(made.out.empty());
        CHECK(folder.haloc({"check", "made.halo"}).code == 0);
        CHECK(folder.haloc({"fmt", "--check", "made.halo"}).code == 0);
    }
    const Outcome printed = folder.haloc({"adjoint", "control.halo", "--of", "misfit", "--with", "q,T"});
    CHECK(printed.out.find("# q_adj is the derivative with respect to q, after the last step.\n") !=
          std::string::npos);
}

TEST_CASE("steps before the last are undone without what the objective needs") {
    const Folder folder;
    folder.write(
        "wave.halo",
        "stencil wave(x) {\n    param dt = 0.5\n    field v, f: f64\n    field p: f64 { boundary fixed 0 "
        "}\n    p[t+1] = 2*p - p[t-1] + (v * dt)^2 * laplacian(p) + f\n    reduce energy = "
        "sum(p[t+1]^2)\n}\n\nrun wave {\n    grid 30\n    steps 40\n    init v = 1\n    init p = exp(-(x - "
        "12)^2 / 9)\n    init f = x / 1000\n}\n");
    const Outcome earlier =
        folder.haloc({"adjoint", "wave.halo", "--of", "energy", "--with", "v", "--earlier", "-o", "e.halo"});
    INFO(earlier.err);
    REQUIRE(earlier.code == 0);
    const std::string text = folder.read("e.halo");
    CHECK(text.find("energy_adj") == std::string::npos);
    CHECK(text.find("p_adj[t+1] = -p_adj[t-1] +") != std::string::npos);
    CHECK(folder.haloc({"check", "e.halo"}).code == 0);
    CHECK(folder.haloc({"fmt", "--check", "e.halo"}).code == 0);
    const Outcome alike =
        folder.haloc({"adjoint", "wave.halo", "--of", "energy", "--with", "v", "--every-step", "--earlier"});
    CHECK(alike.code == 2);
    CHECK(alike.err.find("--earlier: all steps back from energy are alike") != std::string::npos);

    // With respect to what it is linear in, a step back reads no state, and none is kept.
    const std::vector<std::string> arguments{"gradient", "wave.halo", "--of",        "energy", "--with",
                                             "f,p",      "--device",  "interpreter", "--save", "f=f.npy"};
    const Report found = run_json(folder, arguments);
    CHECK(found["snapshots"] == 0);
    CHECK(found["steps_done_again"] == 0);
    std::vector<std::string> with_v = arguments;
    with_v[5] = "f,p,v";
    const std::string linear = folder.read("f.npy");
    CHECK(run_json(folder, with_v)["snapshots"] == 40);
    CHECK(folder.read("f.npy") == linear);
    const auto energy_with = [&](const std::string& f) {
        return run_json(folder,
                        {"run", "wave.halo", "--device", "interpreter", "--init",
                         "f = x / 1000 + (if idx(x) == 7 then " + f + " else 0)"})["reductions"]["energy"]
            .get<double>();
    };
    double cell = 0;
    std::memcpy(&cell, linear.data() + 128 + 8 * 7, sizeof cell);
    CHECK(cell == Approx((energy_with("1e-5") - energy_with("-1e-5")) / 2e-5).epsilon(1e-7));
}

TEST_CASE("mistakes of derivatives have a place and a mend") {
    const Folder folder;
    folder.write("noisy.halo",
                 "stencil noisy(x) {\n    field u: f64 { boundary clamp }\n    u[t+1] = u + random()\n"
                 "    reduce R = sum(u)\n}\n\nrun noisy {\n    grid 8\n    steps 3\n    init u = x\n}\n");
    const Outcome refused =
        folder.haloc({"adjoint", "noisy.halo", "--of", "R", "--with", "u", "-o", "made.halo"});
    CHECK(refused.code == 1);
    CHECK(refused.err.find("noisy.halo:3:18:") != std::string::npos);
    CHECK(refused.err.find("noise is not differentiated yet") != std::string::npos);
    CHECK(refused.err.find("give it as an input") != std::string::npos);
    CHECK(folder.read("made.halo").empty());
    CHECK(folder.haloc({"gradient", "noisy.halo", "--of", "R", "--with", "u", "--device", "interpreter"})
              .code == 1);

    const Outcome unknown = folder.haloc({"tangent", "noisy.halo", "--of", "R", "--with", "v"});
    CHECK(unknown.code == 2);
    CHECK(unknown.err.find("there is no input, state or param `v`") != std::string::npos);

    folder.write("control.halo", example_of_page());
    const std::vector<std::string> gradient{"gradient", "control.halo", "--of",       "misfit", "--with",
                                            "q",        "--device",     "interpreter"};
    const auto code_with = [&](std::vector<std::string> more) {
        std::vector<std::string> arguments = gradient;
        arguments.insert(arguments.end(), more.begin(), more.end());
        return folder.haloc(arguments).code;
    };
    CHECK(code_with({"--save", "T=T.npy"}) == 2);
    CHECK(code_with({"--measured", "m.npy"}) == 2);
    CHECK(code_with({"--steps", "0"}) == 2);
    CHECK(code_with({"--snapshots", "0"}) == 2);
    const Outcome state =
        folder.haloc({"gradient", "control.halo", "--of", "T", "--with", "q", "--device", "interpreter"});
    CHECK(state.code == 2);
    CHECK(state.err.find("control has no reduction `T`; it has misfit") != std::string::npos);
    folder.write(
        "plain.halo",
        "stencil plain(x) {\n    field u: f64\n    u[t+1] = u / 2\n}\n\nrun plain {\n    grid 8\n    "
        "steps 3\n}\n");
    const Outcome plain =
        folder.haloc({"gradient", "plain.halo", "--of", "R", "--with", "u", "--device", "interpreter"});
    CHECK(plain.code == 2);
    CHECK(plain.err.find("add one to the stencil, such as `reduce") != std::string::npos);
}

namespace {

// An array of f64 in a .npy file, whose header has 128 bytes.
std::vector<double> numbers_in(const Folder& folder, const std::string& name) {
    const std::string bytes = folder.read(name);
    REQUIRE(bytes.size() > 128);
    std::vector<double> values((bytes.size() - 128) / 8);
    std::memcpy(values.data(), bytes.data() + 128, 8 * values.size());
    return values;
}

// The same with other numbers.
void write_like(const Folder& folder, const std::string& like, const std::string& name,
                const std::vector<double>& values) {
    std::string bytes = folder.read(like).substr(0, 128);
    bytes.append(reinterpret_cast<const char*>(values.data()), 8 * values.size());
    folder.write(name, bytes);
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        sum += a[i] * b[i];
    return sum;
}

// What receivers see, with the model in v.npy.
std::vector<double> seen(const Folder& folder) {
    const Outcome run =
        folder.haloc({"run", "shot.halo", "--device", "interpreter", "-q", "--load", "v=v.npy"});
    INFO(run.err);
    REQUIRE(run.code == 0);
    return numbers_in(folder, "seen.npy");
}

void run_shot_gradient(const Folder& folder, const std::string& snapshots) {
    const Outcome run =
        folder.haloc({"gradient", "shot.halo", "--load", "v=v.npy", "--of", "phones.seen", "--weights",
                      "weights.npy", "--with", "v,shots.wavelet", "--save", "v=dv.npy", "--save",
                      "shots.wavelet=dw.npy", "--device", "interpreter", "--snapshots", snapshots, "-q"});
    INFO(run.err);
    REQUIRE(run.code == 0);
}

// v.npy is the model of the run block, from which seen.npy was made.
std::vector<double> true_model(const Folder& folder) {
    folder.write("shot.halo", example_of_page(1));
    const Outcome run =
        folder.haloc({"run", "shot.halo", "--device", "interpreter", "-q", "--save", "v=v.npy"});
    INFO(run.err);
    REQUIRE(run.code == 0);
    return numbers_in(folder, "v.npy");
}

}  // namespace

TEST_CASE("the gradient of what receivers see is what two runs differ by") {
    const Folder folder;
    const std::vector<double> model = true_model(folder);
    std::vector<double> weights = numbers_in(folder, "seen.npy"), direction = model;
    for (std::size_t i = 0; i < weights.size(); ++i)
        weights[i] = std::sin(static_cast<double>(3 * i));
    for (std::size_t i = 0; i < direction.size(); ++i)
        direction[i] = std::cos(static_cast<double>(5 * i));
    write_like(folder, "seen.npy", "weights.npy", weights);
    run_shot_gradient(folder, "90");
    const std::string all = folder.read("dv.npy") + folder.read("dw.npy");
    const double slope = dot(numbers_in(folder, "dv.npy"), direction);
    for (const char* snapshots : {"1", "6"}) {
        run_shot_gradient(folder, snapshots);
        CHECK(folder.read("dv.npy") + folder.read("dw.npy") == all);
    }
    double differences = 0;
    for (const double sign : {1.0, -1.0}) {
        std::vector<double> moved = model;
        for (std::size_t i = 0; i < moved.size(); ++i)
            moved[i] += sign * 1e-6 * direction[i];
        write_like(folder, "v.npy", "v.npy", moved);
        differences += sign * dot(weights, seen(folder)) / 2e-6;
    }
    CHECK(slope == Approx(differences).epsilon(1e-6));
}

TEST_CASE("an inversion finds the medium that a wave went through") {
    const Folder folder;
    const std::vector<double> truth = true_model(folder), measured = numbers_in(folder, "seen.npy");
    std::vector<double> model(truth.size(), 0.7), last_model, last_gradient;
    double first = 0, misfit = 0;
    for (int round = 0; round <= 12; ++round) {
        write_like(folder, "v.npy", "v.npy", model);
        std::vector<double> residual = seen(folder);
        for (std::size_t i = 0; i < residual.size(); ++i)
            residual[i] -= measured[i];
        misfit = dot(residual, residual) / 2;
        if (round == 0) first = misfit;
        write_like(folder, "seen.npy", "weights.npy", residual);
        run_shot_gradient(folder, "20");
        const std::vector<double> gradient = numbers_in(folder, "dv.npy");
        if (round == 0) {  // with what was measured the residual is taken by the command itself
            write_like(folder, "seen.npy", "measured.npy", measured);
            const Report report = run_json(
                folder, {"gradient", "shot.halo", "--load", "v=v.npy", "--of", "phones.seen", "--measured",
                         "measured.npy", "--with", "v", "--save", "v=dm.npy", "--device", "interpreter"});
            CHECK(report["objective"].get<double>() == Approx(misfit).epsilon(1e-13));
            CHECK(numbers_in(folder, "dm.npy") == gradient);
        }
        // Steps of Barzilai and Borwein; the first moves the model by 0.02 at most.
        double step = 0;
        if (round == 0) {
            for (const double value : gradient)
                step = std::max(step, std::abs(value));
            step = 0.02 / step;
        } else {
            std::vector<double> change = model, turn = gradient;
            for (std::size_t i = 0; i < model.size(); ++i) {
                change[i] -= last_model[i];
                turn[i] -= last_gradient[i];
            }
            step = std::abs(dot(change, turn)) / dot(turn, turn);
        }
        last_model = model;
        last_gradient = gradient;
        for (std::size_t i = 0; i < model.size(); ++i)
            model[i] -= step * gradient[i];
    }
    INFO("misfit " << first << " at first, " << misfit << " at the end");
    CHECK(misfit < first / 10);
    // Where the medium is faster, so is what was found.
    CHECK(last_model[20 + 40 * 16] > 0.72);
}
