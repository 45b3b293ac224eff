#include "runtime/core/session_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "runtime/core/element.h"
#include "runtime/core/plan_check.h"
#include "runtime/core/text.h"

namespace halo::rt {

namespace {

constexpr std::int64_t kRecordedLaunches =
    64;  // enough that starting a recording costs nothing against running it
// With fewer, launches cost the host no more than starting a recording does.
constexpr std::int64_t kLeastRecordedLaunches = 8;

// What a poisoned array is filled with: all bits set is a NaN of each real type. Integers know none: theirs
// is a number that stands out; a boolean has but two values.
int poison_byte(ElementType type) {
    if (is_real(type)) return 0xff;
    return type == ElementType::boolean ? 1 : 0xa5;
}

std::string levels_text(const LaunchPlan& plan) {
    std::string text;
    for (const FieldPlan& field : plan.fields) {
        const int levels = level_count(field);
        text += fmt::format("{}{} of '{}' ({})", text.empty() ? "" : ", ",
                            levels == 1 ? "1 level" : fmt::format("{} levels", levels), field.name,
                            name_of(field.type));
    }
    return text;
}

}  // namespace

Session::State::State(LaunchPlan the_plan, const std::array<std::int64_t, kMaxRank>& extent,
                      Device& the_device, std::vector<std::unique_ptr<Module>> the_modules,
                      const SessionOptions& the_options)
    : plan(std::move(the_plan)), options(the_options), device(&the_device), modules(std::move(the_modules)) {
    check_plan(plan);
    if (options.geometry) {
        geometry = *options.geometry;
        check_geometry();
    } else {
        geometry = make_geometry(plan.rank, extent, plan.halo, device->row_layout());
    }
    check_fixed_grid();
    for (const ParamPlan& param : plan.params)
        params.push_back(param.default_value);
    for (const FieldPlan& field : plan.fields)
        cycle = std::lcm(cycle, std::int64_t{level_count(field)});
    const auto launches_per_cycle = static_cast<std::int64_t>(plan.kernels.size()) * cycle;
    recorded_steps =
        cycle * std::max<std::int64_t>(1, kRecordedLaunches / std::max<std::int64_t>(launches_per_cycle, 1));
    changing = changes_with_step();
    check_reaches();
    tables.resize(plan.tables.size());
    allocate_points();
    reduced.resize(plan.reductions.size());
    latest.resize(plan.reductions.size());
    find_kernels();
    check_memory();
    check_interleaved();
    allocate_fields();
    allocate_partials();
    allocate_coefs();
    find_fillers();
    if (plan.time_block && options.time_block_code.valid()) {
        late.state = LateBlock::State::awaited;
    } else {
        find_time_block();
    }
}

Kernel* Session::State::find_kernel(const KernelPlan& kernel_plan) {
    for (const auto& module : modules)
        if (Kernel* found = module->find_kernel(kernel_plan); found != nullptr) return found;
    throw Error(ErrorCode::bad_argument,
                fmt::format("kernel '{}' of the launch plan is not in the compiled code", kernel_plan.name));
}

void Session::State::find_kernels() {
    for (const KernelPlan& kernel_plan : plan.kernels) {
        kernels.push_back(find_kernel(kernel_plan));
        std::array<std::int64_t, 3> count = domain_extent(kernel_plan.domain, geometry);
        for (int axis = 0; axis < 3; ++axis)
            count[axis] = (count[axis] + kernel_plan.tile[axis] - 1) / kernel_plan.tile[axis];
        blocks.push_back(count);
    }
}

std::int64_t Session::State::block_count(int kernel) const {
    return blocks[kernel][0] * blocks[kernel][1] * blocks[kernel][2];
}

std::int64_t Session::State::array_bytes() const {
    std::int64_t bytes = 0;
    for (const FieldPlan& field : plan.fields)
        bytes += level_count(field) * geometry.elements * size_of(field.type);
    return bytes;
}

void Session::State::check_memory() const {
    const MemoryInfo memory = device->memory();
    if (memory.total_bytes == 0) return;
    double needed = 0;  // in double: the sum over fields may pass 63 bits
    for (const FieldPlan& field : plan.fields) {
        if (is_external(field)) continue;
        needed += static_cast<double>(level_count(field)) * static_cast<double>(geometry.elements) *
                  static_cast<double>(size_of(field.type));
    }
    for (const ReductionPlan& reduction : plan.reductions)
        needed += 8.0 * static_cast<double>(block_count(reduction.kernel));
    if (needed <= static_cast<double>(memory.free_bytes)) return;
    constexpr double kMost = 9e18;
    throw Error(
        ErrorCode::out_of_memory,
        fmt::format("'{}' on {} cells needs {} for {}, but {} of {} are free on {}; use a smaller grid",
                    plan.name, extent_text(plan.rank, geometry.extent),
                    bytes_text(static_cast<std::int64_t>(std::min(needed, kMost))), levels_text(plan),
                    bytes_text(memory.free_bytes), bytes_text(memory.total_bytes), device->description()));
}

// Kernels count the elements of a row, and of the whole array along one axis, in 32 bits.
void Session::State::check_interleaved() const {
    constexpr std::int64_t kMost = 2147483647;
    for (const FieldPlan& field : plan.fields) {
        if (field.interleave == 1 || geometry.pitch * field.interleave <= kMost) continue;
        throw Error(ErrorCode::bad_argument,
                    fmt::format("a row of {} cells with {} components side by side ('{}' and others) is too "
                                "long to index; use a smaller grid or leave out `layout aos`",
                                geometry.extent[0], field.interleave, field.name));
    }
}

std::int64_t Session::State::level_bytes(const FieldPlan& field) const {
    return geometry.elements * field.interleave * size_of(field.type);
}

void Session::State::allocate_fields() {
    for (const FieldPlan& field : plan.fields) {
        FieldState state;
        const auto external = options.arrays.find(field.name);
        if (external != options.arrays.end()) check_bindable(field, external->second);
        const std::int64_t bytes = level_bytes(field);
        for (int slot = 0; slot < level_count(field); ++slot) {
            Level level;
            level.images_due = true;
            if (external != options.arrays.end()) {
                // below
            } else if (field.component == 0) {
                state.memory.emplace_back(*device, bytes);
                level.array = state.memory.back().address();
                device->set_bytes(level.array, options.poison ? poison_byte(field.type) : 0, bytes);
            } else {
                level.array = fields[fields.size() - static_cast<std::size_t>(field.component)]
                                  .slots[static_cast<std::size_t>(slot)]
                                  .array;
            }
            state.slots.push_back(level);
        }
        state.images = make_halo_passes(field, geometry, {}, HaloPart::images);
        fields.push_back(std::move(state));
        if (external != options.arrays.end()) {
            bind_levels(static_cast<int>(fields.size()) - 1, external->second);
            continue;
        }
        // Cells that no statement has given a value are 0 in an integer field; past them poison tells.
        if (!options.poison || is_real(field.type)) continue;
        const std::vector<char> zeros(static_cast<std::size_t>(cell_count() * size_of(field.type)));
        for (const Level& level : fields.back().slots)
            upload_cells(static_cast<int>(fields.size()) - 1, level, zeros.data());
    }
}

void Session::State::allocate_partials() {
    for (const ReductionPlan& reduction : plan.reductions)
        partials.emplace_back(*device, 8 * block_count(reduction.kernel));
}

void Session::State::allocate_coefs() {
    std::vector<bool> by_pointer(plan.coefs.size(), false);
    for (const KernelPlan& kernel : plan.kernels)
        for (const Argument& argument : kernel.arguments)
            if (argument.kind == Argument::Kind::coefs) by_pointer[argument.index] = true;
    for (std::size_t i = 0; i < plan.coefs.size(); ++i) {
        const CoefPlan& coef = plan.coefs[i];
        coefs.push_back(coef.defaults);
        coef_arrays.emplace_back();
        if (by_pointer[i])
            coef_arrays.back() = DeviceMemory(*device, element_count(coef) * size_of(coef.type));
        send_coef(static_cast<int>(i));
    }
}

void Session::State::send_coef(int index) {
    const CoefPlan& coef = plan.coefs[index];
    const std::vector<double>& values = coefs[index];
    const std::vector<float> narrow(values.begin(), values.end());
    const void* data =
        coef.type == ElementType::f32 ? static_cast<const void*>(narrow.data()) : values.data();
    const std::int64_t bytes = static_cast<std::int64_t>(values.size()) * size_of(coef.type);
    if (coef_arrays[index].address() != nullptr)
        device->copy_to_device(coef_arrays[index].address(), data, bytes);
    if (coef.symbol.empty()) return;
    for (const auto& module : modules)
        module->set_constant(coef.symbol, data, bytes);
}

std::vector<double> Session::State::param_values() const {
    std::vector<double> values;
    for (std::size_t i = 0; i < params.size(); ++i) {
        if (!params[i])
            throw Error(ErrorCode::bad_argument,
                        fmt::format("parameter '{}' of '{}' has no default and was not given a value",
                                    plan.params[i].name, plan.name));
        values.push_back(*params[i]);
    }
    return values;
}

// In `phase`, counted in steps: for a state, between steps and within one; for others within a step the phase
// is the next one, as their levels move on before they are written.
Level& Session::State::level(int field, int time, std::int64_t phase) {
    auto& slots = fields[field].slots;
    const std::int64_t age = latest_time(plan.fields[field]) - time;
    return slots[modulo(age - phase, static_cast<std::int64_t>(slots.size()))];
}

void* Session::State::first_cell(int field, const Level& level) const {
    const FieldPlan& known = plan.fields[field];
    return static_cast<char*>(level.array) + geometry.origin * known.interleave * size_of(known.type);
}

PreparedLaunch::Value Session::State::scalar_value(ElementType type, double number) {
    PreparedLaunch::Value value{};
    encode(number, type, &value);
    return value;
}

PreparedLaunch::Value Session::State::argument_value(const Argument& argument, std::int64_t phase,
                                                     const std::vector<double>& values) {
    PreparedLaunch::Value value{};
    switch (argument.kind) {
        case Argument::Kind::field: {
            const FieldPlan& field = plan.fields[argument.field];
            const std::int64_t shift = field.role == Role::state ? 0 : 1;
            value.address = first_cell(argument.field, level(argument.field, argument.time, phase + shift));
            break;
        }
        case Argument::Kind::scalar:
            if (rt::changes_with_step(argument.scalar)) break;  // update() does those
            return scalar_value(argument.type, rt::evaluate(argument.scalar, values, geometry.extent));
        case Argument::Kind::extent:
            value.i32 = static_cast<std::int32_t>(geometry.extent[argument.index]);
            break;
        case Argument::Kind::pitch:
            value.i32 = static_cast<std::int32_t>(geometry.pitch);
            break;
        case Argument::Kind::slice:
            value.i64 = geometry.slice;
            break;
        case Argument::Kind::partials:
            value.address = partials[argument.index].address();
            break;
        case Argument::Kind::step_partials:
            break;  // launch_block() says them
        case Argument::Kind::coefs:
            value.address = coef_arrays[argument.index].address();
            break;
        case Argument::Kind::table:
            value.address = tables[argument.index].memory.address();
            break;
        case Argument::Kind::rows:
            value.i32 = static_cast<std::int32_t>(tables[argument.index].rows);
            break;
        case Argument::Kind::points:
        case Argument::Kind::count:
            return point_argument(argument, steps_done);
        case Argument::Kind::exchange:
            return exchange_value(argument.index, argument.part);
        case Argument::Kind::steps:
        case Argument::Kind::sent:
            break;  // step_resident() says them at each launch
        case Argument::Kind::planes:
            break;  // launch_planes() does
        case Argument::Kind::neighbour:
            value.address = neighbour_cell(argument, phase);
            break;
    }
    return value;
}

PreparedLaunch Session::State::prepare_launch(const KernelPlan& kernel_plan, std::int64_t phase,
                                              const std::vector<double>& values) {
    PreparedLaunch launch;
    launch.values.reserve(kernel_plan.arguments.size());
    for (const Argument& argument : kernel_plan.arguments) {
        if (is_trace(argument) ||
            (argument.kind == Argument::Kind::scalar && rt::changes_with_step(argument.scalar)))
            launch.changing.push_back(static_cast<int>(launch.values.size()));
        launch.values.push_back(argument_value(argument, phase, values));
    }
    for (auto& value : launch.values)
        launch.pointers.push_back(&value);
    for (const auto& written : kernel_plan.refresh_halos) {
        if (fields[written.field].images.empty()) continue;
        const std::int64_t shift = plan.fields[written.field].role == Role::state ? 0 : 1;
        launch.refresh.push_back({written.field, level(written.field, written.time, phase + shift).array});
    }
    return launch;
}

// Computes all scalars anew and sets the constants past fixed faces in every level, also in those that
// kernels write later: kernels leave them alone.
void Session::State::prepare() {
    if (columns_due && !scalars_due) compute_columns();
    if (!scalars_due) {
        if (launches_due) prepare_launches(param_values());
        return;
    }
    check_tables();
    const std::vector<double> values = param_values();
    place_points(values);
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (!fields[i].fillers.empty()) continue;
        const auto fixed = make_halo_passes(plan.fields[i], geometry, values, HaloPart::fixed);
        for (Level& level : fields[i].slots)
            device->run_halo_passes(fixed, plan.fields[i].type, level.array);
    }
    prepare_launches(values);
    refill_formulas();
    scalars_due = false;
    compute_columns();
}

