#include "runtime/io/npy.h"

#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <optional>

#include "runtime/core/element.h"
#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"

namespace halo::rt {

static_assert(std::endian::native == std::endian::little, "values are written as they lie in memory");

namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr std::size_t kMagicBytes = 6;
constexpr std::size_t kChunk = 1 << 16;  // values converted at a time

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
    throw Error(ErrorCode::io, "cannot read \"" + path + "\": " + why);
}

std::string print_shape(const std::vector<std::int64_t>& shape) {
    std::string text = "(";
    for (std::size_t i = 0; i < shape.size(); ++i)
        text += (i ? ", " : "") + std::to_string(shape[i]);
    return text + (shape.size() == 1 ? ",)" : ")");
}

// ---- the header: a Python dictionary of three entries
// ------------------------------------------------------------

struct Header {
    std::string descr;
    bool fortran_order = false;
    std::vector<std::int64_t> shape;
};

class HeaderParser {
public:
    HeaderParser(const std::string& path, const std::string& text) : path_(path), text_(text) {}

    Header parse() {
        Header header;
        bool descr = false, order = false, shape = false;
        expect('{');
        while (!accept('}')) {
            const std::string key = quoted();
            expect(':');
            if (key == "descr") {
                header.descr = element();
                descr = true;
            } else if (key == "fortran_order") {
                header.fortran_order = boolean();
                order = true;
            } else if (key == "shape") {
                header.shape = tuple();
                shape = true;
            } else {
                bad();
            }
            if (!accept(',')) {
                expect('}');
                break;
            }
        }
        if (!descr || !order || !shape) bad();
        return header;
    }

private:
    [[noreturn]] void bad() const { refuse(path_, "its .npy header is damaged"); }
    void skip_spaces() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])))
            ++at_;
    }
    bool accept(char c) {
        skip_spaces();
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void expect(char c) {
        if (!accept(c)) bad();
    }
    std::string quoted() {
        skip_spaces();
        if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) bad();
        const char quote = text_[at_++];
        const std::size_t end = text_.find(quote, at_);
        if (end == std::string::npos) bad();
        std::string word = text_.substr(at_, end - at_);
        at_ = end + 1;
        return word;
    }
    std::string element() {
        skip_spaces();
        if (at_ < text_.size() && text_[at_] == '[')
            refuse(path_, "its elements are records of several values; save one array of plain numbers");
        return quoted();
    }
    bool boolean() {
        skip_spaces();
        for (const bool value : {true, false}) {
            const std::string word = value ? "True" : "False";
            if (text_.compare(at_, word.size(), word) != 0) continue;
            at_ += word.size();
            return value;
        }
        bad();
    }
    std::vector<std::int64_t> tuple() {
        std::vector<std::int64_t> shape;
        expect('(');
        while (!accept(')')) {
            shape.push_back(integer());
            if (shape.size() > 32) bad();
            if (!accept(',')) {
                expect(')');
                break;
            }
        }
        return shape;
    }
    std::int64_t integer() {
        skip_spaces();
        const std::size_t begin = at_;
        std::int64_t value = 0;
        while (at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_]))) {
            if (value > (std::numeric_limits<std::int64_t>::max() - 9) / 10) bad();
            value = value * 10 + (text_[at_++] - '0');
        }
        if (at_ == begin) bad();
        if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote 128L
        return value;
    }

    const std::string& path_;
    const std::string& text_;
    std::size_t at_ = 0;
};

// ---- elements
// -------------------------------------------------------------------------------------------------

template <class T>
double widen(const unsigned char* bytes, bool swap) {
    unsigned char ordered[sizeof(T)];
    std::memcpy(ordered, bytes, sizeof(T));
    if (swap) std::reverse(ordered, ordered + sizeof(T));
    T value;
    std::memcpy(&value, ordered, sizeof(T));
    return static_cast<double>(value);
}

double widen_half(const unsigned char* bytes, bool swap) {
    const unsigned char ordered[] = {bytes[swap ? 1 : 0], bytes[swap ? 0 : 1]};
    return decode(ordered, ElementType::f16);
}

struct Element {
    std::size_t bytes;
    double (*widen)(const unsigned char*, bool swap);
};

std::optional<Element> element_of(const std::string& kind) {
    if (kind == "f2") return Element{2, widen_half};
    if (kind == "f4") return Element{4, widen<float>};
    if (kind == "f8") return Element{8, widen<double>};
    if (kind == "i1") return Element{1, widen<std::int8_t>};
    if (kind == "i2") return Element{2, widen<std::int16_t>};
    if (kind == "i4") return Element{4, widen<std::int32_t>};
    if (kind == "i8") return Element{8, widen<std::int64_t>};
    if (kind == "u1" || kind == "b1") return Element{1, widen<std::uint8_t>};
    if (kind == "u2") return Element{2, widen<std::uint16_t>};
    if (kind == "u4") return Element{4, widen<std::uint32_t>};
    if (kind == "u8") return Element{8, widen<std::uint64_t>};
    return std::nullopt;
}

