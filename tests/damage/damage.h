// Damaged bytes, the same ones each time: what is read from files must refuse them, and nothing else.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace halo::test {

// Rounds of each test, from HALO_DAMAGE_ROUNDS.
inline int damage_rounds() {
    const char* const asked = std::getenv("HALO_DAMAGE_ROUNDS");
    return asked == nullptr ? 400 : std::atoi(asked);
}

class Damage {
public:
    explicit Damage(std::uint64_t seed) : random_(seed) {}

    std::size_t below(std::size_t count) { return count == 0 ? 0 : random_() % count; }
    template <class Item>
    const Item& one_of(const std::vector<Item>& items) {
        return items[below(items.size())];
    }

    // With one to four changes: bits, bytes, parts that are cut off, left out, doubled or put in.
    std::string damaged(std::string bytes) {
        for (std::size_t n = 1 + below(4); n > 0; --n)
            change(bytes);
        return bytes;
    }

private:
    void change(std::string& bytes) {
        static const std::vector<std::string> texts{"-1",
                                                    "0",
                                                    "99999999999999999999",
                                                    "1e999",
                                                    "4294967296",
                                                    "9223372036854775807",
                                                    "nan",
                                                    "null",
                                                    "{",
                                                    "]",
                                                    "\"",
                                                    "\n",
                                                    std::string(1, '\0'),
                                                    "\xff\xff\xff\xff",
                                                    std::string(300, '(')};
        const std::size_t at = below(bytes.size()), length = below(1 + below(40));
        switch (below(7)) {
            case 0:
                if (!bytes.empty()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
                break;
            case 1:
                if (!bytes.empty()) bytes[at] = static_cast<char>(below(256));
                break;
            case 2:
                bytes.resize(at);
                break;
            case 3:
                bytes.erase(at, length);
                break;
            case 4:
                bytes.insert(at, bytes.substr(at, length));
                break;
            case 5:
                bytes.insert(at, one_of(texts));
                break;
            default: {  // a number becomes another one
                const std::size_t digit = bytes.find_first_of("0123456789", at);
                if (digit == std::string::npos) break;
                const std::size_t end = bytes.find_first_not_of("0123456789", digit);
                bytes.replace(digit, end == std::string::npos ? end : end - digit, one_of(texts));
            }
        }
    }

    std::mt19937_64 random_;
};

}  // namespace halo::test
