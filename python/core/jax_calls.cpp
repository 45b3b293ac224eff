// Programs as XLA calls them, for halocline.jax: without Python, and without the GIL. On the CPU arrays are
// in the host's memory; on a GPU they stay in its memory, and all is done in XLA's stream.
//
// A call names its program by a key, which is the same in every process that has the same program: what XLA
// has compiled may be kept on the disk.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "devices.h"
#include "halocline/halocline.hpp"
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

std::int64_t bytes_of(Type type, const xla::Buffer& buffer) {
    std::int64_t bytes = size_of(type);
    for (std::int64_t axis = 0; axis < buffer.rank; ++axis)
        bytes *= buffer.dims[axis];
    return bytes;
}

Type type_of(const Call& call, const std::string& name) {
    for (const FieldInfo& info : call.program.info().fields)
        if (info.name == name) return info.type;
    refuse_call("a program without the field '" + name + "'");
}

// XLA's devices: how arrays are copied, and how numbers are looked at.
class OnCpu {
public:
    OnCpu(const xla::CallFrame& /*frame*/, const Call& call) : device_(call.cpu.get()) {}
    const Device& device() const { return device_; }
    // Fields check that there are as many bytes as the grid has cells.
    void write(Simulation& simulation, const std::string& field, Type type, int level,
               const xla::Buffer& from) const {
        simulation.write_elements(field, from.data, bytes_of(type, from), level);
    }
    void read(Simulation& simulation, const std::string& field, Type type, int level,
              const xla::Buffer& to) const {
        simulation.read_elements(field, to.data, bytes_of(type, to), level);
    }
    void give(const xla::Buffer& from, Type type, FieldWeights& weights) const {
        weights.elements = {static_cast<const std::byte*>(from.data),
                            static_cast<std::size_t>(bytes_of(type, from))};
    }
    // From and to the host's memory.
    template <class Number>
    void download(std::span<Number> values, const xla::Buffer& from) const {
        std::memcpy(values.data(), from.data, values.size_bytes());
    }
    template <class Number>
    void upload(const xla::Buffer& to, std::span<const Number> values) const {
        std::memcpy(to.data, values.data(), values.size_bytes());
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
    void write(Simulation& simulation, const std::string& field, Type type, int level,
               const xla::Buffer& from) const {
        simulation.write_view(field, dense(type, from), level);
    }
    void read(Simulation& simulation, const std::string& field, Type type, int level,
              const xla::Buffer& to) const {
        simulation.read_view(field, dense(type, to), level);
    }
    void give(const xla::Buffer& from, Type type, FieldWeights& weights) const {
        weights.cells = dense(type, from);
    }
    // Both wait for what has been started.
    template <class Number>
    void download(std::span<Number> values, const xla::Buffer& from) const {
        in_a_row<Number>(from, values.size())
            .read_elements(values.data(), static_cast<std::int64_t>(values.size_bytes()));
    }
    template <class Number>
    void upload(const xla::Buffer& to, std::span<const Number> values) const {
        in_a_row<Number>(to, values.size())
            .write_elements(values.data(), static_cast<std::int64_t>(values.size_bytes()));
    }

private:
    static Device device_of(const xla::CallFrame& frame) {
        xla::StreamArguments asked{sizeof(xla::StreamArguments), nullptr, frame.context, nullptr};
        if (frame.api->find_stream(&asked) != nullptr) refuse_call("XLA does not say its stream");
        return all_stream_devices().find(asked.stream);
    }
    static View dense(Type type, const xla::Buffer& buffer) {
        const std::int64_t pitch = buffer.dims[buffer.rank - 1];
        const std::int64_t rows = buffer.rank > 1 ? buffer.dims[buffer.rank - 2] : 1;
        return {buffer.data, bytes_of(type, buffer), 0, pitch, pitch * rows};
    }
    template <class Number>
    Field in_a_row(const xla::Buffer& buffer, std::size_t count) const {
        const auto cells = static_cast<std::int64_t>(count);
        const Type type = sizeof(Number) == sizeof(double) ? Type::f64 : Type::f32;
        return Field::of_views(device_, type, {cells},
                               {{buffer.data, cells * size_of(type), 0, cells, cells}});
    }
    Device device_;
};

template <class Number, class Where>
double number_in(const xla::Buffer& buffer, const Where& where) {
    Number value = 0;
    where.download(std::span<Number>(&value, 1), buffer);
    return value;
}

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
            value = number_in<float>(traced, where);
        else if (traced.type == static_cast<int>(xla::DataType::f64))
            value = number_in<double>(traced, where);
        else
            refuse_call("a parameter that is neither float32 nor float64");
    }
    return values;
}

