// A range of whole numbers.
#pragma once

namespace halo::ir {

struct Range {  // both ends included; double is exact for all of i32
    double low = 0, high = 0;
};

}  // namespace halo::ir
