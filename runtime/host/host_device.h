// The machine itself as a Device (runtime/core/device.h). Every call returns when its work is done.
//
// A kernel is a function of this process,
//
//     extern "C" void NAME(void* const* arguments, long begin, long end, long planes, bool streams)
//
// where arguments[i] points at the value of argument i, as for a GPU, and [begin, end) are blocks out of
// blocks[0] * blocks[1] * blocks[2]. The plan's tile covers the whole grid along all axes but the slowest, or
// but the two slowest, so that blocks are planes or rows, one plane's after the other's; each thread takes
// one contiguous range of them. Of a kernel whose blocks are the rows of planes (counts_rows_of_planes()) a
// call does rows of one plane, and the same rows of so many `planes` from that one on; of others planes is 1.
// `streams`: what is stored goes past the caches where it can.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/core/device.h"

namespace halo::rt {

// Functions of this process, by name, and what they need to stay.
class HostCode {
public:
    virtual ~HostCode() = default;
    virtual void* find(const std::string& name) = 0;  // null where there is none
    // Sets a variable of the code; false where it has none of that name.
    virtual bool set_constant(const std::string& /*symbol*/, const void* /*data*/, std::int64_t /*bytes*/) {
        return false;
    }
};

std::unique_ptr<Module> make_host_module(std::unique_ptr<HostCode> code);

// What Device::load does; throws Error.
using HostLoader = std::function<std::unique_ptr<HostCode>(std::string_view code, const std::string& name)>;

// threads: 0 for as many as the machine has cores, or HALO_NUM_THREADS. Without a loader, load() throws
// Error (no_device), and modules come from make_host_module() alone. Throws Error: bad_argument for a
// negative number of threads, or one above kMaxThreads (processors.h); where the system starts fewer threads,
// those do the work.
std::unique_ptr<Device> make_host_device(int threads = 0, HostLoader loader = {});

}  // namespace halo::rt
