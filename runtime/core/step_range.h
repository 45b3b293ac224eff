// Steps of a run, by how many were done before them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

namespace halo::rt {

struct StepRange {
    static constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();

    std::int64_t first = 0;
    std::int64_t past = kNoEnd;

    bool contains(std::int64_t step) const { return first <= step && step < past; }
    bool is_empty() const { return first >= past; }
    bool is_all() const { return *this == StepRange{}; }
    friend bool operator==(const StepRange&, const StepRange&) = default;
};

inline StepRange common(const StepRange& a, const StepRange& b) {
    return {std::max(a.first, b.first), std::min(a.past, b.past)};
}
// The least range that has both.
inline StepRange hull(const StepRange& a, const StepRange& b) {
    return {std::min(a.first, b.first), std::max(a.past, b.past)};
}

// "in steps 10 to 19", "before step 10", "from step 10 on".
std::string words_for(const StepRange& range);

}  // namespace halo::rt
