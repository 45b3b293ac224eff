#include "compiler/sema/position.h"

namespace halo::sema {

namespace {

int distance(Halves a, Halves b) {
    return std::popcount(static_cast<unsigned>(a ^ b));
}

}  // namespace

Places Places::of(Position position, int rank) {
    const Halves all = static_cast<Halves>((1u << static_cast<unsigned>(rank)) - 1u);
    Places result{0, std::nullopt, position.fixed == 0};
    for (int place = 0; place < (1 << rank); ++place) {
        if (((place ^ position.half) & position.fixed) == 0)
            result.set = static_cast<Places::Set>(result.set | (1u << place));
    }
    if ((position.fixed & all) == all) result.own = position.half;
    return result;
}

Places Places::flipped(Halves axes) const {
    Places result{0, own, is_anywhere};
    for (int place = 0; place < kPlaces; ++place) {
        if (contains(static_cast<Halves>(place)))
            result.set = static_cast<Places::Set>(result.set | (1u << (place ^ axes)));
    }
    if (own) result.own = static_cast<Halves>(*own ^ axes);
    return result;
}

Places Places::also_flipped(Halves axes) const {
    Places result = *this;
    for (int some = 1; some < kPlaces; ++some) {
        if ((some & ~axes) == 0)
            result.set = static_cast<Places::Set>(result.set | flipped(static_cast<Halves>(some)).set);
    }
    return result;
}

Places Places::joined(const Places& other) const {
    Places result{static_cast<Places::Set>(set & other.set), std::nullopt, is_anywhere && other.is_anywhere};
    const bool agree = !own || !other.own || *own == *other.own;
    const std::optional<Halves> wish = own ? own : other.own;
    if (agree && wish && result.contains(*wish)) result.own = wish;
    if (!result.own && std::has_single_bit(result.set))
        result.own = static_cast<Halves>(std::countr_zero(result.set));
    return result;
}

Halves Places::nearest(Halves wanted) const {
    if (contains(wanted) || set == 0) return wanted;
    std::optional<Halves> best;
    for (int i = 0; i < kPlaces; ++i) {
        const auto place = static_cast<Halves>(i);
        if (!contains(place)) continue;
        const int gain = best ? distance(*best, wanted) - distance(place, wanted) : 1;
        if (gain > 0 || (gain == 0 && own == place)) best = place;
    }
    return *best;
}

std::string position_text(Halves place, Halves axes, const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t axis = 0; axis < names.size(); ++axis) {
        if ((axes & axis_bit(static_cast<int>(axis))) == 0) continue;
        if (!text.empty()) text += ", ";
        text += names[axis];
        if ((place & axis_bit(static_cast<int>(axis))) != 0) text += "+1/2";
    }
    return text;
}

}  // namespace halo::sema
