#include "property.h"

#include "catch.h"

namespace halo::test {
namespace {

std::string complaint_of(const RandomProgram& source, const Complaint& complaint, int steps) {
    const bool strict = source.seed % 4 == 1;  // --strict-fp
    const ir::Program program = load_program(source.text(), strict);
    try {
        const Reference reference(program, {source.grid[0], source.grid[1], source.grid[2]}, steps,
                                  source.seed);
        return complaint(source, program, reference);
    } catch (const std::exception& error) {
        return error.what();
    }
}

}  // namespace

void check_engine(const GeneratorOptions& options, Seeds seeds, const Complaint& complaint, int steps) {
    const auto still_fails = [&](const RandomProgram& source) {
        try {
            return !complaint_of(source, complaint, steps).empty();
        } catch (const std::runtime_error&) {
            return false;  // refused by sema: a mistake of the shrinker's making
        } catch (const std::invalid_argument&) {
            return false;
        }
    };
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        const RandomProgram source = random_program(seed, options);
        INFO(source.describe());
        const std::string wrong = complaint_of(source, complaint, steps);
        if (wrong.empty()) continue;
        const RandomProgram small = shrink(source, still_fails, 300);
        INFO("shrunk to: " << small.describe() << "\n" << complaint_of(small, complaint, steps));
        FAIL(wrong);
    }
}

}  // namespace halo::test
