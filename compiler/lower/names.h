// Names of generated code: the spec's own where they can be used, made valid and unique where not.
#pragma once

#include <set>
#include <string>

namespace halo::lower {

class Names {
public:
    // A name not given before in this scope, as close to `wanted` as C++ and CUDA allow.
    std::string take(const std::string& wanted);

private:
    std::set<std::string> taken_;
};

}  // namespace halo::lower