std::shared_ptr<const Call> call_of(const xla::CallFrame& frame) {
    const auto& key = *static_cast<const xla::Text*>(attribute(frame, "program", xla::AttributeKind::string));
    std::shared_ptr<const Call> call = all_calls().find(std::string(key.begin, key.size));
    if (frame.arguments.size < static_cast<std::int64_t>(call->inputs.size()))
        refuse_call("a call with other fields");
    return call;
}

// What is to do the steps.
template <class Where>
Simulation simulation_of(const xla::CallFrame& frame, const Call& call, const Where& where) {
    const xla::Buffer& first = *frame.arguments.buffers[0];
    const Grid grid(std::make_reverse_iterator(first.dims + first.rank),
                    std::make_reverse_iterator(first.dims));
    Simulation simulation(call.program, where.device(), grid);
    const std::vector<double> params = params_of(frame, call, where);
    for (std::size_t i = 0; i < params.size(); ++i)
        simulation.set(call.params[i], params[i]);
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
        const auto& [field, level] = call.inputs[i];
        where.write(simulation, field, type_of(call, field), level, *frame.arguments.buffers[i]);
    }
    return simulation;
}

template <class Where>
void run_call(const xla::CallFrame& frame) {
    const std::shared_ptr<const Call> call = call_of(frame);
    if (frame.results.size != static_cast<std::int64_t>(call->outputs.size()))
        refuse_call("a call with other fields");
    const Where where(frame, *call);
    Simulation simulation = simulation_of(frame, *call, where);
    simulation.step(steps_of(frame));
    for (std::size_t i = 0; i < call->outputs.size(); ++i) {
        const auto& [field, level] = call->outputs[i];
        where.read(simulation, field, type_of(*call, field), level, *frame.results.buffers[i]);
    }
}

// ---- backwards: the vector-Jacobian product of the same steps

// Places of results, or of arguments: fields, then parameters.
std::vector<std::size_t> places_of(const xla::CallFrame& frame, const char* name, std::size_t end) {
    const auto& given = *static_cast<const xla::Array*>(attribute(frame, name, xla::AttributeKind::array));
    if (given.type != static_cast<int>(xla::DataType::s64)) refuse_call("places are no 64-bit numbers");
    std::vector<std::int64_t> values(given.size);
    std::memcpy(values.data(), given.data, given.size * sizeof(std::int64_t));
    std::vector<std::size_t> places;
    for (const std::int64_t value : values) {
        if (value < 0 || value >= static_cast<std::int64_t>(end)) refuse_call("a place that is not there");
        places.push_back(static_cast<std::size_t>(value));
    }
    return places;
}

Type derivative_type(const xla::Buffer& buffer) {
    if (buffer.type == static_cast<int>(xla::DataType::f64)) return Type::f64;
    if (buffer.type != static_cast<int>(xla::DataType::f32)) refuse_call("derivatives are f32 or f64");
    return Type::f32;
}

const Gradient::Level* find_level(const std::vector<Gradient::Level>& all,
                                  const std::pair<std::string, int>& wanted) {
    for (const Gradient::Level& each : all)
        if (each.field == wanted.first && each.level == wanted.second) return &each;
    return nullptr;
}

GradientOptions options_of(const Call& call, const std::vector<std::size_t>& of,
                           const std::vector<std::size_t>& with) {
    GradientOptions options;
    const auto add = [](std::vector<std::string>& names, const std::string& name) {
        if (std::ranges::count(names, name) == 0) names.push_back(name);
    };
    for (const std::size_t place : of)
        add(options.of_fields, call.outputs[place].first);
    for (const std::size_t place : with)
        add(options.with,
            place < call.inputs.size() ? call.inputs[place].first : call.params[place - call.inputs.size()]);
    return options;
}

std::size_t cells_of(const xla::Buffer& buffer) {
    std::size_t cells = 1;
    for (std::int64_t axis = 0; axis < buffer.rank; ++axis)
        cells *= static_cast<std::size_t>(buffer.dims[axis]);
    return cells;
}

// Weights in another type than the adjoint's, which a field that is stored rounded has: by the host's memory.
template <class To, class From, class Where>
std::vector<std::byte> converted(const xla::Buffer& buffer, const Where& where) {
    std::vector<From> given(cells_of(buffer));
    where.download(std::span<From>(given), buffer);
    std::vector<std::byte> bytes(given.size() * sizeof(To));
    std::ranges::transform(given, reinterpret_cast<To*>(bytes.data()),
                           [](From value) { return static_cast<To>(value); });
    return bytes;
}

