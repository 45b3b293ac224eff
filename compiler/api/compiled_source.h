// Programs that are compiled when they are needed. Not for users.
#pragma once

#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "compiler/adjoint/adjoint.h"
#include "compiler/driver/planning/compile.h"
#include "compiler/driver/spec/spec.h"
#include "runtime/api/bundle.h"
#include "runtime/api/program_source.h"

namespace halocline::detail {

// The program as checked, and how it is to be compiled.
struct CheckedProgram {
    halo::ir::Program program;
    halo::driver::CodeOptions options;
    std::shared_ptr<const halo::driver::CheckedSpec> spec{};  // what it is from, for conditions on it
    // As CodeOptions::cut_with has them; null: none.
    std::shared_ptr<const std::vector<halo::ir::Program>> cut_with{};
};

// What is made once for each key: who asks first makes it, and the others wait. What went wrong is tried
// again by who asks next.
template <class Value>
class MadeOnce {
public:
    template <class Make>
    Value get(const std::string& key, const Make& make) {
        std::promise<Value> mine;
        std::shared_future<Value> result;
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            const auto known = results_.find(key);
            if (known != results_.end()) result = known->second;
            if (!result.valid()) results_[key] = mine.get_future().share();
        }
        if (result.valid()) return result.get();
        try {
            Value value = make();
            mine.set_value(value);
            return value;
        } catch (...) {
            mine.set_exception(std::current_exception());
            const std::lock_guard<std::mutex> lock(mutex_);
            results_.erase(key);
            throw;
        }
    }

    void forget() {
        const std::lock_guard<std::mutex> lock(mutex_);
        results_.clear();
    }

private:
    std::mutex mutex_;
    std::map<std::string, std::shared_future<Value>> results_;  // done or on their way
};

class CompiledSource : public ProgramSource, public std::enable_shared_from_this<CompiledSource> {
public:
    explicit CompiledSource(CheckedProgram checked);

    std::vector<std::string> targets() const override;
    std::shared_ptr<const Code> code_for(const DeviceState& device, const Extent& extent) override;
    std::shared_ptr<const PiecesCode> code_for_pieces(
        const std::vector<std::shared_ptr<DeviceState>>& devices, const Extent& extent,
        std::optional<std::int64_t> interval) override;
    std::unique_ptr<HiddenInputs> hidden_inputs(SimulationState& simulation) override;

    const CheckedProgram& checked() const { return checked_; }
    // The program's adjoint, made once for each request. Throws halo::adjoint::RefusedError.
    struct Derived {
        halo::adjoint::Adjoint made;
        std::shared_ptr<CompiledSource> source;  // of made.program
        // Of all steps but the last, where that is another.
        std::optional<halo::adjoint::Adjoint> earlier;
        std::shared_ptr<CompiledSource> earlier_source;
        // All of them, and the given one with each component in arrays of its own.
        std::shared_ptr<const std::vector<halo::ir::Program>> all;
    };
    std::shared_ptr<const Derived> adjoint_of(const halo::adjoint::Request& request);
    // The given program, for pieces that are cut as those of its adjoint are.
    std::shared_ptr<CompiledSource> cut_with(const Derived& derived) const;
    // Simulations that are made later are compiled anew, by schedules that were measured meanwhile.
    void forget_codes() { codes_.forget(), pieces_.forget(); }

private:
    std::shared_ptr<const Code> compile(const DeviceState& device, const Extent& extent) const;
    std::shared_ptr<const PiecesCode> compile_pieces(const std::vector<std::shared_ptr<DeviceState>>& devices,
                                                     const Extent& extent,
                                                     std::optional<std::int64_t> interval) const;

    const CheckedProgram checked_;
    MadeOnce<std::shared_ptr<const Code>> codes_;         // by device and grid
    MadeOnce<std::shared_ptr<const PiecesCode>> pieces_;  // by devices, grid and interval
    MadeOnce<std::shared_ptr<const Derived>> adjoints_;   // by request
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
