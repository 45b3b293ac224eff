#include "runtime/core/folder.h"

#include <dirent.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

#include "runtime/core/error.h"

namespace halo::rt {

std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    const auto close = [](DIR* open) { ::closedir(open); };
    const std::unique_ptr<DIR, decltype(close)> open(::opendir(folder.c_str()), close);
    const auto fail = [&] {
        throw Error(ErrorCode::io, "cannot read the folder \"" + folder + "\": " + std::strerror(errno));
    };
    if (!open && (errno == ENOENT || errno == ENOTDIR)) return names;
    if (!open) fail();
    errno = 0;
    while (const dirent* const entry = ::readdir(open.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
        errno = 0;
    }
    if (errno != 0) fail();
    return names;
}

}  // namespace halo::rt
