// The GPU, or the fake one, that memory_cases.cpp tests; each program says which.
#pragma once

#include "runtime/cuda/cuda.h"

halo::rt::CudaDevice& device_under_test();
