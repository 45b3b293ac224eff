#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/core/error.h"
#include "runtime/hdf5/hdf5.h"
#include "runtime/hdf5/library.h"
#include "runtime/ranks/together.h"

namespace halo::rt {

namespace {

using hdf5::Handle;
using hdf5::Id;
using hdf5::Library;

[[noreturn]] void fail(const std::string& why) {
    throw Error(ErrorCode::io, "an HDF5 file cannot be laid out: " + why);
}

Handle checked(const Library& library, Handle handle) {
    if (!handle) fail(library.trouble());
    return handle;
}

// A file without a name, in memory: it is sparse, so that only what is written takes room.
class MemoryFile {
public:
    MemoryFile() : descriptor_(::memfd_create("halocline-hdf5", MFD_CLOEXEC)) {
        if (descriptor_ < 0) fail(std::strerror(errno));
    }
    ~MemoryFile() { ::close(descriptor_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }
    std::int64_t bytes() const {
        struct stat status{};
        if (::fstat(descriptor_, &status) != 0) fail(std::strerror(errno));
        return status.st_size;
    }
    std::string read(std::int64_t begin, std::int64_t end) const {
        std::string bytes(static_cast<std::size_t>(end - begin), '\0');
        if (::pread(descriptor_, bytes.data(), bytes.size(), begin) != end - begin) fail("it is cut short");
        return bytes;
    }

private:
    int descriptor_;
};

class Writer {
public:
    explicit Writer(const Library& library) : lib_(library), file_(create()) {}

    FieldLayout lay_out(const std::vector<Hdf5Field>& fields, const std::string& provenance) {
        FieldLayout layout;
        if (!provenance.empty()) write_long_text(kProvenance, provenance);
        for (const Hdf5Field& field : fields)
            layout.arrays.push_back({add(field), field.shape.components, field.type, type_in_hdf5(field.type),
                                     field.shape.extent});
        if (!file_.close()) fail(lib_.trouble());
        // All but the elements.
        std::vector<std::pair<std::int64_t, std::int64_t>> elements;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            std::int64_t bytes = size_of(layout.arrays[i].type_in_file);
            for (const std::int64_t extent : fields[i].shape.elements())
                bytes *= extent;
            elements.emplace_back(layout.arrays[i].begin, layout.arrays[i].begin + bytes);
        }
        std::sort(elements.begin(), elements.end());
        const std::int64_t end = memory_.bytes();
        elements.emplace_back(end, end);
        std::int64_t at = 0;
        for (const auto& [begin, past] : elements) {
            if (at < begin) layout.rest.emplace_back(at, memory_.read(at, begin));
            at = past;
        }
        return layout;
    }

private:
    // Through the C library: the usual driver asks for the real path of a file, and this one has none.
    Handle create() {
        const Handle access = checked(lib_, {lib_.create_list(lib_.of_access), lib_.close_list});
        if (lib_.set_stdio(access.id()) < 0) fail(lib_.trouble());
        return checked(
            lib_, {lib_.create_file(memory_.path().c_str(), hdf5::kTruncate, hdf5::kDefault, access.id()),
                   lib_.close_file});
    }
    // The byte at which the elements begin.
    std::int64_t add(const Hdf5Field& field) {
        const Id number = lib_.number_type(field.type);
        const auto bytes = static_cast<std::size_t>(size_of(type_in_hdf5(field.type)));
        const Handle pair = field.shape.is_complex ? checked(lib_, hdf5::complex_type(lib_, number, bytes))
                                                   : Handle(-1, lib_.close_type);
        const std::vector<std::int64_t> shape =
            field.shape.is_complex ? field.shape.cells() : field.shape.elements();
        const std::vector<hdf5::Size> extents(shape.begin(), shape.end());
        const Handle space = checked(
            lib_,
            {lib_.create_space(static_cast<int>(extents.size()), extents.data(), nullptr), lib_.close_space});
        // In one piece, whose place is known at once; and with no time of day, so that the same run writes
        // the same file.
        const Handle list = checked(lib_, {lib_.create_list(lib_.of_datasets), lib_.close_list});
        if (lib_.set_allocation(list.id(), hdf5::kAllocateEarly) < 0 ||
            lib_.set_filling(list.id(), hdf5::kFillNever) < 0 || lib_.set_times(list.id(), false) < 0)
            fail(lib_.trouble());
        const Handle dataset =
            checked(lib_, {lib_.create_dataset(file_.id(), field.name.c_str(), pair ? pair.id() : number,
                                               space.id(), hdf5::kDefault, list.id(), hdf5::kDefault),
                           lib_.close_dataset});
        write_text(dataset, "stencil", field.stencil);
        write_text(dataset, "axes", fmt::format("{}", fmt::join(field.axes, " ")));
        write_numbers(dataset, "step", lib_.i64, &field.step, 0);
        write_numbers(dataset, "time", lib_.f64, &field.time, 0);
        write_numbers(dataset, "spacing", lib_.f64, field.spacing.data(), field.spacing.size());
        if (!field.origin.empty())
            write_numbers(dataset, "origin", lib_.f64, field.origin.data(), field.origin.size());
        const auto begin = static_cast<std::int64_t>(lib_.begin_of(dataset.id()));
        if (begin <= 0) fail(lib_.trouble());
        return begin;
    }

