// The commit that this haloc was built of: short, "-dirty" behind it where the tree had changes; "unknown"
// where nobody could say.
#pragma once

namespace halo::bench {

const char* commit();

}  // namespace halo::bench
