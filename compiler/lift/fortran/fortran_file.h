// Fortran to specs: a file that flang has read, what is lifted of its procedures, and both run beside each
// other. docs/lift.md says what is taken.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/lift/clang_front.h"
#include "compiler/lift/lift.h"
#include "compiler/lift/verify.h"

namespace halo::lift::fortran {

// A file that flang has read once.
class FortranFile {
public:
    // request.function is of no meaning here. Throws SourceError: there is no flang, or the file does not
    // compile.
    explicit FortranFile(SourceRequest request);
    ~FortranFile();
    FortranFile(const FortranFile&) = delete;
    FortranFile& operator=(const FortranFile&) = delete;

    // Throws SourceError where there is no such procedure.
    c::Unit function(const std::string& name) const;
    // Those that have a body, in the order of the text.
    std::vector<std::string> functions() const;

    const SourceRequest& request() const { return request_; }

private:
    friend class Trials;
    struct Reading;
    SourceRequest request_;
    std::unique_ptr<Reading> reading_;
};

// options.source.function of a file that has been read by options.source.
Nests lift_nests(const Options& options, const FortranFile& file);

// Each spec beside what it was lifted from, which gfortran compiles: flang, and the translation of what it
// says, have no part in it. It is verified where the bits agree and each condition was seen both ways.
Verdict verify_function(const Options& options, const Nests& found, const FortranFile& file);

}  // namespace halo::lift::fortran
