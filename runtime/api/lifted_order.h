// Which steps of stencils that a device holds back come after which: those that touch cells which the other
// writes. Not for users.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/core/box.h"

namespace halocline::detail {

class HeldOrder {
public:
    struct Cells {
        const void* array = nullptr;  // any address that stands for it
        halo::rt::Box box;
        bool is_written = false;
    };
    // The last launches of the steps that one with these cells must come after, but for those that have
    // begun: all before `first`.
    std::vector<std::int64_t> after(const std::vector<Cells>& cells, std::int64_t first);
    // last: the number of its last launch (Device::hold_launches()).
    void add(const std::vector<Cells>& cells, std::int64_t last) { steps_.push_back({cells, last}); }

private:
    struct Step {
        std::vector<Cells> cells;
        std::int64_t last = 0;
    };
    std::vector<Step> steps_;
};

}  // namespace halocline::detail
