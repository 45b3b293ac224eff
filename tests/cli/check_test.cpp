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
