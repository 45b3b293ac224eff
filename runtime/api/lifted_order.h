// Which steps of stencils that a device holds back come after which: those that touch cells which the other
// writes. Not for users.
#pragma once

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
    // The last launches of the steps that one with these cells must come after; held: so many launches are.
    // Steps whose launches have been started since come before all others.
    std::vector<int> after(const std::vector<Cells>& cells, int held);
    // last: the number of its last launch.
    void add(const std::vector<Cells>& cells, int last) { steps_.push_back({cells, last}); }

private:
    struct Step {
        std::vector<Cells> cells;
        int last = 0;
    };
    std::vector<Step> steps_;
};

}  // namespace halocline::detail
