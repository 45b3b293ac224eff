#include "runtime/nccl/library.h"

#include <memory>

#include "runtime/core/shared_library.h"

namespace halo::rt::nccl {

namespace {

struct Opened {
    std::unique_ptr<Library> library;
    std::string why;
};

Opened open() {
    SharedLibrary opened = SharedLibrary::open(library_names("HALOCLINE_NCCL", {"libnccl.so.2"}));
    if (!opened) return {nullptr, opened.why()};
    auto library = std::make_unique<Library>();
#define SYMBOL(member, name, result, ...) opened.take(library->member, #name);
#include "runtime/nccl/symbols.def"
#undef SYMBOL
    if (opened.missing() != nullptr)
        return {nullptr, std::string("it has no ") + opened.missing() + "; 2.7 or newer is needed"};
    return {std::move(library), ""};
}

}  // namespace

const Library* Library::find(std::string& why) {
    static const Opened opened = open();
    why = opened.why;
    return opened.library.get();
}

}  // namespace halo::rt::nccl
