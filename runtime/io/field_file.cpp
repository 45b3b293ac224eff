#include "runtime/io/field_file.h"

#include <algorithm>

#include "runtime/core/element.h"
#include "runtime/io/npy_format.h"

namespace halo::rt {

namespace {

constexpr std::int64_t kConvertedInFieldFile = 1 << 16;  // elements converted at a time

}  // namespace

std::vector<std::int64_t> FieldShape::cells() const {
    return {extent.rend() - rank, extent.rend()};
}

std::vector<std::int64_t> FieldShape::elements() const {
    std::vector<std::int64_t> shape = cells();
    if (components > 1) shape.push_back(components);
    return shape;
}

FieldFile::FieldFile(Ranks& ranks, const std::string& path, FieldLayout layout)
    : file_(ranks, path), layout_(std::move(layout)) {
    if (!ranks.is_first()) return;
    for (const auto& [begin, bytes] : layout_.rest)
        write_rest(begin, bytes);
}

void FieldFile::write_rest(std::int64_t begin, const std::string& bytes) {
    file_.write_at(begin, bytes.data(), bytes.size());
}

void FieldFile::write(std::size_t array, const Box& box, const void* elements) {
    const FieldLayout::Array& to = layout_.arrays[array];
    const std::int64_t cell = to.components * size_of(to.type);
    for_runs(box, box, whole_box(to.extent),
             [&](std::int64_t here, std::int64_t in_file, std::int64_t cells) {
                 write_row(to, in_file * to.components, static_cast<const char*>(elements) + here * cell,
                           cells * to.components);
             });
}

void FieldFile::write_row(const FieldLayout::Array& array, std::int64_t first, const void* elements,
                          std::int64_t count) {
    const std::int64_t size = size_of(array.type_in_file);
    if (array.type_in_file == array.type)
        return file_.write_at(array.begin + first * size, elements, static_cast<std::size_t>(count * size));
    std::vector<double> values(static_cast<std::size_t>(std::min(count, kConvertedInFieldFile)));
    std::vector<char> chunk(values.size() * static_cast<std::size_t>(size));
    for (std::int64_t done = 0; done < count; done += kConvertedInFieldFile) {
        const std::int64_t now = std::min(kConvertedInFieldFile, count - done);
        decode(static_cast<const char*>(elements) + done * size_of(array.type), now, array.type,
               values.data());
        encode(values.data(), now, array.type_in_file, chunk.data());
        file_.write_at(array.begin + (first + done) * size, chunk.data(),
                       static_cast<std::size_t>(now * size));
    }
}

void FieldFile::commit() {
    file_.commit();
}

void refuse_file(const std::string& path, const std::string& why) {
    refuse_npy(path, why);
}

void refuse_shape(const std::string& path, const ShapeInFile& found, const FieldShape& wanted,
                  const std::string& what) {
    if (found.is_complex && !wanted.is_complex)
        refuse_npy(path, "its elements are complex numbers, and " + what +
                             " has real ones; save array.real or array.imag");
    if (!found.is_complex && wanted.is_complex && found.extents == wanted.cells())
        refuse_npy(path, "its elements are real numbers, and " + what +
                             " has complex ones; save array.astype('complex64')");
    refuse_npy(path, npy_shape_mismatch(found.extents, wanted.elements(), what));
}

}  // namespace halo::rt
