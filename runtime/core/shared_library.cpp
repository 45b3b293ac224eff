#include "runtime/core/shared_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <utility>

namespace halo::rt {

std::vector<std::string> library_names(const char* variable, std::vector<std::string> usual) {
    const char* const own = std::getenv(variable);
    if (own != nullptr && *own != '\0') return {own};
    return usual;
}

SharedLibrary SharedLibrary::open(const std::vector<std::string>& names) {
    SharedLibrary library;
    for (const std::string& name : names) {
        library.file_ = name;
        library.handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library.handle_ != nullptr) {
            library.why_.clear();
            return library;
        }
        const char* const reason = dlerror();
        library.why_ = reason != nullptr ? reason : name;
    }
    return library;
}

void* SharedLibrary::find(const char* name) const {
    return handle_ != nullptr ? dlsym(handle_, name) : nullptr;
}

void SharedLibrary::close() {
    if (handle_ != nullptr) dlclose(std::exchange(handle_, nullptr));
}

}  // namespace halo::rt