void Session::State::prepare_launches(const std::vector<double>& values) {
    recording.reset();
    watched_recording.reset();
    block_recording.reset();
    watched_block_recording.reset();
    launches.clear();
    for (std::int64_t phase = 0; phase < cycle; ++phase) {
        launches.emplace_back();
        for (const KernelPlan& kernel : plan.kernels)
            launches.back().push_back(prepare_launch(kernel, phase, values));
    }
    prepare_blocks(values);
    launches_due = false;
}

bool Session::State::changes_with_step() const {
    const auto changes = [this](const Argument& argument) {
        return is_trace(argument) ||
               (argument.kind == Argument::Kind::scalar && rt::changes_with_step(argument.scalar));
    };
    return std::any_of(plan.kernels.begin(), plan.kernels.end(), [&](const KernelPlan& kernel) {
        return std::any_of(kernel.arguments.begin(), kernel.arguments.end(), changes);
    });
}

// Launches copy their arguments, so the values may change while earlier launches still wait for their turn.
void Session::State::update(PreparedLaunch& launch, const KernelPlan& kernel, std::int64_t step,
                            const std::vector<double>& values) {
    // What lies past the faces of t+1 has the step of t+1.
    const std::int64_t ahead = kernel.fills_halo ? kernel.fills_halo->time : 0;
    for (int index : launch.changing) {
        const Argument& argument = kernel.arguments[index];
        if (argument.kind == Argument::Kind::points) {
            launch.values[index] = point_argument(argument, step);
            continue;
        }
        const double number =
            rt::evaluate(argument.scalar, values, geometry.extent, static_cast<double>(step + ahead),
                         latest_reductions(argument.scalar));
        launch.values[index] = scalar_value(argument.type, number);
    }
}

