// How the command ends: its exit codes and the exceptions that lead to them.
#pragma once

#include <stdexcept>
#include <string>

namespace halo::driver {

enum class ExitCode : int {
    ok = 0,
    spec = 1,      // a mistake in the spec or in edited kernels (or, for fmt --check, a file not formatted)
    usage = 2,     // the command was used wrongly: options, names, grids, parameters
    device = 3,    // no device, not enough memory, a compiler that refuses, numbers that are no longer finite
    file = 4,      // a file that cannot be read or written
    internal = 5,  // a mistake in haloc itself
    interrupted = 130  // Ctrl-C; what was asked for has been saved
};

// Ends the command with one message. `hint`, where there is one, is what the user can do about it.
class CommandError : public std::runtime_error {
public:
    CommandError(ExitCode code, const std::string& message, std::string hint = {})
        : std::runtime_error(message), code_(code), hint_(std::move(hint)) {}
    ExitCode code() const { return code_; }
    const std::string& hint() const { return hint_; }

private:
    ExitCode code_;
    std::string hint_;
};

[[noreturn]] inline void refuse_usage(const std::string& message, const std::string& hint = {}) {
    throw CommandError(ExitCode::usage, message, hint);
}

}  // namespace halo::driver
