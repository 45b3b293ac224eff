// Running haloc as a user does, and a folder to do it in.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace halo::test {

struct Outcome {
    int code = -1;  // exit status; 128 + signal where one ended it
    std::string out, err;
};

struct Invocation {
    std::vector<std::string> launcher;  // what starts haloc, with its options: mpirun -n 2, say
    std::string program;                // empty: haloc
    std::vector<std::string> arguments;
    std::string folder;              // working directory
    std::string input;               // standard input
    std::vector<std::string> unset;  // environment variables to take away
    std::vector<std::string> set;    // NAME=VALUE
    bool on_terminal = false;        // standard error is a terminal of 100 columns
    std::function<void(int pid, const std::string& err)> watch;  // called as standard error grows
};
Outcome run_haloc(const Invocation& invocation);

bool has_terminals();  // false in sandboxes without pseudo-terminals

// A folder that is removed with all in it.
class Folder {
public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    const std::string& path() const { return path_; }
    void write(const std::string& name, const std::string& text) const;
    std::string read(const std::string& name) const;  // empty where there is no such file
    std::vector<std::string> names() const;           // sorted

    Outcome haloc(std::vector<std::string> arguments, const std::string& input = {}) const;

private:
    std::string path_;
};

}  // namespace halo::test
