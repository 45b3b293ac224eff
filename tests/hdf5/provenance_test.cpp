// What a file says of its run, and the run repeated from it.
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "catch.h"
#include "contains.h"
#include "foreign_file.h"
#include "process.h"

using namespace halo::test;

namespace {

const std::string kWarm = R"(use "rates.halo"
stencil warm(x, y) {
    param dt = 0.125
    param scale = 2
    field u: f32 { boundary clamp }
    field v: (x: f64, y: f64)
    field c: c64
    field q: f32
    u[t+1] = u + dt * (rate * laplacian(u) + q) + 0.001 * random()
    v[t+1] = scale * v
    c[t+1] = 1i * c + q
    reduce most = max(abs(u[t+1] - u))
}
run warm {
    grid 12, 9
    steps 20 until most < 1e-9
    init u = idx(x) + 2*idx(y)
    init v.x = 1
    load q from "q.npy"
    save u to "out.h5" every 8
    save u to "other.h5"
    save c to "out.h5"
    save v on x in 2..10 every 3, y in 1..-1 to "part.h5"
    save q at y = 4 to "part.h5"
}
)";

Outcome warm(const Folder& folder, const std::vector<std::string>& with = {}) {
    std::vector<std::string> all{"run", "warm.halo", "-q", "--device", "interpreter"};
    all.insert(all.end(), with.begin(), with.end());
    return folder.haloc(all);
}

void write_inputs(const Folder& folder) {
    folder.write("warm.halo", kWarm);
    folder.write("rates.halo", "const rate = 1/4\n");
    folder.write("make.halo",
                 "stencil make(x, y) {\n    field q: f32\n    q[t+1] = q\n}\nrun make {\n    grid 12, 9\n"
                 "    steps 1\n    init q = sin(x) + y\n    save q to \"q.npy\"\n}\n");
    const Outcome made = folder.haloc({"run", "make.halo", "-q", "--device", "interpreter"});
    INFO(made.err);
    REQUIRE(made.code == 0);
}

void require_good(const Outcome& outcome) {
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
}

void replace_in(const Folder& folder, const std::string& name, const std::string& from,
                const std::string& to) {
    std::string bytes = folder.read(name);
    const std::size_t at = bytes.find(from);
    REQUIRE(at != std::string::npos);
    REQUIRE(from.size() == to.size());
    folder.write(name, bytes.replace(at, from.size(), to));
}

}  // namespace

TEST_CASE("an HDF5 file says which run wrote it") {
    Folder folder;
    write_inputs(folder);
    require_good(warm(folder, {"--set", "scale=3", "--steps", "18"}));
    const Outcome told = folder.haloc({"info", "out.h5", "--json"});
    require_good(told);
    const auto json = nlohmann::json::parse(told.out);
    CHECK(json.at("haloc").at("version") == "0.1.0");
    CHECK(json.at("stencil") == "warm");
    CHECK(json.at("grid") == std::vector<int>{12, 9});
    CHECK(json.at("params") == nlohmann::json{{"dt", 0.125}, {"scale", 3.0}});
    CHECK(json.at("steps") == 18);
    CHECK(json.at("until") == "most < 1e-9");
    CHECK(json.at("engine").at("device") == "interpreter");
    CHECK(json.at("arguments") == nlohmann::json{{"set", {"scale=3"}}, {"steps", 18}});
    CHECK(json.at("spec").at("text") == kWarm);
    CHECK(json.at("spec").at("modules") ==
          nlohmann::json::parse(R"([{"name": "rates.halo", "text": "const rate = 1/4\n"}])"));
    CHECK(json.at("inputs").at(0).at("path") == "q.npy");
    CHECK(json.at("inputs").at(0).at("sha256").get<std::string>().size() == 64);
    CHECK(json.at("file") == nlohmann::json{{"step", 18}, {"time", 2.25}, {"saves", {"u", "c"}}});
    const Outcome frame = folder.haloc({"info", "out-000008.h5", "--json"});
    CHECK(nlohmann::json::parse(frame.out).at("file") ==
          nlohmann::json{{"step", 8}, {"time", 1.0}, {"saves", {"u"}}});
    const Outcome part = folder.haloc({"info", "part.h5", "--json"});
    CHECK(nlohmann::json::parse(part.out).at("file").at("saves") ==
          std::vector<std::string>{"v@x=2..8:3@y=1..8:1", "q@y=4"});

    const Outcome text = folder.haloc({"info", "part.h5"});
    require_good(text);
    for (const std::string words : {"/v            f64 (8, 3, 2)", "/q            f32 (12)", "scale = 3",
                                    "step       18 of 18, time 2.25", "q from q.npy, sha256 ", kWarm.c_str()})
        CHECK(contains(text.out, words));
    CHECK(folder.haloc({"info", "out.h5", "--spec"}).out == kWarm);
}

TEST_CASE("a run is repeated from its file alone, and gives the same bits") {
    Folder folder;
    write_inputs(folder);
    require_good(warm(folder, {"--set", "scale=3"}));
    std::filesystem::remove(folder.path() + "/rates.halo");
    folder.write("warm.halo", "changed since then");
    const std::vector<std::string> before = folder.names();
    const std::string bytes = folder.read("out.h5");
    for (const std::string file : {"out.h5", "out-000008.h5", "out-000016.h5", "part.h5"}) {
        const Outcome again = folder.haloc({"rerun", file});
        INFO(file << "\n" << again.out << again.err);
        CHECK(again.code == 0);
        CHECK(again.err.empty());
        CHECK(contains(again.out, file == "part.h5" ? "v agrees in all bits of 48 numbers"
                                                    : "u agrees in all bits of 108 "));
    }
    CHECK(folder.names() == before);
    CHECK(folder.read("out.h5") == bytes);
    const Outcome json = folder.haloc({"rerun", "out.h5", "--json"});
    CHECK(nlohmann::json::parse(json.out) == nlohmann::json::parse(R"({"step": 20, "agrees": true, "fields": [
              {"name": "c", "numbers": 216, "different": 0}, {"name": "u", "numbers": 108, "different": 0}]})"));
}

