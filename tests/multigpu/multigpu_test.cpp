// Examples in pieces on several GPUs, and on one that has several pieces: every cell as on one GPU alone.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "process.h"
#include "runtime/cuda/cuda.h"
#include "runtime/nvrtc/nvrtc.h"
#include "skip.h"

using namespace halo::test;
using Json = nlohmann::ordered_json;

namespace {

std::size_t gpus() {
    return halo::rt::cuda_status().devices.size();
}

const SkipUnless several(gpus() > 1, "there are not several GPUs");
const SkipUnless compiler(halo::rt::Nvrtc::find() != nullptr, halo::rt::Nvrtc::why_missing());

const std::string kExamples = HALO_SOURCE_DIR "/dsl_examples";

Outcome haloc(const Folder& folder, std::vector<std::string> arguments) {
    Invocation invocation;
    invocation.arguments = std::move(arguments);
    invocation.folder = kExamples;
    invocation.set = {"HALOCLINE_CACHE=" + folder.path() + "/cache"};
    return run_haloc(invocation);
}

std::vector<std::string> written_fields(const Folder& folder, const std::string& file) {
    const Outcome plan = haloc(folder, {"emit", file, "--target", "plan"});
    INFO(plan.err);
    REQUIRE(plan.code == 0);
    std::vector<std::string> names;
    for (const Json& field : Json::parse(plan.out).at("fields")) {
        const std::string role = field.at("role");
        if (role == "state" || role == "output") names.push_back(field.at("name"));
    }
    return names;
}

struct Run {
    Outcome outcome;
    std::vector<std::string> fields;  // their files
};

Run run(const Folder& folder, const std::string& file, const std::vector<std::string>& fields,
        const std::vector<std::string>& with, const std::string& steps = "21") {
    std::vector<std::string> arguments{"run",     file,  "--device", "cuda",      "--no-files",
                                       "--steps", steps, "--json",   "--no-watch"};
    for (const std::string& field : fields)
        arguments.insert(arguments.end(), {"--save", field + "=" + folder.path() + "/" + field + ".npy"});
    arguments.insert(arguments.end(), with.begin(), with.end());
    Run result{haloc(folder, arguments), {}};
    for (const std::string& field : fields)
        if (result.outcome.code == 0) result.fields.push_back(folder.read(field + ".npy"));
    return result;
}

// One GPU alone adds up sums in another order than pieces do. So conjugate gradients give other numbers
// there, within their tolerance, maybe after another number of iterations.
const std::set<std::string> kReadSums{"implicit_heat2d.halo"};
constexpr double kSolved = 1e-5;

// Of min and max the same; sums are added in another order than on one GPU.
bool agree(double one, double other, double bound) {
    return std::abs(one - other) <= bound * (1 + std::abs(one));
}

// The cells of a file of f64 (.npy), each within the bound.
bool cells_agree(const std::string& one, const std::string& other, double bound) {
    constexpr std::size_t kLengthAt = 8, kHeaderAt = 10;
    if (one.size() != other.size() || one.find("'<f8'") == std::string::npos) return false;
    const auto length = static_cast<std::size_t>(static_cast<unsigned char>(one[kLengthAt])) +
                        (static_cast<std::size_t>(static_cast<unsigned char>(one[kLengthAt + 1])) << 8U);
    for (std::size_t at = kHeaderAt + length; at + sizeof(double) <= one.size(); at += sizeof(double)) {
        double cell = 0, its = 0;
        std::memcpy(&cell, &one[at], sizeof cell);
        std::memcpy(&its, &other[at], sizeof its);
        if (!agree(cell, its, bound)) return false;
    }
    return true;
}

std::vector<std::string> examples() {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(kExamples))
        if (entry.path().extension() == ".halo") files.push_back(entry.path().filename());
    std::ranges::sort(files);
    return files;
}

