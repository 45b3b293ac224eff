// A GPU's figures. Not for other rooms.
#pragma once

#include "runtime/cuda/cuda.h"
#include "runtime/cuda/driver.h"

namespace halo::rt::cuda {

CudaDeviceInfo read_device_info(const Driver& driver, int ordinal);

}  // namespace halo::rt::cuda
