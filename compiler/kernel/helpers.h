// The functions of compiler/emit/prelude.cuh that kernels call by name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/kernel/program.h"

namespace halo::kernel {

struct HelperShape {
    std::vector<Type> arguments;
    std::optional<Type> result;  // none where it is called as a statement
    bool has_barrier = false;
};

const std::map<std::string, HelperShape>& prelude_helpers();

}  // namespace halo::kernel
