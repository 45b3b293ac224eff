// A function that is drawn is lifted to what computes the same, or refused, and nothing else happens.
#pragma once

#include <optional>
#include <string>

#include "catch.h"
#include "compiler/lift/verify.h"

namespace halo::test {

// Why it is refused; nothing where it is lifted, and then it has to verify. Throws SourceError for a source
// that is wrong.
inline std::optional<std::string> lift_or_refuse(const lift::Options& options) {
    try {
        const lift::Lifted made = lift::lift(options);
        const lift::Verification run = lift::verify(options, made);
        INFO(lift::file_text(made, run.sentences));
        CHECK(run.passed);
        return std::nullopt;
    } catch (const lift::LiftError& error) {
        INFO(error.what());
        CHECK(std::string(error.what()).find("a spec cannot say this") == std::string::npos);
        return error.what();
    }
}

}  // namespace halo::test
