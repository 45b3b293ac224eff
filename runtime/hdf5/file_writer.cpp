#include "runtime/hdf5/file_writer.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "runtime/core/error.h"

namespace halo::rt::hdf5 {

void fail_layout(const std::string& why) {
    throw Error(ErrorCode::io, "an HDF5 file cannot be laid out: " + why);
}

MemoryFile::MemoryFile() : descriptor_(::memfd_create("halocline-hdf5", MFD_CLOEXEC)) {
    if (descriptor_ < 0) fail_layout(std::strerror(errno));
}

MemoryFile::~MemoryFile() {
    ::close(descriptor_);
}

std::string MemoryFile::path() const {
    return fmt::format("/proc/self/fd/{}", descriptor_);
}

std::int64_t MemoryFile::bytes() const {
    struct stat status{};
    if (::fstat(descriptor_, &status) != 0) fail_layout(std::strerror(errno));
    return status.st_size;
}

std::string MemoryFile::read(std::int64_t begin, std::int64_t end) const {
    std::string bytes(static_cast<std::size_t>(end - begin), '\0');
    if (::pread(descriptor_, bytes.data(), bytes.size(), begin) != end - begin)
        fail_layout("it is cut short");
    return bytes;
}

Handle FileWriter::checked(Handle handle) const {
    if (!handle) fail_layout(lib_.trouble());
    return handle;
}

void FileWriter::flush() {
    if (lib_.flush_file(file_.id(), kWholeFile) < 0) fail_layout(lib_.trouble());
}

void FileWriter::close() {
    if (!file_.close()) fail_layout(lib_.trouble());
}

// Through the C library: the usual driver asks for the real path of a file, and this one has none.
Handle FileWriter::create(bool keeps_order) {
    const Handle access = checked({lib_.create_list(lib_.of_access), lib_.close_list});
    if (lib_.set_stdio(access.id()) < 0) fail_layout(lib_.trouble());
    const Handle creation = checked({lib_.create_list(lib_.of_files), lib_.close_list});
    if (keeps_order && lib_.set_order(creation.id(), kKeepsOrder) < 0) fail_layout(lib_.trouble());
    return checked(
        {lib_.create_file(memory_.path().c_str(), kTruncate, creation.id(), access.id()), lib_.close_file});
}

Handle FileWriter::create_group(Id place, const char* name) {
    return checked({lib_.create_group(place, name, kDefault, kDefault, kDefault), lib_.close_group});
}

Handle FileWriter::create_dataset(Id place, const Hdf5Field& field, std::vector<Size> extents,
                                  bool is_series) {
    const Id number = lib_.number_type(field.type);
    const auto bytes = static_cast<std::size_t>(size_of(type_in_hdf5(field.type)));
    const Handle pair =
        field.shape.is_complex ? checked(complex_type(lib_, number, bytes)) : Handle(-1, lib_.close_type);
    if (is_series) extents.insert(extents.begin(), 1);
    const std::vector<Size> chunk = extents;
    std::vector<Size> largest = extents;
    if (is_series) {
        extents.front() = 0;
        largest.front() = kUnlimited;
    }
    const auto rank = static_cast<int>(extents.size());
    const Handle space = checked({lib_.create_space(rank, extents.data(), largest.data()), lib_.close_space});
    // In pieces whose place is known at once; and with no time of day, so that the same run writes the same
    // file.
    const Handle list = checked({lib_.create_list(lib_.of_datasets), lib_.close_list});
    if ((is_series && lib_.set_chunk(list.id(), rank, chunk.data()) < 0) ||
        lib_.set_allocation(list.id(), kAllocateEarly) < 0 || lib_.set_filling(list.id(), kFillNever) < 0 ||
        lib_.set_times(list.id(), false) < 0)
        fail_layout(lib_.trouble());
    return checked({lib_.create_dataset(place, field.name.c_str(), pair ? pair.id() : number, space.id(),
                                        kDefault, list.id(), kDefault),
                    lib_.close_dataset});
}

void FileWriter::describe(const Handle& dataset, const Hdf5Field& field, bool is_series) {
    const Id owner = dataset.id();
    write_text(owner, "stencil", field.stencil);
    write_text(owner, "axes", fmt::format("{}", fmt::join(field.axes, " ")));
    if (!is_series) {
        write_numbers(owner, "step", lib_.i64, &field.step, 0);
        write_numbers(owner, "time", lib_.f64, &field.time, 0);
    }
    write_unit(owner, kUnit, field.unit);
    write_unit(owner, "time_units", field.time_unit);
    if (std::ranges::any_of(field.axis_units, [](const std::string& unit) { return !unit.empty(); }))
        write_text(owner, "axis_units", fmt::format("{}", fmt::join(field.axis_units, "; ")));
    if (!field.spacing.empty())
        write_numbers(owner, "spacing", lib_.f64, field.spacing.data(), field.spacing.size());
    if (!field.origin.empty())
        write_numbers(owner, "origin", lib_.f64, field.origin.data(), field.origin.size());
}

Handle FileWriter::write_numbers(Id owner, const char* name, Id type, const void* numbers,
                                 std::size_t count) {
    const Size extent = count;
    const Handle space = checked({lib_.create_space(count > 0 ? 1 : 0, &extent, nullptr), lib_.close_space});
    Handle attribute = checked(
        {lib_.create_attribute(owner, name, type, space.id(), kDefault, kDefault), lib_.close_attribute});
    if (lib_.write_attribute(attribute.id(), type, numbers) < 0) fail_layout(lib_.trouble());
    return attribute;
}

void FileWriter::write_text(Id owner, const char* name, const std::string& text) {
    const Handle type = checked({lib_.copy_type(lib_.text), lib_.close_type});
    if (lib_.set_bytes(type.id(), text.size() + 1) < 0) fail_layout(lib_.trouble());
    write_numbers(owner, name, type.id(), text.c_str(), 0);
}

void FileWriter::write_unit(Id owner, const char* name, const std::string& unit) {
    if (!unit.empty()) write_exact_text(owner, name, unit);
}

void FileWriter::write_exact_text(Id owner, const char* name, const std::string& text) {
    const Handle type = checked({lib_.copy_type(lib_.text), lib_.close_type});
    if (lib_.set_bytes(type.id(), text.size()) < 0 || lib_.set_padding(type.id(), kNullPadded) < 0)
        fail_layout(lib_.trouble());
    write_numbers(owner, name, type.id(), text.data(), 0);
}

// What takes a multiple of so many bytes lets the rest of the file lie where
// it does for a text that is a little shorter.
void FileWriter::write_long_text(const std::string& name, const std::string& text) {
    for (std::size_t at = 0, part = 1; at < text.size(); at += kMostOfText, ++part) {
        std::string piece = text.substr(at, kMostOfText);
        piece.resize((piece.size() + kStepOfText - 1) / kStepOfText * kStepOfText);
        const Handle type = checked({lib_.copy_type(lib_.text), lib_.close_type});
        if (lib_.set_bytes(type.id(), piece.size()) < 0 || lib_.set_padding(type.id(), kNullPadded) < 0 ||
            lib_.set_letters(type.id(), kUtf8) < 0)
            fail_layout(lib_.trouble());
        write_numbers(file_.id(), part_of_text(name, part).c_str(), type.id(), piece.data(), 0);
    }
}

GrowingList::GrowingList(FileWriter& writer, Id place, const char* name, Id type)
    : writer_(&writer), type_(type), dataset_([&] {
          const Library& lib = writer.library();
          const Size none = 0, largest = kUnlimited, chunk = 512;
          const Handle space = writer.checked({lib.create_space(1, &none, &largest), lib.close_space});
          const Handle list = writer.checked({lib.create_list(lib.of_datasets), lib.close_list});
          if (lib.set_chunk(list.id(), 1, &chunk) < 0 || lib.set_times(list.id(), false) < 0)
              fail_layout(lib.trouble());
          return writer.checked(
              {lib.create_dataset(place, name, type, space.id(), kDefault, list.id(), kDefault),
               lib.close_dataset});
      }()) {}

void GrowingList::append(const void* number) {
    const Library& lib = writer_->library();
    const Size count = length_ + 1, one = 1;
    if (lib.resize(dataset_.id(), &count) < 0) fail_layout(lib.trouble());
    const Handle space = writer_->checked({lib.space_of(dataset_.id()), lib.close_space});
    const Handle memory = writer_->checked({lib.create_space(1, &one, nullptr), lib.close_space});
    if (lib.select_box(space.id(), kSelectSet, &length_, nullptr, &one, nullptr) < 0 ||
        lib.write(dataset_.id(), type_, memory.id(), space.id(), kDefault, number) < 0)
        fail_layout(lib.trouble());
    length_ = count;
}

}  // namespace halo::rt::hdf5
