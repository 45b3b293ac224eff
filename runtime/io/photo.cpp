#include "runtime/io/photo.h"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>

#include "runtime/core/error.h"
#include "runtime/core/file_read.h"

namespace halo::rt {

namespace {

constexpr std::size_t kSignature = 8;

[[noreturn]] void refuse_picture(const std::string& path, const std::string& why) {
    throw Error(ErrorCode::io, "cannot read \"" + path + "\": " + why);
}

// What libpng works on. It reports trouble by longjmp, which runs no destructors: whatever needs one lives
// here, and the functions that libpng calls have none.
struct Decoder {
    png_structp png = nullptr;
    png_infop info = nullptr;
    std::string file;
    std::size_t at = 0;
    char message[128] = "";
    png_uint_32 width = 0, height = 0;
    int bits = 0, colour = 0, channels = 0;
    std::vector<std::uint8_t> pixels;
    std::vector<png_bytep> rows;

    Decoder() = default;
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;
    ~Decoder() { png_destroy_read_struct(&png, &info, nullptr); }
};

void fail(png_structp png, png_const_charp text) {
    auto* decoder = static_cast<Decoder*>(png_get_error_ptr(png));
    std::strncpy(decoder->message, text, sizeof decoder->message - 1);
    std::longjmp(png_jmpbuf(png), 1);
}

void ignore(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep to, std::size_t count) {
    auto* decoder = static_cast<Decoder*>(png_get_io_ptr(png));
    if (count > decoder->file.size() - decoder->at) png_error(png, "the file ends too early");
    std::memcpy(to, decoder->file.data() + decoder->at, count);
    decoder->at += count;
}

// False where libpng reported trouble: `message` is what.
bool decode_header(Decoder& decoder) {
    if (setjmp(png_jmpbuf(decoder.png)) != 0) return false;
    png_read_info(decoder.png, decoder.info);
    png_get_IHDR(decoder.png, decoder.info, &decoder.width, &decoder.height, &decoder.bits, &decoder.colour,
                 nullptr, nullptr, nullptr);
    return true;
}

// Fills rows[y] with channels() bytes a pixel.
bool decode_layout(Decoder& decoder) {
    if (setjmp(png_jmpbuf(decoder.png)) != 0) return false;
    png_set_expand(decoder.png);  // palettes, few bits, transparent colours
    png_set_interlace_handling(decoder.png);
    png_read_update_info(decoder.png, decoder.info);
    decoder.channels = png_get_channels(decoder.png, decoder.info);
    return true;
}

bool decode_pixels(Decoder& decoder) {
    if (setjmp(png_jmpbuf(decoder.png)) != 0) return false;
    png_read_image(decoder.png, decoder.rows.data());
    png_read_end(decoder.png, nullptr);
    return true;
}

std::uint8_t luminance(const std::uint8_t* pixel) {
    return static_cast<std::uint8_t>((299 * pixel[0] + 587 * pixel[1] + 114 * pixel[2] + 500) / 1000);
}

constexpr std::int64_t kMostBytes = std::int64_t{1} << 31;

// Rows of grey from pixels of 1 to 4 channels, the lowest first.
std::vector<std::uint8_t> grey_rows(const Decoder& decoder, const std::string& path) {
    const auto channels = static_cast<std::size_t>(decoder.channels);
    const std::size_t count = decoder.pixels.size() / channels;
    const std::size_t width = decoder.width;
    const bool is_coloured = channels >= 3, has_alpha = channels % 2 == 0;
    std::vector<std::uint8_t> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint8_t* pixel = &decoder.pixels[i * channels];
        if (has_alpha && pixel[channels - 1] != 255)
            refuse_picture(path, "it has pixels that one can see through; give it a background");
        const std::size_t row = decoder.height - 1 - i / width;
        values[row * width + i % width] = is_coloured ? luminance(pixel) : pixel[0];
    }
    return values;
}

}  // namespace

std::vector<std::uint8_t> read_photo(const std::string& path, std::int64_t width, std::int64_t height,
                                     const std::string& what) {
    Decoder decoder;
    decoder.file = FileRead(path).read_all(kMostBytes);
    const auto* signature = reinterpret_cast<png_const_bytep>(decoder.file.data());
    if (decoder.file.size() < kSignature || png_sig_cmp(signature, 0, kSignature) != 0)
        refuse_picture(path, "it is no PNG picture");
    decoder.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoder, fail, ignore);
    if (decoder.png != nullptr) decoder.info = png_create_info_struct(decoder.png);
    if (decoder.info == nullptr) throw Error(ErrorCode::out_of_memory, "no memory to read \"" + path + "\"");
    png_set_read_fn(decoder.png, &decoder, read_bytes);
    const auto damaged = [&] {
        refuse_picture(path, fmt::format("the picture is damaged: {}", decoder.message));
    };
    if (!decode_header(decoder)) damaged();
    if (decoder.width != width || decoder.height != height)
        refuse_picture(path, fmt::format("it has {} × {} pixels, and {} has {} × {} cells", decoder.width,
                                         decoder.height, what, width, height));
    if (decoder.bits == 16) refuse_picture(path, "it has 16 bits a channel; pictures of 8 are read");
    if (!decode_layout(decoder)) damaged();
    const std::size_t row = std::size_t{decoder.width} * static_cast<std::size_t>(decoder.channels);
    decoder.pixels.resize(row * decoder.height);
    for (std::size_t y = 0; y < decoder.height; ++y)
        decoder.rows.push_back(&decoder.pixels[y * row]);
    if (!decode_pixels(decoder)) damaged();
    return grey_rows(decoder, path);
}

}  // namespace halo::rt
