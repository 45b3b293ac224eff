#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "catch.h"
#include "contains.h"
#include "npy_values.h"
#include "process.h"
#include "specs.h"

using namespace halo::test;

namespace {

std::vector<std::string> with_interpreter(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"run"});
    arguments.insert(arguments.end(), {"--device", "interpreter"});
    return arguments;
}

}  // namespace

TEST_CASE("run does what the run block says") {
    Folder folder;
    folder.write("heat.halo", kHeat);
    Outcome outcome = folder.haloc(with_interpreter({"heat.halo"}));
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(outcome.out.find("10 steps in") == 0);
    CHECK(outcome.out.find("total = 1\n") != std::string::npos);  // clamp keeps the heat inside
    CHECK(outcome.out.find("wrote u.npy\n") != std::string::npos);
    CHECK(outcome.err.find("heat: 8 × 6 cells, 10 steps, on interpreter") == 0);
    CHECK(outcome.err.find('\x1b') == std::string::npos);
    CHECK(outcome.err.find('\r') == std::string::npos);
    CHECK(folder.names() == std::vector<std::string>{"heat.halo", "u.npy", "u.png"});
    std::string file = folder.read("u.npy");
    CHECK(file.find("(6, 8)") != std::string::npos);  // slowest axis first
    CHECK(npy_values(file).size() == 48);
    CHECK(folder.read("u.png").compare(1, 3, "PNG") == 0);
}

TEST_CASE("the command line changes grid, steps, parameters and files") {
    Folder folder;
    folder.write("heat.halo", kHeat);
    Outcome outcome =
        folder.haloc(with_interpreter({"heat.halo", "--grid", "5x4", "--steps", "0", "--set", "dt=1/63",
                                       "--save", "u=start.npy", "--plot", "u=start.png", "--json"}));
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    nlohmann::json json = nlohmann::json::parse(outcome.out);
    CHECK(json["grid"] == std::vector<int>{5, 4});
    CHECK(json["steps"] == 0);
    CHECK(json["stopped"] == "steps");
    CHECK(json["device"] == "interpreter");
    CHECK(folder.names() == std::vector<std::string>{"heat.halo", "start.npy", "start.png"});
    std::vector<double> values = npy_values(folder.read("start.npy"));
    REQUIRE(values.size() == 20);
    for (std::size_t cell = 0; cell < values.size(); ++cell)
        CHECK(values[cell] == (cell == 2 + 5 * 3 ? 1 : 0));
}

TEST_CASE("dt of the command line is used") {
    Folder folder;
    folder.write("s.halo",
                 "stencil s(x) {\n    param dt = 1\n    field u: f64 { boundary periodic }\n"
                 "    u[t+1] = u + dt\n}\n");
    REQUIRE(folder
                .haloc(with_interpreter(
                    {"s.halo", "--grid", "2", "--steps", "3", "--set", "dt=1/4", "--save", "u"}))
                .code == 0);
    CHECK(npy_values(folder.read("u.npy")) == std::vector<double>{0.75, 0.75});
}

TEST_CASE("until stops at the first step that satisfies it, and every writes numbered files") {
    Folder folder;
    folder.write("c.halo", kCounter);
    Outcome outcome = folder.haloc(with_interpreter({"c.halo", "--json"}));
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    nlohmann::json json = nlohmann::json::parse(outcome.out);
    CHECK(json["steps"] == 7);
    CHECK(json["stopped"] == "until");
    CHECK(json["reductions"]["highest"] == 7);
    CHECK(folder.names() == std::vector<std::string>{"c.halo", "count-000005.npy", "count.npy"});
    CHECK(npy_values(folder.read("count-000005.npy")) == std::vector<double>(4, 5.0));
    CHECK(npy_values(folder.read("count.npy")) == std::vector<double>(4, 7.0));
}

TEST_CASE("what was saved can be loaded, and a wrong shape is refused") {
    Folder folder;
    folder.write("c.halo", kCounter);
    REQUIRE(folder.haloc(with_interpreter({"c.halo", "--steps", "3", "--save", "u=three.npy"})).code == 0);
    REQUIRE(folder
                .haloc(with_interpreter(
                    {"c.halo", "--steps", "2", "--load", "u=three.npy", "--save", "u=five.npy"}))
                .code == 0);
    CHECK(npy_values(folder.read("five.npy")) == std::vector<double>(4, 5.0));
    Outcome wrong = folder.haloc(with_interpreter({"c.halo", "--grid", "9", "--load", "u=three.npy"}));
    CHECK(wrong.code == 4);
    CHECK(wrong.err.find("three.npy") != std::string::npos);
    CHECK(wrong.err.find("field u") != std::string::npos);
    CHECK(folder.haloc(with_interpreter({"c.halo", "--load", "u=none.npy"})).code == 4);
}

