// The arithmetic of a kernel's stage in words of bytes (lower/packed/packed.h).
#pragma once

#include <optional>

#include "compiler/lower/packed/packed.h"
#include "compiler/lower/shared/context.h"

namespace halo::lower {

// Appends the statements to `body`, in a scope of their own; empty where the stage cannot be computed so.
std::optional<PackedValues> lower_packed(Context& context, const PackedSources& sources, kernel::Block& body);

// Whether that gives something.
bool can_pack(const Context& context);

}  // namespace halo::lower
