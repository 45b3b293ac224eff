#include "runtime/core/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "runtime/core/element.h"
#include "runtime/core/plan_check.h"
#include "runtime/core/session_state.h"
#include "runtime/core/text.h"

namespace halo::rt {

namespace {

// Finds an entry by name, or throws with the names that there are.
template <class Item>
int find_named(const std::vector<Item>& items, const std::string& name, const char* kind,
               const std::string& plan) {
    std::string known;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (items[i].name == name) return static_cast<int>(i);
        known += (known.empty() ? "'" : ", '") + items[i].name + "'";
    }
    throw Error(ErrorCode::bad_argument,
                known.empty() ? fmt::format("'{}' has no {}, so no '{}'", plan, kind, name)
                              : fmt::format("'{}' has no {} '{}'; it has {}", plan, kind, name, known));
}

void check_count(const LaunchPlan& plan, const Geometry& geometry, const std::string& field,
                 std::size_t given, std::int64_t cells) {
    if (static_cast<std::int64_t>(given) == cells) return;
    throw Error(ErrorCode::bad_argument,
                fmt::format("field '{}' has {} = {} values, but the array holds {}", field,
                            extent_text(plan.rank, geometry.extent), cells, given));
}

std::int64_t cell_count(const Geometry& geometry) {
    return geometry.extent[0] * geometry.extent[1] * geometry.extent[2];
}

template <class Element>
constexpr ElementType kElementType = std::is_same_v<Element, float> ? ElementType::f32 : ElementType::f64;

}  // namespace

int Session::State::find_field(const std::string& name, int time) const {
    const int index = find_named(plan.fields, name, "field", plan.name);
    const FieldPlan& field = plan.fields[index];
    if (time > 0 || time < -field.history)
        throw Error(ErrorCode::bad_argument,
                    field.history == 0
                        ? fmt::format("field '{}' keeps no level but the present one", name)
                        : fmt::format("field '{}' keeps {} past level{}; there is no level {:+}", name,
                                      field.history, field.history == 1 ? "" : "s", time));
    return index;
}

bool Session::State::reads_reduction(const HostScalar& scalar, std::size_t reduction) const {
    return std::any_of(scalar.steps.begin(), scalar.steps.end(), [&](const HostScalar::Step& step) {
        return step.op == HostScalar::Op::param && step.index >= 0 &&
               static_cast<std::size_t>(step.index) == params.size() + reduction;
    });
}

double Session::State::reduce(int index) {
    if (steps_done == 0)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("'{}' has no value before the first step", plan.reductions[index].name));
    return combine(index);
}

std::vector<double> Session::State::latest_reductions(const HostScalar& scalar) {
    std::vector<double> values(plan.reductions.size());
    for (const HostScalar::Step& step : scalar.steps) {
        if (step.op != HostScalar::Op::reduction) continue;
        std::optional<double>& value = latest[step.index];
        if (!reduced[step.index]) value = plan.reductions[step.index].initial;
        if (!value) value = combine(step.index);
        values[step.index] = *value;
    }
    return values;
}

double Session::State::combine(int index) const {
    const ReductionPlan& reduction = plan.reductions[index];
    std::vector<double> values(static_cast<std::size_t>(block_count(reduction.kernel)));
    device->copy_to_host(values.data(), partials[index].address(), partials[index].bytes());
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    double result = 0;
    switch (reduction.op) {
        case ReductionPlan::Op::sum:
            for (double value : values)
                result += value;
            break;
        case ReductionPlan::Op::min:
            result = kInfinity;
            for (double value : values)
                result = value < result || std::isnan(value) ? value : result;
            break;
        case ReductionPlan::Op::max:
            result = -kInfinity;
            for (double value : values)
                result = value > result || std::isnan(value) ? value : result;
            break;
    }
    return reduction.square_root ? std::sqrt(result) : result;
}

