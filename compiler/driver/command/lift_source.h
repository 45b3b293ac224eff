// A source file of haloc lift: Clang reads C, C++ and CUDA, and flang reads Fortran.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/lift/lift.h"
#include "compiler/lift/verify.h"

namespace halo::driver {

class LiftSource {
public:
    virtual ~LiftSource() = default;
    virtual bool is_fortran() const = 0;
    virtual const lift::SourceRequest& request() const = 0;
    virtual std::vector<std::string> functions() const = 0;
    virtual lift::c::Unit function(const std::string& name) const = 0;
    // Of options.source.function.
    virtual lift::Nests lift_nests(const lift::Options& options) const = 0;
    virtual lift::Verdict verify(const lift::Options& options, const lift::Nests& found) const = 0;
};

// Reads the file as its name says. Throws lift::SourceError.
std::unique_ptr<LiftSource> read_lift_source(const lift::SourceRequest& request);
bool is_fortran_file(const std::string& file);

}  // namespace halo::driver
