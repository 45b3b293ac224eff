// Lab: the machine that is measured on, a GPU or this processor: loads lowered programs, times what runs
// there, and knows the limits that results are compared with.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/bench/results.h"
#include "compiler/bench/variants.h"
#include "compiler/ir/program.h"
#include "compiler/lower/lower.h"
#include "runtime/core/device.h"

namespace halo::bench {

class Lab {
public:
    virtual ~Lab() = default;
    virtual bool is_gpu() const = 0;
    virtual rt::Device& device() = 0;
    virtual MachineFacts facts() = 0;  // without limits and clocks
    // The ways to run the program on this grid that are to be measured. asked: schedules of --schedule.
    virtual Variants variants(const ir::Program& program, const Extent& extent,
                              const std::vector<std::string>& asked) = 0;
    // By the variant's schedules; where these cannot run on this grid (another than they were made for), by
    // others of the same strategies.
    virtual lower::Lowered lower(const ir::Program& program, const Variant& variant,
                                 const Extent& extent) = 0;
    virtual std::vector<std::unique_ptr<rt::Module>> load(const lower::Lowered& lowered) = 0;
    // Text to machine code, without caches.
    virtual double compile_seconds(const lower::Lowered& lowered) = 0;
    // How long the device executes what `work` submits; returns when it is done.
    virtual double seconds(const std::function<void()>& work) = 0;
    // Fills in the copies, in bytes a second, and what the arithmetic reaches, in flops a second.
    virtual void measure_limits(MachineFacts& facts) = 0;
    virtual double core_clock_ghz() = 0;  // as it runs now; 0: cannot be measured here
};

std::unique_ptr<Lab> make_cuda_lab(int ordinal);  // throws rt::Error: no_device
std::unique_ptr<Lab> make_cpu_lab();              // throws rt::Error: no_device

// device: auto, cuda, cuda:N, cpu. `missing`: why it is not a GPU, for auto; empty where it is. Throws
// CommandError (usage) for another word, rt::Error (no_device) where there is none of that kind.
std::unique_ptr<Lab> open_lab(const std::string& device, std::string& missing);

double median(std::vector<double> values);

}  // namespace halo::bench