template <class Where>
void give_weights(const xla::Buffer& buffer, Type type, const Where& where, std::vector<std::byte>& kept,
                  FieldWeights& weights) {
    if (type == derivative_type(buffer)) {
        where.give(buffer, type, weights);
        return;
    }
    kept =
        type == Type::f64 ? converted<double, float>(buffer, where) : converted<float, double>(buffer, where);
    weights.elements = kept;
}

template <class Number, class Where>
void give_derivative(const Gradient& gradient, const Call& call, std::size_t place, const Where& where,
                     const xla::Buffer& to) {
    std::vector<Number> values(cells_of(to));
    if (place < call.inputs.size()) {
        const std::vector<Gradient::Level> levels = gradient.levels();
        if (const Gradient::Level* level = find_level(levels, call.inputs[place])) {
            Simulation adjoint = gradient.adjoint();
            if (level->type == derivative_type(to)) {
                where.read(adjoint, level->name, level->type, 0, to);
                return;
            }
            adjoint.read(level->name, std::span<Number>(values));
        }
    } else if (const std::string& param = call.params[place - call.inputs.size()];
               std::ranges::count(gradient.numbers(), param) > 0) {
        values.front() = static_cast<Number>(gradient.number(param));
    }
    where.upload(to, std::span<const Number>(values));
}

template <class Where>
void run_pullback(const xla::CallFrame& frame) {
    const std::shared_ptr<const Call> call = call_of(frame);
    const std::size_t arguments = call->inputs.size() + call->params.size();
    const std::vector<std::size_t> of = places_of(frame, "of", call->outputs.size()),
                                   with = places_of(frame, "by", arguments);
    if (frame.results.size != static_cast<std::int64_t>(with.size()) ||
        frame.arguments.size < static_cast<std::int64_t>(call->inputs.size() + of.size()))
        refuse_call("a call with other fields");
    const Where where(frame, *call);
    const Simulation simulation = simulation_of(frame, *call, where);
    Gradient gradient(simulation, options_of(*call, of, with));
    const std::vector<Gradient::Level> known = gradient.weights();
    std::vector<FieldWeights> weights;
    std::vector<std::vector<std::byte>> kept(of.size());  // as long as weights are used
    xla::Buffer* const* const given =
        frame.arguments.buffers + frame.arguments.size - static_cast<std::int64_t>(of.size());
    for (std::size_t i = 0; i < of.size(); ++i) {
        const auto& output = call->outputs[of[i]];
        const Gradient::Level* const level = find_level(known, output);
        if (level == nullptr) continue;
        weights.push_back({output.first, output.second, {}, {}});
        give_weights(*given[i], level->type, where, kept[i], weights.back());
    }
    gradient.compute(steps_of(frame), weights);
    for (std::size_t i = 0; i < with.size(); ++i) {
        const xla::Buffer& to = *frame.results.buffers[i];
        if (derivative_type(to) == Type::f64)
            give_derivative<double>(gradient, *call, with[i], where, to);
        else
            give_derivative<float>(gradient, *call, with[i], where, to);
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
template <void (*run)(const xla::CallFrame&)>
xla::Error* handle_call(xla::CallFrame* frame) {
    if (frame->extensions != nullptr && frame->extensions->type == xla::kMetadata) {
        describe(*frame, *reinterpret_cast<xla::MetadataExtension*>(frame->extensions)->metadata);
        return nullptr;
    }
    if (frame->stage != static_cast<int>(xla::Stage::execute)) return nullptr;
    try {
        run(*frame);
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
    const auto handler = [](auto* function) { return nb::capsule(reinterpret_cast<void*>(function)); };
    module.def("xla_handler_cpu", [handler] { return handler(&handle_call<run_call<OnCpu>>); });
    module.def("xla_handler_gpu", [handler] { return handler(&handle_call<run_call<OnGpu>>); });
    module.def("xla_handler_pullback_cpu", [handler] { return handler(&handle_call<run_pullback<OnCpu>>); });
    module.def("xla_handler_pullback_gpu", [handler] { return handler(&handle_call<run_pullback<OnGpu>>); });
    module.def(
        "register_call", [](const std::string& key, const OwnedProgram& program, const OwnedDevice& cpu,
                            std::string gpu, Levels inputs, Levels outputs, std::vector<std::string> params) {
            all_calls().add(key, std::make_shared<const Call>(Call{
                                     program.get(), OwnedDevice(std::in_place, cpu.get()), std::move(gpu),
                                     std::move(inputs), std::move(outputs), std::move(params)}));
        });
}

}  // namespace halocline::python
