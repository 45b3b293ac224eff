// What goes wrong with files, names and numbers: what the command says, and what it leaves on the disk.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "catch.h"
#include "contains.h"
#include "process.h"
#include "specs.h"

using namespace halo::test;
namespace fs = std::filesystem;

namespace {

// haloc with what a shell can do around it; "$H" is the command.
Outcome in_shell(const Folder& folder, const std::string& script) {
    Invocation invocation;
    invocation.launcher = {"bash", "-c", "H=\"$0\"; " + script};
    invocation.folder = folder.path();
    return run_haloc(invocation);
}

std::string saves_to(const std::string& path) {
    return "stencil s(x) {\n    field u: f64 { boundary clamp }\n    u[t+1] = u + 1\n}\n"
           "run s {\n    grid 4\n    steps 1\n    init u = 0\n    save u to \"" +
           path + "\"\n}\n";
}

Outcome run_interpreted(const Folder& folder, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"run", "--device", "interpreter"});
    return folder.haloc(arguments);
}

}  // namespace

TEST_CASE("numbers and texts that cannot be are refused, not bent") {
    Folder folder;
    folder.write("c.halo", kCounter);
    const auto refused = [&](const std::vector<std::string>& arguments, const std::string& part) {
        const Outcome outcome = run_interpreted(folder, arguments);
        INFO(outcome.err);
        CHECK(outcome.code == 2);
        CHECK(contains(outcome.err, part));
    };
    refused({"c.halo", "--steps", "99999999999999999999"}, "more than can be counted");
    refused({"c.halo", "--steps", "9223372036854775808"}, "more than can be counted");
    refused({"c.halo", "--cuda", "c.cu", "--tolerance-ulps", "99999999999999999999"}, "is no whole number");
    for (const char* option :
         {"--grid", "--steps", "--save", "--plot", "--device", "--checkpoint", "--restart", "--store",
          "--schedule", "--cuda", "--set", "--load", "-I", "--devices"})
        refused({"c.halo", option, ""}, option[1] == '-' ? std::string(option) + ": " : "-I: ");
    CHECK(folder.haloc({"check", ""}).code == 2);
    CHECK(folder.haloc({"emit", "c.halo", "-o", ""}).code == 2);
    CHECK(folder.names() == std::vector<std::string>{"c.halo"});
}

TEST_CASE("what cannot be printed is an error, help and version, too") {
    Folder folder;
    folder.write("c.halo", kCounter);
    for (const char* arguments : {"--help", "--version", "run --help", "about man", "emit c.halo",
                                  "run c.halo --device interpreter --no-files"}) {
        INFO(arguments);
        const Outcome outcome = in_shell(folder, std::string("\"$H\" ") + arguments + " >/dev/full");
        CHECK(outcome.code == 4);
        CHECK(contains(outcome.err, "standard output cannot be written"));
    }
    CHECK(folder.haloc({"--help"}).out.find("haloc COMMAND --help") != std::string::npos);
    CHECK(folder.haloc({"--version"}).out.starts_with("haloc "));
}

TEST_CASE("names of files that are no UTF-8 are printed as JSON can have them") {
    Folder folder;
    folder.write("c\xff.halo", kCounter);
    const Outcome run = run_interpreted(folder, {"c\xff.halo", "--json", "--save", "u=u\xfe.npy"});
    INFO(run.err);
    REQUIRE(run.code == 0);
    CHECK(nlohmann::json::parse(run.out)["files"].back()["path"] == "u\xEF\xBF\xBD.npy");
    CHECK_FALSE(folder.read("u\xfe.npy").empty());
    folder.write("bad\xff.halo", "stencil s(x) {\n    field u\n    u[t+1] = v\n}\n");
    const Outcome check = folder.haloc({"check", "bad\xff.halo", "--json"});
    CHECK(check.code == 1);
    CHECK_FALSE(nlohmann::json::parse(check.out).empty());
}

