// Errors that are not the user's: a broken promise between rooms. The command turns one into a message that
// asks for a report; mistakes in a spec are diagnostics (diagnostics.h), never exceptions.
#pragma once

#include <stdexcept>
#include <string>

namespace halo {

class InternalError : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

// A schedule or grid that cannot be built for the target; the text names the limit, in the user's words.
class UnsupportedError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace halo
