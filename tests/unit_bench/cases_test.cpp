// What haloc bench measures is there, in the type that is asked for, and has its data.
#include <set>

#include "catch.h"
#include "compiler/bench/cases.h"
#include "compiler/bench/lab.h"
#include "compiler/bench/measure.h"
#include "compiler/bench/programs_table.h"
#include "compiler/bench/random_data.h"
#include "compiler/bench/scaling.h"
#include "compiler/ir/analysis.h"
#include "compiler/schedule/footprint.h"
#include "compiler/schedule/groupings.h"
#include "compiler/schedule/parse.h"
#include "compiler/schedule/print.h"
#include "compiler/schedule/strategies.h"

using namespace halo;
using bench::Scale;

TEST_CASE("every case has a spec without mistakes, in its type") {
    std::set<std::string> names;
    for (const Scale scale : {Scale::full, Scale::quick, Scale::small}) {
        for (const bench::Case& each : bench::cases(scale)) {
            INFO(each.name());
            const ir::Program program = bench::load_program(each.spec, bench::spec_text(each));
            CHECK((program.rank() == 2) == (each.extent[2] == 1));
            for (const ir::Field& field : program.fields)
                CHECK(field.storage == (each.type == "f64" ? ir::Storage::f64 : ir::Storage::f32));
            if (scale == Scale::full) CHECK(names.insert(each.name()).second);
        }
    }
    CHECK(names.size() > 40);
}

TEST_CASE("every spec that is embedded is measured") {
    std::set<std::string> measured;
    for (const bench::Case& each : bench::cases(Scale::full))
        measured.insert(each.spec);
    measured.insert(bench::scaling_specs().begin(), bench::scaling_specs().end());
    for (const bench::Program& each : bench::programs_of(Scale::full))
        measured.insert(each.spec);
    for (const auto& [name, text] : bench::spec_texts()) {
        INFO(name);
        CHECK(measured.contains(name));
    }
}

TEST_CASE("the weights of the stencils differ, so that no product is shared") {
    // One multiplication or multiply-add for each point; where weights are equal, three for the planes below
    // and above, and three for the cell's own.
    struct Points {
        const char* spec;
        int products;
    };
    const Points all[] = {{"bench/star2d1", 5},         {"bench/star2d2", 9},  {"bench/star2d4", 17},
                          {"bench/box2d1", 9},          {"bench/box2d2", 25},  {"bench/star3d1", 7},
                          {"bench/star3d2", 13},        {"bench/star3d4", 25}, {"bench/box3d1", 27},
                          {"bench/box3d1_symmetric", 6}};
    for (const Points& each : all) {
        const ir::Program program = bench::load_program(each.spec, bench::spec_texts().at(each.spec));
        const schedule::Footprint footprint = schedule::footprint(program, ir::form_stages(program).at(0));
        INFO(each.spec);
        CHECK(footprint.operations.multiplies + footprint.operations.fmas == each.products);
    }
}

TEST_CASE("strategies are those that a schedule can name, each once") {
    std::set<std::string> names;
    for (const schedule::StrategyKind& kind : schedule::strategy_kinds()) {
        CHECK(names.insert(std::string(kind.name)).second);
        CHECK(schedule::parse(kind.name, 3).pins.strategy == kind.neutral);
    }
    const std::vector<std::string> variants = bench::variant_names(true);
    CHECK(variants.size() == names.size() + 1 + schedule::grouping_kinds().size());  // and naive
    CHECK(variants.front() == "naive");
}

TEST_CASE("random data are the same in both types and in every run") {
    constexpr std::int64_t kCount = 200000;  // shared by several threads
    bench::HostBuffer wide, narrow;
    bench::fill_random(wide.resize(8 * kCount), kCount, "f64", 5);
    bench::fill_random(narrow.resize(4 * kCount), kCount, "f32", 5);
    const auto* doubles = reinterpret_cast<const double*>(wide.data());
    const auto* floats = reinterpret_cast<const float*>(narrow.data());
    double sum = 0;
    for (std::int64_t n = 0; n < kCount; ++n) {
        if (doubles[n] != double{floats[n]} ||
            doubles[n] != bench::random_number(5, static_cast<std::uint64_t>(n)))
            FAIL("number " << n);
        sum += doubles[n];
    }
    CHECK(sum / kCount == Approx(0.5).margin(0.01));
    CHECK(bench::random_number(5, 0) != bench::random_number(6, 0));
}

TEST_CASE("the first byte that differs is found, wherever it is") {
    constexpr std::int64_t kBytes = (std::int64_t{3} << 20) + 17;
    bench::HostBuffer a, b;
    bench::fill_random(a.resize(kBytes + 8), kBytes / 4, "f32", 1);
    bench::fill_random(b.resize(kBytes + 8), kBytes / 4, "f32", 1);
    a.data()[kBytes - 1] = b.data()[kBytes - 1] = std::byte{1};
    CHECK(bench::first_difference(a.data(), b.data(), kBytes) == -1);
    for (const std::int64_t at : {kBytes - 1, std::int64_t{1} << 20, std::int64_t{5}}) {
        b.data()[at] ^= std::byte{1};
        CHECK(bench::first_difference(a.data(), b.data(), kBytes) == at);
    }
}