std::vector<double> Session::State::reduce_for(const HostScalar& scalar) {
    std::vector<double> values(plan.reductions.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        if (reads_reduction(scalar, i)) values[i] = reduce(static_cast<int>(i));
    return values;
}

Session::Session(LaunchPlan plan, const std::array<std::int64_t, kMaxRank>& extent, Device& device,
                 std::vector<std::unique_ptr<Module>> modules, const SessionOptions& options)
    : state_(std::make_unique<State>(std::move(plan), extent, device, std::move(modules), options)) {}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

const LaunchPlan& Session::plan() const {
    return state_->plan;
}
const Geometry& Session::geometry() const {
    return state_->geometry;
}
Device& Session::device() const {
    return *state_->device;
}
std::int64_t Session::cells() const {
    return cell_count(state_->geometry);
}
std::int64_t Session::array_bytes() const {
    return state_->array_bytes();
}
std::int64_t Session::steps_done() const {
    return state_->steps_done;
}
KernelInfo Session::kernel_info(int index) const {
    return state_->kernels.at(index)->info();
}
void Session::synchronize() {
    state_->device->synchronize();
}

void Session::set_param(const std::string& name, double value) {
    State& s = *state_;
    auto& param = s.params[find_named(s.plan.params, name, "parameter", s.plan.name)];
    if (param == value) return;
    param = value;
    s.scalars_due = true;
}

double Session::param(const std::string& name) const {
    const auto& value = state_->params[find_named(state_->plan.params, name, "parameter", state_->plan.name)];
    if (!value)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("parameter '{}' has no default and was not given a value", name));
    return *value;
}

void Session::set_coef(const std::string& name, std::span<const double> values) {
    State& s = *state_;
    const int index = find_named(s.plan.coefs, name, "launch-time coefficient", s.plan.name);
    if (static_cast<std::int64_t>(values.size()) != element_count(s.plan.coefs[index]))
        throw Error(ErrorCode::bad_argument,
                    fmt::format("coefficient '{}' has {} weights, but {} were given", name,
                                element_count(s.plan.coefs[index]), values.size()));
    s.coefs[index].assign(values.begin(), values.end());
    s.send_coef(index);
}

namespace {

template <class Element>
void upload_values(Device& device, const Geometry& geometry, ElementType type, void* array,
                   std::span<const Element> values) {
    if (type == kElementType<Element>) return device.upload_cells(array, geometry, type, values.data());
    std::vector<char> converted(values.size() * static_cast<std::size_t>(size_of(type)));
    char* to = converted.data();
    for (const Element value : values) {
        encode(static_cast<double>(value), type, to);
        to += size_of(type);
    }
    device.upload_cells(array, geometry, type, converted.data());
}

template <class Element>
void download_values(Device& device, const Geometry& geometry, ElementType type, const void* array,
                     std::span<Element> values) {
    if (type == kElementType<Element>) return device.download_cells(values.data(), array, geometry, type);
    std::vector<char> native(values.size() * static_cast<std::size_t>(size_of(type)));
    device.download_cells(native.data(), array, geometry, type);
    const char* from = native.data();
    for (Element& value : values) {
        value = static_cast<Element>(decode(from, type));
        from += size_of(type);
    }
}

}  // namespace

void Session::set_table(const std::string& name, std::span<const double> values) {
    state_->set_table(find_named(state_->plan.tables, name, "table", state_->plan.name), values);
}

void Session::set_points(const std::string& points, std::span<const double> positions) {
    state_->set_points(find_named(state_->plan.points, points, "set of points", state_->plan.name),
                       positions);
}

void Session::set_point_values(const std::string& points, const std::string& name,
                               std::span<const double> values) {
    state_->set_point_values(find_named(state_->plan.points, points, "set of points", state_->plan.name),
                             name, values);
}

std::vector<double> Session::trace(const std::string& points, const std::string& name) {
    return state_->trace(find_named(state_->plan.points, points, "set of points", state_->plan.name), name);
}

void Session::upload(const std::string& field, int time, std::span<const double> values) {
    State& s = *state_;
    const int index = s.find_field(field, time);
    check_count(s.plan, s.geometry, field, values.size(), cells());
    Level& level = s.level(index, time, s.steps_done);
    upload_values(*s.device, s.geometry, s.plan.fields[index].type, level.memory.address(), values);
    level.images_due = true;
}

