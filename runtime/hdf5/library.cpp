#include "runtime/hdf5/library.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/core/file_read.h"
#include "runtime/core/shared_library.h"
#include "runtime/hdf5/hdf5.h"

namespace halo::rt::hdf5 {

namespace {

struct Opened {
    std::unique_ptr<Library> library;
    std::string why;
};

// Debian's names tell a library that is serial from one that was built for an MPI; either will do, as no
// function that knows of MPI is called. The number is that of the interface: 1.10, 1.12, 1.14 and 2.
std::vector<std::string> candidates() {
    std::vector<std::string> names;
    for (const char* name : {"libhdf5", "libhdf5_serial", "libhdf5_openmpi", "libhdf5_mpich"})
        for (const char* number : {".320", ".310", ".200", ".103", ""})
            names.push_back(fmt::format("{}.so{}", name, number));
    return library_names("HALOCLINE_HDF5", std::move(names));
}

// Constants are variables of the library, which H5open() sets.
bool read_constants(const SharedLibrary& opened, Library& library) {
    const std::pair<const char*, Id*> all[] = {{"H5T_IEEE_F32LE_g", &library.f32},
                                               {"H5T_IEEE_F64LE_g", &library.f64},
                                               {"H5T_STD_U8LE_g", &library.u8},
                                               {"H5T_STD_I32LE_g", &library.i32},
                                               {"H5T_STD_I64LE_g", &library.i64},
                                               {"H5T_C_S1_g", &library.text},
                                               {"H5P_CLS_DATASET_CREATE_ID_g", &library.of_datasets},
                                               {"H5P_CLS_FILE_ACCESS_ID_g", &library.of_access},
                                               {"H5P_CLS_FILE_CREATE_ID_g", &library.of_files},
                                               {"H5T_STD_REF_OBJ_g", &library.reference}};
    for (const auto& [name, value] : all) {
        const void* const variable = opened.find(name);
        if (variable == nullptr) return false;
        *value = *static_cast<const Id*>(variable);
    }
    return true;
}

Opened open() {
    SharedLibrary opened = SharedLibrary::open(candidates());
    if (!opened)
        return {nullptr,
                "libhdf5 is not found (apt-get install libhdf5-dev; HALOCLINE_HDF5 names another file)"};
    auto library = std::make_unique<Library>();
#define SYMBOL(member, name, result, ...) opened.take(library->member, #name);
#define MAYBE(member, name, result, ...) library->member = decltype(library->member)(opened.find(#name));
#include "runtime/hdf5/symbols.def"
#undef MAYBE
#undef SYMBOL
    const std::string& file = opened.file();
    if (opened.missing() != nullptr)
        return {nullptr, fmt::format("{} has no {}; HDF5 1.10 or newer is needed", file, opened.missing())};
    unsigned major = 0, minor = 0, release = 0;
    library->version(&major, &minor, &release);
    library->release = fmt::format("{}.{}.{}", major, minor, release);
    library->file = file;
    // Before 1.10 an Id had 32 bits.
    if (major < 1 || (major == 1 && minor < 10))
        return {nullptr, fmt::format("{} is HDF5 {}, and 1.10 or newer is needed", file, library->release)};
    if (library->open() < 0 || !read_constants(opened, *library))
        return {nullptr, fmt::format("{} cannot be used", file)};
    library->set_printing(kDefault, nullptr, nullptr);
    return {std::move(library), ""};
}

int keep_first(unsigned, const ErrorRecord* record, void* text) {
    auto& words = *static_cast<std::string*>(text);
    if (words.empty() && record->text != nullptr) words = record->text;
    return 0;
}

}  // namespace

std::mutex& library_lock() {
    static std::mutex lock;
    return lock;
}

const Library* Library::find(std::string& why) {
    static const Opened opened = hdf5::open();
    why = opened.why;
    return opened.library.get();
}

std::string Library::trouble() const {
    std::string words;
    walk_errors(kDefault, kInnermostFirst, keep_first, &words);
    return words.empty() ? "for no reason that HDF5 gives" : words;
}

Id Library::number_type(ElementType type) const {
    switch (type_in_hdf5(type)) {
        case ElementType::f64:
            return f64;
        case ElementType::i32:
            return i32;
        case ElementType::i64:
            return i64;
        case ElementType::u8:
        case ElementType::boolean:
            return u8;
        case ElementType::f32:
        case ElementType::f16:
        case ElementType::bf16:
            break;
    }
    return f32;
}

std::string part_of_text(const std::string& name, std::size_t part) {
    return part == 1 ? name : fmt::format("{} {}", name, part);
}

Handle complex_type(const Library& library, Id number, std::size_t bytes) {
    Handle pair(library.create_type(kCompound, 2 * bytes), library.close_type);
    if (pair && (library.insert_member(pair.id(), "r", 0, number) < 0 ||
                 library.insert_member(pair.id(), "i", bytes, number) < 0))
        return {-1, library.close_type};
    return pair;
}

bool is_complex_number(const Library& library, Id type) {
    if (library.class_of(type) != kCompound || library.count_members(type) != 2) return false;
    for (const unsigned member : {0U, 1U}) {
        char* const name = library.name_of_member(type, member);
        const bool is_part = name != nullptr && std::string(name) == (member == 0 ? "r" : "i") &&
                             library.class_of_member(type, member) == kFloat;
        library.free_text(name);
        if (!is_part) return false;
    }
    return true;
}

const Library& library_to_read(const std::string& path) {
    std::string why;
    const Library* const library = Library::find(why);
    if (library == nullptr) refuse_file(path, why);
    return *library;
}

Handle open_to_read(const Library& library, const std::string& path) {
    static_cast<void>(FileRead(path));  // refuses what is no plain file
    Handle file(library.open_file(path.c_str(), kReadOnly, kDefault), library.close_file);
    std::array<char, 4> begin{};
    if (!file && std::ifstream(path, std::ios::binary).read(begin.data(), begin.size()) &&
        std::string_view(begin.data(), 3) == "CDF")
        refuse_file(path, "it is a file of NetCDF 3; nccopy -k nc4 makes one of NetCDF-4 from it");
    if (!file) refuse_file(path, "it is no HDF5 file, or a damaged one: " + library.trouble());
    return file;
}

}  // namespace halo::rt::hdf5
