#include "expected.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "analyzed.h"
#include "catch.h"
#include "compiler/schedule/defaults.h"

namespace halo::test {

namespace {

constexpr char kStencil[] = "stencil ";

// A few units in the last place of functions that each platform rounds in its own way; all else is exact.
double bound_of(const ir::Program& program) {
    const auto is_rounded_freely = [](const ir::Expr& expr) {
        const auto* call = std::get_if<ir::Call>(&expr.node);
        if (call == nullptr) return false;
        for (const ir::Function exact : {ir::Function::sqrt, ir::Function::abs, ir::Function::floor,
                                         ir::Function::ceil, ir::Function::round, ir::Function::trunc}) {
            if (call->function == exact) return false;
        }
        return true;
    };
    return std::any_of(program.exprs.begin(), program.exprs.end(), is_rounded_freely) ? 0x1p-18 : 0;
}

}  // namespace

std::vector<ExpectedSpec> expected_specs() {
    namespace fs = std::filesystem;
    std::vector<ExpectedSpec> specs;
    for (const fs::directory_entry& entry : fs::directory_iterator(HALO_SOURCE_DIR "/tests/lift/expected")) {
        std::ifstream in(entry.path());
        for (std::string line; std::getline(in, line);) {
            if (line.rfind(kStencil, 0) == 0) {
                const std::size_t name = sizeof kStencil - 1;
                specs.push_back(
                    {entry.path().filename().string(), line.substr(name, line.find('(') - name), ""});
            }
            if (!specs.empty()) specs.back().text += line + "\n";
        }
    }
    std::sort(specs.begin(), specs.end(), [](const ExpectedSpec& a, const ExpectedSpec& b) {
        return std::tie(a.file, a.name) < std::tie(b.file, b.name);
    });
    return specs;
}

int check_expected_specs(rt::Device& device, const Load& load, const std::vector<Extent>& grids) {
    int count = 0;
    for (const ExpectedSpec& each : expected_specs()) {
        INFO(each.file << ", " << each.name);
        const ir::Program stated = analyze_text(each.text);
        const ir::Program program = load_program(each.text, /*strict=*/true);
        for (Extent extent : grids) {
            for (int axis = program.rank(); axis < 3; ++axis)
                extent[static_cast<std::size_t>(axis)] = 1;
            std::vector<schedule::Schedule> schedules;
            for (const ir::Stage& stage : ir::form_stages(program))
                schedules.push_back(schedule::choose(program, stage, schedule::Target{}, extent).schedule);
            const Reference reference(stated, extent, 4, 1);
            INFO(extent[0] << " x " << extent[1] << " x " << extent[2]);
            CHECK(difference(reference, lower::lower_cuda(program, {schedules}), device, load,
                             bound_of(program)) == "");
        }
        ++count;
    }
    return count;
}

}  // namespace halo::test
