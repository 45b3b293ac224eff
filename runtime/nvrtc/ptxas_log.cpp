#include "runtime/nvrtc/ptxas_log.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace halo::rt {

namespace {

// The number right before `what`: 4096 for " bytes smem" in "used 1 barriers, 4096 bytes smem".
std::optional<std::int64_t> number_before(std::string_view line, std::string_view what) {
    const std::size_t end = line.find(what);
    if (end == std::string_view::npos) return std::nullopt;
    std::size_t begin = end;
    while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9')
        --begin;
    std::int64_t value = 0;
    const auto parsed = std::from_chars(line.data() + begin, line.data() + end, value);
    if (parsed.ec != std::errc() || parsed.ptr != line.data() + end) return std::nullopt;
    return value;
}

void read_line(std::string_view line, KernelUsage& kernel) {
    if (const auto value = number_before(line, " bytes stack frame")) kernel.stack_bytes = *value;
    if (const auto value = number_before(line, " bytes spill stores")) kernel.spill_store_bytes = *value;
    if (const auto value = number_before(line, " bytes spill loads")) kernel.spill_load_bytes = *value;
    if (const auto value = number_before(line, " registers")) kernel.registers = static_cast<int>(*value);
    if (const auto value = number_before(line, " bytes smem")) kernel.static_shared_bytes = *value;
}

}  // namespace

std::vector<KernelUsage> parse_ptxas_log(std::string_view log) {
    constexpr std::string_view kEntry = "Compiling entry function '";
    constexpr std::string_view kOther = "Function properties for ";
    std::vector<KernelUsage> kernels;
    bool inside = false;  // in the lines of the last kernel, not of a device function
    while (!log.empty()) {
        const std::string_view line = log.substr(0, log.find('\n'));
        log.remove_prefix(std::min(log.size(), line.size() + 1));
        if (const std::size_t at = line.find(kEntry); at != std::string_view::npos) {
            const std::string_view rest = line.substr(at + kEntry.size());
            KernelUsage kernel;
            kernel.name = rest.substr(0, rest.find('\''));
            kernels.push_back(kernel);
            inside = true;
        } else if (const std::size_t other = line.find(kOther); other != std::string_view::npos) {
            inside = !kernels.empty() && line.substr(other + kOther.size()).starts_with(kernels.back().name);
        } else if (inside) {
            read_line(line, kernels.back());
        }
    }
    return kernels;
}

}  // namespace halo::rt
