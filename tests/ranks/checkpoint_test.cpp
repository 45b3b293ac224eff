// Checkpoints that several ranks write together, and that another number of them goes on from.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "mpirun.h"
#include "weather.h"

using namespace halo::test;
using Json = nlohmann::ordered_json;

namespace {

struct Results {
    Json reductions;
    std::vector<std::string> files;
    bool operator==(const Results&) const = default;
};

Results results_of(const Folder& folder, int count, std::vector<std::string> with) {
    const std::vector<std::string> names{"u", "p", "hot", "phones.trace"};
    Invocation invocation;
    if (count > 1) invocation.launcher = mpirun(count);
    invocation.arguments = {"run", "weather.halo", "--device", "cpu", "--no-files", "--json"};
    for (const std::string& name : names)
        with.insert(with.end(), {"--save", name + "=" + name + ".npy"});
    invocation.arguments.insert(invocation.arguments.end(), with.begin(), with.end());
    invocation.folder = folder.path();
    invocation.set = {"HALO_NUM_THREADS=1"};
    const Outcome outcome = run_haloc(invocation);
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    Results results{Json::parse(outcome.out).at("reductions"), {}};
    for (const std::string& name : names)
        results.files.push_back(folder.read(name + ".npy"));
    return results;
}

}  // namespace

TEST_CASE("a run goes on from its checkpoint with another number of ranks", "[checkpoints]") {
    Folder folder;
    folder.write("weather.halo", kWeather);
    const Results whole = results_of(folder, 1, {"--steps", "20"});
    results_of(folder, 2, {"--steps", "8", "--checkpoint", "ck", "--checkpoint-every", "3"});
    results_of(folder, 3, {"--steps", "14", "--restart", "ck", "--checkpoint", "ck"});
    for (const int count : {1, 2, 4}) {
        INFO(count << " ranks");
        CHECK((results_of(folder, count, {"--steps", "20", "--restart", "ck"}) == whole));
    }
}
