// Which programs a pipeline can compute four cells of a row at a time, in words of bytes
// (lower/packed/packed.h).
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/analysis.h"
#include "compiler/ir/program.h"
#include "compiler/lower/packed/packed.h"

namespace halo::schedule {

inline bool is_of_bytes(const ir::Field& field) {
    return field.storage == ir::Storage::u8 || field.storage == ir::Storage::boolean;
}

// What each stage takes, in order; empty where one of them is not arithmetic of words, or the program has
// other axes than two.
std::optional<std::vector<lower::PackedWork>> packed_stages(const ir::Program& program,
                                                            const std::vector<ir::Stage>& stages);

}  // namespace halo::schedule
