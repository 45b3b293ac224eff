#include "runtime/io/npy_parts.h"

#include <algorithm>

#include "runtime/core/element.h"
#include "runtime/io/file_read.h"
#include "runtime/io/npy.h"
#include "runtime/io/npy_format.h"

namespace halo::rt {

namespace {

constexpr std::int64_t kChunk = 1 << 16;  // elements converted at a time

ElementType type_in_file(ElementType type) {
    return type == ElementType::bf16 ? ElementType::f32 : type;  // numpy has none
}

}  // namespace

NpyWriter::NpyWriter(Ranks& ranks, const std::string& path, const std::vector<std::int64_t>& shape,
                     ElementType type, bool is_complex)
    : file_(ranks, path), type_(type) {
    const char* const descr = !is_complex ? npy_descr(type) : type == ElementType::f32 ? "<c8" : "<c16";
    const std::string header = npy_header(shape, descr);
    begin_ = static_cast<std::int64_t>(header.size());
    if (ranks.is_first()) file_.write_at(0, header.data(), header.size());
}

void NpyWriter::write(std::int64_t first, const void* elements, std::int64_t count) {
    const ElementType in_file = type_in_file(type_);
    const std::int64_t size = size_of(in_file);
    if (in_file == type_)
        return file_.write_at(begin_ + first * size, elements, static_cast<std::size_t>(count * size));
    std::vector<double> values(static_cast<std::size_t>(std::min(count, kChunk)));
    std::vector<char> chunk(values.size() * static_cast<std::size_t>(size));
    for (std::int64_t done = 0; done < count; done += kChunk) {
        const std::int64_t now = std::min(kChunk, count - done);
        decode(static_cast<const char*>(elements) + done * size_of(type_), now, type_, values.data());
        encode(values.data(), now, in_file, chunk.data());
        file_.write_at(begin_ + (first + done) * size, chunk.data(), static_cast<std::size_t>(now * size));
    }
}

void NpyWriter::commit() {
    file_.commit();
}

struct NpyReader::State {
    explicit State(const std::string& path) : input(open_npy_numbers(path)), file(path) {}

    NpyNumbers input;
    FileRead file;
    std::vector<double> whole;  // of a file in Fortran order

    // A boolean of another byte than 0 and 1 becomes one of these.
    bool is_of(ElementType type) const {
        return type != ElementType::boolean && type == type_in_file(type) && !input.swap &&
               input.kind == npy_descr(type) + 1;
    }
};

NpyReader::NpyReader(const std::string& path, const std::vector<std::int64_t>& shape, const std::string& what)
    : state_(std::make_unique<State>(path)) {
    const NpyHeader& header = state_->input.header;
    if (header.shape != shape) refuse_npy(path, npy_shape_mismatch(header.shape, shape, what));
    if (header.fortran_order && shape.size() > 1) state_->whole = read_npy(path, shape, what).values;
}

NpyReader::~NpyReader() = default;

void NpyReader::read(std::int64_t first, std::int64_t count, ElementType type, void* elements) {
    const State& s = *state_;
    if (!s.whole.empty()) return encode(s.whole.data() + first, count, type, elements);
    const auto size = static_cast<std::int64_t>(s.input.element.bytes);
    char* to = static_cast<char*>(elements);
    if (s.is_of(type))
        return s.file.read_at(s.input.offset + first * size, to, static_cast<std::size_t>(count * size));
    std::vector<double> values(static_cast<std::size_t>(std::min(count, kChunk)));
    std::vector<unsigned char> chunk(values.size() * static_cast<std::size_t>(size));
    for (std::int64_t done = 0; done < count; done += kChunk) {
        const std::int64_t now = std::min(kChunk, count - done);
        s.file.read_at(s.input.offset + (first + done) * size, reinterpret_cast<char*>(chunk.data()),
                       static_cast<std::size_t>(now * size));
        for (std::int64_t i = 0; i < now; ++i)
            values[static_cast<std::size_t>(i)] =
                s.input.element.widen(chunk.data() + i * size, s.input.swap);
        encode(values.data(), now, type, to + done * size_of(type));
    }
}

}  // namespace halo::rt
