// Every call of the system that the command and the C interface make, made to fail (faults.cpp): the exit
// code is one of README.md's, there is one message, and no file is half written or lost. A run covers some
// hundred calls, chosen evenly; with HALO_FAULTS=all it covers each of them.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <thread>

#include "catch.h"
#include "process.h"
#include "runtime/api/bundle.h"

using namespace halo::test;
namespace fs = std::filesystem;

namespace {

using Files = std::map<std::string, std::string>;

constexpr const char* kSpec = R"(stencil s(x) {
    param dt = 0.5
    field u: f64 { boundary clamp }
    field k: f32
    u[t+1] = u + dt * k
    reduce total = sum(u[t+1])
}
run s {
    grid 6
    steps 6
    load k from "k.npy"
    init u = idx(x)
    save u to "u.npy" every 4
    plot u to "u.png"
}
)";

// What a user has before a run, and would not lose.
const std::string kOld = "an old file";

struct Scenario {
    std::string name;
    std::vector<std::string> arguments;  // of haloc; those of a program of its own where there is one
    std::vector<std::string> classes;
    std::string program = std::string("haloc");
    std::function<void(const Folder&)> prepare = [](const Folder&) {};
    // Of a run that went wrong or not: what is wrong with what it left; empty where nothing is.
    std::function<std::string(const Folder&, const Files& good)> mistake_after =
        [](const Folder&, const Files&) { return std::string(); };
};

const std::vector<std::string> kOfFiles{"open",  "read",   "write",  "sync", "rename",
                                        "close", "status", "remove", "mkdir"};

std::vector<std::string> all_classes() {
    std::vector<std::string> all = kOfFiles;
    all.insert(all.end(), {"memory", "thread", "map", "process"});
    return all;
}

std::string npy_of_ones() {
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }";
    header.append(63 - (10 + header.size()) % 64, ' ');
    header += '\n';
    std::string text = "\x93NUMPY\x01";
    text += '\0';
    text += static_cast<char>(header.size());
    text += '\0';
    text += header;
    for (int i = 0; i < 6; ++i)
        text += std::string("\x00\x00\x80\x3f", 4);
    return text;
}

std::string some_bundle() {
    halocline::detail::Variant variant;
    variant.target = "sm_90";
    variant.plan.name = "thing";
    variant.plan.rank = 1;
    variant.plan.axes = {"x"};
    variant.plan.spacing.resize(1);
    variant.plan.origin.resize(1);
    variant.plan.spacing[0].steps = {{halo::rt::HostScalar::Op::constant, 1, 0}};
    variant.plan.origin[0].steps = {{halo::rt::HostScalar::Op::constant, 0, 0}};
    variant.code = {"code"};
    return halocline::detail::bundle_text("thing", {variant});
}

// Texts may name the folder, which is another one each time.
std::string without_folder(std::string text, const std::string& path) {
    for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path, at))
        text.replace(at, path.size(), "@");
    return text;
}

Files files_of(const Folder& folder) {
    Files files;
    for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
        const std::string name = fs::relative(entry.path(), folder.path()).string();
        if (entry.is_regular_file() && !name.starts_with("cache/") && name != "report")
            files[name] = without_folder(folder.read(name), folder.path());
    }
    return files;
}

struct Run {
    int code = -1;
    std::string out, err;
    Files files;
    long calls = 0;
};

// What the user of a scenario has before a run. Made once, as that may take a run of haloc or a compilation.
class Prepared {
public:
    explicit Prepared(const Scenario& scenario) {
        folder_.write("s.halo", kSpec);
        folder_.write("k.npy", npy_of_ones());
        scenario.prepare(folder_);
    }
    void copy_to(const Folder& other) const {
        fs::copy(folder_.path(), other.path(), fs::copy_options::recursive);
    }

private:
    Folder folder_;
};

// In a folder of its own, in which all that the scenario writes is there already, as kOld.
class Place {
public:
    Place(const Scenario& scenario, const Prepared& prepared, const Files& written) : scenario_(scenario) {
        prepared.copy_to(folder_);
        for (const auto& [name, text] : written)
            if (!fs::exists(folder_.path() + "/" + name) && name.find('/') == std::string::npos)
                folder_.write(name, kOld);
        before_ = files_of(folder_);
    }
    const Files& before() const { return before_; }
    std::string mistake_after(const Files& good) const { return scenario_.mistake_after(folder_, good); }

    Run run(const std::string& orders) const {
        Invocation invocation;
        invocation.arguments = scenario_.arguments;
        invocation.folder = folder_.path();
        invocation.set = {"HALO_FAULT=" + orders,
                          "HALO_FAULT_PROGRAM=" + scenario_.program,
                          "HALO_FAULT_REPORT=" + folder_.path() + "/report",
                          "LD_PRELOAD=" HALO_FAULTS,
                          "HALO_NUM_THREADS=3",
                          "HALOCLINE_CACHE=" + folder_.path() + "/cache"};
        // Ends what hangs; the code is 124 then.
        invocation.launcher = {"timeout", "-k", "5", "30"};
        if (scenario_.program != "haloc") invocation.program = HALO_PROGRAMS "/" + scenario_.program;
        const Outcome outcome = run_haloc(invocation);
        return {outcome.code, outcome.out, outcome.err, files_of(folder_),
                std::atol(folder_.read("report").c_str())};
    }

private:
    const Scenario& scenario_;
    Folder folder_;
    Files before_;
};