TEST_CASE("points are placed, given their numbers and saved, by the run block or the command line") {
    const char* const spec = R"(stencil taps(x, y) {
    param dt = 2
    field u: f64 { boundary clamp }
    points taps, ears
    u[t+1] = u
    inject u[t+1] at taps += taps.force[t] * taps.gain
    sample u[t+1] at ears into ears.heard[t]
}

run taps {
    grid 8, 5
    steps 3
    taps at [2, 1], [3.5, 2]
    init taps.force = time + point
    init taps.gain = 10^point
    ears at [2 + i, 1 + i] for i in 0..1
    save ears.heard to "heard.npy" every 2
    plot ears.heard to "heard.png"
    plot u to "u.png"
}
)";
    Folder folder;
    folder.write("taps.halo", spec);
    const Outcome outcome = folder.haloc(with_interpreter({"taps.halo"}));
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(folder.names() ==
          std::vector<std::string>{"heard-000002.npy", "heard.npy", "heard.png", "taps.halo", "u.png"});
    const std::string file = folder.read("heard.npy");
    CHECK(file.find("(3, 2)") != std::string::npos);  // steps, points
    CHECK(npy_values(file) == std::vector<double>{0, 5, 2, 20, 6, 45});
    CHECK(npy_values(folder.read("heard-000002.npy")) == std::vector<double>{0, 5, 2, 20});
    CHECK(folder.read("heard.png").compare(1, 3, "PNG") == 0);

    // What was heard is played again, elsewhere.
    const auto again = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"taps.halo", "--no-files"});
        return folder.haloc(with_interpreter(std::move(more)));
    };
    REQUIRE(
        again({"--load", "taps.force=heard.npy", "--steps", "4", "--save", "ears.heard=twice.npy"}).code ==
        0);
    CHECK(npy_values(folder.read("twice.npy")) == std::vector<double>{0, 25, 2, 125, 8, 350, 8, 350});
    const Outcome off = again({"--load", "taps=heard.npy"});
    CHECK(off.code == 2);
    CHECK(off.err.find("point 0 of 'taps' is at (0, 5), outside of the grid") != std::string::npos);
    const Outcome shape = again({"--load", "taps.gain=heard.npy"});
    CHECK(shape.code != 0);
    CHECK(shape.err.find("heard.npy holds an array of shape (3, 2); taps.gain takes 2 numbers") !=
          std::string::npos);
    CHECK(again({"--plot", "ears.heard@x=2=a.png"}).code == 2);

    folder.write("bare.halo", std::string(spec).substr(0, std::string(spec).find("run")));
    const Outcome bare = folder.haloc(with_interpreter({"bare.halo", "--grid", "8,5", "--steps", "1"}));
    CHECK(bare.code == 2);
    CHECK(bare.err.find("nothing says where the points taps are") != std::string::npos);
    const Outcome numbers =
        folder.haloc(with_interpreter({"bare.halo", "--grid", "8,5", "--steps", "1", "--load",
                                       "taps=heard.npy", "--load", "ears=heard.npy"}));
    CHECK(numbers.code == 2);
    CHECK(numbers.err.find("nothing gives the values of taps.gain") != std::string::npos);
}

TEST_CASE("an existing result stays whole until the new one is written") {
    Folder folder;
    folder.write("c.halo", kCounter);
    folder.write("u.npy", "the old one");
    folder.write("three.npy", "no npy");
    CHECK(folder.haloc(with_interpreter({"c.halo", "--load", "u=three.npy", "--save", "u=u.npy"})).code == 4);
    CHECK(folder.read("u.npy") == "the old one");
    CHECK(folder.haloc(with_interpreter({"c.halo", "--steps", "1", "--save", "u=u.npy"})).code == 0);
    CHECK(npy_values(folder.read("u.npy")) == std::vector<double>(4, 1.0));
    for (const std::string& name : folder.names())
        CHECK(name.find("tmp") == std::string::npos);
}

TEST_CASE("a folder that is not there is known before the run, not after it") {
    Folder folder;
    folder.write("c.halo", kCounter);
    Outcome outcome =
        folder.haloc(with_interpreter({"c.halo", "--steps", "1000000000", "--save", "u=none/u.npy"}));
    CHECK(outcome.code == 4);
    CHECK(outcome.err.find("there is no folder none") != std::string::npos);
}