// `step` counts the steps done before, or a recording's own from its start, at phase 0.
void Session::State::run_step(std::int64_t step, std::int64_t phase) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
        // An output with a past moves on before it is written; cells that this step leaves alone keep their
        // value.
        const FieldPlan& field = plan.fields[i];
        if (field.role == Role::state || field.history == 0 || field.component > 0) continue;
        const int index = static_cast<int>(i);
        const Level& next = level(index, 0, phase + 1);
        device->copy_on_device(next.array, level(index, 0, phase).array, level_bytes(field));
    }
    const std::vector<double> values = changing ? param_values() : std::vector<double>();
    auto& step_launches = launches[static_cast<std::size_t>(modulo(phase, cycle))];
    for (std::size_t kernel = 0; kernel < step_launches.size(); ++kernel) {
        if (!runs_in_step(plan.kernels[kernel])) continue;
        if (plan.kernels[kernel].domain.kind == Domain::Kind::rows) continue;  // compute_columns() runs it
        PreparedLaunch& launch = step_launches[kernel];
        if (!launch.changing.empty()) update(launch, plan.kernels[kernel], step, values);
        if (block_count(static_cast<int>(kernel)) > 0)  // a region may have no cell of this grid
            device->launch(*kernels[kernel], blocks[kernel], launch.pointers.data());
        for (std::size_t i = 0; changing && i < plan.reductions.size(); ++i) {
            if (plan.reductions[i].kernel != static_cast<int>(kernel)) continue;
            reduced[i] = true;
            latest[i].reset();
        }
        for (const auto& refresh : launch.refresh)
            device->run_halo_passes(fields[refresh.field].images, plan.fields[refresh.field].type,
                                    refresh.array);
    }
}

