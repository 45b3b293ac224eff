#include "function_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace halo::test {

namespace {

template <class T>
void put(char* at, double value) {
    const T held = static_cast<T>(value);
    std::memcpy(at, &held, sizeof held);
}

template <class T>
double get(const char* at) {
    T held;
    std::memcpy(&held, at, sizeof held);
    return static_cast<double>(held);
}

}  // namespace

void write_value(char* at, CType type, double value) {
    switch (type) {
        case CType::f32:
            return put<float>(at, value);
        case CType::f64:
            return put<double>(at, value);
        case CType::i32:
            return put<std::int32_t>(at, value);
        case CType::u32:
            return put<std::uint32_t>(at, value);
        case CType::i64:
            return put<std::int64_t>(at, value);
        case CType::u64:
            return put<std::uint64_t>(at, value);
        default:
            return put<std::uint8_t>(at, value);
    }
}

double read_value(const char* at, CType type) {
    switch (type) {
        case CType::f32:
            return get<float>(at);
        case CType::f64:
            return get<double>(at);
        case CType::i32:
            return get<std::int32_t>(at);
        case CType::u32:
            return get<std::uint32_t>(at);
        case CType::i64:
            return get<std::int64_t>(at);
        case CType::u64:
            return get<std::uint64_t>(at);
        default:
            return get<std::uint8_t>(at);
    }
}

std::string first_difference(const Memory& memory, const std::vector<char>& want,
                             const std::vector<char>& have, bool keeps_zeros) {
    for (std::size_t r = 0; r < memory.regions.size(); ++r) {
        const Region& each = memory.regions[r];
        const std::size_t begin = static_cast<std::size_t>(each.begin - memory.bytes.data());
        const std::size_t bytes = c_bytes(each.type),
                          count = static_cast<std::size_t>(each.end - each.begin) / bytes;
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t at = begin + i * bytes;
            if (std::memcmp(&want[at], &have[at], bytes) == 0) continue;
            const double a = read_value(&want[at], each.type), b = read_value(&have[at], each.type);
            if ((std::isnan(a) && std::isnan(b)) || (!keeps_zeros && a == b)) continue;
            return fmt::format("element {} of region {} is {} by the function and {} by the spec", i, r, a,
                               b);
        }
    }
    // Between the arrays.
    std::vector<char> rest = want;
    for (const Region& each : memory.regions) {
        const auto begin = each.begin - memory.bytes.data(), end = each.end - memory.bytes.data();
        std::copy(have.begin() + begin, have.begin() + end, rest.begin() + begin);
    }
    return rest == have ? "" : "memory that is in no array";
}

namespace {

// Numbers for filling memory, in which no draw decides about the program: a multiplication and shifts of the
// index, as a cell is drawn for each element of each run.
class Filler {
public:
    using result_type = std::uint64_t;
    // Another factor than the step's: else the numbers of one seed would be those of the next, moved by one.
    explicit Filler(std::uint64_t seed) : at_(seed * kFactor) {}
    std::uint64_t operator()() {
        std::uint64_t mixed = at_ += kStep;
        mixed = (mixed ^ (mixed >> 32)) * kFactor;
        mixed = (mixed ^ (mixed >> 32)) * kFactor;
        return mixed ^ (mixed >> 32);
    }

private:
    static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15U, kFactor = 0xd6e8feb86659fd93U;
    std::uint64_t at_;
};

class Drawer {
public:
    Drawer(const RandomFunction& function, bool no_alias, unsigned seed)
        : function_(function),
          no_alias_(no_alias),
          random_(function.seed * 31 + seed),
          run_(seed),
          filler_(function.seed * 31 + seed) {}

