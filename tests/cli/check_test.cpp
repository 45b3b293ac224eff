#include <nlohmann/json.hpp>

#include "catch.h"
#include "process.h"
#include "specs.h"

using namespace halo::test;

TEST_CASE("check says that a right spec has no mistakes") {
    Folder folder;
    folder.write("heat.halo", kHeat);
    Outcome outcome = folder.haloc({"check", "heat.halo"});
    CHECK(outcome.code == 0);
    CHECK(outcome.out.empty());
    CHECK(outcome.err == "heat.halo: no mistakes\n");
    CHECK(folder.haloc({"check", "-q", "heat.halo"}).err.empty());
}

TEST_CASE("check reports every mistake of every file and exits with 1") {
    Folder folder;
    folder.write("good.halo", kHeat);
    folder.write("bad.halo", "stencil s(x) {\n    field u: f32\n    u[t+1] = v + w\n}\n");
    Outcome outcome = folder.haloc({"check", "bad.halo", "good.halo"});
    CHECK(outcome.code == 1);
    CHECK(outcome.err.find("bad.halo:3:") != std::string::npos);
    CHECK(outcome.err.find("`v`") != std::string::npos);
    CHECK(outcome.err.find("`w`") != std::string::npos);
    CHECK(outcome.err.find("good.halo: no mistakes") != std::string::npos);
    CHECK(outcome.err.find('\x1b') == std::string::npos);  // no colours in a pipe
}

TEST_CASE("check --json is an array of messages with places") {
    Folder folder;
    folder.write("bad.halo", "stencil s(x) {\n    field u: f32\n    u[t+1] = v\n}\n");
    Outcome outcome = folder.haloc({"check", "--json", "bad.halo"});
    CHECK(outcome.code == 1);
    nlohmann::json messages = nlohmann::json::parse(outcome.out);
    REQUIRE(messages.is_array());
    REQUIRE(messages.size() == 1);
    CHECK(messages[0]["kind"] == "unknown-name");
    CHECK(messages[0]["file"] == "bad.halo");
    CHECK(messages[0]["range"]["begin"]["line"] == 3);
    CHECK(messages[0]["range"]["begin"]["column"] == 14);

    folder.write("good.halo", kHeat);
    outcome = folder.haloc({"check", "--json", "good.halo"});
    CHECK(outcome.code == 0);
    CHECK(nlohmann::json::parse(outcome.out).empty());
}

TEST_CASE("check reads standard input") {
    Folder folder;
    CHECK(folder.haloc({"check", "-"}, kHeat).err == "<stdin>: no mistakes\n");
    CHECK(folder.haloc({"check", "-"}, "stencil").code == 1);
}

TEST_CASE("a file that cannot be read is a file trouble") {
    Folder folder;
    Outcome outcome = folder.haloc({"check", "none.halo"});
    CHECK(outcome.code == 4);
    CHECK(outcome.err == "error: cannot read none.halo: No such file or directory\n");
    CHECK(folder.haloc({"check", "."}).code == 4);
}

TEST_CASE("check names a default with which waves grow, without being asked") {
    Folder folder;
    const std::string heat = kHeat, within = "dt = 0.1", above = "dt = 0.3";
    folder.write("heat.halo", std::string(heat).replace(heat.find(within), within.size(), above));
    Outcome outcome = folder.haloc({"check", "heat.halo"});
    CHECK(outcome.code == 0);
    CHECK(outcome.err.find(
              "warning: heat.halo: dt = 0.3 is above 0.25, the largest value with which heat is") !=
          std::string::npos);
    CHECK(outcome.err.find("heat.halo: no mistakes, 1 warning\n") != std::string::npos);
    CHECK(folder.haloc({"check", "--strict", "heat.halo"}).code == 1);
    const nlohmann::json messages = nlohmann::json::parse(folder.haloc({"check", "--json", "heat.halo"}).out);
    REQUIRE(messages.size() == 1);
    CHECK(messages[0]["kind"] == "unstable-step");
    CHECK(messages[0]["severity"] == "warning");
}

TEST_CASE("check says nothing of the stability of a step that has no value yet") {
    Folder folder;
    const std::string heat = kHeat, given = "param dt = 0.1";
    folder.write("heat.halo", std::string(heat).replace(heat.find(given), given.size(), "param dt"));
    CHECK(folder.haloc({"check", "heat.halo"}).err == "heat.halo: no mistakes\n");
    // One that the run block gives is looked at.
    const std::string run = "steps 10";
    const std::string lacking = folder.read("heat.halo");
    folder.write("heat.halo",
                 std::string(lacking).replace(lacking.find(run), run.size(), "steps 10; dt = 0.3"));
    CHECK(folder.haloc({"check", "heat.halo"}).err.find("dt = 0.3 is above 0.25") != std::string::npos);
}

TEST_CASE("a face without a boundary gets one note, unless `free` is written") {
    Folder folder;
    const auto spec = [](const std::string& boundary) {
        return "stencil s(x) {\n    field u, v: f64" + boundary +
               "\n    u[t+1] = (u[x-1] + u[x+1]) / 2\n    v[t+1] = (v[x-1] + v[x+1]) / 2\n}\n"
               "run s {\n    grid 8\n    steps 1\n    init u = 1\n    init v = 1\n}\n";
    };
    folder.write("silent.halo", spec(""));
    const std::string note =
        "note: s: no boundary is written for u, v, so cells whose neighbours are past the edge";
    for (const Outcome& outcome : {folder.haloc({"check", "silent.halo"}),
                                   folder.haloc({"run", "--device", "interpreter", "silent.halo"})}) {
        const std::size_t first = outcome.err.find(note);
        REQUIRE(first != std::string::npos);
        CHECK(outcome.err.find("no boundary", first + note.size()) == std::string::npos);
        CHECK(outcome.code == 0);
    }
    folder.write("free.halo", spec(" { boundary free }"));
    CHECK(folder.haloc({"check", "free.halo"}).err == "free.halo: no mistakes\n");
}

TEST_CASE("a field that starts at 0 is named where its first values are read") {
    Folder folder;
    folder.write("zeros.halo",
                 "stencil s(x) {\n    field u, kept, seen: f64 { boundary periodic }\n    u[t+1] = u + 1\n"
                 "    kept[t+1] = u\n    on x.low {\n        seen[t+1] = u\n    }\n}\n"
                 "run s {\n    grid 8\n    steps 1\n    init u = 1\n}\n");
    CHECK(folder.haloc({"run", "--device", "interpreter", "zeros.halo"})
              .err.find("note: seen starts at 0 everywhere") != std::string::npos);
}

TEST_CASE("a file without a stencil is a mistake, and a module is none") {
    Folder folder;
    folder.write("empty.halo", "# nothing yet\n");
    Outcome outcome = folder.haloc({"check", "empty.halo"});
    CHECK(outcome.code == 1);
    CHECK(outcome.err.find("error: this file has no stencil") != std::string::npos);
    folder.write("numbers.halo", "const half = 1/2\n");
    CHECK(folder.haloc({"check", "numbers.halo"}).err == "numbers.halo: no mistakes\n");
}
