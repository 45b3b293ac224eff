// From the runtime's errors to the ones of the interface.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "halocline/error.hpp"
#include "runtime/core/error.h"

namespace halocline::detail {

[[noreturn]] void refuse(const std::string& why);  // throws bad_argument
[[noreturn]] void rethrow_translated();            // the exception that is being handled, as an Error

// Runs `work`; what it throws comes out as an Error.
template <class Work>
decltype(auto) translated(Work&& work) {
    try {
        return std::forward<Work>(work)();
    } catch (...) {
        rethrow_translated();
    }
}

}  // namespace halocline::detail
