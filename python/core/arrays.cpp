// Arrays that a simulation shows to others: by the buffer protocol and __array_interface__ on the CPU, by
// __cuda_array_interface__ (version 3) on a GPU, and by DLPack on both. No copy is made.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "devices.h"
#include "dlpack.h"
#include "simulations.h"

namespace halocline::python {

namespace {

// How an element is called elsewhere. A bfloat16 has no name but DLPack's.
struct TypeNames {
    const char* buffer;     // of struct and the buffer protocol
    const char* interface;  // of __array_interface__
    DLDataType dlpack;
};
TypeNames names_of(Type type) {
    switch (type) {
        case Type::f32:
            return {"f", "<f4", {kDLFloat, 32, 1}};
        case Type::f64:
            return {"d", "<f8", {kDLFloat, 64, 1}};
        case Type::f16:
            return {"e", "<f2", {kDLFloat, 16, 1}};
        case Type::bf16:
            return {nullptr, nullptr, {kDLBfloat, 16, 1}};
        case Type::u8:
            return {"B", "|u1", {kDLUInt, 8, 1}};
        case Type::i32:
            return {"i", "<i4", {kDLInt, 32, 1}};
        case Type::i64:
            return {"q", "<i8", {kDLInt, 64, 1}};
        case Type::boolean:
            break;
    }
    return {"?", "|b1", {kDLBool, 8, 1}};
}

// The cells of one level of a field. Shapes and strides have the slowest axis first.
struct Cells {
    Cells(const OwnedSimulation& from, const std::string& field, int wanted, bool read_only_asked)
        : device(from.get().devices().front()),
          names(names_of(from.get().field_info(field).type)),
          level(wanted) {
        HeldSimulation& held = from.get();
        Taken taken = without_gil([&] { return held.take(field, level); });
        lease = std::move(taken.lease);
        size = size_of(taken.info.type);
        read_only = read_only_asked || taken.info.role == Role::output;
        const Grid& grid = lease->field.grid();
        shape.assign(grid.rbegin(), grid.rend());
        const std::int64_t by_axis[] = {1, taken.view.pitch, taken.view.slice, taken.view.volume};
        for (std::size_t axis = grid.size(); axis-- > 0;) {
            strides.push_back(by_axis[axis]);
            byte_strides.push_back(by_axis[axis] * size);
        }
        data = static_cast<char*>(taken.view.memory) + taken.view.first_cell * size;
    }
    bool is_on_gpu() const { return device.kind() != "cpu"; }
    DLDevice dlpack_device() const {
        return is_on_gpu() ? DLDevice{kDLCUDA, ordinal_of(device)} : DLDevice{kDLCPU, 0};
    }
    std::int64_t count() const {
        std::int64_t cells = 1;
        for (const std::int64_t extent : shape)
            cells *= extent;
        return cells;
    }

