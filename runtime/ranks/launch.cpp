#include "runtime/ranks/launch.h"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace halo::rt {

namespace {

std::optional<int> number(const char* variable) {
    const char* value = std::getenv(variable);
    if (value == nullptr) return std::nullopt;
    const std::string_view text = value;
    int result = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
    if (error != std::errc() || end != text.data() + text.size() || result < 0) return std::nullopt;
    return result;
}

struct Words {
    const char* by;
    const char* count;
    const char* rank;
};

// mpirun inside of a Slurm job comes first. A batch script has SLURM_NTASKS and SLURM_PROCID, too, and is one
// process: what srun starts is told by the count of its step.
constexpr Words kLaunchers[] = {
    {"mpirun", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    {"mpiexec", "PMI_SIZE", "PMI_RANK"},
    {"srun", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
};

}  // namespace

Launch find_launch() {
    for (const Words& words : kLaunchers) {
        const std::optional<int> count = number(words.count), rank = number(words.rank);
        if (!count || !rank || *rank >= *count) continue;
        return {*count, *rank, words.by};
    }
    return {};
}

}  // namespace halo::rt
