#include "runtime/io/photo.h"

#include <png.h>

#include <fstream>
#include <iterator>

#include "catch.h"
#include "contains.h"
#include "runtime/core/error.h"
#include "temporary_folder.h"

using namespace halo::rt;

namespace {

struct PngFile {
    int width = 3, height = 2, bits = 8, colour = PNG_COLOR_TYPE_GRAY;
    bool interlaced = false;
    double gamma = 0;
    std::vector<std::vector<std::uint8_t>> rows;  // from the top, as they lie in the file
};

std::string write(const TemporaryFolder& folder, PngFile file) {
    const std::string path = folder / "picture.png";
    std::FILE* const out = std::fopen(path.c_str(), "wb");
    REQUIRE(out != nullptr);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, out);
    png_set_IHDR(png, info, static_cast<png_uint_32>(file.width), static_cast<png_uint_32>(file.height),
                 file.bits, file.colour, file.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (file.gamma > 0) png_set_gAMA(png, info, file.gamma);
    const png_color palette[2] = {{255, 0, 0}, {0, 0, 255}};
    if (file.colour == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(png, info, palette, 2);
    png_write_info(png, info);
    std::vector<png_bytep> rows;
    for (auto& row : file.rows)
        rows.push_back(row.data());
    png_write_image(png, rows.data());
    png_write_end(png, nullptr);
    png_destroy_write_struct(&png, &info);
    std::fclose(out);
    return path;
}

std::string trouble(const std::string& path, std::int64_t width = 3, std::int64_t height = 2) {
    try {
        read_photo(path, width, height, "field u");
    } catch (const Error& error) {
        CHECK(error.code() == ErrorCode::io);
        return error.what();
    }
    return "";
}

using Bytes = std::vector<std::uint8_t>;

}  // namespace

TEST_CASE("grey pixels are numbers, the lowest row first") {
    const TemporaryFolder folder;
    PngFile file;
    file.rows = {{10, 20, 30}, {40, 50, 255}};
    for (const bool interlaced : {false, true}) {
        for (const double gamma : {0.0, 1.0}) {
            file.interlaced = interlaced;
            file.gamma = gamma;
            CHECK(read_photo(write(folder, file), 3, 2, "field u") == Bytes{40, 50, 255, 10, 20, 30});
        }
    }
    file = {};
    file.bits = 1;
    file.rows = {{0b10100000}, {0b01000000}};
    CHECK(read_photo(write(folder, file), 3, 2, "field u") == Bytes{0, 255, 0, 255, 0, 255});
}

TEST_CASE("colours become their luminance") {
    const TemporaryFolder folder;
    PngFile file;
    file.width = 2;
    file.height = 1;
    file.colour = PNG_COLOR_TYPE_RGB;
    file.rows = {{200, 100, 50, 7, 7, 7}};
    CHECK(read_photo(write(folder, file), 2, 1, "field u") == Bytes{124, 7});  // 59.8 + 58.7 + 5.7 = 124.2
    file.colour = PNG_COLOR_TYPE_RGBA;
    file.rows = {{255, 255, 255, 255, 0, 0, 0, 255}};
    CHECK(read_photo(write(folder, file), 2, 1, "field u") == Bytes{255, 0});
    file.rows = {{255, 255, 255, 255, 0, 0, 0, 254}};
    CHECK(contains(trouble(write(folder, file), 2, 1), "see through"));
    file.colour = PNG_COLOR_TYPE_PALETTE;
    file.bits = 1;
    file.rows = {{0b01000000}};
    CHECK(read_photo(write(folder, file), 2, 1, "field u") == Bytes{76, 29});
}

TEST_CASE("pictures that cannot be read are refused with the reason") {
    const TemporaryFolder folder;
    PngFile file;
    file.rows = {{10, 20, 30}, {40, 50, 255}};
    const std::string path = write(folder, file);
    CHECK(trouble(path).empty());
    CHECK(contains(trouble(path, 2, 3), "it has 3 × 2 pixels, and field u has 2 × 3 cells"));
    CHECK(contains(trouble(folder / "none.png"), "none.png"));

    std::ifstream in(path, std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    for (std::size_t length = 0; length < whole.size(); ++length) {
        std::ofstream(folder / "short.png", std::ios::binary) << whole.substr(0, length);
        INFO(length);
        CHECK(contains(trouble(folder / "short.png"), length < 8 ? "no PNG" : "damaged"));
    }
    for (std::size_t place = 8; place < whole.size() - 12; ++place) {
        std::string changed = whole;
        changed[place] = static_cast<char>(changed[place] ^ 0x41);
        std::ofstream(folder / "changed.png", std::ios::binary) << changed;
        INFO(place);
        CHECK_FALSE(trouble(folder / "changed.png").empty());
    }
    file.bits = 16;
    file.rows = {{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}};
    CHECK(contains(trouble(write(folder, file)), "16 bits"));
}
