// What is differentiated with respect to what, and why some programs are not.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/support/source.h"

namespace halo::adjoint {

struct Request {
    std::vector<std::string> of;    // reductions, states and outputs
    std::vector<std::string> with;  // inputs, states (their values at the start) and params
    // The objective is the sum of what `of` gives over all steps; else what it gives in the last one.
    bool every_step = false;
    // Of steps as a function of arrays: each level of a state is an argument of its own, where else all are
    // given the same at the start; and what nothing depends on has no gradient, where else it is refused.
    bool as_function = false;
};

// A program, or a name of the request, that is refused: what is in the way, where, and what to do instead.
class RefusedError : public std::runtime_error {
public:
    RefusedError(SourceRange where, const std::string& message, std::string mend)
        : std::runtime_error(message), where_(where), mend_(std::move(mend)) {}
    SourceRange where() const { return where_; }
    const std::string& mend() const { return mend_; }

private:
    SourceRange where_;  // empty for a mistake in the request
    std::string mend_;
};

}  // namespace halo::adjoint
