// Movies as animated GIF files, shown again and again, by giflib.
#include <cstdint>
#include <map>
#include <memory>

#include "runtime/core/error.h"
#include "runtime/io/movie_kinds.h"

#ifdef HALO_GIF
#include <fmt/format.h>
#include <gif_lib.h>

#include <algorithm>
#include <array>
#include <exception>
#include <limits>
#include <utility>
#include <vector>

#include "runtime/io/atomic_file.h"
#include "runtime/io/palette.h"
#endif

namespace halo::rt {

#ifdef HALO_GIF

bool has_giflib() {
    return true;
}

namespace {

struct Closer {
    void operator()(GifFileType* gif) const {
        int ignored = 0;
        EGifCloseFile(gif, &ignored);
    }
};

class Gif final : public Movie {
public:
    Gif(const std::string& path, int width, int height, int rate)
        : path_(path), width_(width), height_(height), rate_(rate), file_(path) {
        if (std::max(width, height) > std::numeric_limits<std::uint16_t>::max())
            throw Error(ErrorCode::io,
                        fmt::format("cannot write \"{}\": {} × {} pixels are too many for a GIF", path, width,
                                    height));
        int error = 0;
        gif_.reset(EGifOpen(this, &Gif::write, &error));
        if (gif_ == nullptr) fail(error);
        EGifSetGifVersion(gif_.get(), true);
        check(EGifPutScreenDesc(gif_.get(), width, height, 8, 0, nullptr));
        // Without an end, by an extension of Netscape's that all programs know.
        static constexpr std::array<GifByteType, 3> kForever{1, 0, 0};
        check(EGifPutExtensionLeader(gif_.get(), APPLICATION_EXT_FUNC_CODE));
        check(EGifPutExtensionBlock(gif_.get(), 11, "NETSCAPE2.0"));
        check(EGifPutExtensionBlock(gif_.get(), static_cast<int>(kForever.size()), kForever.data()));
        check(EGifPutExtensionTrailer(gif_.get()));
    }

    void add(const Canvas& frame) override {
        const Palette palette(frame);
        std::array<GifColorType, Palette::kMost> colours{};
        std::ranges::transform(palette.colours(), colours.begin(), [](Colour colour) {
            return GifColorType{colour.red, colour.green, colour.blue};
        });
        const std::unique_ptr<ColorMapObject, decltype(&GifFreeMapObject)> map(
            GifMakeMapObject(Palette::kMost, colours.data()), &GifFreeMapObject);
        if (map == nullptr) throw std::bad_alloc();
        put_time();
        check(EGifPutImageDesc(gif_.get(), 0, 0, width_, height_, false, map.get()));
        std::vector<GifByteType> row(static_cast<std::size_t>(width_));
        for (int y = 0; y < height_; ++y) {
            for (int x = 0; x < width_; ++x)
                row[static_cast<std::size_t>(x)] = palette.index(frame.at(x, y));
            check(EGifPutLine(gif_.get(), row.data(), width_));
        }
    }

    void finish() override {
        int error = 0;
        const bool is_closed = EGifCloseFile(gif_.release(), &error) == GIF_OK;
        if (trouble_) std::rethrow_exception(trouble_);
        if (!is_closed) fail(error);
        file_.commit();
    }

private:
    // How long the next frame is shown, in hundredths of a second: rounded so that the sum has no drift.
    void put_time() {
        const auto end_of = [&](std::int64_t frame) { return (100 * frame + rate_ / 2) / rate_; };
        GraphicsControlBlock block{DISPOSE_DO_NOT, false, 0, NO_TRANSPARENT_COLOR};
        block.DelayTime = static_cast<int>(end_of(frames_ + 1) - end_of(frames_));
        ++frames_;
        std::array<GifByteType, 4> bytes{};
        EGifGCBToExtension(&block, bytes.data());
        check(EGifPutExtension(gif_.get(), GRAPHICS_EXT_FUNC_CODE, static_cast<int>(bytes.size()),
                               bytes.data()));
    }

    // Called by giflib, through which no exception may pass.
    static int write(GifFileType* gif, const GifByteType* bytes, int count) {
        auto& self = *static_cast<Gif*>(gif->UserData);
        try {
            if (!self.trouble_) self.file_.write(bytes, static_cast<std::size_t>(count));
        } catch (...) {
            self.trouble_ = std::current_exception();
        }
        return self.trouble_ ? 0 : count;
    }

    void check(int result) {
        if (trouble_) std::rethrow_exception(trouble_);
        if (result != GIF_OK) fail(gif_->Error);
    }
    [[noreturn]] void fail(int error) const {
        const char* const words = GifErrorString(error);
        throw Error(ErrorCode::io, fmt::format("cannot write \"{}\": giflib says: {}", path_,
                                               words != nullptr ? words : "unknown error"));
    }

    std::string path_;
    int width_, height_;
    int rate_;
    std::int64_t frames_ = 0;
    AtomicFile file_;
    std::exception_ptr trouble_;
    std::unique_ptr<GifFileType, Closer> gif_;  // last: closing it writes to the file
};

}  // namespace

std::unique_ptr<Movie> make_gif(const std::string& path, int width, int height, int rate) {
    return std::make_unique<Gif>(path, width, height, rate);
}

#else

bool has_giflib() {
    return false;
}

std::unique_ptr<Movie> make_gif(const std::string& path, int, int, int) {
    throw Error(ErrorCode::io, "cannot write \"" + path + "\": " + movie_lack(path).what);
}

#endif

}  // namespace halo::rt