TEST_CASE("--timings says where the time went") {
    Folder folder;
    folder.write("c.halo", kCounter);
    Outcome outcome = folder.haloc(with_interpreter({"c.halo", "--timings", "--no-files"}));
    REQUIRE(outcome.code == 0);
    for (const char* row : {"read", "check", "optimise", "choose", "lower", "print", "compile", "load",
                            "init", "upload", "stability", "steps", "watch", "files", "all"}) {
        INFO(row);
        CHECK(outcome.out.find(std::string("\n  ") + row + " ") != std::string::npos);
    }
    CHECK(folder.names() == std::vector<std::string>{"c.halo"});
}

TEST_CASE("--quiet is quiet, but mistakes are told") {
    Folder folder;
    folder.write("c.halo", kCounter);
    Outcome outcome = folder.haloc(with_interpreter({"c.halo", "-q"}));
    CHECK(outcome.code == 0);
    CHECK(outcome.out.empty());
    CHECK(outcome.err.empty());
    CHECK_FALSE(folder.haloc(with_interpreter({"c.halo", "-q", "--grid", "0"})).err.empty());
}

TEST_CASE("auto finds something to run on") {
    Folder folder;
    folder.write("c.halo", kCounter);
    Outcome outcome = folder.haloc({"run", "c.halo", "--json", "--no-files"});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(nlohmann::json::parse(outcome.out)["reductions"]["highest"] == 7);
}

TEST_CASE("step and time go on from step to step, and until knows those that are done") {
    Folder folder;
    folder.write(
        "clock.halo",
        "stencil clock(x) {\n    param dt = 0.5\n    field u, v: f64\n    u[t+1] = u + step\n"
        "    v[t+1] = time\n}\n"
        "run clock {\n    grid 3\n    steps 100 until time >= 3 and step > 4\n    init u = 10 + time\n"
        "    save u to \"u.npy\" every 2\n    save v to \"v.npy\"\n}\n");
    for (const char* device : {"interpreter", "cpu"}) {
        Outcome outcome = folder.haloc({"run", "clock.halo", "--device", device});
        if (outcome.code != 0 && std::string(device) == "cpu") continue;  // built without LLVM
        INFO(outcome.err);
        REQUIRE(outcome.code == 0);
        CHECK(npy_values(folder.read("u.npy")) == std::vector<double>(3, 10 + 0 + 1 + 2 + 3 + 4 + 5));
        CHECK(npy_values(folder.read("u-000004.npy")) == std::vector<double>(3, 10 + 0 + 1 + 2 + 3));
        CHECK(npy_values(folder.read("v.npy")) == std::vector<double>(3, 2.5));
    }
}

TEST_CASE("a picture is loaded as numbers from 0 to 255") {
    // 3 x 2 pixels of grey: 10 20 30 above 40 50 255.
    constexpr unsigned char kPicture[] = {
        0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44,
        0x52, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x02, 0x08, 0x00, 0x00, 0x00, 0x00, 0xb8,
        0x1f, 0x39, 0xc6, 0x00, 0x00, 0x00, 0x10, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0xe0,
        0x12, 0x91, 0x63, 0xd0, 0x30, 0xfa, 0x0f, 0x00, 0x03, 0x37, 0x01, 0x96, 0xe6, 0x6f, 0xe9,
        0xd6, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};
    Folder folder;
    folder.write("photo.png", std::string(reinterpret_cast<const char*>(kPicture), sizeof kPicture));
    folder.write("p.halo",
                 "stencil p(x, y) {\n    field picture: u8\n    field bright: f64\n    field v: f32[2]\n"
                 "    bright = picture + v.0\n}\n"
                 "run p {\n    grid 3, 2\n    steps 1\n    load picture from \"photo.png\"\n"
                 "    save picture to \"picture.npy\"\n    save bright to \"bright.npy\"\n}\n");
    const Outcome outcome = folder.haloc(with_interpreter({"p.halo"}));
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(npy_values(folder.read("bright.npy")) == std::vector<double>{40, 50, 255, 10, 20, 30});
    const Outcome small = folder.haloc(with_interpreter({"p.halo", "--grid", "3,3"}));
    CHECK(small.code == 4);
    CHECK(small.err.find("3 × 2 pixels, and field picture has 3 × 3 cells") != std::string::npos);
    const Outcome vector = folder.haloc(with_interpreter({"p.halo", "--load", "v=photo.png"}));
    CHECK(vector.code == 2);
    CHECK(vector.err.find("one number for each cell") != std::string::npos);
    CHECK(folder.haloc(with_interpreter({"p.halo", "--load", "v.1=photo.png"})).code == 0);
}

