// Names of files with arrays, as users write them: "u.npy", "u.h5", and of one dataset "in.h5:/run/u".
#pragma once

#include <string>
#include <string_view>

namespace halo {

struct ArrayName {
    std::string file;
    std::string dataset;  // "/run/u"; empty where the name does not say
};

inline bool is_hdf5(std::string_view file) {
    return file.ends_with(".h5") || file.ends_with(".hdf5");
}

inline ArrayName parse_array_name(const std::string& text) {
    const std::size_t colon = text.rfind(":/");
    if (colon == std::string::npos || !is_hdf5(std::string_view(text).substr(0, colon)) ||
        colon + 2 == text.size())
        return {text, ""};
    return {text.substr(0, colon), text.substr(colon + 1)};
}

}  // namespace halo