    void fill(Memory& memory) {
        for (std::size_t at = 0; at + 8 <= memory.bytes.size(); at += 8) {
            const std::uint64_t drawn = filler_();
            std::memcpy(&memory.bytes[at], &drawn, 8);
        }
        memory.regions.clear();
        memory.used = 0;
        values_.clear();
        std::size_t cells = 1;
        std::vector<std::size_t> sizes;
        double numbers[64];
        for (std::size_t i = 0; i < function_.arguments.size(); ++i) {
            const Argument& each = function_.arguments[i];
            if (each.role == Argument::Role::array || each.role == Argument::Role::list) continue;
            numbers[i] = each.role == Argument::Role::row     ? static_cast<double>(sizes[0] + random_() % 3)
                         : each.role == Argument::Role::plane ? plane(sizes, numbers[i - 1])
                                                              : draw(each);
            if (each.role == Argument::Role::size)
                sizes.push_back(static_cast<std::size_t>(numbers[i]));
            else
                drawn_.push_back(numbers[i]);
        }
        for (const std::size_t size : sizes)
            cells *= size;
        for (std::size_t i = 0; i < function_.arguments.size(); ++i) {
            if (function_.arguments[i].role == Argument::Role::plane)
                cells = static_cast<std::size_t>(numbers[i] * static_cast<double>(sizes[2]) +
                                                 numbers[i - 1] * static_cast<double>(sizes[1] + 1));
        }
        cells = std::max<std::size_t>(cells, 1);
        for (std::size_t i = 0; i < function_.arguments.size(); ++i) {
            const Argument& each = function_.arguments[i];
            if (each.role == Argument::Role::list) {
                values_.push_back(memory.take(9 * c_bytes(each.type), each.type));
                for (std::size_t k = 0; k < 9; ++k)
                    write_value(values_.back() + k * c_bytes(each.type), each.type, cell(each.type));
                continue;
            }
            if (each.role != Argument::Role::array) {
                values_.push_back(memory.take(8, each.type));
                write_value(values_.back(), each.type, numbers[i]);
                continue;
            }
            char* begin = aliased(each);
            if (begin == nullptr) {
                std::size_t own = each.over.empty() ? cells : 1;
                for (const int axis : each.over)
                    own *= sizes[static_cast<std::size_t>(axis)];
                const std::size_t count = own + (may_overlap(each) ? 8 : 0);
                begin = memory.take(count * c_bytes(each.type), each.type);
                for (std::size_t k = 0; k < count; ++k)
                    write_value(begin + k * c_bytes(each.type), each.type, cell(each.type));
            }
            values_.push_back(begin);
            arrays_.push_back({&each, begin});
        }
    }
    const std::vector<char*>& values() const { return values_; }

private:
    bool may_overlap(const Argument& array) const { return !no_alias_ && !array.is_restrict; }
    // In one run of four planes lie within each other, and the stencil must not run.
    double plane(const std::vector<std::size_t>& sizes, double row) {
        const double rows = static_cast<double>(sizes[1]) - (run_ % 4 == 3 && sizes[1] > 1 ? 1 : 0);
        return row * rows + static_cast<double>(random_() % 3);
    }
    char* aliased(const Argument& array) {
        if (!may_overlap(array)) return nullptr;
        for (const auto& [other, begin] : arrays_) {
            if (may_overlap(*other) && other->type == array.type && random_() % 3 == 0 &&
                std::none_of(arrays_.begin(), arrays_.end(), [&, b = begin](const auto& each) {
                    return each.second > b && each.second < b + 64;
                }))
                return begin + random_() % 4 * c_bytes(array.type);
        }
        return nullptr;
    }
    double draw(const Argument& each) {
        switch (each.role) {
            case Argument::Role::size:
                return each.type == CType::u32 || each.type == CType::u64
                           ? 4 + static_cast<double>(random_() % 6)
                           : static_cast<double>(run_ == 0 ? 5 + random_() % 3 : random_() % 9);
            case Argument::Role::margin:
                return static_cast<double>(2 + random_() % 3);
            case Argument::Role::count:
                return static_cast<double>(random_() % 12) - 3;
            default:
                break;
        }
        if (each.type == CType::boolean) return static_cast<double>(random_() % 2);
        if (each.type == CType::f32 || each.type == CType::f64) return real(random_);
        double found = static_cast<double>(random_() % 12) - 3;
        if (random_() % 3 == 0) found = literal() + static_cast<double>(random_() % 3) - 1;
        if (random_() % 6 == 0) {
            const double some[] = {1000003, -1000003, 2147483647, -2147483648., 65536, 255, 256};
            found = some[random_() % 7];
        }
        found = std::floor(found);
        if (each.type == CType::i64 && random_() % 5 == 0) found = found * 4294967296. + 3;
        if (each.type == CType::u8) return std::fmod(std::abs(found), 256);
        if (each.type == CType::u32) return found < 0 ? found + 4294967296. : found;
        return found;
    }
    double literal() { return literal(random_); }
    template <class Random>
    double literal(Random& random) {
        return function_.literals.empty() ? 1 : function_.literals[random() % function_.literals.size()];
    }
    template <class Random>
    double real(Random& random) {
        switch (random() % 6) {
            case 0: {
                const double by[] = {0, 0, 0.25, -0.25, 1e-3, -1e-3};
                return (random() % 2 == 0 ? 1 : -1) * literal(random) + by[random() % 6];
            }
            case 1:
                if (random() % 6 == 0) return -0.;
                return static_cast<double>(random() % 7) - 3;
            case 2:
                return drawn_.empty() ? 0 : std::clamp(drawn_[random() % drawn_.size()], -1e3, 1e3);
            default:
                return (static_cast<double>(random() >> 11) * 0x1p-53 - (run_ % 2 == 0 ? 0.5 : 0.1)) * 4;
        }
    }
    double cell(CType type) {
        // Sums of zeros below zero alone tell those that begin at zero from others.
        const bool is_real = type == CType::f32 || type == CType::f64;
        if (is_real && run_ % 8 == 7 && filler_() % 4 != 0) return filler_() % 8 == 0 ? 0. : -0.;
        if (is_real) return real(filler_);
        const double found = static_cast<double>(filler_() % 8);
        return type == CType::u8 ? found : found - 3;
    }

    const RandomFunction& function_;
    bool no_alias_;
    std::mt19937_64 random_;  // for what decides about the run
    unsigned run_;
    Filler filler_;
    std::vector<double> drawn_;
    std::vector<char*> values_;
    std::vector<std::pair<const Argument*, char*>> arrays_;
};

}  // namespace

std::vector<char*> random_arguments(const RandomFunction& function, bool no_alias, unsigned run,
                                    Memory& memory) {
    Drawer drawer(function, no_alias, run);
    drawer.fill(memory);
    return drawer.values();
}

}  // namespace halo::test
