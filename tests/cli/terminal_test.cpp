// The progress line, colours and Ctrl-C.
#include <signal.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "catch.h"
#include "process.h"
#include "specs.h"

using namespace halo::test;

namespace {

bool is_without_terminals() {
    if (has_terminals()) return false;
    WARN("there are no pseudo-terminals here: not tested");
    return true;
}

// Far more steps than a test waits for.
Invocation endless_run(const Folder& folder) {
    folder.write("c.halo",
                 "stencil c(x, y) {\n    field u: f64 { boundary periodic }\n    u[t+1] = u + 1\n}\n");
    Invocation invocation;
    invocation.folder = folder.path();
    invocation.arguments = {"run",     "c.halo",     "--device", "interpreter", "--grid", "64,64",
                            "--steps", "1000000000", "--save",   "u=u.npy",     "--json"};
    return invocation;
}

}  // namespace

TEST_CASE("Ctrl-C finishes the step, saves what was asked for and exits with 130") {
    if (is_without_terminals()) return;
    Folder folder;
    Invocation invocation = endless_run(folder);
    invocation.on_terminal = true;
    bool sent = false;
    invocation.watch = [&](int pid, const std::string& err) {
        if (sent || err.find("left") == std::string::npos)
            return;  // the progress line is there: the steps run
        sent = true;
        ::kill(pid, SIGINT);
    };
    Outcome outcome = run_haloc(invocation);
    REQUIRE(outcome.code == 130);
    CHECK(outcome.err.find("interrupted after step ") != std::string::npos);
    nlohmann::json json = nlohmann::json::parse(outcome.out);
    CHECK(json["stopped"] == "interrupted");
    CHECK(json["steps"] > 0);
    CHECK(json["files"][0]["step"] == json["steps"]);
    CHECK(folder.names() == std::vector<std::string>{"c.halo", "u.npy"});
}

TEST_CASE("a terminal gets one line that is redrawn and fits") {
    if (is_without_terminals()) return;
    Folder folder;
    Invocation invocation = endless_run(folder);
    invocation.on_terminal = true;
    bool sent = false;
    invocation.watch = [&](int pid, const std::string& err) {
        if (sent || std::count(err.begin(), err.end(), '\r') < 4) return;
        sent = true;
        ::kill(pid, SIGTERM);
    };
    Outcome outcome = run_haloc(invocation);
    CHECK(outcome.code == 130);
    CHECK(outcome.err.find("GStencil/s") != std::string::npos);
    std::size_t begin = outcome.err.find('\r');
    while (begin != std::string::npos) {
        std::size_t end = outcome.err.find('\r', begin + 1);
        std::string line = outcome.err.substr(begin + 1, end == std::string::npos ? end : end - begin - 1);
        line = line.substr(0, line.find('\n'));
        auto is_first_byte = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
        CHECK(std::count_if(line.begin(), line.end(), is_first_byte) < 100);
        begin = end;
    }
}

TEST_CASE("colours are for terminals that want them") {
    if (is_without_terminals()) return;
    Folder folder;
    Invocation invocation;
    invocation.folder = folder.path();
    invocation.arguments = {"check", "none.halo"};
    invocation.on_terminal = true;
    CHECK(run_haloc(invocation).err.find('\x1b') != std::string::npos);
    invocation.set = {"NO_COLOR=1"};
    CHECK(run_haloc(invocation).err.find('\x1b') == std::string::npos);
    invocation.set = {"TERM=dumb"};
    CHECK(run_haloc(invocation).err.find('\x1b') == std::string::npos);
}

TEST_CASE("doctor reports what is there") {
    Folder folder;
    Outcome outcome = folder.haloc({"doctor"});
    CHECK(outcome.code == 0);
    for (const char* what : {"CUDA driver", "NVRTC", "CPU back end", "disk cache", "`haloc run` uses:"}) {
        CHECK(outcome.out.find(what) != std::string::npos);
    }
    nlohmann::json json = nlohmann::json::parse(folder.haloc({"doctor", "--json"}).out);
    CHECK(json["nvrtc"]["found"].is_boolean());
}
