#include "bindings.h"

NB_MODULE(_core, module) {
    using namespace halocline::python;
    module.doc() =
        "The compiled part of halocline. Its interface is the package's own; users import halocline.";
    // Who holds programs until the process ends, as torch does its operators, leaks nothing.
    nb::set_leak_warnings(false);
    bind_errors(module);
    bind_devices(module);
    bind_programs(module);
    bind_simulations(module);
    bind_arrays(module);
    bind_files(module);
    bind_gradients(module);
    bind_jax_calls(module);
}