#ifdef HALO_HAS_LLVM
TEST_CASE("a run in pieces gives every bit of a run in one, and says how the grid is cut") {
    Folder folder;
    folder.write("blobs.halo", R"(stencil blobs(x, y) {
    param k = 0.2
    field u: f32 { boundary x clamp, y periodic }
    field drift: f32
    u[t+1] = u + k * laplacian(u) + drift * (u[y+1] - u[y-1]) + 0.01 * random()
    reduce total = sum(u[t+1])
}

run blobs {
    grid 40, 50
    steps 400 until total < 700
    init u = idx(x) / len(x) + pos(y) / 100
    init drift = 0.1 * random()
}
)");
    const auto run = [&](std::vector<std::string> with) {
        std::vector<std::string> arguments{"run",    "blobs.halo", "--device", "cpu",
                                           "--json", "--save",     "u=u.npy"};
        arguments.insert(arguments.end(), with.begin(), with.end());
        Outcome outcome = folder.haloc(arguments);
        INFO(outcome.err);
        REQUIRE(outcome.code == 0);
        return nlohmann::ordered_json::parse(outcome.out);
    };
    const nlohmann::ordered_json one = run({});
    const std::string cells = folder.read("u.npy");
    for (const char* count : {"1", "2", "3", "4"}) {
        for (const std::vector<std::string>& exchange :
             {std::vector<std::string>{}, std::vector<std::string>{"--exchange", "3"}}) {
            std::vector<std::string> with{"--devices", count};
            with.insert(with.end(), exchange.begin(), exchange.end());
            INFO(count);
            const nlohmann::ordered_json pieces = run(with);
            CHECK((folder.read("u.npy") == cells));
            CHECK(pieces["reductions"] == one["reductions"]);
            CHECK(pieces["steps"] == one["steps"]);
            CHECK(pieces["stopped"] == one["stopped"]);
        }
    }
    Outcome thin = folder.haloc({"run", "blobs.halo", "--device", "cpu", "--devices", "60"});
    CHECK(thin.code == 2);
    CHECK(thin.err.find("60 pieces along y") != std::string::npos);
    CHECK(thin.err.find("it can be cut into 50") != std::string::npos);
    Outcome explained = folder.haloc({"explain", "blobs.halo", "--devices", "2"});
    CHECK(explained.code == 0);
    CHECK(explained.out.find("2 pieces, 2 along y, of 25 cells") != std::string::npos);
    CHECK(explained.out.find("reductions are added up plane by plane along y") != std::string::npos);
}
#endif

TEST_CASE("init, until and numbers are expressions on the command line, too") {
    Folder folder;
    folder.write("counter.halo", kCounter);
    const std::vector<std::string> run{"run",        "--device", "interpreter",
                                       "--no-files", "--json",   "counter.halo"};
    const auto outcome = [&](const std::vector<std::string>& options) {
        std::vector<std::string> words = run;
        words.insert(words.end(), options.begin(), options.end());
        const Outcome result = folder.haloc(words);
        INFO(result.err);
        CHECK(result.code == 0);
        return nlohmann::json::parse(result.out);
    };
    nlohmann::json json =
        outcome({"--init", "u = x + 1/2", "--until", "highest > 1000", "--steps", "2*10^1"});
    CHECK(json["steps"] == 20);
    CHECK(json["stopped"] == "steps");
    CHECK(json["reductions"]["highest"] == 23.5);
    json = outcome({"--init", "u = 5", "--steps", "1e3"});  // the block's own condition
    CHECK(json["steps"] == 2);
    CHECK(json["stopped"] == "until");

    folder.write("bare.halo",
                 "stencil s(x) {\n    param dt = 1\n    field v: (a: f64, b: f64) { boundary periodic }\n"
                 "    v[t+1] = v\n    reduce first = max(dt * v.a)\n    reduce second = max(v.b)\n}\n");
    const Outcome lacking = folder.haloc({"run", "bare.halo", "--grid", "4", "--until", "first > 1"});
    CHECK(lacking.code == 2);
    CHECK(lacking.err.find("--until needs a number of steps") != std::string::npos);
    const Outcome bare = folder.haloc({"run", "--device", "interpreter", "--json", "bare.halo", "--grid", "4",
                                       "--steps", "3", "--until", "first > 1", "--init", "v.a = x", "--init",
                                       "v.b = 7", "--set", "dt=0.5*2^2"});
    CHECK(bare.code == 0);
    json = nlohmann::json::parse(bare.out);
    CHECK(json["steps"] == 1);
    CHECK(json["reductions"]["first"] == 6);
    CHECK(json["reductions"]["second"] == 7);
}

