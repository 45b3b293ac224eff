#include "runtime/io/npy_format.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <limits>

#include "runtime/core/element.h"
#include "runtime/core/error.h"
#include "runtime/core/file_read.h"

namespace halo::rt {

namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr std::size_t kMagicBytes = 6;

class HeaderParser {
public:
    HeaderParser(const std::string& path, const std::string& text) : path_(path), text_(text) {}

    NpyHeader parse() {
        NpyHeader header;
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
    [[noreturn]] void bad() const { refuse_npy(path_, "its .npy header is damaged"); }
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
            refuse_npy(path_, "its elements are records of several values; save one array of plain numbers");
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

}  // namespace

void refuse_npy(const std::string& path, const std::string& why) {
    throw Error(ErrorCode::io, "cannot read \"" + path + "\": " + why);
}

std::string print_npy_shape(const std::vector<std::int64_t>& shape) {
    std::string text = "(";
    for (std::size_t i = 0; i < shape.size(); ++i)
        text += (i ? ", " : "") + std::to_string(shape[i]);
    return text + (shape.size() == 1 ? ",)" : ")");
}

std::optional<NpyElement> npy_element(const std::string& kind) {
    if (kind == "f2") return NpyElement{2, widen_half};
    if (kind == "f4") return NpyElement{4, widen<float>};
    if (kind == "f8") return NpyElement{8, widen<double>};
    if (kind == "i1") return NpyElement{1, widen<std::int8_t>};
    if (kind == "i2") return NpyElement{2, widen<std::int16_t>};
    if (kind == "i4") return NpyElement{4, widen<std::int32_t>};
    if (kind == "i8") return NpyElement{8, widen<std::int64_t>};
    if (kind == "u1" || kind == "b1") return NpyElement{1, widen<std::uint8_t>};
    if (kind == "u2") return NpyElement{2, widen<std::uint16_t>};
    if (kind == "u4") return NpyElement{4, widen<std::uint32_t>};
    if (kind == "u8") return NpyElement{8, widen<std::uint64_t>};
    return std::nullopt;
}

NpyInput open_npy(const std::string& path) {
    static_cast<void>(FileRead(path));  // refuses what is no plain file
    NpyInput file(std::fopen(path.c_str(), "rbe"));
    if (!file) refuse_npy(path, std::strerror(errno));
    return file;
}

NpyHeader read_npy_header(std::FILE* file, const std::string& path) {
    unsigned char start[12] = {};
    if (std::fread(start, 1, 8, file) != 8 || std::memcmp(start, kMagic, kMagicBytes) != 0)
        refuse_npy(path, "it is no .npy file (numpy.save writes one)");
    const int version = start[6];
    if (version < 1 || version > 3)
        refuse_npy(path, "its .npy version " + std::to_string(version) + " is unknown (1 to 3 can be read)");
    const std::size_t length_bytes = version == 1 ? 2 : 4;
    if (std::fread(start + 8, 1, length_bytes, file) != length_bytes)
        refuse_npy(path, "it ends inside its header");
    std::size_t length = 0;
    for (std::size_t i = length_bytes; i-- > 0;)
        length = length << 8 | start[8 + i];
    if (length > 1 << 20) refuse_npy(path, "its .npy header is damaged");
    std::string text(length, '\0');
    if (std::fread(text.data(), 1, length, file) != length) refuse_npy(path, "it ends inside its header");
    return HeaderParser(path, text).parse();
}

// The number of values, checked against what is left of the file before anything is allocated.
std::size_t count_npy_values(std::FILE* file, const std::string& path, const NpyHeader& header,
                             std::size_t bytes) {
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
        refuse_npy(path, "it is no plain file");
    const std::uint64_t left = static_cast<std::uint64_t>(status.st_size - here);
    if (too_large && !empty) refuse_npy(path, "its shape " + print_npy_shape(header.shape) + " is too large");
    if (left != count * bytes) {
        refuse_npy(
            path,
            std::string(left < count * bytes ? "it is cut short" : "it is longer than its header says") +
                ": shape " + print_npy_shape(header.shape) + " of " + header.descr + " takes " +
                std::to_string(count * bytes) + " bytes, and " + std::to_string(left) + " are there");
    }
    return static_cast<std::size_t>(count);
}

NpyNumbers open_npy_numbers(const std::string& path) {
    NpyNumbers input;
    input.file = open_npy(path);
    NpyHeader& header = input.header;
    header = read_npy_header(input.file.get(), path);
    const bool has_order =
        !header.descr.empty() && std::string("<>|=").find(header.descr[0]) != std::string::npos;
    input.kind = header.descr.substr(has_order ? 1 : 0);
    if (input.kind == "c8" || input.kind == "c16") {
        if (header.fortran_order && header.shape.size() > 1)
            refuse_npy(path, "complex numbers are read in C order; save numpy.ascontiguousarray(array)");
        input.kind = input.kind == "c8" ? "f4" : "f8";
        input.is_complex = true;
        header.shape.push_back(2);
    }
    const std::optional<NpyElement> element = npy_element(input.kind);
    if (!element)
        refuse_npy(path, "its elements are of type '" + header.descr +
                             "'; float16, float32, float64, bool and the integer types can be read");
    input.element = *element;
    input.swap = header.descr[0] == '>';
    input.count = count_npy_values(input.file.get(), path, header, input.element.bytes);
    input.offset = std::ftell(input.file.get());
    return input;
}

const char* npy_descr(ElementType type) {
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

std::string npy_header(const std::vector<std::int64_t>& shape, const std::string& descr) {
    std::string header =
        "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + print_npy_shape(shape) + ", }";
    // Values begin at a multiple of 64 bytes; the header ends with a newline.
    const std::size_t before = kMagicBytes + 4;
    header.append(63 - (before + header.size()) % 64, ' ');
    header += '\n';
    const std::array<char, 4> start{1, 0, static_cast<char>(header.size() & 0xff),
                                    static_cast<char>(header.size() >> 8)};
    return std::string(kMagic, kMagicBytes) + std::string(start.data(), start.size()) + header;
}

std::size_t npy_count(const std::vector<std::int64_t>& shape) {
    std::size_t count = 1;
    for (const std::int64_t extent : shape)
        count *= static_cast<std::size_t>(extent);
    return count;
}

std::string npy_shape_mismatch(const std::vector<std::int64_t>& shape,
                               const std::vector<std::int64_t>& wanted, const std::string& what) {
    const std::vector<std::int64_t> reversed(wanted.rbegin(), wanted.rend());
    std::string mend;
    if (shape == reversed)
        mend =
            "; its axes are in the opposite order: a shape lists them from slowest to fastest, so save "
            "array.T";
    return "its shape is " + print_npy_shape(shape) + ", and " + what + " needs " + print_npy_shape(wanted) +
           mend;
}

}  // namespace halo::rt