// ---- reading
// ---------------------------------------------------------------------------------------------------

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

File open_to_read(const std::string& path) {
    File file(std::fopen(path.c_str(), "rb"));
    struct stat status{};
    if (!file) {
        refuse(path, errno == ENOENT   ? "there is no such file"
                     : errno == EACCES ? "no permission to read it"
                                       : std::strerror(errno));
    }
    if (::fstat(::fileno(file.get()), &status) == 0 && S_ISDIR(status.st_mode))
        refuse(path, "it is a folder");
    return file;
}

Header read_header(std::FILE* file, const std::string& path) {
    unsigned char start[12] = {};
    if (std::fread(start, 1, 8, file) != 8 || std::memcmp(start, kMagic, kMagicBytes) != 0)
        refuse(path, "it is no .npy file (numpy.save writes one)");
    const int version = start[6];
    if (version < 1 || version > 3)
        refuse(path, "its .npy version " + std::to_string(version) + " is unknown (1 to 3 can be read)");
    const std::size_t length_bytes = version == 1 ? 2 : 4;
    if (std::fread(start + 8, 1, length_bytes, file) != length_bytes)
        refuse(path, "it ends inside its header");
    std::size_t length = 0;
    for (std::size_t i = length_bytes; i-- > 0;)
        length = length << 8 | start[8 + i];
    if (length > 1 << 20) refuse(path, "its .npy header is damaged");
    std::string text(length, '\0');
    if (std::fread(text.data(), 1, length, file) != length) refuse(path, "it ends inside its header");
    return HeaderParser(path, text).parse();
}

// The number of values, checked against what is left of the file before anything is allocated.
std::size_t count_values(std::FILE* file, const std::string& path, const Header& header, std::size_t bytes) {
    std::uint64_t count = 1;
    bool too_large = false, empty = false;
    for (const std::int64_t extent : header.shape) {
        if (extent == 0) {
            empty = true;
        } else if (count >
                   std::numeric_limits<std::uint64_t>::max() / 16 / static_cast<std::uint64_t>(extent)) {
            too_large = true;
        } else {
            count *= static_cast<std::uint64_t>(extent);
        }
    }
    if (empty) count = 0;
    struct stat status{};
    const long here = std::ftell(file);
    if (here < 0 || ::fstat(::fileno(file), &status) != 0 || !S_ISREG(status.st_mode))
        refuse(path, "it is no plain file");
    const std::uint64_t left = static_cast<std::uint64_t>(status.st_size - here);
    if (too_large && !empty) refuse(path, "its shape " + print_shape(header.shape) + " is too large");
    if (left != count * bytes) {
        refuse(path,
               std::string(left < count * bytes ? "it is cut short" : "it is longer than its header says") +
                   ": shape " + print_shape(header.shape) + " of " + header.descr + " takes " +
                   std::to_string(count * bytes) + " bytes, and " + std::to_string(left) + " are there");
    }
    return static_cast<std::size_t>(count);
}

// Fortran order has the first axis of the shape fastest; C order the last.
std::vector<double> to_c_order(const std::vector<double>& values, const std::vector<std::int64_t>& shape) {
    const std::size_t rank = shape.size();
    std::vector<std::size_t> stride(rank, 1);  // in `values`, by axis
    for (std::size_t axis = 1; axis < rank; ++axis)
        stride[axis] = stride[axis - 1] * static_cast<std::size_t>(shape[axis - 1]);
    std::vector<double> result(values.size());
    std::vector<std::int64_t> index(rank, 0);
    std::size_t from = 0;
    for (double& value : result) {
        value = values[from];
        for (std::size_t axis = rank; axis-- > 0;) {
            from += stride[axis];
            if (++index[axis] < shape[axis]) break;
            from -= stride[axis] * static_cast<std::size_t>(shape[axis]);
            index[axis] = 0;
        }
    }
    return result;
}

}  // namespace

NpyArray read_npy(const std::string& path) {
    const File file = open_to_read(path);
    Header header = read_header(file.get(), path);
    const bool has_order =
        !header.descr.empty() && std::string("<>|=").find(header.descr[0]) != std::string::npos;
    std::string kind = header.descr.substr(has_order ? 1 : 0);
    if (kind == "c8" || kind == "c16") {
        if (header.fortran_order && header.shape.size() > 1)
            refuse(path, "complex numbers are read in C order; save numpy.ascontiguousarray(array)");
        kind = kind == "c8" ? "f4" : "f8";
        header.shape.push_back(2);
    }
    const std::optional<Element> element = element_of(kind);
    if (!element) {
        refuse(path, "its elements are of type '" + header.descr +
                         "'; float16, float32, float64, bool and the integer types can be read");
    }
    const bool swap = header.descr[0] == '>';
    const std::size_t count = count_values(file.get(), path, header, element->bytes);
    NpyArray array{header.shape, std::vector<double>(count), header.descr};
    std::vector<unsigned char> chunk(kChunk * element->bytes);
    for (std::size_t done = 0; done < count;) {
        const std::size_t now = std::min(kChunk, count - done);
        if (std::fread(chunk.data(), element->bytes, now, file.get()) != now)
            refuse(path, std::ferror(file.get()) ? std::strerror(errno) : "it is cut short");
        for (std::size_t i = 0; i < now; ++i)
            array.values[done + i] = element->widen(chunk.data() + i * element->bytes, swap);
        done += now;
    }
    if (header.fortran_order && header.shape.size() > 1)
        array.values = to_c_order(array.values, header.shape);
    return array;
}

