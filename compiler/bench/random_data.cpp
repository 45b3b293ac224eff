#include "compiler/bench/random_data.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

namespace halo::bench {

namespace {

// Calls part(begin, end) on as many threads as there are processors, each with `least` or more.
void share(std::int64_t count, std::int64_t least,
           const std::function<void(std::int64_t, std::int64_t)>& part) {
    const std::int64_t most = std::max<std::int64_t>(1, std::thread::hardware_concurrency());
    const std::int64_t threads = std::clamp<std::int64_t>(count / least, 1, most);
    std::vector<std::jthread> others;  // joined where one cannot be started, too
    for (std::int64_t n = 1; n < threads; ++n)
        others.emplace_back(part, count * n / threads, count * (n + 1) / threads);
    part(0, count / threads);
}

}  // namespace

double random_number(std::uint64_t seed, std::uint64_t index) {
    // SplitMix64 (Steele, Lea and Flood, 2014), started at any place.
    std::uint64_t z = seed * 0x632be59bd9b4e019ULL + (index + 1) * 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return static_cast<double>((z ^ (z >> 31)) >> 40) * 0x1p-24;
}

std::byte* HostBuffer::resize(std::size_t bytes) {
    if (bytes > capacity_) {
        data_.reset();
        data_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
        capacity_ = bytes;
    }
    return data_.get();
}

void fill_random(std::byte* to, std::int64_t count, const std::string& type, std::uint64_t seed) {
    constexpr std::int64_t kLeast = 1 << 16;  // below it a thread costs more than it does
    share(count, kLeast, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t n = begin; n < end; ++n) {
            const double value = random_number(seed, static_cast<std::uint64_t>(n));
            if (type == "f64") {
                std::memcpy(to + n * 8, &value, 8);
            } else {
                const auto rounded = static_cast<float>(value);
                std::memcpy(to + n * 4, &rounded, 4);
            }
        }
    });
}

std::int64_t first_difference(const std::byte* a, const std::byte* b, std::int64_t bytes) {
    constexpr std::int64_t kPiece = 1 << 20;
    const std::int64_t pieces = (bytes + kPiece - 1) / kPiece;
    std::vector<char> differs(static_cast<std::size_t>(pieces), 0);
    const auto length = [&](std::int64_t piece) {
        return static_cast<std::size_t>(std::min(kPiece, bytes - piece * kPiece));
    };
    share(pieces, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t piece = begin; piece < end; ++piece)
            differs[static_cast<std::size_t>(piece)] =
                std::memcmp(a + piece * kPiece, b + piece * kPiece, length(piece)) != 0 ? 1 : 0;
    });
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
        if (differs[static_cast<std::size_t>(piece)] == 0) continue;
        std::int64_t at = piece * kPiece;
        while (a[at] == b[at])
            ++at;
        return at;
    }
    return -1;
}

}  // namespace halo::bench
