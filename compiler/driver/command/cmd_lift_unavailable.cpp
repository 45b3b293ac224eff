// haloc lift in a build without LLVM.
#include "compiler/driver/command/commands.h"

namespace halo::driver {

ExitCode lift(const LiftOptions&, const Console&) {
    throw CommandError(ExitCode::device, "this haloc was built without LLVM, and lift reads source by it",
                       "install llvm-19-dev, libclang-19-dev and clang-19, and build again");
}

}  // namespace halo::driver
