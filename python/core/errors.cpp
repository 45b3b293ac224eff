// C++ exceptions as those of halocline._errors.
#include <nanobind/stl/string.h>

#include <exception>

#include "bindings.h"
#include "halocline/error.hpp"
#include "owned.h"

namespace halocline::python {

namespace {

void raise(const nb::object& exception) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
}

nb::list diagnostics_of(const Error& error) {
    nb::list all;
    for (const Diagnostic& each : error.diagnostics())
        all.append(nb::make_tuple(each.is_error, each.kind, each.message, each.file, each.line, each.column,
                                  each.mend));
    return all;
}

void translate(const std::exception_ptr& pointer, void* /*payload*/) {
    try {
        std::rethrow_exception(pointer);
    } catch (const Error& error) {
        raise(nb::module_::import_("halocline._errors")
                  .attr("_made")(static_cast<int>(error.code()), error.what(), diagnostics_of(error)));
    } catch (const ForkError& error) {
        raise(nb::module_::import_("halocline._errors").attr("ForkError")(error.what()));
    }
}

}  // namespace

void bind_errors(nb::module_& /*module*/) {
    nb::register_exception_translator(translate);
}

}  // namespace halocline::python