TEST_CASE("pipes, devices and folders are no arrays: that is said at once") {
    Folder folder;
    folder.write("c.halo", kCounter);
    fs::create_directory(folder.path() + "/folder.npy");
    for (const char* name : {"pipe.npy", "pipe.png", "pipe.h5"})
        REQUIRE(::mkfifo((folder.path() + "/" + name).c_str(), 0600) == 0);
    for (const char* name : {"pipe.npy", "pipe.h5", "/dev/zero", "/dev/tty0", "folder.npy"}) {
        const Outcome outcome = run_interpreted(folder, {"c.halo", "--load", std::string("u=") + name});
        INFO(name << "\n" << outcome.err);
        CHECK(outcome.code == 4);
        CHECK(contains(outcome.err, "error: cannot read"));
    }
    folder.write("p.halo", "stencil p(x, y) {\n    field u: u8\n    field v: f64\n    v = u\n}\n");
    const Outcome picture =
        run_interpreted(folder, {"p.halo", "--grid", "2,2", "--steps", "1", "--load", "u=pipe.png"});
    INFO(picture.err);
    CHECK(picture.code == 4);
    CHECK(contains(picture.err, "it is no plain file"));
}

TEST_CASE("a signal ends a command that waits for its input") {
    Folder folder;
    REQUIRE(::mkfifo((folder.path() + "/pipe.halo").c_str(), 0600) == 0);
    for (const char* signal : {"TERM", "INT"}) {
        const auto start = std::chrono::steady_clock::now();
        const Outcome outcome = in_shell(
            folder,
            std::string("set -m; \"$H\" run pipe.halo --device interpreter & p=$!; sleep 0.3; kill -") +
                signal + " $p; wait $p");
        CHECK(outcome.code == (std::string(signal) == "TERM" ? 143 : 130));
        CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
    }
}

TEST_CASE("a file that may not grow is an error, and the old one stays") {
    Folder folder;
    folder.write("c.halo", kCounter);
    folder.write("u.npy", "the old one");
    const Outcome outcome = in_shell(
        folder, "ulimit -f 1; \"$H\" run c.halo --device interpreter --grid 4000 --no-files --save u=u.npy");
    INFO(outcome.err);
    CHECK(outcome.code == 4);
    CHECK(contains(outcome.err, "the file is larger than is allowed there"));
    CHECK(folder.read("u.npy") == "the old one");
    CHECK(folder.names() == std::vector<std::string>{"c.halo", "u.npy"});
}