bool takes_all() {
    const char* const asked = std::getenv("HALO_FAULTS");
    return asked != nullptr && std::string(asked) == "all";
}

// Of `count` calls: all, or the first few and then others at growing distances.
std::vector<long> chosen_calls(long count, std::size_t most) {
    std::vector<long> all;
    for (long n = 1; n <= count; ++n)
        all.push_back(n);
    if (takes_all() || all.size() <= most) return all;
    std::vector<long> some(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(most / 4));
    const double rest = static_cast<double>(most) - static_cast<double>(some.size());
    for (double i = 0; i < rest; ++i)
        some.push_back(some[most / 4 - 1] + 1 +
                       static_cast<long>(i * static_cast<double>(count - some[most / 4 - 1] - 1) / rest));
    return some;
}

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++count;
    return count;
}

bool has_checkpoint(const Files& files) {
    return std::ranges::any_of(files, [](const auto& file) {
        return file.first.starts_with("ck/step-") && file.first.ends_with("/manifest.json");
    });
}

// What is wrong with how a run with a failing call ended; empty where nothing is.
std::string mistake_of(const Run& run, const Run& good, const Files& before, const std::string& what,
                       bool always) {
    static const std::set<int> codes{0, 2, 3, 4};
    if (!codes.contains(run.code)) return "exit code " + std::to_string(run.code);
    if (run.code != 0 && count_of(run.err, "error:") != 1) return "not one message";
    if (run.code == 0 && count_of(run.err, "error:") != 0) return "a message and exit code 0";
    for (const auto& [name, text] : before) {
        const auto now = run.files.find(name);
        if (now == run.files.end() && name.starts_with("ck/") && has_checkpoint(run.files)) continue;
        if (now == run.files.end()) return name + " is lost";
        const auto whole = good.files.find(name);
        const bool is_whole = whole != good.files.end() && now->second == whole->second;
        if (now->second != text && !is_whole) return name + " is half written";
        if (run.code == 0 && whole != good.files.end() && !is_whole)
            return name + " is missing, and nobody said so";
    }
    for (const auto& [name, text] : run.files) {
        const bool is_left = name.find(".part") != std::string::npos;
        // Where nothing can be removed it stays; else nothing half done does.
        if (is_left && what != "remove" && !always) return name + " was left";
        if (is_left || before.contains(name) || name.find("ck/") == 0) continue;
        const auto whole = good.files.find(name);
        if (whole == good.files.end() || whole->second != text) return name + " is half written";
    }
    return "";
}

// Tries each class; how: once or always.
void sweep(const Scenario& scenario, std::size_t most) {
    const Prepared prepared(scenario);
    const Run good = Place(scenario, prepared, {}).run("none:0:once");
    INFO(scenario.name << "\n" << good.err);
    REQUIRE(good.code == 0);
    for (const std::string& what : scenario.classes) {
        const Run counted = Place(scenario, prepared, good.files).run(what + ":0:once");
        REQUIRE(counted.code == 0);
        for (const char* how : {"once", "always"}) {
            // Without any memory there are no words either.
            if (what == "memory" && std::string(how) == "always") continue;
            for (const long n : chosen_calls(counted.calls, most)) {
                const Place place(scenario, prepared, good.files);
                const Run run = place.run(what + ":" + std::to_string(n) + ":" + how);
                std::string mistake =
                    mistake_of(run, good, place.before(), what, std::string(how) == "always");
                if (mistake.empty()) mistake = place.mistake_after(good.files);
                INFO(scenario.name << ": " << what << " " << n << " of " << counted.calls << ", " << how
                                   << "\n"
                                   << run.err);
                CHECK(mistake == "");
            }
        }
    }
}

Scenario run_interpreted() {
    return {"run", {"run", "s.halo", "--device", "interpreter"}, all_classes()};
}

}  // namespace

TEST_CASE("faults: run", "[run]") {
    sweep(run_interpreted(), 40);
}

TEST_CASE("faults: movies", "[movies]") {
    Scenario scenario = run_interpreted();
    scenario.name = "movies";
    scenario.arguments.insert(scenario.arguments.end(), {"--no-files", "--movie", "u=u.mp4"});
#ifdef HALO_GIF
    scenario.arguments.insert(scenario.arguments.end(), {"--movie", "k=k.gif"});
#endif
    const Folder programs;  // with one that stands in for ffmpeg
    programs.write("ffmpeg", "#!/bin/sh\nfor last; do :; done\nwc -c > \"${last#file:}\"\n");
    fs::permissions(programs.path() + "/ffmpeg", fs::perms::owner_all);
    const std::string path = std::getenv("PATH");
    ::setenv("PATH", (programs.path() + ":" + path).c_str(), 1);
    sweep(scenario, 40);
    ::setenv("PATH", path.c_str(), 1);
}

