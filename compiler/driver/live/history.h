// Numbers of a run that grows without an end, in a space that does not: where it is full, every other one is
// left out, and from then on every other one is taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace halo::driver::live {

class History {
public:
    struct Point {
        std::int64_t step = 0;
        double value = 0;
    };

    explicit History(std::size_t most = 1000) : most_(most) {}

    // Steps must not fall; of one step the first value stays.
    void add(std::int64_t step, double value);
    // Those that are kept, and the newest.
    std::vector<Point> points() const;

private:
    std::size_t most_;
    std::uint64_t stride_ = 1, seen_ = 0;
    std::vector<Point> kept_;
    Point newest_;
};

}  // namespace halo::driver::live
