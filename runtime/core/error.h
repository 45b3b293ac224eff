// Error: everything the runtime throws. The text is for the user: what went wrong, with the figures, and what
// to do.
#pragma once

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>

namespace halo::rt {

enum class ErrorCode : std::uint8_t {
    no_device,       // no driver, no device, or not the one asked for
    driver_too_old,  // the driver cannot load what was compiled
    out_of_memory,   // on the device or on the host; the text has the bytes needed and free
    bad_argument,    // a name, size or value that the plan does not allow
    compile_failed,  // generated text was refused: a defect of ours
    launch_failed,   // a kernel could not start, or stopped with an error
    io,              // a file or folder
    interrupted,     // the user asked to stop
    peer_lost,       // another process of the run has ended or does not answer
    internal         // a broken promise of a driver or a library
};

class Error : public std::runtime_error {
public:
    Error(ErrorCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
    ErrorCode code() const { return code_; }

private:
    ErrorCode code_;
};

// What an exception of the standard library comes to: no memory or no thread to be had is out_of_memory, a
// file or folder is io, all else internal. An Error stays what it is.
Error as_error(const std::exception& exception);

}  // namespace halo::rt
