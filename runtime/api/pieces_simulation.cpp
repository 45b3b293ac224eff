#include "runtime/api/pieces_simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "runtime/api/arguments.h"
#include "runtime/api/errors.h"
#include "runtime/core/element.h"
#include "runtime/core/text.h"

namespace halocline::detail {

namespace rt = halo::rt;

namespace {

[[noreturn]] void refuse_on_several(const std::string& what) {
    refuse(fmt::format("{}, and this simulation is in pieces on several; see Simulation::view() for a piece",
                       what));
}

std::vector<std::shared_ptr<DeviceState>> states_of(const std::vector<Device>& devices) {
    if (devices.empty()) refuse("a simulation needs a device, and the list has none");
    std::vector<std::shared_ptr<DeviceState>> states;
    for (const Device& device : devices) {
        states.push_back(device.state());
        if ((states.back()->cuda == nullptr) != (states.front()->cuda == nullptr))
            refuse(fmt::format("the pieces of a grid are on GPUs, or on CPUs: not on '{}' and '{}'",
                               states.front()->kind, states.back()->kind));
    }
    return states;
}

template <class Value>
constexpr rt::ElementType kElementType =
    std::is_same_v<std::remove_const_t<Value>, float> ? rt::ElementType::f32 : rt::ElementType::f64;

}  // namespace

std::shared_ptr<const PiecesCode> pieces_code(ProgramSource& source, const std::vector<Device>& devices,
                                              const Extent& extent, const SimulationOptions& options) {
    if (options.layout)
        refuse("a layout is for the arrays of one device, and each piece of a grid has its own");
    if (options.exchange_every && *options.exchange_every < 1)
        refuse(
            fmt::format("exchange_every: {} steps from one exchange to the next are too few; 1 is the least",
                        *options.exchange_every));
    return source.code_for_pieces(states_of(devices), extent, options.exchange_every);
}

PiecesSimulation::PiecesSimulation(const Program& program, const std::vector<Device>& on, const Grid& cells,
                                   const SimulationOptions& options)
    : SimulationState(program, states_of(on), cells), code_(pieces_code(*source, on, extent, options)) {}

PiecesSimulation::PiecesSimulation(const Program& program,
                                   const std::vector<std::shared_ptr<DeviceState>>& on, const Grid& cells)
    : SimulationState(program, on, cells), code_(source->code_for_pieces(devices, extent, std::nullopt)) {}

PiecesSimulation::~PiecesSimulation() {
    const DeviceLocks locks(devices);
    pieces_.reset();
    sessions_.clear();
}

rt::Pieces& PiecesSimulation::start() {
    if (!pieces_) {
        std::vector<rt::Session> sessions;
        for (std::size_t i = 0; i < devices.size(); ++i) {
            rt::Device& device = *devices[i]->device;
            const Code& code = *code_->pieces[i];
            sessions.emplace_back(code.plan, code_->cut.pieces[i].extent(), device, code.load(device));
        }
        std::vector<rt::Session*> pointers;
        for (rt::Session& session : sessions)
            pointers.push_back(&session);
        // Vectors that are moved keep their elements where they are.
        pieces_.emplace(code_->cut, std::move(pointers), code_->options);
        sessions_ = std::move(sessions);
        for (const auto& [name, value] : params)
            pieces_->set_param(name, value);
    }
    // A device that fails in the midst of steps leaves its piece behind.
    for (const rt::Session& session : sessions_)
        if (session.steps_done() != sessions_.front().steps_done())
            throw Error(
                ErrorCode::launch_failed,
                fmt::format("this simulation of '{}' cannot go on: some of its pieces did {} steps, and "
                            "one did {}, as something went wrong between",
                            source->info().name, sessions_.front().steps_done(), session.steps_done()));
    return *pieces_;
}

Layout PiecesSimulation::layout() const {
    refuse_on_several("a layout is that of the arrays on one device");
}
void PiecesSimulation::bind(const std::string& name, const std::shared_ptr<FieldState>& /*field*/) {
    refuse_on_several(fmt::format("'{}' can be bound to arrays on one device", name));
}
std::shared_ptr<FieldState> PiecesSimulation::share(const std::string& name) {
    refuse_on_several(fmt::format("the arrays of '{}' can be shared on one device", name));
}

std::int64_t PiecesSimulation::steps_done() const {
    return sessions_.empty() ? 0 : sessions_.front().steps_done();
}

std::vector<Piece> PiecesSimulation::pieces() const {
    std::vector<Piece> pieces;
    for (const rt::Piece& piece : code_->cut.pieces) {
        const auto rank = static_cast<std::ptrdiff_t>(grid.size());
        pieces.push_back({Grid(piece.begin.begin(), piece.begin.begin() + rank),
                          Grid(piece.end.begin(), piece.end.begin() + rank)});
    }
    return pieces;
}

View PiecesSimulation::view(const std::string& field, int number, int level) {
    start();
    const auto piece = static_cast<std::size_t>(number);
    const rt::Depths& ghosts = code_->cut.pieces[piece].ghosts;
    return view_of(sessions_[piece], field, level, {ghosts[0][0], ghosts[1][0], ghosts[2][0], ghosts[3][0]});
}

void PiecesSimulation::set_running(const std::string& param, double value) {
    if (pieces_) pieces_->set_param(param, value);
}
void PiecesSimulation::set_weights(const std::string& coefficient, std::span<const double> weights) {
    start().set_coef(coefficient, weights);
}
void PiecesSimulation::set_table(const std::string& table, std::span<const double> rows) {
    start().set_table(table, rows);
}
void PiecesSimulation::set_points(const std::string& points, std::span<const double> positions) {
    start().set_points(points, positions);
}
void PiecesSimulation::set_point_values(const std::string& points, const std::string& name,
                                        std::span<const double> values) {
    start().set_point_values(points, name, values);
}
std::vector<double> PiecesSimulation::trace(const std::string& points, const std::string& name) {
    return start().trace(points, name);
}

rt::ElementType PiecesSimulation::type_for(const std::string& field, std::int64_t values) const {
    const rt::LaunchPlan& plan = code_->pieces.front()->plan;
    const int index = find_named(plan.fields, field, "field", plan.name);
    const Extent own = plan.fields[static_cast<std::size_t>(index)].grid.extent(extent);
    const std::int64_t cells = own.cells();
    if (values != cells)
        refuse(fmt::format("field '{}' has {} = {} values, but the array holds {}", field,
                           rt::extent_text(plan.rank, own), cells, values));
    return plan.fields[static_cast<std::size_t>(index)].type;
}

template <class Value>
void PiecesSimulation::write_values(const std::string& field, int level, std::span<const Value> values) {
    const auto count = static_cast<std::int64_t>(values.size());
    const rt::ElementType type = type_for(field, count);
    const std::int64_t bytes = count * rt::size_of(type);
    if (type == kElementType<Value>) return start().upload_elements(field, level, values.data(), bytes);
    std::vector<char> elements(static_cast<std::size_t>(bytes));
    rt::encode(values.data(), count, type, elements.data());
    start().upload_elements(field, level, elements.data(), bytes);
}

template <class Value>
void PiecesSimulation::read_values(const std::string& field, int level, std::span<Value> values) {
    const auto count = static_cast<std::int64_t>(values.size());
    const rt::ElementType type = type_for(field, count);
    const std::int64_t bytes = count * rt::size_of(type);
    if (type == kElementType<Value>) return start().download_elements(field, level, values.data(), bytes);
    std::vector<char> elements(static_cast<std::size_t>(bytes));
    start().download_elements(field, level, elements.data(), bytes);
    rt::decode(elements.data(), count, type, values.data());
}

void PiecesSimulation::write(const std::string& field, int level, std::span<const float> values) {
    write_values(field, level, values);
}
void PiecesSimulation::write(const std::string& field, int level, std::span<const double> values) {
    write_values(field, level, values);
}
void PiecesSimulation::read(const std::string& field, int level, std::span<float> values) {
    read_values(field, level, values);
}
void PiecesSimulation::read(const std::string& field, int level, std::span<double> values) {
    read_values(field, level, values);
}
void PiecesSimulation::write_elements(const std::string& field, int level, const void* elements,
                                      std::int64_t bytes) {
    start().upload_elements(field, level, elements, bytes);
}
void PiecesSimulation::read_elements(const std::string& field, int level, void* elements,
                                     std::int64_t bytes) {
    start().download_elements(field, level, elements, bytes);
}

void PiecesSimulation::write_view(const std::string& field, int /*level*/, const View& /*cells*/) {
    refuse_on_several(fmt::format("'{}' can be written from memory of one device", field));
}
void PiecesSimulation::read_view(const std::string& field, int /*level*/, const View& /*cells*/) {
    refuse_on_several(fmt::format("'{}' can be read into memory of one device", field));
}

void PiecesSimulation::write_box(const std::string& field, int level, const rt::Box& box,
                                 const void* elements) {
    start().upload_box(field, level, box, elements);
}
void PiecesSimulation::read_box(const std::string& field, int level, const rt::Box& box, void* elements) {
    start().download_box(field, level, box, elements);
}
void PiecesSimulation::continue_from(const rt::StepsBefore& before) {
    start().continue_from(before);
}

// Pieces see what they have reduced together, and no session sees that of all.
bool PiecesSimulation::holds(const ConditionState& condition) {
    rt::Pieces& running = start();
    const ProgramInfo& info = source->info();
    std::vector<double> values;
    for (const ParamInfo& param : info.params)
        values.push_back(get(param.name));
    const std::size_t first = values.size();
    values.resize(first + info.reductions.size());
    for (const rt::HostScalar::Step& step : condition.holds.steps) {
        const auto index = static_cast<std::size_t>(step.index);
        if (step.op == rt::HostScalar::Op::param && index >= first)
            values[index] = running.reduction(info.reductions[index - first]);
    }
    return rt::evaluate(condition.holds, values, extent, static_cast<double>(steps_done())) != 0;
}

Simulation::Stepped PiecesSimulation::step_until(const ConditionState& condition, std::int64_t at_most,
                                                 std::int64_t every) {
    Simulation::Stepped result;
    while (result.steps < at_most && !result.holds) {
        const std::int64_t count = std::min(every, at_most - result.steps);
        start().step(count);
        result.steps += count;
        result.holds = holds(condition);
    }
    return result;
}

void PiecesSimulation::step(std::int64_t count) {
    check_steps(count, steps_done());
    start().step(count);
}

double PiecesSimulation::reduce(const std::string& reduction) {
    return start().reduction(reduction);
}

std::vector<rt::RepeatCounts> PiecesSimulation::repeat_counts() {
    return start().repeat_counts();
}

}  // namespace halocline::detail
