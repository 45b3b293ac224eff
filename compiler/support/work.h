// How much the compiler did: counted operations, for tests that bound how its work grows with a spec.
#pragma once

#include <cstdint>

namespace halo {

// Loops over a spec's text, names, expressions and statements count each turn.
class Work {
public:
    static void count(std::uint64_t operations = 1) { total_ += operations; }
    static std::uint64_t total() { return total_; }  // of this thread, since it began

private:
    inline static thread_local std::uint64_t total_ = 0;
};

}  // namespace halo
