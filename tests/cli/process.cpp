#include "process.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace halo::test {

namespace {

struct Pipe {
    int read = -1, write = -1;
    static Pipe make() {
        std::array<int, 2> ends{};
        if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe");
        return {ends[0], ends[1]};
    }
};

Pipe make_terminal() {
    winsize size{};
    size.ws_col = 100;
    size.ws_row = 24;
    Pipe ends;
    if (::openpty(&ends.read, &ends.write, nullptr, nullptr, &size) != 0) throw std::runtime_error("openpty");
    ::fcntl(ends.read, F_SETFD, FD_CLOEXEC);
    ::fcntl(ends.write, F_SETFD, FD_CLOEXEC);
    return ends;
}

[[noreturn]] void become_haloc(const Invocation& invocation, const Pipe& in, const Pipe& out,
                               const Pipe& err) {
    ::dup2(in.read, STDIN_FILENO);
    ::dup2(out.write, STDOUT_FILENO);
    ::dup2(err.write, STDERR_FILENO);
    if (!invocation.folder.empty() && ::chdir(invocation.folder.c_str()) != 0) ::_exit(126);
    ::setenv("TERM", "xterm", 1);
    ::setenv("LC_ALL", "C.UTF-8", 1);
    ::unsetenv("NO_COLOR");
    // What outlives the test would write into folders that are gone.
    ::setenv("HALOCLINE_BACKGROUND", "off", 1);
    // The tests' own cache, which all of them share: most run examples that others have compiled already.
    ::setenv("HALOCLINE_CACHE", HALO_BINARY_DIR "/test-cache", 1);
    for (const std::string& name : invocation.unset)
        ::unsetenv(name.c_str());
    for (const std::string& pair : invocation.set) {
        std::size_t equals = pair.find('=');
        ::setenv(pair.substr(0, equals).c_str(), pair.substr(equals + 1).c_str(), 1);
    }
    static const std::string haloc = HALO_BINARY_DIR "/bin/haloc";
    const std::string& program = invocation.program.empty() ? haloc : invocation.program;
    std::vector<char*> arguments;
    for (const std::string& word : invocation.launcher)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(const_cast<char*>(program.c_str()));
    for (const std::string& argument : invocation.arguments)
        arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    ::execvp(arguments.front(), arguments.data());
    ::_exit(127);
}

// Reads what there is; closes and forgets the descriptor at the end of the stream.
void drain(int& descriptor, std::string& text) {
    std::array<char, 4096> block{};
    ssize_t count = ::read(descriptor, block.data(), block.size());
    if (count > 0) {
        text.append(block.data(), static_cast<std::size_t>(count));
        return;
    }
    ::close(descriptor);  // the end, or EIO: a terminal whose other side is gone
    descriptor = -1;
}

}  // namespace

Outcome run_haloc(const Invocation& invocation) {
    ::signal(SIGPIPE, SIG_IGN);
    Pipe in = Pipe::make();
    Pipe out = Pipe::make();
    Pipe err = invocation.on_terminal ? make_terminal() : Pipe::make();
    pid_t child = ::fork();
    if (child < 0) throw std::runtime_error("fork");
    if (child == 0) become_haloc(invocation, in, out, err);
    ::close(in.read);
    ::close(out.write);
    ::close(err.write);
    std::string_view input = invocation.input;
    while (!input.empty()) {
        ssize_t count = ::write(in.write, input.data(), input.size());
        if (count <= 0) break;
        input.remove_prefix(static_cast<std::size_t>(count));
    }
    ::close(in.write);

    Outcome outcome;
    while (out.read >= 0 || err.read >= 0) {
        std::array<pollfd, 2> waiting{{{out.read, POLLIN, 0}, {err.read, POLLIN, 0}}};
        if (::poll(waiting.data(), waiting.size(), -1) < 0) break;
        if (waiting[0].revents != 0) drain(out.read, outcome.out);
        if (waiting[1].revents != 0) {
            drain(err.read, outcome.err);
            if (invocation.watch) invocation.watch(child, outcome.err);
        }
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return outcome;
}

bool has_terminals() {
    int one = -1;
    int other = -1;
    if (::openpty(&one, &other, nullptr, nullptr, nullptr) != 0) return false;
    ::close(one);
    ::close(other);
    return true;
}

Folder::Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "haloc-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = pattern;
}

Folder::~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

void Folder::write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ + "/" + name, std::ios::binary) << text;
}

std::string Folder::read(const std::string& name) const {
    std::ifstream file(path_ + "/" + name, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::vector<std::string> Folder::names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

Outcome Folder::haloc(std::vector<std::string> arguments, const std::string& input) const {
    Invocation invocation;
    invocation.arguments = std::move(arguments);
    invocation.folder = path_;
    invocation.input = input;
    return run_haloc(invocation);
}

}  // namespace halo::test
