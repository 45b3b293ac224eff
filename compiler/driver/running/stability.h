// How stable a stencil's scheme is with the values of a run: the questions put to compiler/analysis, and its
// answers in words.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/analysis/stability.h"
#include "compiler/driver/running/request.h"
#include "compiler/driver/spec/spec.h"

namespace halo::driver {

// The cells in which an input is smallest and largest, with its values there; nullopt where they are not
// known.
struct InputRange {
    analysis::Cell low_cell{}, high_cell{};
    double low = 0, high = 0;
};
using InputRanges = std::function<std::optional<InputRange>(ir::FieldId)>;
using InputValue = std::function<std::optional<double>(ir::FieldId, const analysis::Cell&)>;

struct Stability {
    std::string stencil;
    std::optional<std::string> param;  // that is searched; none where the stencil has no such param
    double value = 0;                  // of it, in the run
    std::variant<analysis::StabilityAnswer, analysis::Refusal> result;
    std::string wave;                // the one that breaks first
    std::vector<std::string> taken;  // what the answer rests on: "lambda = 1", "v from 1.5 to 4"
    bool leaves_out_regions = false;

    const analysis::StabilityAnswer* answer() const {
        return std::get_if<analysis::StabilityAnswer>(&result);
    }
    bool is_exceeded() const;  // a bound is known, and the run's value is above it
};

// As the file's run block has it, or with the defaults where there is none; inputs by their init lines,
// sampled.
Stability stability_of_spec(const CheckedSpec& spec, const sema::AnalyzedStencil& stencil,
                            const std::string& param);

// The same of `dt`, for what is checked without being asked for; nullopt where it has no value yet, and a
// Refusal where it is not known after little work.
std::optional<Stability> quick_stability_of_spec(const CheckedSpec& spec,
                                                 const sema::AnalyzedStencil& stencil);

// As a run is about to start. `ranges` and `value` look into the fields as they are filled.
Stability stability_of_run(const RunRequest& request, const ir::Program& program, const InputRanges& ranges,
                           const InputValue& value);

// A few lines, without an end of line: "heat3d: stable for dt up to 0.166666 (dt = 0.16)", what breaks, what
// is taken.
std::string stability_text(const Stability& stability, const SourceFile& source);

// What a run is warned of; empty where there is nothing to say.
std::string stability_warning(const Stability& stability);

// The bound with six digits, never rounded up.
std::string format_bound(double bound);

}  // namespace halo::driver
