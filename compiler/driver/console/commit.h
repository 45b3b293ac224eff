// The commit that this haloc was built from: short, with "-dirty" where the tree had changes; "unknown"
// without git.
#pragma once

namespace halo::driver {

const char* commit();

}  // namespace halo::driver