TEST_CASE("frames begin and end where `from` and `to` say, and the end is always written") {
    Folder folder;
    folder.write(
        "frames.halo",
        "stencil s(x) {\n    param from = 1, range = 1\n    field u: f64 { boundary periodic }\n"
        "    u[t+1] = u + from * range\n}\n"
        "run s {\n    grid 4\n    steps 20\n    init u = 0\n    save u to \"a.npy\" every 8 from 0\n"
        "    save u to \"b.npy\" every 2 from 7 to 12\n    save u to \"c.npy\" every 9\n    range = 1\n}\n");
    for (const char* device : {"interpreter", "cpu"}) {
        INFO(device);
        const Outcome outcome = folder.haloc({"run", "--device", device, "--json", "frames.halo"});
        INFO(outcome.err);
        REQUIRE(outcome.code == 0);
        std::vector<std::pair<std::string, std::int64_t>> files;
        const nlohmann::json json = nlohmann::json::parse(outcome.out);
        for (const auto& file : json["files"])
            files.emplace_back(file["path"], file["step"]);
        std::sort(files.begin(), files.end());
        CHECK(files == std::vector<std::pair<std::string, std::int64_t>>{{"a-000000.npy", 0},
                                                                         {"a-000008.npy", 8},
                                                                         {"a-000016.npy", 16},
                                                                         {"a.npy", 20},
                                                                         {"b-000007.npy", 7},
                                                                         {"b-000009.npy", 9},
                                                                         {"b-000011.npy", 11},
                                                                         {"b.npy", 20},
                                                                         {"c-000009.npy", 9},
                                                                         {"c-000018.npy", 18},
                                                                         {"c.npy", 20}});
        CHECK(folder.read("a-000000.npy").ends_with(std::string(32, '\0')));  // what init gives: four zeros
    }
}

TEST_CASE("a picture has the colours of its range") {
    Folder folder;
    const auto picture = [&](const std::string& start, const std::string& looks) {
        folder.write("p.halo",
                     "stencil s(x, y) {\n    field u: f64 { boundary clamp }\n    u[t+1] = u\n}\n"
                     "run s {\n    grid 6, 5\n    steps 1\n    init u = " +
                         start + "\n    plot u to \"u.png\" " + looks + "\n}\n");
        const Outcome outcome = folder.haloc({"run", "--device", "interpreter", "p.halo"});
        INFO(outcome.err);
        CHECK(outcome.code == 0);
        return folder.read("u.png");
    };
    const auto are_equal = [](const std::string& one, const std::string& other) { return one == other; };
    CHECK(are_equal(picture("7 + x/10", "range 0..6"), picture("8 - x/10", "range 0..6")));
    CHECK_FALSE(are_equal(picture("7 + x/10", ""), picture("8 - x/10", "")));
    CHECK_FALSE(are_equal(picture("7 + x/10", ""), picture("7 + x/10", "flip x")));
}

TEST_CASE("a run says how many iterations its conditions took") {
    Folder folder;
    folder.write("p.halo",
                 "stencil s(x) {\n param tol = 1\n field u: f64 { boundary fixed 0 }\n"
                 " repeat k until change < tol, at most 3 {\n u[k+1] = u[k, x-1] / 2\n"
                 " reduce change = max(abs(u[k+1] - u[k]))\n }\n}\nrun s { grid 8; steps 2; init u = 8 }\n");
    const auto said = [&](const std::string& tol) {
        return folder.haloc({"run", "--device", "interpreter", "p.halo", "--set", tol}).out;
    };
    CHECK(contains(said("tol=100"), "until change < tol: 2 iterations, 1 in a step at most\n"));
    CHECK(contains(said("tol=0"),
                   "until change < tol: 6 iterations, 3 in a step at most\n"
                   "  2 of 2 steps ended after 3 iterations without it; in the last step change = "));
    folder.write(
        "q.halo",
        "stencil s(x) {\n field u, w: f64 { boundary fixed 0 }\n repeat k until change < 1, at most 4 {\n"
        " repeat j until near < 0, at most 3 {\n w[j+1] = u[k, x-1] + w[j]\n"
        " reduce near = max(abs(w[j+1]))\n }\n u[k+1] = u[k] / 2\n"
        " reduce change = max(abs(u[k+1] - u[k]))\n }\n}\nrun s { grid 8; steps 2; init u = 8 }\n");
    CHECK(contains(folder.haloc({"run", "--device", "interpreter", "q.halo"}).out,
                   "until change < 1: 5 iterations, 4 in a step at most\n"
                   "until near < 0: 15 iterations, 3 at a time at most\n"
                   "  5 times it ended after 3 iterations without it; in the last step near = "));
}
