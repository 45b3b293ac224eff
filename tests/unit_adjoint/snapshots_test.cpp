// The binomial schedule: every step is undone from its own state, and none is done oftener than need be.
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "catch.h"
#include "compiler/adjoint/snapshots.h"

using halo::adjoint::go_back;
using halo::adjoint::steps_forward;

namespace {

// The least number of steps forward, by trying every place for the next state that is kept.
std::int64_t least_forward(int steps, int snapshots, std::map<std::pair<int, int>, std::int64_t>& known) {
    if (steps <= 1) return 0;
    if (snapshots == 1) return static_cast<std::int64_t>(steps) * (steps - 1) / 2;
    const auto key = std::pair(steps, snapshots);
    if (const auto found = known.find(key); found != known.end()) return found->second;
    std::int64_t least = -1;
    for (int first = 1; first < steps; ++first) {
        const std::int64_t total = first + least_forward(steps - first, snapshots - 1, known) +
                                   least_forward(first, snapshots, known);
        if (least < 0 || total < least) least = total;
    }
    return known[key] = least;
}

}  // namespace

TEST_CASE("every step is undone once, from the state before it, in few slots") {
    for (std::int64_t steps = 0; steps <= 40; ++steps) {
        for (int snapshots = 1; snapshots <= 8; ++snapshots) {
            std::int64_t at = 0, next = steps;
            std::vector<std::optional<std::int64_t>> slots(static_cast<std::size_t>(snapshots));
            go_back(steps, {snapshots},
                    {[&](std::int64_t step, int slot) {
                         CHECK(at == step);
                         slots.at(static_cast<std::size_t>(slot)) = step;
                     },
                     [&](std::int64_t step, int slot) {
                         CHECK(slots.at(static_cast<std::size_t>(slot)) == step);
                         at = step;
                     },
                     [&](std::int64_t from, std::int64_t to) {
                         CHECK((at == from && to > from));
                         at = to;
                     },
                     [&](std::int64_t step) {
                         CHECK((at == step && step == next - 1));
                         next = step;
                     },
                     {}});
            CHECK(next == 0);
        }
    }
}

TEST_CASE("no schedule does fewer steps") {
    std::map<std::pair<int, int>, std::int64_t> known;
    for (int steps = 1; steps <= 60; ++steps)
        for (int snapshots = 1; snapshots <= 7; ++snapshots)
            CHECK(steps_forward(steps, {snapshots}) == least_forward(steps, snapshots, known));
}

TEST_CASE("with a state for each step none is done twice") {
    CHECK(steps_forward(1000, {1000}) == 999);
    CHECK(steps_forward(1000, {100}) < 2 * 1000);
    CHECK(steps_forward(100000, {20}) < 6 * 100000);
}

TEST_CASE("states in a row share levels, and no more are kept than there is room for") {
    for (int levels = 2; levels <= 4; ++levels) {
        for (std::int64_t units = levels; units <= 14; ++units) {
            std::int64_t before = -1;
            for (std::int64_t steps = 0; steps <= 45; ++steps) {
                std::map<int, std::int64_t> slots;
                std::int64_t at = 0, next = steps, forward = 0;
                const auto check_room = [&] {
                    std::set<std::int64_t> kept;  // of a state: the step's level and those before it
                    for (const auto& [slot, step] : slots)
                        for (int back = 0; back < levels; ++back)
                            kept.insert(step - back);
                    CHECK(std::ssize(kept) <= units);
                };
                go_back(steps, {units, levels, 1},
                        {[&](std::int64_t step, int slot) {
                             CHECK((at == step && !slots.contains(slot)));
                             slots[slot] = step;
                             check_room();
                         },
                         [&](std::int64_t step, int slot) {
                             CHECK(slots.at(slot) == step);
                             at = step;
                         },
                         [&](std::int64_t from, std::int64_t to) {
                             CHECK((at == from && to > from));
                             at = to;
                             forward += to - from;
                         },
                         [&](std::int64_t step) {
                             CHECK((at == step && step == next - 1));
                             next = step;
                         },
                         [&](int slot) { CHECK(slots.erase(slot) == 1); }});
                CHECK(next == 0);
                CHECK(forward >= before);
                CHECK(forward <= steps_forward(steps, {units / levels}));
                before = forward;
            }
        }
    }
    CHECK(steps_forward(1000, {103}) == 1895);
    CHECK(steps_forward(1000, {206, 2, 1}) == 1797);
}
