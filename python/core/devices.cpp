#include "devices.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "bindings.h"

namespace halocline::python {

namespace {

// An address, as Python passes a stream.
void* handle_of(std::uintptr_t stream) {
    return reinterpret_cast<void*>(stream);
}

// Holds an object of Python from any thread's last use of it; at the interpreter's end it is left behind.
std::shared_ptr<void> held(const nb::object& object) {
    return {object.inc_ref().ptr(), [](void* pointer) {
                if (!Py_IsInitialized()) return;
                const nb::gil_scoped_acquire gil;
                Py_DECREF(static_cast<PyObject*>(pointer));
            }};
}

// The object of another library that has the stream destroys it when it goes, so it is held.
OwnedDevice open_cuda(int ordinal, std::optional<std::uintptr_t> stream, const nb::object& owner) {
    CudaHandles handles;
    handles.ordinal = ordinal;
    if (stream) handles.stream = handle_of(*stream);
    if (!owner.is_none()) handles.owner = held(owner);
    return without_gil([&] { return OwnedDevice(std::in_place, Device::cuda(handles)); });
}

OwnedDevice open_cpu(int threads) {
    return without_gil([&] { return OwnedDevice(std::in_place, Device::cpu(threads)); });
}

}  // namespace

int ordinal_of(const Device& device) {
    const std::string& kind = device.kind();
    const std::size_t colon = kind.find(':');
    return colon == std::string::npos ? 0 : std::stoi(kind.substr(colon + 1));
}

void bind_devices(nb::module_& module) {
    nb::class_<DeviceInfo>(module, "DeviceInfo", "A device that there is.")
        .def_ro("kind", &DeviceInfo::kind, "'cuda:0', 'cpu': what `device=` takes.")
        .def_ro("description", &DeviceInfo::description, "One line for people.")
        .def_ro("arch", &DeviceInfo::arch, "'sm_90'; 'cpu'.")
        .def_ro("memory", &DeviceInfo::memory, "Bytes of a GPU's memory; 0 for the CPU.")
        .def("__repr__",
             [](const DeviceInfo& self) { return "<" + self.kind + ": " + self.description + ">"; });
    module.def("find_devices", [] {
        const Devices found = without_gil([] { return find_devices(); });
        return nb::make_tuple(nb::cast(found.all), found.why_no_gpu);
    });

    nb::class_<OwnedDevice>(module, "Device")
        .def_static("cuda", &open_cuda, nb::arg("ordinal"), nb::arg("stream").none(), nb::arg("owner").none())
        .def_static("cpu", &open_cpu, nb::arg("threads"))
        .def_prop_ro("kind", [](const OwnedDevice& self) { return self.get().kind(); })
        .def_prop_ro("description", [](const OwnedDevice& self) { return self.get().description(); })
        .def_prop_ro("arch", [](const OwnedDevice& self) { return self.get().arch(); })
        .def_prop_ro(
            "stream",
            [](const OwnedDevice& self) { return reinterpret_cast<std::uintptr_t>(self.get().stream()); })
        .def("wait", [](const OwnedDevice& self) { without_gil([&] { self.get().wait(); }); })
        .def("wait_for_stream",
             [](const OwnedDevice& self, std::uintptr_t stream) {
                 without_gil([&] { self.get().wait_for_stream(handle_of(stream)); });
             })
        .def("make_stream_wait", [](const OwnedDevice& self, std::uintptr_t stream) {
            without_gil([&] { self.get().make_stream_wait(handle_of(stream)); });
        });
}

}  // namespace halocline::python
