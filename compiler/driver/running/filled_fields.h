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

// Each is fetched once; very large ones are not fetched. The references must outlive it.
class FilledFields {
public:
    FilledFields(Engine& engine, const ir::Program& program, const Extent& extent, rt::Ranks& ranks)
        : engine_(engine), program_(program), extent_(extent), ranks_(ranks) {}

    // Only the first rank knows which values are needed: it requests them, and calls end() when it is done;
    // until then the others send what they have.
    void follow();
    void end() { ranks_.broadcast({}); }

    std::optional<double> value(ir::FieldId field, const analysis::Cell& cell);
    std::optional<InputRange> range(ir::FieldId field);

private:
    analysis::Cell cell(ir::FieldId field, std::int64_t i) const;
    const FieldValues* fetch(ir::FieldId field);

    Engine& engine_;
    const ir::Program& program_;
    Extent extent_;
    rt::Ranks& ranks_;
    std::map<ir::FieldId, FieldValues> fetched_;
};

}  // namespace halo::driver
