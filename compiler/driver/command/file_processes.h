// Many texts made by processes of their own, side by side.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace halo::driver {

struct ProcessText {
    std::string text;     // what the work gave
    std::string trouble;  // how the process ended without that; empty: it did not
};

// Calls work(i) for each i below `count`, each in a process of its own, as many at once as there are cores;
// and done(i, …) in this process, in the order of i. Ctrl-C ends all: those that have been done are told
// before, and false is given. An InterruptGuard must be alive. Throws rt::Error where no process can be made.
bool in_processes(std::size_t count, const std::function<std::string(std::size_t)>& work,
                  const std::function<void(std::size_t, const ProcessText&)>& done);

}  // namespace halo::driver
