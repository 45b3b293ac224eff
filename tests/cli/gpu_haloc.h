// haloc on a GPU as a user types it: a program that has this is skipped where there is no GPU or no NVRTC.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "process.h"
#include "runtime/cuda/cuda.h"
#include "runtime/nvrtc/nvrtc.h"
#include "skip.h"

namespace halo::test {

inline const SkipUnless gpu(rt::cuda_status().why.empty(), rt::cuda_status().why);
inline const SkipUnless compiler(rt::Nvrtc::find() != nullptr, rt::Nvrtc::why_missing());

// Its cache is in the folder.
inline Outcome gpu_haloc(const Folder& folder, std::vector<std::string> arguments) {
    Invocation invocation;
    invocation.arguments = std::move(arguments);
    invocation.folder = folder.path();
    invocation.set = {"HALOCLINE_CACHE=" + folder.path() + "/cache"};
    return run_haloc(invocation);
}

}  // namespace halo::test
