// Programs that are compiled when they are needed. Not for users.
#pragma once

#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compiler/driver/compile.h"
#include "runtime/api/bundle.h"
#include "runtime/api/program_source.h"

namespace halocline::detail {

// The program as checked, and how it is to be compiled.
struct CheckedProgram {
    halo::ir::Program program;
    halo::driver::CodeOptions options;
};

class CompiledSource : public ProgramSource, public std::enable_shared_from_this<CompiledSource> {
public:
    explicit CompiledSource(CheckedProgram checked);

    std::vector<std::string> targets() const override;
    std::shared_ptr<const Code> code_for(const DeviceState& device, const Extent& extent) override;

    const CheckedProgram& checked() const { return checked_; }

private:
    using Result = std::shared_future<std::shared_ptr<const Code>>;
    std::shared_ptr<const Code> compile(const DeviceState& device, const Extent& extent) const;

    const CheckedProgram checked_;
    std::mutex mutex_;
    std::map<std::string, Result> results_;  // by device and grid, done or on their way
};

// For the architecture: code for the grid, or with schedules for large ones.
Variant cuda_variant(const CheckedProgram& checked, const std::string& arch, const Grid& grid);
// For the CPU: the C++ text that the kernels are made of, and the plan.
struct HostVariant {
    Variant variant;
    std::string text;
};
HostVariant host_variant(const CheckedProgram& checked);

// Every grid for every architecture.
std::vector<Variant> cuda_variants(const CheckedProgram& checked, const std::vector<std::string>& archs,
                                   const std::vector<Grid>& grids, bool any_grid);

}  // namespace halocline::detail