std::unique_ptr<Recording> Session::State::record(std::int64_t count,
                                                  const std::function<void(std::int64_t number)>& each) {
    device->begin_recording();
    try {
        for (std::int64_t number = 0; number < count; ++number)
            each(number);
    } catch (...) {
        // The device must not go on recording; what went wrong first is what counts.
        try {
            device->end_recording();
        } catch (const Error&) {
        }
        throw;
    }
    return device->end_recording();
}

void Session::State::step(std::int64_t count, bool with_results) {
    if (count < 0) throw Error(ErrorCode::bad_argument, fmt::format("{} steps cannot be done", count));
    if (count == 0) return;
    prepare();
    look_for_late_block();
    count = step_in_blocks(count, with_results);
    if (count == 0) return;
    fill_due_halos();
    step_singly(count);
}

void Session::State::expect_steps(std::int64_t at_a_time) {
    // Wherever in a cycle they begin, some may have to be done until the next phase 0.
    const std::int64_t usable = at_a_time - (cycle - 1);
    if (usable * static_cast<std::int64_t>(plan.kernels.size()) < kLeastRecordedLaunches) return;
    const std::int64_t parts = (usable + recorded_steps - 1) / recorded_steps;
    const std::int64_t steps = usable / parts / cycle * cycle;
    if (steps == 0 || steps == recorded_steps) return;
    recorded_steps = steps;
    recording.reset();
    watched_recording.reset();
}

void Session::State::step_singly(std::int64_t count) {
    if (count > 0) block_row = -1;
    const bool replayable = options.record && device->can_record() && !plan.kernels.empty() && !changing;
    while (count > 0) {
        if (replayable && modulo(phase(), cycle) == 0 && count >= recorded_steps) {
            if (recording == nullptr)
                recording = record(recorded_steps, [&](std::int64_t each) { run_step(each, each); });
            device->replay(*recording);
            steps_done += recorded_steps;
            count -= recorded_steps;
        } else if (const std::int64_t together = step_time_tiles(count); together > 0) {
            steps_done += together;
            count -= together;
        } else {
            run_step(steps_done, phase());
            ++steps_done;
            --count;
        }
    }
}

}  // namespace halo::rt
