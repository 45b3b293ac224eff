#include "runtime/nvrtc/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "runtime/core/error.h"
#include "runtime/core/folder.h"

namespace halo::rt {

namespace fs = std::filesystem;

namespace {

constexpr const char* kNames[] = {"libnvrtc.so.13", "libnvrtc.so.12"};

// Where toolkits are usually installed, in order of likelihood.
std::vector<fs::path> toolkit_prefixes() {
    std::vector<fs::path> prefixes;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"}) {
        const char* value = std::getenv(variable);
        if (value != nullptr && *value != '\0') prefixes.emplace_back(value);
    }
    prefixes.emplace_back("/usr/local/cuda");
    std::vector<fs::path> versions;
    try {
        for (const std::string& name : names_in("/usr/local"))
            if (name.starts_with("cuda-")) versions.push_back(fs::path("/usr/local") / name);
    } catch (const Error&) {
        // Then the other places are searched.
    }
    std::sort(versions.rbegin(), versions.rend());
    prefixes.insert(prefixes.end(), versions.begin(), versions.end());
    prefixes.emplace_back("/opt/cuda");
    return prefixes;
}

std::vector<std::string> candidates() {
    const char* own = std::getenv("HALOCLINE_NVRTC");
    if (own != nullptr && *own != '\0') return {own};
    std::vector<std::string> paths;
    for (const char* name : kNames)
        paths.emplace_back(name);  // by the dynamic linker's own search
    for (const fs::path& prefix : toolkit_prefixes())
        for (const char* folder : {"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"})
            for (const char* name : kNames) {
                const fs::path path = prefix / folder / name;
                std::error_code error;
                if (fs::exists(path, error)) paths.push_back(path.string());
            }
    return paths;
}

}  // namespace

bool Nvrtc::Library::load_symbols(void* handle) {
#define SYMBOL(member, name, result, ...)                              \
    member = reinterpret_cast<decltype(member)>(dlsym(handle, #name)); \
    if (member == nullptr) return false;
#include "runtime/nvrtc/symbols.def"
#undef SYMBOL
    return true;
}

void Nvrtc::Library::ask() {
    version(&major, &minor);
    int count = 0;
    if (arch_count(&count) == kSuccess && count > 0) {
        architectures.resize(static_cast<std::size_t>(count));
        if (archs(architectures.data()) != kSuccess) architectures.clear();
        std::sort(architectures.begin(), architectures.end());
    }
    Dl_info place{};
    std::error_code error;
    if (dladdr(reinterpret_cast<void*>(version), &place) != 0 && place.dli_fname != nullptr) {
        path = place.dli_fname;
        build = fs::canonical(place.dli_fname, error).filename().string();
    }
    // Recent options: versions that lack one refuse it, which an empty program shows quickly.
    minimal = major >= 13 || accepts("-minimal");
    no_cache = major >= 13 || accepts("--no-cache");
}

bool Nvrtc::Library::accepts(const char* option) const {
    Program program = nullptr;
    if (create(&program, "", "empty.cu", 0, nullptr, nullptr) != kSuccess) return false;
    const bool accepted = compile(program, 1, &option) == kSuccess;
    destroy(&program);
    return accepted;
}

std::unique_ptr<Nvrtc::Library> Nvrtc::Library::open(std::string& tried) {
    for (const std::string& path : candidates()) {
        void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        const char* reason = handle == nullptr ? dlerror() : nullptr;
        auto library = std::make_unique<Library>();
        if (handle != nullptr && library->load_symbols(handle)) {
            library->path = path;
            library->ask();
            return library;  // stays open: compiled programs and its own threads live on
        }
        if (handle != nullptr) dlclose(handle);
        tried += fmt::format("{}{}", tried.empty() ? "" : "; ",
                             reason != nullptr ? std::string(reason) : path + ": functions are missing");
    }
    return nullptr;
}

}  // namespace halo::rt