TEST_CASE("what a killed save left goes with the next one of its name, and nothing else does") {
    Folder folder;
    folder.write("c.halo", kCounter);
    folder.write(".u.npy.1.0.part", "left by a process that was killed");
    folder.write(".u.npy.999999999.17.part", "likewise");
    folder.write(".v.npy.1.0.part", "of another name");
    folder.write(".u.npy.part", "somebody else's");
    folder.write(".u.npy.1.x.part", "somebody else's");
    folder.write(".u.npy.2.0.part", "being written");
    const int writer = ::open((folder.path() + "/.u.npy.2.0.part").c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(::flock(writer, LOCK_EX) == 0);
    REQUIRE(run_interpreted(folder, {"c.halo", "--no-files", "--save", "u=u.npy"}).code == 0);
    CHECK(folder.names() == std::vector<std::string>{".u.npy.1.x.part", ".u.npy.2.0.part", ".u.npy.part",
                                                     ".v.npy.1.0.part", "c.halo", "u.npy"});
    ::close(writer);
    REQUIRE(run_interpreted(folder, {"c.halo", "--no-files", "--save", "u=u.npy"}).code == 0);
    CHECK(folder.names().size() == 5);
}

TEST_CASE("--safe keeps a run block's files in the current directory") {
    Folder folder;
    fs::create_directory(folder.path() + "/here");
    fs::create_directory(folder.path() + "/here/below");
    fs::create_directory_symlink("..", folder.path() + "/here/up");
    fs::create_symlink("../other.npy", folder.path() + "/here/link.npy");
    const auto run = [&](const std::string& path, const std::string& more) {
        folder.write("here/s.halo", saves_to(path));
        return in_shell(folder, "cd here && \"$H\" run s.halo --device interpreter " + more);
    };
    for (const std::string& path :
         {folder.path() + "/u.npy", std::string("../u.npy"), std::string("below/../../u.npy"),
          std::string("up/u.npy"), std::string("link.npy")}) {
        folder.write("other.npy", "what the link leads to");
        const Outcome safe = run(path, "--safe");
        INFO(path << "\n" << safe.err);
        CHECK(safe.code == 2);
        CHECK(contains(safe.err, "--safe: the run block would save u to " + path));
        CHECK_FALSE(fs::exists(folder.path() + "/u.npy"));
        CHECK(folder.read("other.npy") == "what the link leads to");
        CHECK(run(path, "--safe --no-files").code == 0);
        CHECK(run(path, "").code == 0);  // as the page says
        fs::remove(folder.path() + "/u.npy");
    }
    for (const char* path : {"u.npy", "below/u.npy", "below/../u.npy"})
        CHECK(run(path, "--safe").code == 0);
    CHECK(run("u.npy", "--safe --save u=../mine.npy").code == 0);  // the user's own
    CHECK(fs::exists(folder.path() + "/mine.npy"));

    folder.write("here/s.halo", saves_to("u.npy"));
    std::string loads = saves_to("u.npy");
    loads.replace(loads.find("init u = 0"), 10, "load u from \"../mine.npy\"");
    folder.write("here/s.halo", loads);
    const Outcome safe = in_shell(folder, "cd here && \"$H\" run s.halo --device interpreter --safe");
    CHECK(safe.code == 2);
    CHECK(contains(safe.err, "--safe: the run block would load u from ../mine.npy"));
}

TEST_CASE("the CMake file of emitted CUDA is right for any name") {
    if (std::system("cmake --version >/dev/null 2>&1") != 0) return;
    Folder folder;
    folder.write("c.halo", kCounter);
    // Without nvcc: what is about the language is left out; that each source is found is CMake's to say.
    folder.write("main.cpp", "int main() {}\n");
    folder.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.25)\nproject(t LANGUAGES CXX)\n"
        "macro(enable_language)\nendmacro()\nmacro(target_compile_features)\nendmacro()\n"
        "file(GLOB made LIST_DIRECTORIES false ${CMAKE_CURRENT_SOURCE_DIR}/made.cmake)\n"
        "include(${made})\nadd_executable(app main.cpp)\ntarget_link_libraries(app PRIVATE ${name})\n"
        "set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)\n"
        "get_target_property(sources ${name} SOURCES)\nlist(LENGTH sources count)\n"
        "if(NOT count EQUAL 1)\nmessage(FATAL_ERROR \"${count} sources: ${sources}\")\nendif()\n");
    for (const auto& [stem, target] :
         std::vector<std::pair<std::string, std::string>>{{"heat", "heat"},
                                                          {"a b", "a_b"},
                                                          {"a;b", "a_b"},
                                                          {"a$ENV{HOME}", "a_ENV_HOME_"},
                                                          {"a#b", "a_b"},
                                                          {"a(b)", "a_b_"},
                                                          {"${a}", "__a_"},
                                                          {"a'b@c@", "a_b_c_"},
                                                          {"h\xC3\xB6he", "h__he"},
                                                          {"a$<1:b>", "a__1_b_"},
                                                          {"a[b", "a_b"}}) {
        INFO(stem);
        const Outcome made = folder.haloc({"emit", "c.halo", "-o", stem + ".cu", "--with", "cmake"});
        INFO(made.err);
        REQUIRE(made.code == 0);
        fs::rename(folder.path() + "/" + stem + ".cmake", folder.path() + "/made.cmake");
        const Outcome configured =
            in_shell(folder, "rm -rf build; cmake -S . -B build -D name=" + target + " 2>&1 # \"$H\"");
        INFO(configured.out);
        CHECK(configured.code == 0);
        fs::remove(folder.path() + "/" + stem + ".cu");
    }
    CHECK(folder.haloc({"emit", "c.halo", "-o", "a\nb.cu", "--with", "cmake"}).code == 2);
}

