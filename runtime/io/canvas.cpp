#include "runtime/io/canvas.h"

#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <new>
#include <string_view>

#include "runtime/core/error.h"
#include "runtime/io/atomic_file.h"
#include "runtime/io/font.h"

namespace halo::rt {

namespace {

constexpr int kPixel = 2;                               // pixels of the picture for one of a letter
constexpr int kAdvance = (kGlyphColumns + 1) * kPixel;  // from one letter to the next

// Bytes of UTF-8 that begin no letter.
bool continues_letter(char byte) {
    return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

}  // namespace

Canvas::Canvas(int width, int height, Colour background)
    : width_(width),
      height_(height),
      pixels_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3) {
    fill(0, 0, width, height, background);
}

Colour Canvas::at(int x, int y) const {
    const std::size_t place = (static_cast<std::size_t>(y) * width_ + x) * 3;
    return {pixels_[place], pixels_[place + 1], pixels_[place + 2]};
}

void Canvas::fill(int x, int y, int width, int height, Colour colour) {
    const int x_end = std::min(x + width, width_), y_end = std::min(y + height, height_);
    for (int row = std::max(y, 0); row < y_end; ++row) {
        for (int column = std::max(x, 0); column < x_end; ++column) {
            std::uint8_t* pixel = &pixels_[(static_cast<std::size_t>(row) * width_ + column) * 3];
            pixel[0] = colour.red;
            pixel[1] = colour.green;
            pixel[2] = colour.blue;
        }
    }
}

void Canvas::frame(int x, int y, int width, int height, Colour colour) {
    fill(x, y, width, 1, colour);
    fill(x, y + height - 1, width, 1, colour);
    fill(x, y, 1, height, colour);
    fill(x + width - 1, y, 1, height, colour);
}

void Canvas::blend(int x, int y, Colour colour, double part) {
    if (x < 0 || y < 0 || x >= width_ || y >= height_ || part <= 0) return;
    const Colour old = at(x, y);
    const auto mix = [&](std::uint8_t from, std::uint8_t to) {
        return static_cast<std::uint8_t>(
            std::lround(std::lerp(double{1} * from, double{1} * to, std::min(part, 1.0))));
    };
    fill(x, y, 1, 1, {mix(old.red, colour.red), mix(old.green, colour.green), mix(old.blue, colour.blue)});
}

template <class Cover>
void Canvas::rasterize(const Line& line, double thickness, const Cover& cover) const {
    const auto [x0, y0, x1, y1] = line;
    const double dx = x1 - x0, dy = y1 - y0, length2 = dx * dx + dy * dy, reach = thickness / 2 + 1;
    const int x_begin = static_cast<int>(std::floor(std::min(x0, x1) - reach));
    const int x_end = static_cast<int>(std::ceil(std::max(x0, x1) + reach));
    const int y_begin = static_cast<int>(std::floor(std::min(y0, y1) - reach));
    const int y_end = static_cast<int>(std::ceil(std::max(y0, y1) + reach));
    for (int y = std::max(y_begin, 0); y <= std::min(y_end, height_ - 1); ++y) {
        for (int x = std::max(x_begin, 0); x <= std::min(x_end, width_ - 1); ++x) {
            // Distance from the pixel's centre to the nearest point of the line.
            const double along =
                length2 == 0 ? 0 : std::clamp(((x - x0) * dx + (y - y0) * dy) / length2, 0.0, 1.0);
            const double distance = std::hypot(x - (x0 + along * dx), y - (y0 + along * dy));
            const double part = std::min(thickness / 2 + 0.5 - distance, 1.0);
            if (part > 0) cover(x, y, part);
        }
    }
}

void Canvas::line(double x0, double y0, double x1, double y1, double thickness, Colour colour) {
    rasterize({x0, y0, x1, y1}, thickness, [&](int x, int y, double part) { blend(x, y, colour, part); });
}

void Canvas::lines(const std::vector<Line>& lines, double thickness, Colour colour) {
    std::vector<float> parts(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_));
    for (const Line& line : lines) {
        rasterize(line, thickness, [&](int x, int y, double part) {
            float& most = parts[static_cast<std::size_t>(y) * width_ + x];
            most = std::max(most, static_cast<float>(part));
        });
    }
    for (int y = 0; y < height_; ++y)
        for (int x = 0; x < width_; ++x)
            blend(x, y, colour, double{parts[static_cast<std::size_t>(y) * width_ + x]});
}

int Canvas::text_width(std::string_view words) {
    const auto letters =
        words.size() - static_cast<std::size_t>(std::count_if(words.begin(), words.end(), continues_letter));
    return letters == 0 ? 0 : static_cast<int>(letters) * kAdvance - kPixel;
}

void Canvas::text(int x, int y, std::string_view words, Align align, Colour colour) {
    if (align == Align::centre) x -= text_width(words) / 2;
    if (align == Align::right) x -= text_width(words);
    for (const char letter : words) {
        if (continues_letter(letter)) continue;
        const std::uint8_t* rows = glyph_rows(letter);
        for (int row = 0; row < kGlyphRows; ++row) {
            for (int column = 0; column < kGlyphColumns; ++column) {
                if (rows[row] >> (kGlyphColumns - 1 - column) & 1)
                    fill(x + column * kPixel, y + row * kPixel, kPixel, kPixel, colour);
            }
        }
        x += kAdvance;
    }
}

Canvas Canvas::resized(int width, int height, Colour background) const {
    Canvas result(width, height, background);
    const int columns = std::min(width, width_), rows = std::min(height, height_);
    for (int row = 0; row < rows; ++row)
        std::copy_n(&pixels_[static_cast<std::size_t>(row) * width_ * 3], std::ptrdiff_t{3} * columns,
                    &result.pixels_[static_cast<std::size_t>(row) * width * 3]);
    return result;
}

std::vector<std::uint8_t> Canvas::png() const {
    png_image image = {};
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(width_);
    image.height = static_cast<png_uint_32>(height_);
    image.format = PNG_FORMAT_RGB;
    image.flags = PNG_IMAGE_FLAG_FAST;
    png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
    std::vector<std::uint8_t> bytes(size);
    if (!png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels_.data(), 0, nullptr)) {
        if (std::string_view(image.message).find("memory") != std::string_view::npos) throw std::bad_alloc();
        throw Error(ErrorCode::internal, std::string("cannot make a picture: ") + image.message);
    }
    bytes.resize(size);
    return bytes;
}

void Canvas::write_png(const std::string& path) const {
    AtomicFile file(path);  // first: a folder that is not there is found before the work
    const std::vector<std::uint8_t> bytes = png();
    file.write(bytes.data(), bytes.size());
    file.commit();
}

}  // namespace halo::rt
