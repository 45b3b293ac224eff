// Every example as several processes: each cell, trace and reduction as of one. Starting processes is most of
// the work, so an example is run by one number of them, and by all where it differs most from the others in
// what ranks must agree on; HALO_ALL_RANKS=1 runs each example by all.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "catch.h"
#include "mpirun.h"

using namespace halo::test;
using Json = nlohmann::ordered_json;

namespace {

const std::string kExamples = HALO_SOURCE_DIR "/dsl_examples";

// Small, so that starting processes is most of the work. Others are small enough, or have points in places.
const std::map<std::string, std::string> kGrids{
    {"coulomb", "17,13,20"},         {"derivative_x", "24,20,28"}, {"derivative_y", "24,20,28"},
    {"derivative_z", "24,20,28"},    {"gradient", "24,20,28"},     {"heat3d", "24,20,28"},
    {"heat3d_capacity", "24,20,32"}, {"heat3d_until", "24,20,28"}, {"mri_fhd", "20,16,8"},
    {"gray_scott", "50,60"},         {"cahn_hilliard", "40,48"},   {"elastic2d", "50,60"},
    {"elastic3d", "24,20,28"},       {"maxwell3d", "24,20,28"},    {"navier_stokes3d", "20,16,32"},
    {"liouville", "12,11,10,16"},    {"vti3d", "24,20,32"},        {"cpml_acoustic3d", "24,20,28"},
    {"cpml_elastic3d", "24,20,28"},  {"cavity3d", "12,11,16"},     {"eikonal2d", "41,37"},
    {"implicit_heat2d", "40,37"},    {"groundwater2d", "80,75"},   {"multigrid_poisson2d", "96,140"}};

// Points in two and three dimensions; a condition on a reduction; a table; regions; many components; a
// staggered grid; bytes; an equation; several grids; and the plainest.
const std::set<std::string> kByAll{
    "acoustic2d", "heat3d",    "shot3d",       "heat3d_until",    "coulomb",
    "cavity2d",   "elastic2d", "game_of_life", "implicit_heat2d", "multigrid_poisson2d"};

// turn: counts those that are run by one number alone.
std::vector<int> counts_for(const std::string& name, std::size_t& turn) {
    const std::vector<int> all{2, 3, 4};
    if (kByAll.contains(name) || std::getenv("HALO_ALL_RANKS") != nullptr) return all;
    return {all[turn++ % all.size()]};
}

struct Example {
    std::string name;
    std::vector<std::string> fields;  // and traces
};

Outcome haloc(int count, std::vector<std::string> arguments) {
    Invocation invocation;
    if (count > 1) invocation.launcher = mpirun(count);
    invocation.arguments = std::move(arguments);
    invocation.folder = kExamples;
    invocation.set = {"HALO_NUM_THREADS=1"};
    return run_haloc(invocation);
}

// One axis that reduces; sweeps along both axes.
const std::set<std::string> kUncut{"fin", "heat2d_adi", "schroedinger_cn"};

std::vector<Example> examples() {
    std::vector<Example> all;
    for (const auto& entry : std::filesystem::directory_iterator(kExamples)) {
        const std::string name = entry.path().stem();
        if (entry.path().extension() != ".halo" || kUncut.contains(name)) continue;
        const Outcome plan = haloc(1, {"emit", name + ".halo", "--target", "plan"});
        INFO(name << "\n" << plan.err);
        REQUIRE(plan.code == 0);
        Example example{name, {}};
        const Json json = Json::parse(plan.out);
        for (const Json& field : json.at("fields")) {
            const std::string role = field.at("role");
            if (role == "state" || role == "output") example.fields.push_back(field.at("name"));
        }
        if (name == "shot3d") example.fields.push_back("phones.trace");
        all.push_back(std::move(example));
    }
    std::ranges::sort(all, {}, &Example::name);
    return all;
}

struct Run {
    Outcome outcome;
    std::vector<std::string> files;
    Json reductions;
};

Run run(const Folder& folder, const Example& example, int count) {
    std::vector<std::string> arguments{"run", example.name + ".halo", "--device",
                                       "cpu", "--no-files",           "--steps",
                                       "13",  "--no-watch",           "--json"};
    if (const auto grid = kGrids.find(example.name); grid != kGrids.end())
        arguments.insert(arguments.end(), {"--grid", grid->second});
    for (const std::string& field : example.fields)
        arguments.insert(arguments.end(), {"--save", field + "=" + folder.path() + "/" + field + ".npy"});
    Run result{haloc(count, arguments), {}, {}};
    INFO(example.name << " on " << count << "\n" << result.outcome.err);
    REQUIRE(result.outcome.code == 0);
    for (const std::string& field : example.fields)
        result.files.push_back(folder.read(field + ".npy"));
    result.reductions = Json::parse(result.outcome.out).at("reductions");
    return result;
}

}  // namespace

TEST_CASE("examples on several ranks give the bits of one", "[examples]") {
    Folder folder;
    std::set<std::string> names;
    std::size_t turn = 0;
    std::map<int, int> compared;  // by number of processes
    for (const Example& example : examples()) {
        names.insert(example.name);
        const Run one = run(folder, example, 1);
        for (const int count : counts_for(example.name, turn)) {
            const Run several = run(folder, example, count);
            INFO(example.name << " on " << count);
            for (std::size_t i = 0; i < one.files.size(); ++i) {
                INFO(example.fields[i]);
                CHECK((several.files[i] == one.files[i]));
            }
            CHECK(several.reductions == one.reductions);
            ++compared[count];
        }
    }
    CHECK(names.size() > 30);
    CHECK(std::ranges::includes(names, kByAll));
    for (const int count : {2, 3, 4})
        CHECK(compared[count] > 15);
}
