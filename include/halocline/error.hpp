// What the library throws.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace halocline {

enum class ErrorCode : std::uint8_t {
    spec = 1,        // mistakes in a spec: diagnostics() has each of them
    bad_argument,    // a name, size, value or pointer that cannot be; nothing was done
    unsupported,     // a schedule, or a grid for it, that cannot be built
    no_device,       // no driver, device or compiler, or no code for this one
    driver_too_old,  // the driver cannot load what was compiled
    out_of_memory,   // on the device or the host
    io,              // a file or folder
    compile_failed,  // generated text was refused: a defect of Halocline
    launch_failed,   // a kernel could not start, or stopped with an error
    internal         // a defect of Halocline or a driver
};

// One message about a spec.
struct Diagnostic {
    bool is_error = true;  // else a warning
    std::string kind;      // "unknown-name"; `haloc check --json` has the same words
    std::string message;
    std::string file;
    int line = 0, column = 0;  // from 1
    std::string mend;          // what to put there instead; empty where it is not known
};

// what(): everything, for people; of a spec each message with its place and the line it is about.
class Error : public std::runtime_error {
public:
    Error(ErrorCode code, const std::string& message, std::vector<Diagnostic> diagnostics = {})
        : std::runtime_error(message), code_(code), diagnostics_(std::move(diagnostics)) {}
    ErrorCode code() const noexcept { return code_; }
    const std::vector<Diagnostic>& diagnostics() const noexcept { return diagnostics_; }

private:
    ErrorCode code_;
    std::vector<Diagnostic> diagnostics_;
};

}  // namespace halocline