    // A list, or with count 0 a single number.
    void write_numbers(const Handle& owner, const char* name, Id type, const void* numbers,
                       std::size_t count) {
        const hdf5::Size extent = count;
        const Handle space =
            checked(lib_, {lib_.create_space(count > 0 ? 1 : 0, &extent, nullptr), lib_.close_space});
        const Handle attribute = checked(
            lib_, {lib_.create_attribute(owner.id(), name, type, space.id(), hdf5::kDefault, hdf5::kDefault),
                   lib_.close_attribute});
        if (lib_.write_attribute(attribute.id(), type, numbers) < 0) fail(lib_.trouble());
    }
    void write_text(const Handle& dataset, const char* name, const std::string& text) {
        const Handle type = checked(lib_, {lib_.copy_type(lib_.text), lib_.close_type});
        if (lib_.set_bytes(type.id(), text.size() + 1) < 0) fail(lib_.trouble());
        write_numbers(dataset, name, type.id(), text.c_str(), 0);
    }

    // Of the file, of any length. What takes a multiple of so many bytes lets the rest of the file lie where
    // it does for a text that is a little shorter.
    void write_long_text(const std::string& name, const std::string& text) {
        for (std::size_t at = 0, part = 1; at < text.size(); at += hdf5::kMostOfText, ++part) {
            std::string piece = text.substr(at, hdf5::kMostOfText);
            piece.resize((piece.size() + hdf5::kStepOfText - 1) / hdf5::kStepOfText * hdf5::kStepOfText);
            const Handle type = checked(lib_, {lib_.copy_type(lib_.text), lib_.close_type});
            if (lib_.set_bytes(type.id(), piece.size()) < 0 ||
                lib_.set_padding(type.id(), hdf5::kNullPadded) < 0 ||
                lib_.set_letters(type.id(), hdf5::kUtf8) < 0)
                fail(lib_.trouble());
            write_numbers(file_, hdf5::part_of_text(name, part).c_str(), type.id(), piece.data(), 0);
        }
    }

    const Library& lib_;
    MemoryFile memory_;
    Handle file_;
};

}  // namespace

Hdf5Library find_hdf5() {
    std::string why;
    const Library* const library = Library::find(why);
    if (library == nullptr) return {false, why};
    return {true, fmt::format("{}, {}", library->release, library->file)};
}

ElementType type_in_hdf5(ElementType type) {
    return type == ElementType::f16 || type == ElementType::bf16 ? ElementType::f32 : type;
}

FieldLayout hdf5_layout(Ranks& ranks, const std::vector<Hdf5Field>& fields, const std::string& provenance) {
    FieldLayout layout;
    together(ranks, [&] {
        if (!ranks.is_first()) return;
        std::string why;
        const Library* const library = Library::find(why);
        if (library == nullptr) throw Error(ErrorCode::io, why);
        layout = Writer(*library).lay_out(fields, provenance);
    });
    // The others need to know where their parts lie.
    const std::string arrays = ranks.broadcast({reinterpret_cast<const char*>(layout.arrays.data()),
                                                layout.arrays.size() * sizeof(FieldLayout::Array)});
    layout.arrays.resize(fields.size());
    std::memcpy(layout.arrays.data(), arrays.data(), arrays.size());
    return layout;
}

}  // namespace halo::rt
