#include "property.h"

#include <optional>
#include <stdexcept>

#include "catch.h"
#include "compiler/ir/interpreter.h"
#include "runtime/core/error.h"

namespace halo::test {
namespace {

// Margins of outputs add up, so that now and then a boundary shows cells that a drawn grid does not have.
struct RefusedGrid : std::runtime_error {
    RefusedGrid() : std::runtime_error("the grid is too small for the program") {}
};

bool is_refused(const ir::Program& program, const Extent& extent) {
    try {
        const ir::Interpreter interpreter(program, extent, ir::Arithmetic::declared);
        return false;
    } catch (const rt::Error&) {
        return true;
    }
}

std::string complaint_of(const RandomProgram& source, const Complaint& complaint, int steps) {
    const bool strict = source.seed % 4 == 1;  // --strict-fp
    const ir::Program program = load_program(source.text(), strict);
    const Extent extent = source.grid;
    if (is_refused(program, extent)) throw RefusedGrid();
    try {
        const Reference reference(program, extent, steps, source.seed);
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
    const auto first_complaint = [&](const RandomProgram& source) -> std::optional<std::string> {
        try {
            return complaint_of(source, complaint, steps);
        } catch (const RefusedGrid&) {
            return std::nullopt;
        }
    };
    std::uint64_t refused = 0;
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        const RandomProgram source = random_program(seed, options);
        INFO(source.describe());
        const std::optional<std::string> found = first_complaint(source);
        refused += found ? 0 : 1;
        if (!found || found->empty()) continue;
        const std::string& wrong = *found;
        const RandomProgram small = shrink(source, still_fails, 300);
        INFO("shrunk to: " << small.describe() << "\n" << complaint_of(small, complaint, steps));
        FAIL(wrong);
    }
    CHECK(refused * 50 <= seeds.count);
}

}  // namespace halo::test
