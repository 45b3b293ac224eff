// From the compiler's errors to the ones of the interface.
#pragma once

#include <string>
#include <utility>

#include "compiler/driver/spec/spec.h"
#include "halocline/error.hpp"

namespace halocline::detail {

std::vector<Diagnostic> diagnostics_of(const std::vector<halo::Diagnostic>& diagnostics,
                                       const halo::SourceFile& source);
std::vector<Diagnostic> diagnostics_of(const halo::driver::CheckedSpec& spec);
[[noreturn]] void throw_mistakes(const halo::driver::CheckedSpec& spec);  // Error with code spec

// The same for an error in the command's words, with the mend in those of a host program.
[[noreturn]] void rethrow_with_mend(const std::string& mend);
[[noreturn]] void rethrow_of_compiler();  // the exception that is being handled, as an Error

// Runs `work`; what it throws comes out as an Error.
template <class Work>
decltype(auto) translated_of_compiler(Work&& work) {
    try {
        return std::forward<Work>(work)();
    } catch (...) {
        rethrow_of_compiler();
    }
}

}  // namespace halocline::detail
