#include <cstdlib>
#include <fstream>
#include <sstream>

#include "accuracy.h"
#include "catch.h"

using namespace halo::test;

namespace {

void check(const std::vector<Measured>& all) {
    CHECK_FALSE(all.empty());
    for (const Measured& each : all) {
        INFO(each.what << ", " << each.where);
        CHECK(each.observed == Approx(each.formal).margin(0.1));
    }
}

}  // namespace

TEST_CASE("derivatives show their order of accuracy") {
    check(measure_derivatives());
}

TEST_CASE("time steps show their order of accuracy") {
    check(measure_time_steps());
}

TEST_CASE("every kind of boundary shows its order of accuracy") {
    check(measure_boundaries());
}

TEST_CASE("docs/accuracy.md says what is found") {
    const std::string path = HALO_SOURCE_DIR "/docs/accuracy.md";
    if (std::getenv("HALO_REGENERATE") != nullptr) {
        std::ofstream(path, std::ios::binary) << accuracy_page();
        return;
    }
    std::ifstream in(path, std::ios::binary);
    std::ostringstream written;
    written << in.rdbuf();
    CHECK(written.str() == accuracy_page());
}
