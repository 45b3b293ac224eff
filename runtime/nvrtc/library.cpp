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
    return library_names("HALOCLINE_NVRTC", std::move(paths));
}

}  // namespace

bool Nvrtc::Library::load_symbols(SharedLibrary& opened) {
#define SYMBOL(member, name, result, ...) opened.take(member, #name);
#include "runtime/nvrtc/symbols.def"
#undef SYMBOL
    return opened.missing() == nullptr;
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
        SharedLibrary opened = SharedLibrary::open({path});
        auto library = std::make_unique<Library>();
        if (opened && library->load_symbols(opened)) {
            library->path = path;
            library->ask();
            return library;  // stays open: compiled programs and its own threads live on
        }
        tried += fmt::format("{}{}", tried.empty() ? "" : "; ",
                             opened ? path + ": functions are missing" : opened.why());
        opened.close();
    }
    return nullptr;
}

}  // namespace halo::rt
