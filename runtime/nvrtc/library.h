// libnvrtc, opened: its functions and what is asked of it once. Not for other rooms.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "runtime/core/shared_library.h"
#include "runtime/nvrtc/nvrtc.h"

namespace halo::rt {

struct Nvrtc::Library {
    using Program = struct ProgramTag*;

    // The numbers of nvrtcResult that are told apart.
    static constexpr int kSuccess = 0;
    static constexpr int kInvalidOption = 5;
    static constexpr int kCompilationFailed = 6;

    // nullptr where none is found; `tried` then lists the places.
    static std::unique_ptr<Library> open(std::string& tried);

#define SYMBOL(member, name, result, ...) result (*member)(__VA_ARGS__) = nullptr;
#include "runtime/nvrtc/symbols.def"
#undef SYMBOL

    std::string path;  // as it was opened
    std::string
        build;  // the file's own name with its full version, where it can be found: part of cache keys
    int major = 0, minor = 0;
    std::vector<int> architectures;
    bool minimal = false;   // knows -minimal
    bool no_cache = false;  // knows --no-cache

private:
    bool load_symbols(SharedLibrary& opened);
    void ask();
    bool accepts(const char* option) const;
};

}  // namespace halo::rt
