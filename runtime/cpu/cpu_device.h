// The machine itself as a Device (runtime/host/host_device.h) that loads what compile_object (jit.h) made.
#pragma once

#include <memory>
#include <string_view>

#include "runtime/core/device.h"
#include "runtime/host/host_device.h"

namespace halo::rt {

// The functions of an object file. Throws as JitModule does.
std::unique_ptr<HostCode> load_object(std::string_view object);

// threads: 0 for as many as the machine has cores, or HALO_NUM_THREADS. Throws Error: no_device without a
// compiler (see cpu_available() in jit.h), bad_argument for a negative number of threads.
std::unique_ptr<Device> make_cpu_device(int threads = 0);

}  // namespace halo::rt
