// Programs as XLA calls them on the CPU, for halocline.jax: without Python, and without the GIL.
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
    OwnedDevice device;
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

// Parameters are numbers of the call, or where those are NaN, arguments after the fields.
std::vector<double> params_of(const xla::CallFrame& frame, const Call& call) {
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
            value = *static_cast<const float*>(traced.data);
        else if (traced.type == static_cast<int>(xla::DataType::f64))
            value = *static_cast<const double*>(traced.data);
        else
            refuse_call("a parameter that is neither float32 nor float64");
    }
    return values;
}

std::int64_t bytes_of(const Call& call, const std::string& field, const xla::Buffer& buffer) {
    std::int64_t bytes = 1;
    for (const FieldInfo& info : call.program.info().fields)
        if (info.name == field) bytes = size_of(info.type);
    for (std::int64_t axis = 0; axis < buffer.rank; ++axis)
        bytes *= buffer.dims[axis];
    return bytes;
}

void run_call(const xla::CallFrame& frame) {
    const auto& key = *static_cast<const xla::Text*>(attribute(frame, "program", xla::AttributeKind::string));
    const std::shared_ptr<const Call> call = all_calls().find(std::string(key.begin, key.size));
    if (frame.arguments.size < static_cast<std::int64_t>(call->inputs.size()) ||
        frame.results.size != static_cast<std::int64_t>(call->outputs.size()))
        refuse_call("a call with other fields");
    const xla::Buffer& first = *frame.arguments.buffers[0];
    const Grid grid(std::make_reverse_iterator(first.dims + first.rank),
                    std::make_reverse_iterator(first.dims));
    Simulation simulation(call->program, call->device.get(), grid);
    const std::vector<double> params = params_of(frame, *call);
    for (std::size_t i = 0; i < params.size(); ++i)
        simulation.set(call->params[i], params[i]);
    // Fields check that there are as many bytes as the grid has cells.
    for (std::size_t i = 0; i < call->inputs.size(); ++i) {
        const auto& [field, level] = call->inputs[i];
        const xla::Buffer& buffer = *frame.arguments.buffers[i];
        simulation.write_elements(field, buffer.data, bytes_of(*call, field, buffer), level);
    }
    simulation.step(steps_of(frame));
    for (std::size_t i = 0; i < call->outputs.size(); ++i) {
        const auto& [field, level] = call->outputs[i];
        const xla::Buffer& buffer = *frame.results.buffers[i];
        simulation.read_elements(field, buffer.data, bytes_of(*call, field, buffer), level);
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
xla::Error* handle_call(xla::CallFrame* frame) {
    if (frame->extensions != nullptr && frame->extensions->type == xla::kMetadata) {
        describe(*frame, *reinterpret_cast<xla::MetadataExtension*>(frame->extensions)->metadata);
        return nullptr;
    }
    if (frame->stage != static_cast<int>(xla::Stage::execute)) return nullptr;
    try {
        run_call(*frame);
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
    module.def("xla_handler", [] { return nb::capsule(reinterpret_cast<void*>(&handle_call)); });
    module.def("register_call",
               [](const std::string& key, const OwnedProgram& program, const OwnedDevice& device,
                  Levels inputs, Levels outputs, std::vector<std::string> params) {
                   all_calls().add(key, std::make_shared<const Call>(
                                            Call{program.get(), OwnedDevice(std::in_place, device.get()),
                                                 std::move(inputs), std::move(outputs), std::move(params)}));
               });
}

}  // namespace halocline::python