    Device device;
    TypeNames names;
    std::shared_ptr<const Lease> lease;
    int level = 0;
    std::int64_t size = 1;
    bool read_only = false;
    std::vector<std::int64_t> shape, strides, byte_strides;
    void* data = nullptr;
};

// Consumers may outlive the Python object, so they share what it has.
using Array = Owned<std::shared_ptr<const Cells>>;

const Cells& cells_of(const Array& array) {
    return *array.get();
}

// ---- the buffer protocol

static_assert(sizeof(Py_ssize_t) == sizeof(std::int64_t));

int get_buffer(PyObject* self, Py_buffer* buffer, int flags) {
    buffer->obj = nullptr;
    try {
        const nb::handle object(self);  // by name: GCC 13 warns of a temporary
        const Cells& cells = cells_of(nb::cast<const Array&>(object));
        const char* refusal = nullptr;
        if (cells.is_on_gpu())
            refusal =
                "this array is in a GPU's memory: take it by DLPack or __cuda_array_interface__, or copy "
                "it to the host by .numpy()";
        else if (cells.names.buffer == nullptr)
            refusal = "buffers have no bfloat16; read the field as float32 by .read(name, 'float32')";
        else if (cells.read_only && (flags & PyBUF_WRITABLE) == PyBUF_WRITABLE)
            refusal = "this array is read-only";
        else if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES)
            refusal =
                "rows of this array lie apart, and a consumer that knows no strides asks for it; copy it "
                "by .numpy()";
        if (refusal != nullptr) {
            PyErr_SetString(PyExc_BufferError, refusal);
            return -1;
        }
        buffer->obj = self;
        Py_INCREF(self);
        buffer->buf = cells.data;
        buffer->itemsize = cells.size;
        buffer->len = cells.count() * cells.size;
        buffer->readonly = cells.read_only ? 1 : 0;
        buffer->ndim = static_cast<int>(cells.shape.size());
        buffer->format =
            (flags & PyBUF_FORMAT) == PyBUF_FORMAT ? const_cast<char*>(cells.names.buffer) : nullptr;
        buffer->shape = reinterpret_cast<Py_ssize_t*>(const_cast<std::int64_t*>(cells.shape.data()));
        buffer->strides = reinterpret_cast<Py_ssize_t*>(const_cast<std::int64_t*>(cells.byte_strides.data()));
        buffer->suboffsets = nullptr;
        buffer->internal = nullptr;
        return 0;
    } catch (const std::exception& error) {
        PyErr_SetString(PyExc_BufferError, error.what());
        return -1;
    }
}

PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(&get_buffer)}, {0, nullptr}};

// ---- interfaces by a dictionary

nb::dict interface_of(const Cells& cells, int version) {
    nb::dict interface;
    interface["version"] = version;
    interface["typestr"] = cells.names.interface;
    interface["shape"] = nb::tuple(nb::cast(cells.shape));
    interface["strides"] = nb::tuple(nb::cast(cells.byte_strides));
    interface["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(cells.data), cells.read_only);
    return interface;
}

[[noreturn]] void raise_attribute_error(const char* why) {
    PyErr_SetString(PyExc_AttributeError, why);
    throw nb::python_error();
}

// Properties that are absent where they cannot be, as consumers find out by asking for them.
nb::dict array_interface(const Array& array) {
    const Cells& cells = cells_of(array);
    if (cells.is_on_gpu()) raise_attribute_error("this array is in a GPU's memory");
    if (cells.names.interface == nullptr) raise_attribute_error("__array_interface__ has no bfloat16");
    return interface_of(cells, 3);
}

nb::dict cuda_array_interface(const Array& array) {
    const Cells& cells = cells_of(array);
    if (!cells.is_on_gpu()) raise_attribute_error("this array is in the host's memory");
    if (cells.names.interface == nullptr) raise_attribute_error("__cuda_array_interface__ has no bfloat16");
    nb::dict interface = interface_of(cells, 3);
    // Version 3 has 1 for the legacy default stream, and forbids 0. A consumer waits for this stream.
    const auto stream = reinterpret_cast<std::uintptr_t>(cells.device.stream());
    interface["stream"] = stream == 0 ? std::uintptr_t{1} : stream;
    return interface;
}

// ---- DLPack

// What a consumer holds: the tensor, and what its lists and its memory are in.
template <class Managed>
struct Exported {
    explicit Exported(std::shared_ptr<const Cells> of) : cells(std::in_place, std::move(of)) {}
    Managed managed{};
    Array cells;
};

void fill(DLTensor& tensor, const Cells& cells) {
    tensor.data = cells.data;
    tensor.device = cells.dlpack_device();
    tensor.ndim = static_cast<std::int32_t>(cells.shape.size());
    tensor.dtype = cells.names.dlpack;
    tensor.shape = const_cast<std::int64_t*>(cells.shape.data());
    tensor.strides = const_cast<std::int64_t*>(cells.strides.data());
    tensor.byte_offset = 0;
}

template <class Managed>
void release(Managed* managed) {
    delete static_cast<Exported<Managed>*>(managed->manager_ctx);
}

// A consumer renames the capsule that it takes over; one that nobody took releases the tensor itself.
template <class Managed>
nb::object capsule_of(std::shared_ptr<const Cells> cells, const char* name, PyCapsule_Destructor destructor) {
    const Cells& of = *cells;
    auto exported = std::make_unique<Exported<Managed>>(std::move(cells));
    Managed& managed = exported->managed;
    managed.manager_ctx = exported.get();
    managed.deleter = release<Managed>;
    fill(managed.dl_tensor, of);
    if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
        managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
        managed.flags = of.read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
    }
    PyObject* const capsule = PyCapsule_New(&managed, name, destructor);
    if (capsule == nullptr) throw nb::python_error();
    (void)exported.release();
    return nb::steal(capsule);
}