NpyArray read_npy(const std::string& path, const std::vector<std::int64_t>& shape, const std::string& what) {
    NpyArray array = read_npy(path);
    if (array.shape != shape) {
        std::vector<std::int64_t> reversed(shape.rbegin(), shape.rend());
        std::string mend;
        if (array.shape == reversed)
            mend =
                "; its axes are in the opposite order: a shape lists them from slowest to fastest, so save "
                "array.T";
        refuse(path, "its shape is " + print_shape(array.shape) + ", and " + what + " needs " +
                         print_shape(shape) + mend);
    }
    return array;
}

// ---- writing
// ---------------------------------------------------------------------------------------------------

namespace {

std::size_t count_of(const std::vector<std::int64_t>& shape) {
    std::size_t count = 1;
    for (const std::int64_t extent : shape)
        count *= static_cast<std::size_t>(extent);
    return count;
}

const char* descr_of(ElementType type) {
    switch (type) {
        case ElementType::f64:
            return "<f8";
        case ElementType::f32:
        case ElementType::bf16:  // numpy has none: its values are floats
            return "<f4";
        case ElementType::f16:
            return "<f2";
        case ElementType::i32:
            return "<i4";
        case ElementType::i64:
            return "<i8";
        case ElementType::u8:
            return "|u1";
        case ElementType::boolean:
            return "|b1";
    }
    return "";
}

void write_header(AtomicFile& file, const std::vector<std::int64_t>& shape, const std::string& descr) {
    std::string header =
        "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + print_shape(shape) + ", }";
    // Values begin at a multiple of 64 bytes; the header ends with a newline.
    const std::size_t before = kMagicBytes + 4;
    header.append(63 - (before + header.size()) % 64, ' ');
    header += '\n';
    const unsigned char start[] = {1, 0, static_cast<unsigned char>(header.size() & 0xff),
                                   static_cast<unsigned char>(header.size() >> 8)};
    file.write(kMagic, kMagicBytes);
    file.write(start, sizeof start);
    file.write(header.data(), header.size());
}

}  // namespace

void write_npy(const std::string& path, const std::vector<std::int64_t>& shape,
               const std::vector<double>& values, ElementType type) {
    if (values.size() != count_of(shape))
        throw std::logic_error("write_npy: shape " + print_shape(shape) + " of " +
                               std::to_string(values.size()) + " values");
    if (type == ElementType::f64) return write_npy(path, shape, values.data(), values.size() * 8, type);
    AtomicFile file(path);
    write_header(file, shape, descr_of(type));
    const ElementType in_file = type == ElementType::bf16 ? ElementType::f32 : type;
    const auto size = static_cast<std::size_t>(size_of(in_file));
    std::vector<char> chunk(kChunk * size);
    for (std::size_t done = 0; done < values.size();) {
        const std::size_t now = std::min(kChunk, values.size() - done);
        encode(values.data() + done, static_cast<std::int64_t>(now), in_file, chunk.data());
        file.write(chunk.data(), now * size);
        done += now;
    }
    file.commit();
}

void write_npy(const std::string& path, const std::vector<std::int64_t>& shape, const void* values,
               std::size_t bytes, ElementType type) {
    if (bytes != count_of(shape) * static_cast<std::size_t>(size_of(type)))
        throw std::logic_error("write_npy: shape " + print_shape(shape) + " in " + std::to_string(bytes) +
                               " bytes");
    if (type == ElementType::bf16) {
        std::vector<double> widened(count_of(shape));
        decode(values, static_cast<std::int64_t>(widened.size()), type, widened.data());
        return write_npy(path, shape, widened, ElementType::f32);
    }
    AtomicFile file(path);
    write_header(file, shape, descr_of(type));
    file.write(values, bytes);
    file.commit();
}

void write_npy_complex(const std::string& path, const std::vector<std::int64_t>& shape, const void* values,
                       std::size_t bytes, ElementType type) {
    if (bytes != 2 * count_of(shape) * static_cast<std::size_t>(size_of(type)))
        throw std::logic_error("write_npy_complex: shape " + print_shape(shape) + " in " +
                               std::to_string(bytes) + " bytes");
    AtomicFile file(path);
    write_header(file, shape, type == ElementType::f32 ? "<c8" : "<c16");
    file.write(values, bytes);
    file.commit();
}

}  // namespace halo::rt
