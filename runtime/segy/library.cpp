#include "runtime/segy/library.h"

#include <fmt/format.h>

#include <memory>

#include "runtime/core/shared_library.h"
#include "runtime/io/field_file.h"
#include "runtime/segy/segy.h"

namespace halo::rt {

namespace segy {

namespace {

struct Opened {
    std::unique_ptr<Library> library;
    std::string why;
};

Opened open() {
    // The number is that of the interface, of segyio 1.
    SharedLibrary opened =
        SharedLibrary::open(library_names("HALOCLINE_SEGYIO", {"libsegyio.so.1", "libsegyio.so"}));
    if (!opened)
        return {nullptr,
                "libsegyio is not found (apt-get install libsegyio1; HALOCLINE_SEGYIO names another file)"};
    auto library = std::make_unique<Library>();
    library->file = opened.file();
    const auto take = [&](auto& function, const char* name) { opened.take(function, name); };
    take(library->get_field, "segy_get_field");
    take(library->set_field, "segy_set_field");
    take(library->set_binary_field, "segy_set_bfield");
    take(library->samples, "segy_samples");
    take(library->format, "segy_format");
    take(library->trace0, "segy_trace0");
    take(library->to_native, "segy_to_native");
    take(library->from_native, "segy_from_native");
    take(library->to_ebcdic, "ascii2ebcdic");
    if (opened.missing() != nullptr)
        return {nullptr, fmt::format("{} has no {}; segyio 1.8 is needed", library->file, opened.missing())};
    return {std::move(library), ""};
}

}  // namespace

const Library* Library::find(std::string& why) {
    static const Opened opened = open();
    why = opened.why;
    return opened.library.get();
}

const Library& Library::require(const std::string& path) {
    std::string why;
    const Library* const library = find(why);
    if (library == nullptr) refuse_file(path, why);
    return *library;
}

}  // namespace segy

SegyLibrary find_segy() {
    std::string why;
    const segy::Library* const library = segy::Library::find(why);
    return library == nullptr ? SegyLibrary{false, why} : SegyLibrary{true, library->file};
}

}  // namespace halo::rt
