// Runs that chain stencils.
#include <nlohmann/json.hpp>

#include "catch.h"
#include "npy_values.h"
#include "process.h"

using namespace halo::test;

namespace {

// u: 1, 2, 3 → 1.5, 2.5, 3.5, 4.5 → 2.25, and down from there.
const std::string kStencils =
    "stencil grow(x) {\n    field u: f64 { boundary periodic }\n    u[t+1] = u + 1\n"
    "    reduce most = max(u[t+1])\n}\n"
    "stencil halve(x) {\n    field u: f64 { boundary periodic }\n    u[t+1] = (u[x-1] + u[x+1]) / 4\n"
    "    reduce halved = max(u[t+1])\n}\n"
    "stencil sink(x) {\n    field u: f64 { boundary periodic }\n    u[t+1] = u - 1\n}\n";

std::vector<double> at_end(const Folder& folder, std::vector<std::string> options) {
    options.insert(options.begin(), {"run", "--device", "interpreter", "chain.halo"});
    const Outcome outcome = folder.haloc(options);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    return npy_values(folder.read("u.npy"));
}

}  // namespace

TEST_CASE("a run with phases counts the steps of all of them") {
    Folder folder;
    folder.write("chain.halo",
                 kStencils +
                     "run grow {\n    grid 4\n    steps 6\n    every 3 do halve\n    then sink for 2\n"
                     "    save u to \"u.npy\"\n    save halved to \"halved.csv\" every 1\n}\n");
    CHECK(at_end(folder, {}) == std::vector<double>(4, 0.25));
    CHECK(folder.read("halved.csv") ==
          "step,time,halved\n1,1,nan\n2,2,nan\n3,3,1.5\n4,4,nan\n5,5,nan\n6,6,2.25\n7,7,nan\n8,8,nan\n");
    CHECK(at_end(folder, {"--steps", "4"}) == std::vector<double>(4, 2.5));
    CHECK(at_end(folder, {"--steps", "10"}) == std::vector<double>(4, -1.75));  // the last phase goes on
    const Outcome outcome = folder.haloc({"run", "--device", "interpreter", "--no-files", "chain.halo"});
    CHECK(outcome.out.find("halved has no value after the last step") != std::string::npos);
    const Outcome refused = folder.haloc({"run", "--until", "most > 3", "chain.halo"});
    CHECK(refused.code == 2);  // as of any mistake in an option
    CHECK(refused.err.find("a run with `then` does not end by a condition") != std::string::npos);
}

TEST_CASE("until reads what a chained stencil reduces, in the steps that have it") {
    Folder folder;
    folder.write("chain.halo",
                 kStencils +
                     "run grow {\n    grid 4\n    steps 100 until halved > 2\n    every 3 do halve\n"
                     "    save u to \"u.npy\"\n}\n");
    const Outcome outcome =
        folder.haloc({"run", "--device", "interpreter", "--json", "--no-files", "chain.halo"});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    const auto json = nlohmann::json::parse(outcome.out);
    CHECK(json.at("steps") == 6);
    CHECK(json.at("reductions").at("halved") == 2.25);
}
