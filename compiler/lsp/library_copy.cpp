#include "compiler/lsp/library_copy.h"

#include <exception>
#include <filesystem>

#include "compiler/driver/console/files.h"
#include "compiler/driver/spec/library.h"
#include "runtime/core/disk_cache.h"

namespace halo::lsp {

namespace {

constexpr std::string_view kLibrary = "(library)/";

}  // namespace

bool is_of_library(const std::string& path) {
    return path.starts_with(kLibrary);
}

std::string readable_path(const std::string& path) {
    if (!is_of_library(path)) return path;
    const auto module = driver::library_modules().find(path.substr(kLibrary.size()));
    const rt::DiskCache cache = rt::DiskCache::in_user_folder();
    if (module == driver::library_modules().end() || !cache.usable()) return {};
    try {
        const std::filesystem::path folder = cache.folder() / "library";
        std::filesystem::create_directories(folder);
        const std::string copy = (folder / module->first).string();
        const bool is_there =
            std::filesystem::exists(copy) && driver::read_text(copy, 1u << 20) == module->second;
        if (!is_there) driver::write_text(copy, module->second);
        return copy;
    } catch (const std::exception&) {  // a full disk: there is nothing to show
        return {};
    }
}

}  // namespace halo::lsp
