// Reductions over the time, in one picture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/running/engine.h"
#include "compiler/driver/running/request.h"
#include "runtime/io/image.h"

namespace halo::driver {

// The values after the steps that the run block names, and after the last one. Where it names none, nobody
// knows how many steps there will be: then each step is taken until they are many, of those every second is
// kept, and so on.
class ReductionCurve {
public:
    explicit ReductionCurve(const Output& output);

    std::optional<std::int64_t> steps_to_next(std::int64_t done) const { return due_.steps_to_next(done); }
    // Collective. Takes what is due after step `done`, or with `last` in any case.
    void take(Engine& engine, std::int64_t done, bool last);

    // Takes the values of the reductions after step `done`.
    void add(std::int64_t done, const std::vector<double>& values);

    bool is_empty() const { return steps_.empty(); }
    std::string names() const;
    rt::Curve picture(const RunRequest& request) const;

private:
    static constexpr std::size_t kMost = 1024;  // points, where they are chosen here: about one a pixel
    void thin_out();

    const Output& output_;
    sema::Frames due_;
    std::vector<std::int64_t> steps_;
    std::vector<std::string> fields_;           // reductions
    std::vector<std::vector<double>> columns_;  // of each, by step
};

}  // namespace halo::driver
