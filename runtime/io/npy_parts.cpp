#include "runtime/io/npy_parts.h"

#include <algorithm>

#include "runtime/core/element.h"
#include "runtime/core/file_read.h"
#include "runtime/io/npy.h"
#include "runtime/io/npy_format.h"

namespace halo::rt {

namespace {

constexpr std::int64_t kConvertedInNpyPart = 1 << 16;  // elements converted at a time

ElementType type_in_file(ElementType type) {
    return type == ElementType::bf16 ? ElementType::f32 : type;  // numpy has none
}

class NpyReader final : public FieldReader {
public:
    NpyReader(const std::string& path, const FieldShape& shape, const std::string& what);
    void read(const Box& box, ElementType type, void* elements) override;

private:
    // Elements in a row, counted from the array's first.
    void read_row(std::int64_t first, std::int64_t count, ElementType type, char* to) const;

    // A boolean of another byte than 0 and 1 becomes one of these.
    bool is_of(ElementType type) const {
        return type != ElementType::boolean && type == type_in_file(type) && !input_.swap &&
               input_.kind == npy_descr(type) + 1;
    }

    NpyNumbers input_;
    FileRead file_;
    Box grid_;
    std::int64_t components_;
    std::vector<double> whole_;  // of a file in Fortran order
};

NpyReader::NpyReader(const std::string& path, const FieldShape& shape, const std::string& what)
    : input_(open_npy_numbers(path)),
      file_(path),
      grid_(whole_box(shape.extent)),
      components_(shape.components) {
    const NpyHeader& header = input_.header;
    const std::vector<std::int64_t> wanted = shape.elements();
    if (header.shape != wanted) refuse_shape(path, {header.shape, input_.is_complex}, shape, what);
    if (header.fortran_order && wanted.size() > 1) whole_ = read_npy(path, wanted, what).values;
}

void NpyReader::read(const Box& box, ElementType type, void* elements) {
    const std::int64_t cell = components_ * size_of(type);
    for_runs(box, box, grid_, [&](std::int64_t here, std::int64_t in_file, std::int64_t cells) {
        read_row(in_file * components_, cells * components_, type,
                 static_cast<char*>(elements) + here * cell);
    });
}

void NpyReader::read_row(std::int64_t first, std::int64_t count, ElementType type, char* to) const {
    if (!whole_.empty()) return encode(whole_.data() + first, count, type, to);
    const auto size = static_cast<std::int64_t>(input_.element.bytes);
    if (is_of(type))
        return file_.read_at(input_.offset + first * size, to, static_cast<std::size_t>(count * size));
    std::vector<double> values(static_cast<std::size_t>(std::min(count, kConvertedInNpyPart)));
    std::vector<unsigned char> chunk(values.size() * static_cast<std::size_t>(size));
    for (std::int64_t done = 0; done < count; done += kConvertedInNpyPart) {
        const std::int64_t now = std::min(kConvertedInNpyPart, count - done);
        file_.read_at(input_.offset + (first + done) * size, reinterpret_cast<char*>(chunk.data()),
                      static_cast<std::size_t>(now * size));
        for (std::int64_t i = 0; i < now; ++i)
            values[static_cast<std::size_t>(i)] = input_.element.widen(chunk.data() + i * size, input_.swap);
        encode(values.data(), now, type, to + done * size_of(type));
    }
}

}  // namespace

FieldLayout npy_layout(const FieldShape& shape, ElementType type) {
    const char* const descr = !shape.is_complex ? npy_descr(type) : type == ElementType::f32 ? "<c8" : "<c16";
    const std::string header = npy_header(shape.is_complex ? shape.cells() : shape.elements(), descr);
    FieldLayout layout;
    layout.arrays.push_back(
        {static_cast<std::int64_t>(header.size()), shape.components, type, type_in_file(type), shape.extent});
    layout.rest.emplace_back(0, header);
    return layout;
}

std::unique_ptr<FieldReader> open_npy_field(const std::string& path, const FieldShape& shape,
                                            const std::string& what) {
    return std::make_unique<NpyReader>(path, shape, what);
}

}  // namespace halo::rt
