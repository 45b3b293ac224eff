// From the operations that flang makes of a procedure (its HLFIR, in which variables, subscripts and loops
// are still those of the text, and each number has its type) to what the lifter reads. The operations that
// are known are a closed list; what is not on it becomes an unknown node, which is refused where it matters.
#pragma once

#include <string>
#include <vector>

#include "compiler/lift/c_code.h"
#include "compiler/lift/fortran/mlir_text.h"
#include "compiler/lift/fortran/source_text.h"

namespace halo::lift::fortran {

struct Procedure {
    std::string name;       // as flang writes names: in small letters
    std::string module;     // that it is in; empty: none
    bool is_inner = false;  // in another procedure
    const mlir::Operation* code = nullptr;
    std::uint32_t end = 0;  // of the text: behind its END statement; 0: not known
};

// Those of the file itself that have a body, in the order of the text.
std::vector<Procedure> procedures(const mlir::Module& module, const SourceText& text,
                                  const std::string& file);

// Scalar arguments that are not changed are given by value, others by reference; arrays are pointers that
// overlap with nothing, as Fortran has it. file: of the text, as the user calls it.
c::Unit translate(const mlir::Module& module, const Procedure& procedure, const SourceText& text,
                  const std::string& file);

}  // namespace halo::lift::fortran
