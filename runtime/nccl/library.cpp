#include "runtime/nccl/library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <memory>

namespace halo::rt::nccl {

namespace {

struct Opened {
    std::unique_ptr<Library> library;
    std::string why;
};

Opened open() {
    // Another library in its place is for tests, and for installations of one's own.
    const char* own = std::getenv("HALOCLINE_NCCL");
    void* const handle = dlopen(own != nullptr && *own != '\0' ? own : "libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return {nullptr, dlerror()};
    auto library = std::make_unique<Library>();
    const char* missing = nullptr;
#define SYMBOL(member, name, result, ...)                                                \
    library->member = reinterpret_cast<decltype(library->member)>(dlsym(handle, #name)); \
    if (library->member == nullptr) missing = #name;
#include "runtime/nccl/symbols.def"
#undef SYMBOL
    if (missing != nullptr)
        return {nullptr, std::string("it has no ") + missing + "; 2.7 or newer is needed"};
    return {std::move(library), ""};
}

}  // namespace

const Library* Library::find(std::string& why) {
    static const Opened opened = open();
    why = opened.why;
    return opened.library.get();
}

}  // namespace halo::rt::nccl
