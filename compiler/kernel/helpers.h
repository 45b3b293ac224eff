// The functions of the prelude (compiler/emit/prelude*.cuh) that kernels call: all that is known of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/kernel/program.h"

namespace halo::kernel {

struct HelperShape {
    Helper helper;
    std::string name;  // as it is printed, and of its section of the prelude
    std::vector<Type> arguments;
    std::optional<Type> result = std::nullopt;  // none where it is run as a statement
    bool has_barrier = false;                   // all threads of the block must call it
    std::vector<std::string> needs = {};        // other sections of the prelude
    bool is_variadic = false;                   // the last argument may come several times
};

const std::vector<HelperShape>& helpers();  // in the order of Helper
const HelperShape& shape_of(Helper helper);
bool is_prelude_name(const std::string& name);  // of a helper, or of a section that one needs

}  // namespace halo::kernel