TEST_CASE("files that belong together appear together") {
    Folder folder;
    folder.write("c.halo", kCounter);
    fs::create_directory(folder.path() + "/c.h");
    CHECK(folder.haloc({"emit", "c.halo", "-o", "c.cu"}).code == 4);
    CHECK(folder.haloc({"bundle", "c.halo", "-o", "c.cpp"}).code == 4);
    CHECK(folder.names() == std::vector<std::string>{"c.h", "c.halo"});
}

#ifdef HALO_HAS_LLVM
TEST_CASE("a cache entry under another program's name is none") {
    Folder folder;
    fs::create_directory(folder.path() + "/cache");
    fs::permissions(folder.path() + "/cache", fs::perms::owner_all);
    const auto run = [&](const std::string& spec) {
        folder.write("s.halo", spec);
        Invocation invocation;
        invocation.arguments = {"run", "s.halo", "--device", "cpu", "--json"};
        invocation.folder = folder.path();
        invocation.set = {"HALOCLINE_CACHE=" + folder.path() + "/cache"};
        const Outcome outcome = run_haloc(invocation);
        INFO(outcome.err);
        REQUIRE(outcome.code == 0);
        return folder.read("u.npy");
    };
    const std::string plus = saves_to("u.npy");
    std::string minus = plus;
    minus.replace(minus.find("u + 1"), 5, "u - 1");
    const auto entries = [&] {
        std::vector<fs::path> all;
        for (const auto& entry : fs::directory_iterator(folder.path() + "/cache"))
            all.push_back(entry.path());
        return all;
    };
    const std::string right = run(plus);
    const std::vector<fs::path> of_plus = entries();
    const std::string other = run(minus);
    CHECK(right != other);
    for (const fs::path& to : of_plus)
        for (const fs::path& from : entries())
            if (std::ranges::find(of_plus, from) == of_plus.end())
                fs::copy_file(from, to, fs::copy_options::overwrite_existing);
    CHECK(run(plus) == right);
}
#endif

TEST_CASE("a series comes from text, an array or an expression, and a run goes on with it") {
    Folder folder;
    folder.write("s.halo", R"(stencil s(x) {
    series wind
    field u: f64 { boundary clamp }
    u[t+1] = u + wind[step]
    reduce highest = max(u[t+1])
}

run s {
    grid 4
    steps 6
    init u = 0
}
)");
    folder.write("wind.csv", "wind\n1\n2\n4  # the last, which holds\n");
    const auto highest = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"s.halo", "--json"});
        const Outcome outcome = run_interpreted(folder, arguments);
        INFO(outcome.err);
        REQUIRE(outcome.code == 0);
        return nlohmann::json::parse(outcome.out)["reductions"]["highest"].get<double>();
    };
    CHECK(highest({"--load", "wind=wind.csv"}) == 19);
    CHECK(highest({"--load", "wind=wind.csv", "--steps", "2", "--checkpoint", "ck"}) == 3);
    CHECK(highest({"--load", "wind=wind.csv", "--restart", "ck"}) == 19);
    const auto refused = [&](const std::vector<std::string>& arguments, int code, const std::string& part) {
        const Outcome outcome = run_interpreted(folder, arguments);
        INFO(outcome.err);
        CHECK(outcome.code == code);
        CHECK(contains(outcome.err, part));
    };
    refused({"s.halo"}, 2, "nothing gives the values of the series wind");
    folder.write("none.csv", "wind\n");
    refused({"s.halo", "--load", "wind=none.csv"}, 2, "series wind needs one value at least");
    folder.write("two.csv", "1, 2\n");
    refused({"s.halo", "--load", "wind=two.csv"}, 2, "series wind takes 1 numbers a row");
}

