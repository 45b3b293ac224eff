// Launches that are held back until something else is asked of the device, and then started together. Those
// that have been started before, with the same arguments in the same order, are a CUDA graph, in which each
// waits for those alone that it comes after: small kernels run beside each other, and cost the host one call.
// Not for other rooms.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "runtime/cuda/module.h"
#include "runtime/cuda/streams.h"

namespace halo::rt::cuda {

class HeldLaunches {
public:
    HeldLaunches(const Driver& driver, const ContextAndStream& here) : driver_(driver), here_(here) {}

    // As Device::hold_launches() has it.
    void hold(std::vector<std::int64_t> after);
    void stop() { is_holding_ = false; }
    bool is_holding() const { return is_holding_; }
    std::int64_t count() const { return static_cast<std::int64_t>(held_.size()); }
    std::int64_t noted() const { return begun_ + count(); }
    void add(const CudaKernel& kernel, const std::array<std::int64_t, 3>& blocks, void** arguments);
    // Starts all that are held, in the stream in use.
    void start();
    void try_start() noexcept;

private:
    struct Held {
        const CudaKernel* kernel = nullptr;
        std::array<std::int64_t, 3> blocks{};
        std::vector<std::uint64_t> values;  // of arguments
        std::vector<std::int64_t> after;    // of those held
        friend bool operator==(const Held&, const Held&) = default;
    };
    static std::uint64_t hash_of(const std::vector<Held>& launches);
    void start_each(std::vector<Held>& launches) const;
    std::unique_ptr<GraphRecording> graph_of(std::vector<Held>& launches) const;

    const Driver& driver_;
    const ContextAndStream& here_;
    bool is_holding_ = false;
    std::int64_t begun_ = 0;
    std::vector<std::int64_t> after_;  // for the next one; of all that were noted
    std::vector<Held> held_;
    struct Known {
        std::vector<Held> launches;
        std::unique_ptr<GraphRecording> graph;  // from their second time on
    };
    std::map<std::uint64_t, Known> known_;
    std::uint64_t unloaded_ = 0;  // modules, when they were known
};

}  // namespace halo::rt::cuda
