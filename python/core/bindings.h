// The module halocline._core: the C++ interface (include/halocline) as the Python package needs it. What
// users see, and what checks their arguments, is written in Python (python/halocline).
//
// The GIL is released around everything that may compile, wait for a device or for its turn. Nothing here
// asks for the GIL while it holds a lock, so threads cannot deadlock.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

namespace halocline::python {

namespace nb = nanobind;

// Calls work() without the GIL.
template <class Work>
auto without_gil(Work&& work) {
    const nb::gil_scoped_release released;
    return std::forward<Work>(work)();
}

void bind_errors(nb::module_& module);
void bind_devices(nb::module_& module);
void bind_programs(nb::module_& module);
void bind_simulations(nb::module_& module);
void bind_arrays(nb::module_& module);
void bind_files(nb::module_& module);
void bind_gradients(nb::module_& module);
void bind_jax_calls(nb::module_& module);

}  // namespace halocline::python
