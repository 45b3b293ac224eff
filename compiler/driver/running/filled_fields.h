// Fields of the whole grid as they are filled, before the first step: which remarks on stability depend on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "compiler/analysis/evaluate.h"
#include "compiler/driver/running/engine.h"
#include "compiler/driver/running/stability.h"
#include "runtime/ranks/ranks.h"

namespace halo::driver {

// Each is fetched once; very large ones are left alone. The references must outlive it.
class FilledFields {
public:
    FilledFields(Engine& engine, const ir::Program& program, const Extent& extent, rt::Ranks& ranks)
        : engine_(engine), program_(program), extent_(extent), ranks_(ranks) {}

    // What is wanted is known to the first rank alone: it asks, and calls end() when it has done; the others
    // give what they have of it, until then.
    void follow();
    void end() { ranks_.broadcast({}); }

    std::optional<double> value(ir::FieldId field, const analysis::Cell& cell);
    std::optional<InputRange> range(ir::FieldId field);

private:
    analysis::Cell cell(std::int64_t i) const;
    const FieldValues* fetch(ir::FieldId field);

    Engine& engine_;
    const ir::Program& program_;
    Extent extent_;
    rt::Ranks& ranks_;
    std::map<ir::FieldId, FieldValues> fetched_;
};

}  // namespace halo::driver
