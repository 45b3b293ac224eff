// What a FortranFile holds; for fortran_file.cpp and verify_fortran.cpp.
#pragma once

#include <string>
#include <vector>

#include "compiler/lift/fortran/fortran_file.h"
#include "compiler/lift/fortran/translate.h"

namespace halo::lift::fortran {

struct FortranFile::Reading {
    SourceText text;
    mlir::Module module;
    std::vector<Procedure> procedures;

    // Throws SourceError. Names are the same in capitals.
    const Procedure& procedure(const std::string& name, const std::string& file) const;
};

}  // namespace halo::lift::fortran