TEST_CASE("reductions are saved as columns of a table") {
    Folder folder;
    folder.write("s.halo", R"(stencil s(x) {
    param dt = 0.5
    field u: f64 { boundary clamp }
    u[t+1] = u + 1
    reduce highest = max(u[t+1])
    reduce total = sum(u[t+1])
}

run s {
    grid 4
    steps 7
    init u = 0
    save highest to "log.csv" every 3
    save total to "log.csv" every 3
}
)");
    const auto run = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), "s.halo");
        const Outcome outcome = run_interpreted(folder, arguments);
        INFO(outcome.err);
        REQUIRE(outcome.code == 0);
        return outcome;
    };
    run({});
    CHECK(folder.read("log.csv") == "step,time,highest,total\n3,1.5,3,12\n6,3,6,24\n7,3.5,7,28\n");
    run({"--steps", "6"});
    CHECK(folder.read("log.csv") == "step,time,highest,total\n3,1.5,3,12\n6,3,6,24\n");
    run({"--steps", "0"});
    CHECK(folder.read("log.csv") == "step,time,highest,total\n");
    run({"--until", "highest >= 5"});
    CHECK(folder.read("log.csv") == "step,time,highest,total\n3,1.5,3,12\n5,2.5,5,20\n");
    // What the command line says of a reduction counts.
    run({"--save", "total", "--save", "highest=h.csv", "--save-every", "2 from 4"});
    CHECK(folder.read("total.csv") == "step,time,total\n4,2,16\n6,3,24\n7,3.5,28\n");
    CHECK(folder.read("h.csv") == "step,time,highest\n4,2,4\n6,3,6\n7,3.5,7\n");
    // What goes on from a checkpoint begins another table.
    run({"--steps", "4", "--checkpoint", "ck"});
    const Outcome went_on = run({"--restart", "ck"});
    CHECK(contains(went_on.err, "those after step 4 are in log-000004.csv"));
    CHECK(folder.read("log-000004.csv") == "step,time,highest,total\n6,3,6,24\n7,3.5,7,28\n");

    const auto refused = [&](std::vector<std::string> arguments, const std::string& part) {
        arguments.insert(arguments.begin(), "s.halo");
        const Outcome outcome = run_interpreted(folder, arguments);
        INFO(outcome.err);
        CHECK(outcome.code == 2);
        CHECK(contains(outcome.err, part));
    };
    refused({"--save", "total=t.npy"}, "must end in .csv or .h5");
    refused({"--save", "total@x=1=t.csv"}, "a reduction is one number, and has no part");
    refused({"--save", "total=t.csv", "--save-every", "2 from 0"},
            "nothing to write of total before the first step");
    refused({"--save", "total=t.csv", "--save-every", "2", "--together"},
            "has all its rows in one file already");
    refused({"--save", "total=log.csv", "--save-every", "2"},
            "columns of log.csv, and are saved after other steps");
    refused({"--save", "total=log.csv", "--save", "total=log.csv"},
            "two outputs would be written to log.csv");
}

TEST_CASE("tables say the units of their columns") {
    Folder folder;
    folder.write("s.halo", R"(stencil s(x) {
    param dt = 0.5 unit "s"
    field u: f64 { boundary clamp; unit "kg" }
    u[t+1] = u + 1
    reduce highest = max(u[t+1]) start 1 unit "kg"
    reduce total = sum(u[t+1]) where u > 0 unit "kg, net"
    reduce size = sum(1)
}

run s {
    grid 4
    steps 1
    init u = 1
    save highest to "log.csv"
    save total to "log.csv"
    save size to "log.csv"
}
)");
    const Outcome outcome = run_interpreted(folder, {"s.halo"});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(folder.read("log.csv") == "step,time [s],highest [kg],\"total [kg, net]\",size\n1,0.5,2,8,4\n");
}
