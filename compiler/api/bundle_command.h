// haloc bundle: code that runs without the compiler.
#pragma once

#include <string>
#include <vector>

#include "compiler/driver/commands.h"

namespace halocline {

struct BundleArguments {
    std::string file;
    std::vector<std::string> include;
    std::string output;  // NAME.halobundle, or NAME.cpp
    std::string stencil;
    std::vector<std::string> schedule, archs, grids;
    bool only_grids = false;
    bool strict_fp = false;
    std::string depfile;  // empty: none
};
halo::driver::ExitCode bundle(const BundleArguments& arguments, const halo::driver::Console& console);

}  // namespace halocline