void Session::upload(const std::string& field, int time, std::span<const float> values) {
    State& s = *state_;
    const int index = s.find_field(field, time);
    check_count(s.plan, s.geometry, field, values.size(), cells());
    Level& level = s.level(index, time, s.steps_done);
    upload_values(*s.device, s.geometry, s.plan.fields[index].type, level.memory.address(), values);
    level.images_due = true;
}

void Session::download(const std::string& field, int time, std::span<double> values) {
    State& s = *state_;
    const int index = s.find_field(field, time);
    check_count(s.plan, s.geometry, field, values.size(), cells());
    const Level& level = s.level(index, time, s.steps_done);
    download_values(*s.device, s.geometry, s.plan.fields[index].type, level.memory.address(), values);
}

void Session::download(const std::string& field, int time, std::span<float> values) {
    State& s = *state_;
    const int index = s.find_field(field, time);
    check_count(s.plan, s.geometry, field, values.size(), cells());
    const Level& level = s.level(index, time, s.steps_done);
    download_values(*s.device, s.geometry, s.plan.fields[index].type, level.memory.address(), values);
}

void Session::upload_elements(const std::string& field, int time, const void* elements, std::int64_t bytes) {
    State& s = *state_;
    const int index = s.find_field(field, time);
    const ElementType type = s.plan.fields[index].type;
    check_count(s.plan, s.geometry, field, static_cast<std::size_t>(bytes / size_of(type)), cells());
    Level& level = s.level(index, time, s.steps_done);
    s.device->upload_cells(level.memory.address(), s.geometry, type, elements);
    level.images_due = true;
}

void Session::download_elements(const std::string& field, int time, void* elements, std::int64_t bytes) {
    State& s = *state_;
    const int index = s.find_field(field, time);
    const ElementType type = s.plan.fields[index].type;
    check_count(s.plan, s.geometry, field, static_cast<std::size_t>(bytes / size_of(type)), cells());
    const Level& level = s.level(index, time, s.steps_done);
    s.device->download_cells(elements, level.memory.address(), s.geometry, type);
}

std::vector<double> Session::download(const std::string& field, int time) {
    std::vector<double> values(static_cast<std::size_t>(cells()));
    download(field, time, std::span<double>(values));
    return values;
}

void Session::step(std::int64_t count) {
    state_->step(count);
}

RunResult Session::run(const RunOptions& options) {
    if (options.check_every < 1 || options.batch < 0)
        throw Error(ErrorCode::bad_argument, "the steps between checks must be 1 or more");
    RunResult result;
    while (result.steps < options.steps) {
        std::int64_t target = options.steps;
        if (options.keep_going && options.batch > 0)
            target = std::min(target, (result.steps / options.batch + 1) * options.batch);
        if (options.until) {
            const auto watched = state_->step_until(
                target - result.steps, {*options.until, options.check_every, result.steps, options.steps});
            result.steps += watched.steps;
            if (watched.holds) result.stop = RunResult::Stop::until;
        } else {
            step(target - result.steps);
            result.steps = target;
        }
        const bool finished = result.steps == options.steps || result.stop == RunResult::Stop::until;
        if (options.keep_going && (finished || options.batch > 0)) {
            synchronize();
            if (!options.keep_going(result.steps) && !finished) result.stop = RunResult::Stop::asked;
        }
        if (result.stop != RunResult::Stop::steps) break;
    }
    synchronize();
    return result;
}

double Session::reduction(const std::string& name) {
    return state_->reduce(find_named(state_->plan.reductions, name, "reduction", state_->plan.name));
}

double Session::evaluate(const HostScalar& scalar) const {
    return rt::evaluate(scalar, state_->param_values(), state_->geometry.extent,
                        static_cast<double>(state_->steps_done));
}

double Session::evaluate_with_reductions(const HostScalar& scalar) {
    State& s = *state_;
    std::vector<double> values = s.param_values();
    const std::vector<double> reductions = s.reduce_for(scalar);
    values.insert(values.end(), reductions.begin(), reductions.end());
    return rt::evaluate(scalar, values, state_->geometry.extent, static_cast<double>(s.steps_done));
}

}  // namespace halo::rt