TEST_CASE("rerun says by how much a file differs") {
    Folder folder;
    write_inputs(folder);
    require_good(warm(folder));
    require_good(warm(folder, {"--steps", "8", "--save", "u=u.npy"}));
    const std::string cells = folder.read("u.npy").substr(128);
    std::string bytes = folder.read("out-000008.h5");
    const std::size_t begin = bytes.find(cells);
    REQUIRE(begin != std::string::npos);
    bytes[begin + cells.size() - 4] ^= 1;  // the last place of the last number
    folder.write("out-000008.h5", bytes);
    const Outcome again = folder.haloc({"rerun", "out-000008.h5"});
    INFO(again.out << again.err);
    CHECK(again.code == 1);
    CHECK(contains(again.out, "after step 8:\n  u differs in 1 of 108 numbers, by "));
    CHECK(contains(again.out, ", 1 ulp\n"));
    const Outcome json = folder.haloc({"rerun", "out-000008.h5", "--json"});
    CHECK(json.code == 1);
    CHECK(nlohmann::json::parse(json.out).at("fields").at(0).at("largest_ulps") == 1);
}

TEST_CASE("what cannot be repeated is refused with one message") {
    Folder folder;
    write_inputs(folder);
    require_good(warm(folder));
    folder.write("text.h5", "no HDF5");
    {
        ForeignFile foreign(folder.path() + "/foreign.h5");
    }
    const auto refused = [&](const std::string& file, const std::string& words) {
        for (const std::string command : {"rerun", "info"}) {
            if (command == "info" && file == "out.h5") continue;
            const std::vector<std::string> options{command, file, "--json"};
            const Outcome outcome = folder.haloc(options);
            INFO(command << " " << file << ": " << outcome.err);
            CHECK(outcome.code == 4);
            CHECK(contains(outcome.err, words));
            CHECK(outcome.err.find("error") == outcome.err.rfind("error"));
        }
    };
    refused("none.h5", "there is no such file");
    refused("text.h5", "it is no HDF5 file");
    refused("q.npy", "it is no HDF5 file");
    refused("foreign.h5", "foreign.h5 does not say which run wrote it");
    require_good(folder.haloc({"info", "foreign.h5"}));

    const std::string q = folder.read("q.npy");
    replace_in(folder, "q.npy", q.substr(q.size() - 3), "abc");
    refused("out.h5", "the run cannot be repeated: q.npy (of q) has changed");
    std::filesystem::remove(folder.path() + "/q.npy");
    refused("out.h5", "the run cannot be repeated: q.npy (of q) is not there");
    folder.write("q.npy", q);
    require_good(folder.haloc({"rerun", "out.h5"}));

    replace_in(folder, "other.h5", R"("version": "0.1.0")", R"("version": "9.1.0")");
    const Outcome other = folder.haloc({"rerun", "other.h5"});
    CHECK(other.code == 0);
    CHECK(contains(other.err, "warning: the file is of haloc 9.1.0"));
    replace_in(folder, "other.h5", R"("engine")", R"("engime")");
    refused("other.h5", "other.h5 is damaged: what it says of its run cannot be read");
}

TEST_CASE("without libhdf5 no file is told of, repeated or given frames") {
    Folder folder;
    write_inputs(folder);
    require_good(warm(folder));
    const std::vector<std::vector<std::string>> commands{
        {"info", "out.h5"},
        {"rerun", "out.h5"},
        {"run", "warm.halo", "--device", "interpreter", "-q", "--no-files", "--save", "u=u.h5",
         "--save-every", "5", "--together"}};
    for (const std::vector<std::string>& command : commands) {
        Invocation invocation;
        invocation.arguments = command;
        invocation.folder = folder.path();
        invocation.set = {"HALOCLINE_HDF5=/none/libhdf5.so"};
        const Outcome outcome = run_haloc(invocation);
        INFO(outcome.err);
        CHECK(outcome.code == 4);
        CHECK(contains(outcome.err, "libhdf5 is not found"));
    }
}

TEST_CASE("a run that was interrupted is repeated until the step at which it was") {
    Folder folder;
    write_inputs(folder);
    Invocation invocation;
    invocation.arguments = {"run", "warm.halo", "--device", "interpreter", "--steps", "1e9"};
    invocation.folder = folder.path();
    invocation.on_terminal = has_terminals();
    if (!invocation.on_terminal) return;
    bool is_sent = false;
    invocation.watch = [&](int pid, const std::string& err) {
        if (!is_sent && contains(err, "left")) is_sent = ::kill(pid, SIGINT) == 0;
    };
    const Outcome outcome = run_haloc(invocation);
    INFO(outcome.err);
    REQUIRE(outcome.code == 130);
    const Outcome again = folder.haloc({"rerun", "part.h5", "--json"});
    INFO(again.out << again.err);
    CHECK(again.code == 0);
    CHECK(nlohmann::json::parse(again.out).at("step") > 0);
}
