// What a face shows, in the words of the language.
#pragma once

#include <functional>
#include <string>

#include "compiler/adjoint/algebra.h"

namespace halo::adjoint {

// "clamp", "fixed 1/2", "extrapolate 2": of a face for which ghosts are known. Throws RefusedError where no
// word of the language says the same.
std::string face_words(Algebra& algebra, ir::FieldId field, int axis, int side,
                       const std::function<std::string(ir::ExprId)>& text_of);

}  // namespace halo::adjoint
