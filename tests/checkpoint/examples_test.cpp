// Each example, stopped after 10 steps and gone on with in pieces, against 20 steps in a row.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "process.h"
#include "weather.h"

using namespace halo::test;
using Json = nlohmann::ordered_json;

namespace {

// Fields and traces that a run can save.
std::vector<std::string> results_of(const Folder& folder, const std::string& file) {
    const Outcome plan = folder.haloc({"emit", file, "--target", "plan"});
    INFO(plan.err);
    REQUIRE(plan.code == 0);
    const Json json = Json::parse(plan.out);
    std::vector<std::string> names;
    for (const Json& field : json.at("fields"))
        if (field.at("role") == "state" || field.at("role") == "output") names.push_back(field.at("name"));
    if (!json.contains("points")) return names;
    for (const Json& points : json.at("points"))
        for (const Json& trace : points.at("traces"))
            if (trace.at("sampled").get<bool>())
                names.push_back(points.at("name").get<std::string>() + "." +
                                trace.at("name").get<std::string>());
    return names;
}

struct Results {
    Outcome outcome;
    Json reductions;
    std::vector<std::string> files;
};

Results run(const Folder& folder, const std::string& file, const std::vector<std::string>& names,
            const std::vector<std::string>& with) {
    std::vector<std::string> arguments{"run", file, "--device", "cpu", "--no-files", "--json", "--no-watch"};
    for (const std::string& name : names)
        arguments.insert(arguments.end(), {"--save", name + "=" + folder.path() + "/" + name + ".npy"});
    arguments.insert(arguments.end(), with.begin(), with.end());
    Results results{folder.haloc(arguments), {}, {}};
    if (results.outcome.code != 0) return results;
    results.reductions = Json::parse(results.outcome.out).at("reductions");
    for (const std::string& name : names)
        results.files.push_back(folder.read(name + ".npy"));
    return results;
}

void check(const Folder& folder, const std::string& file, const std::vector<std::string>& counts) {
    INFO(file);
    const std::string checkpoints = folder.path() + "/" + std::filesystem::path(file).stem().string();
    const std::vector<std::string> names = results_of(folder, file);
    const Results whole = run(folder, file, names, {"--steps", "20"});
    INFO(whole.outcome.err);
    REQUIRE(whole.outcome.code == 0);
    const Results half = run(folder, file, names, {"--steps", "10", "--checkpoint", checkpoints});
    INFO(half.outcome.err);
    REQUIRE(half.outcome.code == 0);
    for (const std::string& count : counts) {
        std::vector<std::string> with{"--steps", "20", "--restart", checkpoints};
        if (!count.empty()) with.insert(with.end(), {"--devices", count});
        const Results rest = run(folder, file, names, with);
        INFO(count << " pieces\n" << rest.outcome.err);
        if (rest.outcome.err.find("its grid cannot be cut") != std::string::npos) continue;
        REQUIRE(rest.outcome.code == 0);
        CHECK(Json::parse(rest.outcome.out).at("restarted_after") == 10);
        CHECK(rest.reductions == whole.reductions);
        for (std::size_t i = 0; i < names.size(); ++i) {
            INFO(names[i]);
            CHECK((rest.files[i] == whole.files[i]));
        }
    }
}

// Every other one, as ctest runs both halves side by side.
void check_examples(std::size_t first) {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(HALO_SOURCE_DIR "/dsl_examples"))
        if (entry.path().extension() == ".halo") files.push_back(entry.path());
    std::ranges::sort(files);
    const std::vector<std::string> counts{"", "2", "3"};
    for (std::size_t i = first; i < files.size(); i += 2) {
        Folder folder;
        check(folder, files[i], {counts[i / 2 % counts.size()]});
    }
    CHECK(files.size() > 20);
}

}  // namespace

TEST_CASE("a run with all that changes from step to step goes on in any number of pieces", "[first]") {
    Folder folder;
    folder.write("weather.halo", kWeather);
    check(folder, folder.path() + "/weather.halo", {"", "1", "2", "3"});
}

TEST_CASE("examples go on as if they had never stopped", "[first]") {
    check_examples(0);
}

TEST_CASE("and so do the others", "[second]") {
    check_examples(1);
}
