// Programs as XLA calls them, for halocline.jax: without Python, and without the GIL. On the CPU arrays are
// in the host's memory; on a GPU they stay in its memory, and all is done in XLA's stream.
//
// A call names its program by a key, which is the same in every process that has the same program: what XLA
// has compiled may be kept on the disk.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "devices.h"
#include "programs.h"
#include "xla_ffi.h"

namespace halocline::python {

namespace {

using Levels = std::vector<std::pair<std::string, int>>;  // fields, each with a level

struct Call {
    Program program;
    OwnedDevice cpu;  // where XLA runs on the CPU
    std::string gpu;  // "cuda:0": where arrays of a GPU have to be; empty: anywhere
    Levels inputs, outputs;
    std::vector<std::string> params;
};

class Calls {
public:
    void add(const std::string& key, std::shared_ptr<const Call> call) {
        const std::lock_guard<std::mutex> lock(mutex_);
        calls_[key] = std::move(call);
    }
    std::shared_ptr<const Call> find(const std::string& key) const {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto found = calls_.find(key);
        if (found == calls_.end())
            throw Error(ErrorCode::bad_argument, "this process has no program '" + key +
                                                     "'; make it by halocline.jax.call() before it is run");
        return found->second;
    }

private:
    mutable std::mutex mutex_;
    std::map<std::string, std::shared_ptr<const Call>> calls_;
};

// Stays as long as the process: what XLA has compiled calls it at any time.
Calls& all_calls() {
    static Calls* const calls = new Calls;
    return *calls;
}

[[noreturn]] void refuse_call(const std::string& why) {
    throw Error(ErrorCode::bad_argument, "halocline.jax: " + why);
}

const void* attribute(const xla::CallFrame& frame, const std::string& name, xla::AttributeKind kind) {
    for (std::int64_t i = 0; i < frame.attributes.size; ++i) {
        const xla::Text& own = *frame.attributes.names[i];
        if (std::string(own.begin, own.size) == name && frame.attributes.kinds[i] == static_cast<int>(kind))
            return frame.attributes.values[i];
    }
    refuse_call("a call without '" + name + "'");
}

std::int64_t steps_of(const xla::CallFrame& frame) {
    const auto& steps =
        *static_cast<const xla::Scalar*>(attribute(frame, "steps", xla::AttributeKind::scalar));
    if (steps.type != static_cast<int>(xla::DataType::s64)) refuse_call("steps are no 64-bit number");
    std::int64_t count = 0;
    std::memcpy(&count, steps.value, sizeof count);
    return count;
}

std::int64_t bytes_of(const FieldInfo& field, const xla::Buffer& buffer) {
    std::int64_t bytes = size_of(field.type);
    for (std::int64_t axis = 0; axis < buffer.rank; ++axis)
        bytes *= buffer.dims[axis];
    return bytes;
}

const FieldInfo& field_of(const Call& call, const std::string& name) {
    for (const FieldInfo& info : call.program.info().fields)
        if (info.name == name) return info;
    refuse_call("a program without the field '" + name + "'");
}

// XLA's devices: how arrays are copied, and how numbers are looked at.
class OnCpu {
public:
    OnCpu(const xla::CallFrame& /*frame*/, const Call& call) : device_(call.cpu.get()) {}
    const Device& device() const { return device_; }
    // Fields check that there are as many bytes as the grid has cells.
    void write(Simulation& simulation, const FieldInfo& field, int level, const xla::Buffer& from) const {
        simulation.write_elements(field.name, from.data, bytes_of(field, from), level);
    }
    void read(Simulation& simulation, const FieldInfo& field, int level, const xla::Buffer& to) const {
        simulation.read_elements(field.name, to.data, bytes_of(field, to), level);
    }
    double number(const xla::Buffer& buffer, Type type) const {
        if (type == Type::f32) return *static_cast<const float*>(buffer.data);
        return *static_cast<const double*>(buffer.data);
    }

private:
    Device device_;
};

// Devices that work in XLA's streams, which stay as long as XLA does.
class StreamDevices {
public:
    Device find(void* stream) {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto found = devices_.find(stream);
        if (found != devices_.end()) return found->second;
        CudaHandles handles;
        handles.ordinal = CudaHandles::kOfStream;
        handles.stream = stream;
        return devices_.emplace(stream, Device::cuda(handles)).first->second;
    }

private:
    std::mutex mutex_;
    std::map<void*, Device> devices_;
};

StreamDevices& all_stream_devices() {
    static StreamDevices* const devices = new StreamDevices;
    return *devices;
}

class OnGpu {
public:
    OnGpu(const xla::CallFrame& frame, const Call& call) : device_(device_of(frame)) {
        if (!call.gpu.empty() && call.gpu != device_.kind())
            refuse_call("the arrays are on " + device_.kind() + ", and the call is for " + call.gpu +
                        "; leave device= out, and steps are done where the arrays are");
    }
    const Device& device() const { return device_; }
    void write(Simulation& simulation, const FieldInfo& field, int level, const xla::Buffer& from) const {
        simulation.write_view(field.name, dense(field, from), level);
    }
    void read(Simulation& simulation, const FieldInfo& field, int level, const xla::Buffer& to) const {
        simulation.read_view(field.name, dense(field, to), level);
    }
    // Waits for what computes it.
    double number(const xla::Buffer& buffer, Type type) const {
        const View cell{buffer.data, size_of(type), 0, 1, 1};
        const Field field = Field::of_views(device_, type, {1}, {cell});
        double value = 0;
        float single = 0;
        if (type == Type::f64)
            field.read_elements(&value, sizeof value);
        else
            field.read_elements(&single, sizeof single);
        return type == Type::f64 ? value : single;
    }

private:
    static Device device_of(const xla::CallFrame& frame) {
        xla::StreamArguments asked{sizeof(xla::StreamArguments), nullptr, frame.context, nullptr};
        if (frame.api->find_stream(&asked) != nullptr) refuse_call("XLA does not say its stream");
        return all_stream_devices().find(asked.stream);
    }
    static View dense(const FieldInfo& field, const xla::Buffer& buffer) {
        const std::int64_t pitch = buffer.dims[buffer.rank - 1];
        const std::int64_t rows = buffer.rank > 1 ? buffer.dims[buffer.rank - 2] : 1;
        return {buffer.data, bytes_of(field, buffer), 0, pitch, pitch * rows};
    }
    Device device_;
};

// Parameters are numbers of the call, or where those are NaN, arguments after the fields.
template <class Where>
std::vector<double> params_of(const xla::CallFrame& frame, const Call& call, const Where& where) {
    const auto& fixed =
        *static_cast<const xla::Array*>(attribute(frame, "params", xla::AttributeKind::array));
    if (fixed.type != static_cast<int>(xla::DataType::f64) || fixed.size != call.params.size())
        refuse_call("a call with other parameters");
    std::vector<double> values(fixed.size);
    std::memcpy(values.data(), fixed.data, fixed.size * sizeof(double));
    auto next = static_cast<std::int64_t>(call.inputs.size());
    for (double& value : values) {
        if (!std::isnan(value)) continue;
        if (next >= frame.arguments.size) refuse_call("a parameter without a value");
        const xla::Buffer& traced = *frame.arguments.buffers[next++];
        if (traced.type == static_cast<int>(xla::DataType::f32))
            value = where.number(traced, Type::f32);
        else if (traced.type == static_cast<int>(xla::DataType::f64))
            value = where.number(traced, Type::f64);
        else
            refuse_call("a parameter that is neither float32 nor float64");
    }
    return values;
}

template <class Where>
void run_call(const xla::CallFrame& frame) {
    const auto& key = *static_cast<const xla::Text*>(attribute(frame, "program", xla::AttributeKind::string));
    const std::shared_ptr<const Call> call = all_calls().find(std::string(key.begin, key.size));
    if (frame.arguments.size < static_cast<std::int64_t>(call->inputs.size()) ||
        frame.results.size != static_cast<std::int64_t>(call->outputs.size()))
        refuse_call("a call with other fields");
    const xla::Buffer& first = *frame.arguments.buffers[0];
    const Grid grid(std::make_reverse_iterator(first.dims + first.rank),
                    std::make_reverse_iterator(first.dims));
    const Where where(frame, *call);
    Simulation simulation(call->program, where.device(), grid);
    const std::vector<double> params = params_of(frame, *call, where);
    for (std::size_t i = 0; i < params.size(); ++i)
        simulation.set(call->params[i], params[i]);
    for (std::size_t i = 0; i < call->inputs.size(); ++i) {
        const auto& [field, level] = call->inputs[i];
        where.write(simulation, field_of(*call, field), level, *frame.arguments.buffers[i]);
    }
    simulation.step(steps_of(frame));
    for (std::size_t i = 0; i < call->outputs.size(); ++i) {
        const auto& [field, level] = call->outputs[i];
        where.read(simulation, field_of(*call, field), level, *frame.results.buffers[i]);
    }
}

xla::Error* failed(const xla::CallFrame& frame, const char* message, int code) {
    xla::ErrorArguments arguments{sizeof(xla::ErrorArguments), nullptr, message, code};
    return frame.api->make_error(&arguments);
}

// What is used of the interface is the same in all its versions from 0.1 on, so the caller's own is that
// which this is for. The oldest do not say it here.
void describe(const xla::CallFrame& frame, xla::Metadata& metadata) {
    metadata.version.major = frame.api != nullptr ? frame.api->version.major : 0;
    metadata.version.minor = frame.api != nullptr ? frame.api->version.minor : 1;
    metadata.traits = 0;
    if (metadata.version.minor >= 3) metadata.state_type = 0;
}

// What XLA calls.
template <class Where>
xla::Error* handle_call(xla::CallFrame* frame) {
    if (frame->extensions != nullptr && frame->extensions->type == xla::kMetadata) {
        describe(*frame, *reinterpret_cast<xla::MetadataExtension*>(frame->extensions)->metadata);
        return nullptr;
    }
    if (frame->stage != static_cast<int>(xla::Stage::execute)) return nullptr;
    try {
        run_call<Where>(*frame);
        return nullptr;
    } catch (const Error& error) {
        const bool is_argument = error.code() == ErrorCode::bad_argument;
        return failed(*frame, error.what(), is_argument ? xla::kInvalidArgument : xla::kInternal);
    } catch (const std::exception& error) {
        return failed(*frame, error.what(), xla::kInternal);
    }
}

}  // namespace

void bind_jax_calls(nb::module_& module) {
    module.def("xla_handler_cpu", [] { return nb::capsule(reinterpret_cast<void*>(&handle_call<OnCpu>)); });
    module.def("xla_handler_gpu", [] { return nb::capsule(reinterpret_cast<void*>(&handle_call<OnGpu>)); });
    module.def(
        "register_call", [](const std::string& key, const OwnedProgram& program, const OwnedDevice& cpu,
                            std::string gpu, Levels inputs, Levels outputs, std::vector<std::string> params) {
            all_calls().add(key, std::make_shared<const Call>(Call{
                                     program.get(), OwnedDevice(std::in_place, cpu.get()), std::move(gpu),
                                     std::move(inputs), std::move(outputs), std::move(params)}));
        });
}

}  // namespace halocline::python