TEST_CASE("faults: checkpoints", "[checkpoints]") {
    Scenario scenario = run_interpreted();
    scenario.name = "checkpoint and restart";
    scenario.arguments.insert(scenario.arguments.end(), {"--no-files", "--save", "u=u.npy", "--checkpoint",
                                                         "ck", "--checkpoint-every", "2"});
    scenario.prepare = [](const Folder& folder) {
        REQUIRE(folder
                    .haloc({"run", "s.halo", "--device", "interpreter", "--no-files", "--steps", "2",
                            "--checkpoint", "ck"})
                    .code == 0);
    };
    scenario.arguments.insert(scenario.arguments.end(), {"--restart", "ck"});
    scenario.mistake_after = [](const Folder& folder, const Files& good) -> std::string {
        const Outcome outcome = folder.haloc({"run", "s.halo", "--device", "interpreter", "--no-files",
                                              "--save", "u=u.npy", "--restart", "ck"});
        if (outcome.code != 0) return "no restart: " + outcome.err;
        return folder.read("u.npy") == good.at("u.npy") ? "" : "a restart gives something else";
    };
    sweep(scenario, 30);
}

TEST_CASE("faults: files of the compiler", "[compiler]") {
    sweep({"emit", {"emit", "s.halo", "-o", "s.cu", "--with", "cmake,plan"}, all_classes()}, 25);
    sweep({"bundle", {"bundle", "s.halo", "-o", "b.cpp", "--depfile", "b.d"}, all_classes()}, 25);
    Scenario layout{"fmt", {"fmt", "-w", "l.halo"}, all_classes()};
    layout.prepare = [](const Folder& folder) { folder.write("l.halo", std::string("  ") + kSpec); };
    sweep(layout, 25);
    sweep({"check", {"check", "s.halo", "--json"}, all_classes()}, 25);
}

TEST_CASE("faults: the C interface", "[c]") {
    Scenario scenario{"host program", {"b.halobundle"}, all_classes(), "fault_host"};
    scenario.prepare = [](const Folder& folder) { folder.write("b.halobundle", some_bundle()); };
    const Prepared prepared(scenario);
    const Run good = Place(scenario, prepared, {}).run("none:0:once");
    INFO(good.err);
    REQUIRE(good.code == 0);
    for (const std::string& what : scenario.classes) {
        const Run counted = Place(scenario, prepared, {}).run(what + ":0:once");
        for (const long n : chosen_calls(counted.calls, 150)) {
            const Run run = Place(scenario, prepared, {}).run(what + ":" + std::to_string(n) + ":once");
            INFO(what << " " << n << " of " << counted.calls << "\n" << run.err);
            CHECK(run.code == 0);
            CHECK(run.out == good.out);
        }
    }
}

#ifdef HALO_HAS_LLVM
// LLVM ends the process where it has no memory; all other calls of it are made to fail, too.
TEST_CASE("faults: the CPU", "[cpu]") {
    std::vector<std::string> classes = kOfFiles;
    classes.push_back("thread");
    Scenario cold{"cold cache", {"run", "s.halo", "--device", "cpu"}, classes};
    sweep(cold, 15);
    Scenario warm = cold;
    warm.name = "warm cache";
    warm.classes.push_back("map");
    warm.prepare = [](const Folder& folder) {
        Invocation invocation;
        invocation.arguments = {"run", "s.halo", "--device", "cpu", "--no-files"};
        invocation.folder = folder.path();
        invocation.set = {"HALOCLINE_CACHE=" + folder.path() + "/cache"};
        REQUIRE(run_haloc(invocation).code == 0);
    };
    sweep(warm, 15);
}
#endif

TEST_CASE("faults: a read that never ends is ended by SIGTERM", "[hang]") {
    const Scenario scenario = run_interpreted();
    const Run counted = Place(scenario, Prepared(scenario), {}).run("read:0:once");
    for (long n = 1; n <= counted.calls; ++n) {
        Folder folder;
        folder.write("s.halo", kSpec);
        folder.write("k.npy", npy_of_ones());
        Invocation invocation;
        invocation.launcher = {"timeout", "-k", "20", "-s", "TERM", "0.5"};
        invocation.arguments = scenario.arguments;
        invocation.folder = folder.path();
        invocation.set = {"HALO_FAULT=read:" + std::to_string(n) + ":hang", "HALO_FAULT_PROGRAM=haloc",
                          "LD_PRELOAD=" HALO_FAULTS};
        const auto start = std::chrono::steady_clock::now();
        CHECK(run_haloc(invocation).code == 124);
        CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(15));
    }
}
