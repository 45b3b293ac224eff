#include "cut_engines.h"

#include <memory>
#include <vector>

#include "analyzed.h"
#include "compare_engines.h"
#include "compiler/driver/planning/pieces_plan.h"
#include "compiler/lower/lower.h"
#include "emulated_device.h"
#include "load_cpp.h"
#include "random_schedule.h"
#include "runtime/cpu/cpu_device.h"

namespace halo::test {

std::string difference_in_pieces(const std::string& text, const rt::Extent& extent, const rt::Lengths& counts,
                                 int steps) {
    const ir::Program program = load_program(text);
    const Reference reference(program, extent, steps, 1);
    const driver::CutRules rules = driver::cut_rules(program, extent);
    const rt::Decomposition cut = rt::decompose(rules.grid, counts, rules.ghosts(1), {"x", "y", "z"});
    const std::unique_ptr<rt::Device> cpu = rt::make_cpu_device(1);
    emulator::EmulatedDevice emulated;
    for (rt::Device* device : {cpu.get(), static_cast<rt::Device*>(&emulated)}) {
        std::vector<rt::Session> sessions;
        std::vector<rt::Session*> pointers;
        sessions.reserve(cut.pieces.size());
        for (std::size_t i = 0; i < cut.pieces.size(); ++i) {
            const ir::Program piece = driver::program_of_piece(program, cut, i);
            const bool is_cpu = device == cpu.get();
            const lower::Lowered lowered =
                is_cpu ? lower::lower_cpu(piece) : lower::lower_cuda(piece, {schedules_by_plane(piece)});
            sessions.emplace_back(
                lowered.plan, cut.pieces[i].extent(), *device,
                is_cpu ? load_cpp_unoptimized(lowered, *device) : load_cuda(lowered, *device),
                rt::SessionOptions{.poison = true});
            pointers.push_back(&sessions.back());
        }
        rt::Pieces pieces(cut, pointers, {1, rules.carried_names()});
        const std::string wrong = difference(reference, pieces, [&] { pieces.step(reference.steps); }, 0);
        if (!wrong.empty()) return (device == cpu.get() ? "on the CPU, " : "on emulated CUDA, ") + wrong;
    }
    return "";
}

}  // namespace halo::test
