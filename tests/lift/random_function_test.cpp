// Random functions of C: what is lifted computes what the compiled function does, bit for bit.
//
// HALO_FUNCTIONS=100000 HALO_SEED=1 runs so many from that seed on; 2000 otherwise.
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <map>

#include "catch.h"
#include "compare_lift.h"
#include "temporary_folder.h"

namespace {

using namespace halo::test;

std::uint64_t number_of(const char* name, std::uint64_t otherwise) {
    const char* set = std::getenv(name);
    return set == nullptr ? otherwise : std::strtoull(set, nullptr, 10);
}

}  // namespace

// An end that wraps around, of half an unsigned size less a margin; profiles that are read along longer axes.
TEST_CASE("random functions stay within their arrays") {
    const TemporaryFolder folder;
    for (const std::uint64_t seed : {72543U, 78337U, 85653U, 104005U}) {
        LiftComparison comparison(folder.path().string());
        comparison.add(random_function(seed));
        CHECK(comparison.run().front().difference.empty());
    }
}

TEST_CASE("random functions compute what they are lifted to") {
    const TemporaryFolder folder;
    const std::uint64_t wanted = number_of("HALO_FUNCTIONS", 2000), first = number_of("HALO_SEED", 1);
    std::uint64_t functions = 0, lifted = 0, compared = 0, runs = 0, undefined = 0, joined = 0,
                  differences = 0;
    std::map<std::string, int> reasons;
    LiftComparison comparison(folder.path().string());
    while (functions < wanted) {
        while (comparison.size() < 200 && functions < wanted)
            comparison.add(random_function(first + functions++));
        for (const Compared& each : comparison.run()) {
            lifted += each.nests > 0 ? 1 : 0;
            compared += each.runs > 0 ? 1 : 0;
            joined += each.runs > 0 ? static_cast<std::uint64_t>(each.joined) : 0;
            runs += static_cast<std::uint64_t>(each.runs);
            undefined += static_cast<std::uint64_t>(each.undefined);
            if (each.nests == 0) ++reasons[each.refused.substr(each.refused.rfind('`') + 1)];
            if (each.difference.empty()) continue;
            ++differences;
            const RandomFunction small = shrunk(random_function(each.seed), folder.path().string());
            LiftComparison again(folder.path().string());
            again.add(small);
            const Compared shown = again.run().front();
            std::cout << "seed " << each.seed << ": " << shown.difference << std::endl;
            UNSCOPED_INFO("seed " << each.seed << ": " << shown.difference << "\n"
                                  << shown.text << shown.specs);
            CHECK(false);
        }
    }
    std::cout << functions << " functions from seed " << first << ": " << lifted << " lifted, " << compared
              << " compared in " << runs << " runs, " << undefined << " runs undefined, " << joined
              << " times several nests joined, " << differences << " differences\n";
    if (std::getenv("HALO_REASONS") != nullptr) {
        for (const auto& [reason, count] : reasons)
            std::cout << count << " " << reason << "\n";
    }
    if (functions < 200) return;  // of a few, the shares say nothing
    CHECK(lifted * 4 >= functions);
    CHECK(compared * 10 >= lifted * 7);
}