constexpr const char* kVersioned = "dltensor_versioned";
constexpr const char* kPlain = "dltensor";

template <class Managed>
void drop(PyObject* capsule, const char* name) {
    if (PyCapsule_IsValid(capsule, name) == 0) return;  // taken over
    auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
    managed->deleter(managed);
}

nb::object dlpack_capsule(const Array& array, bool versioned) {
    const std::shared_ptr<const Cells>& cells = array.get();
    if (versioned)
        return capsule_of<DLManagedTensorVersioned>(
            cells, kVersioned, [](PyObject* self) { drop<DLManagedTensorVersioned>(self, kVersioned); });
    return capsule_of<DLManagedTensor>(cells, kPlain,
                                       [](PyObject* self) { drop<DLManagedTensor>(self, kPlain); });
}

}  // namespace

void bind_arrays(nb::module_& module) {
    nb::class_<Array>(module, "Array", nb::type_slots(slots))
        .def("__init__",
             [](Array* self, const OwnedSimulation& simulation, const std::string& field, int level,
                bool read_only) {
                 new (self)
                     Array(std::in_place, std::make_shared<const Cells>(simulation, field, level, read_only));
             })
        .def_prop_ro(
            "shape", [](const Array& self) { return nb::tuple(nb::cast(cells_of(self).shape)); },
            "Cells along each axis, the slowest axis first: (z, y, x).")
        .def_prop_ro(
            "strides", [](const Array& self) { return nb::tuple(nb::cast(cells_of(self).byte_strides)); },
            "Bytes from a cell to the next one along each axis, likewise.")
        .def_prop_ro("ndim", [](const Array& self) { return cells_of(self).shape.size(); })
        .def_prop_ro(
            "size", [](const Array& self) { return cells_of(self).count(); }, "Cells.")
        .def_prop_ro("itemsize", [](const Array& self) { return cells_of(self).size; })
        .def_prop_ro("nbytes", [](const Array& self) { return cells_of(self).count() * cells_of(self).size; })
        .def_prop_ro("typestr",
                     [](const Array& self) {
                         const char* const name = cells_of(self).names.interface;
                         return std::string(name == nullptr ? "bfloat16" : name);
                     })
        .def_prop_ro(
            "device", [](const Array& self) { return cells_of(self).device.kind(); }, "'cpu', 'cuda:0'.")
        .def_prop_ro("readonly", [](const Array& self) { return cells_of(self).read_only; })
        .def_prop_ro("__array_interface__", &array_interface)
        .def_prop_ro("__cuda_array_interface__", &cuda_array_interface)
        .def("_order_stream",
             [](const Array& self, std::uintptr_t stream) {
                 const Device& device = cells_of(self).device;
                 without_gil([&] { device.make_stream_wait(reinterpret_cast<void*>(stream)); });
             })
        .def("_copy_to_host",
             [](const Array& self, std::uintptr_t address, std::int64_t bytes) {
                 const Cells& cells = cells_of(self);
                 without_gil([&] {
                     cells.lease->field.read_elements(reinterpret_cast<void*>(address), bytes, cells.level);
                 });
             })
        .def("_capsule", &dlpack_capsule)
        .def("__dlpack_device__", [](const Array& self) {
            const DLDevice device = cells_of(self).dlpack_device();
            return nb::make_tuple(static_cast<int>(device.device_type), device.device_id);
        });
}

}  // namespace halocline::python
