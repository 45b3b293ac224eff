#include "runtime/cuda/held_launches.h"

#include <utility>

namespace halo::rt::cuda {

namespace {

// A graph of fewer launches takes the host as long as they do.
constexpr std::size_t kLeastInGraph = 4;
// Of launches whose arguments always differ none comes again.
constexpr std::size_t kMostKnown = 256;

}  // namespace

void HeldLaunches::hold(std::vector<std::int64_t> after) {
    after_ = std::move(after);
    is_holding_ = true;
}

void HeldLaunches::add(const CudaKernel& kernel, const std::array<std::int64_t, 3>& blocks,
                       void** arguments) {
    Held made{&kernel, blocks, {}, {}};
    for (const std::int64_t earlier : std::exchange(after_, {noted()}))
        if (earlier >= begun_) made.after.push_back(earlier - begun_);
    for (std::size_t i = 0; i < kernel.argument_count(); ++i)
        made.values.push_back(*static_cast<const std::uint64_t*>(arguments[i]));
    held_.push_back(std::move(made));
}

std::uint64_t HeldLaunches::hash_of(const std::vector<Held>& launches) {
    std::uint64_t hash = 14695981039346656037ULL;  // FNV-1a, of words
    const auto mix = [&](std::uint64_t word) { hash = (hash ^ word) * 1099511628211ULL; };
    for (const Held& each : launches) {
        mix(to_address(each.kernel));
        for (const std::int64_t blocks : each.blocks)
            mix(static_cast<std::uint64_t>(blocks));
        for (const std::uint64_t value : each.values)
            mix(value ^ value >> 32);
        for (const std::int64_t before : each.after)
            mix(static_cast<std::uint64_t>(before));
    }
    return hash;
}

void HeldLaunches::start() {
    if (held_.empty()) return;
    begun_ = noted();
    std::vector<Held> launches = std::exchange(held_, {});
    if (launches.size() < kLeastInGraph) return start_each(launches);
    const std::uint64_t unloaded = modules_unloaded;
    if (known_.size() >= kMostKnown || std::exchange(unloaded_, unloaded) != unloaded) known_.clear();
    Known& known = known_[hash_of(launches)];
    if (known.launches != launches) {
        // The driver may load parts of kernels when they are started for the first time.
        start_each(launches);
        known = {std::move(launches), nullptr};
        return;
    }
    if (known.graph == nullptr) known.graph = graph_of(known.launches);
    driver_.check(driver_.GraphLaunch(known.graph->ready(), here_.stream), "starting kernels");
}

void HeldLaunches::try_start() noexcept {
    try {
        start();
    } catch (const Error&) {
        // The next call says it.
    }
}

void HeldLaunches::start_each(std::vector<Held>& launches) const {
    for (Held& each : launches) {
        std::vector<void*> arguments;
        for (std::uint64_t& value : each.values)
            arguments.push_back(&value);
        each.kernel->launch(each.blocks, here_.stream, arguments.data());
    }
}

std::unique_ptr<GraphRecording> HeldLaunches::graph_of(std::vector<Held>& launches) const {
    const char* const doing = "preparing kernels that are started together";
    const BesideRecordings beside(driver_);
    Graph graph = nullptr;
    driver_.check(driver_.GraphCreate(&graph, 0), doing);
    std::vector<GraphNode> nodes;
    int result = kSuccess;
    for (Held& each : launches) {
        std::vector<void*> arguments;
        for (std::uint64_t& value : each.values)
            arguments.push_back(&value);
        std::vector<GraphNode> before;
        for (const std::int64_t earlier : each.after)
            before.push_back(nodes[static_cast<std::size_t>(earlier)]);
        const KernelNode made = each.kernel->node(each.blocks, arguments.data());
        GraphNode node = nullptr;
        result = driver_.GraphAddKernelNode(&node, graph, before.data(), before.size(), &made);
        if (result != kSuccess) break;
        nodes.push_back(node);
    }
    if (result != kSuccess) driver_.GraphDestroy(graph);
    driver_.check(result, doing);
    return made_ready(driver_, here_.context, graph, doing);
}

}  // namespace halo::rt::cuda