// Runs of several devices that were compared.
int compare(const Folder& folder, const std::string& file,
            const std::vector<std::vector<std::string>>& ways) {
    const std::vector<std::string> fields = written_fields(folder, file);
    const Run one = run(folder, file, fields, {});
    INFO(file << "\n" << one.outcome.err);
    REQUIRE(one.outcome.code == 0);
    const Json reductions = Json::parse(one.outcome.out).at("reductions");
    const bool reads_sums = kReadSums.contains(file);
    Json in_pieces;
    std::vector<std::string> fields_in_pieces;
    int compared = 0;
    for (const std::vector<std::string>& way : ways) {
        Run several_gpus = run(folder, file, fields, way);
        // What reads far cells has too small pieces here to exchange every other step.
        if (several_gpus.outcome.err.find("cannot exchange every 2 steps") != std::string::npos)
            several_gpus = run(folder, file, fields, {"--devices", way[1], "--exchange", "1"});
        INFO(way[1] << "\n" << several_gpus.outcome.err);
        if (several_gpus.outcome.err.find("its grid cannot be cut") != std::string::npos) continue;
        REQUIRE(several_gpus.outcome.code == 0);
        for (std::size_t i = 0; i < fields.size(); ++i) {
            INFO(fields[i]);
            CHECK((reads_sums ? cells_agree(several_gpus.fields[i], one.fields[i], kSolved)
                              : several_gpus.fields[i] == one.fields[i]));
        }
        const Json results = Json::parse(several_gpus.outcome.out).at("reductions");
        for (const auto& [name, value] : reductions.items())
            CHECK((value.is_null() ? results.at(name).is_null()
                                   : agree(value.get<double>(), results.at(name).get<double>(),
                                           reads_sums ? kSolved : 1e-12)));
        // However the grid is cut, what is reduced has the same bits.
        if (!in_pieces.is_null()) CHECK(results == in_pieces);
        if (!in_pieces.is_null()) CHECK((several_gpus.fields == fields_in_pieces));
        in_pieces = results;
        fields_in_pieces = several_gpus.fields;
        ++compared;
    }
    return compared;
}

// Every third example, from `first` on: so that ctest has the thirds side by side.
void compare_examples(std::size_t first) {
    std::vector<std::vector<std::string>> ways{{"--devices", "0,1,0", "--exchange", "2"}};
    for (std::size_t count = 2; count <= std::min<std::size_t>(gpus(), 4); ++count)
        ways.push_back({"--devices", std::to_string(count)});
    const std::vector<std::string> files = examples();
    Folder folder;
    int compared = 0;
    for (std::size_t i = first; i < files.size(); i += 3)
        compared += compare(folder, files[i], ways);
    CHECK(compared >= 20);
}

}  // namespace

TEST_CASE("examples in pieces on several GPUs give the bits of one: first third", "[first]") {
    compare_examples(0);
}

TEST_CASE("examples in pieces on several GPUs give the bits of one: second third", "[second]") {
    compare_examples(1);
}

TEST_CASE("examples in pieces on several GPUs give the bits of one: last third", "[third]") {
    compare_examples(2);
}

// Kernels that do several steps at once are chosen for longer runs than these, so here they are asked for.
TEST_CASE("pieces at the ends and between others exchange by each scheme", "[schemes]") {
    Folder folder;
    const std::string grid = "96,80,70";
    const Run one = run(folder, "heat3d.halo", {"u"}, {"--grid", grid});
    INFO(one.outcome.err);
    REQUIRE(one.outcome.code == 0);
    using Way = std::pair<std::string, std::string>;
    for (const auto& [scheme, interval] :
         {Way{"synchronous", "3"}, Way{"asynchronous", "3"}, Way{"asynchronous", "6"}, Way{"direct", "3"}}) {
        for (const std::string devices : {"2", "0,1,0", "0,1,0,1"}) {
            const Run pieces = run(folder, "heat3d.halo", {"u"},
                                   {"--grid", grid, "--devices", devices, "--exchange", interval,
                                    "--exchange-scheme", scheme, "--schedule", "temporal steps=3"});
            INFO(scheme << " every " << interval << " steps, devices " << devices << "\n"
                        << pieces.outcome.err);
            REQUIRE(pieces.outcome.code == 0);
            CHECK((pieces.fields == one.fields));
        }
    }
}

TEST_CASE("steps that are recorded from one exchange to the next", "[schemes]") {
    Folder folder;
    const std::vector<std::string> singly{"--grid", "96,80,100", "--schedule", "direct"};
    const Run one = run(folder, "heat3d.halo", {"u"}, singly, "75");
    INFO(one.outcome.err);
    REQUIRE(one.outcome.code == 0);
    for (const std::string devices : {"2", "0,1,0"}) {
        for (const std::string interval : {"10", "25"}) {
            std::vector<std::string> with = singly;
            with.insert(with.end(), {"--devices", devices, "--exchange", interval});
            const Run pieces = run(folder, "heat3d.halo", {"u"}, with, "75");
            INFO("every " << interval << " steps, devices " << devices << "\n" << pieces.outcome.err);
            REQUIRE(pieces.outcome.code == 0);
            CHECK((pieces.fields == one.fields));
        }
    }
}
