#include "compiler/lower/shared/context.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "compiler/ir/noise.h"
#include "compiler/lower/shared/host_scalar.h"
#include "compiler/lower/shared/table_sums.h"
#include "runtime/core/points.h"

namespace halo::lower {
namespace {

using kernel::Type;
enum Order { kInputs, kOutputs, kExtents, kStrides, kScalars, kCoefs, kPartials, kRepeats };

}  // namespace

Context::Context(const StageView& stage, const ProgramLayout& layout, const std::vector<std::string>& roles)
    : stage_(&stage), layout_(&layout), names_(&layout.names) {
    // The module's names come first, then the roles', then the spec's.
    for (const char* role : {"i", "j", "k", "x", "y", "z", "row", "plane", "pitch", "slice", "at", "slot",
                             "halo_row", "halo_column"})
        names_.take(role);
    if (rank() > 3)
        for (const char* role : {"l", "w", "volume", "plane_blocks"})
            names_.take(role);
    for (const std::string& role : roles)
        names_.take(role);
    for (const ir::Axis& axis : program().axes)
        words_["n" + axis.name] = "";
    // Levels get their names in a fixed order, so that these do not depend on what the stage reads.
    for (const Read& read : stage.reads)
        array(read.level);
    for (const Level& level : stage.elsewhere)
        array(level);
    for (const Write& write : stage.writes)
        array(write.level);
}

std::string Context::declare(int order, kernel::Parameter parameter, rt::Argument argument) {
    parameter.name = names_.take(parameter.name);
    slots_.push_back({parameter, std::move(argument), order});
    return parameter.name;
}

namespace {

std::string level_name(const std::string& field, int time) {
    if (time > 0) return field + "_next";
    if (time == 0) return field;
    return field + (time == -1 ? "_prev" : "_prev" + std::to_string(-time));
}

}  // namespace

// Interleaved components have one array, that of the first.
std::string Context::array(const Level& level) {
    const ir::Group* group = ir::interleave(program(), level.field).group;
    const Level owner{group == nullptr ? level.field : group->fields.front(), level.time};
    const auto known = arrays_.find(owner);
    if (known != arrays_.end()) return known->second;
    const auto lies_there = [&](const Level& other) {
        return other == level || (group != nullptr && other.time == level.time &&
                                  ir::interleave(program(), other.field).group == group);
    };
    const bool written = std::any_of(stage_->writes.begin(), stage_->writes.end(),
                                     [&](const Write& write) { return lies_there(write.level); });
    kernel::Parameter parameter;
    parameter.type = storage_type(stage_->field(level).storage);
    parameter.kind = written ? kernel::Parameter::Kind::output : kernel::Parameter::Kind::input;
    parameter.name = level_name(group == nullptr ? stage_->field(level).name : group->name, level.time);
    rt::Argument argument;
    argument.kind = rt::Argument::Kind::field;
    argument.field = layout_->plan_field[owner.field.index];
    argument.time = level.time;
    return arrays_[owner] = declare(written ? kOutputs : kInputs, parameter, argument);
}

std::string Context::label(const Level& level) {
    const ir::Interleave place = ir::interleave(program(), level.field);
    if (place.group == nullptr) return array(level);
    return array(level) + "_" + place.group->members[static_cast<std::size_t>(place.component)];
}

kernel::Expr Context::place(const Level& level, const kernel::Expr& cell) const {
    const ir::Interleave place = ir::interleave(program(), level.field);
    return cell * place.count() + place.component;
}

kernel::Expr Context::element(const Level& level, const kernel::Expr& cell) {
    return kernel::element(array(level), {place(level, cell)}, storage_type(stage_->field(level).storage));
}

kernel::Expr Context::address(const Level& level, const kernel::Expr& cell) {
    return kernel::address_of(array(level), place(level, cell), storage_type(stage_->field(level).storage));
}

kernel::Expr Context::element_elsewhere(const Level& level, const CellIndex& cell) {
    const rt::FieldGrid& grid = stage_->field(level).grid;
    const auto halo = grid.halo(layout_->halo);
    kernel::Expr row = 1;  // elements from one row of the field to the next
    if (rank() > 1 && grid.has(0)) row = pitch_of_grid(grid.factor);
    kernel::Expr offset;
    const auto add = [&](int axis, const kernel::Expr& apart) {
        const kernel::Expr& index = cell[static_cast<std::size_t>(axis)];
        const bool is_far = kernel::int_value(apart) != 1;
        const kernel::Expr part = is_far ? kernel::convert(index, Type::i64) * apart : index;
        offset = offset.has_value() ? offset + part : part;
    };
    const auto cells_of = [&](int axis) { return fine_extent(axis) + (halo[axis][0] + halo[axis][1]); };
    kernel::Expr plane = row;
    if (rank() > 2 && grid.has(1)) plane = grid.has(0) ? slice_of_grid(grid.factor) : cells_of(1);
    if (rank() > 3 && grid.has(3)) {
        kernel::Expr apart = plane;
        if (grid.has(2)) {
            const bool has_plane = kernel::int_value(plane) != 1;
            apart = grid.has(0) && grid.has(1) ? volume() : has_plane ? plane * cells_of(2) : cells_of(2);
        }
        add(3, apart);
    }
    if (rank() > 2 && grid.has(2)) add(2, plane);
    if (rank() > 1 && grid.has(1)) add(1, row);
    if (grid.has(0)) offset = offset.has_value() ? offset + cell[0] : cell[0];
    if (!offset.has_value()) offset = 0;  // of a field without axes there is one element
    return element(level, offset);
}

kernel::Expr Context::extent(int axis) {
    std::string& name = words_["n" + program().axes[axis].name];
    if (name.empty()) {
        rt::Argument argument;
        argument.kind = rt::Argument::Kind::extent;
        argument.index = axis;
        argument.factor = stage_->factor;
        name = declare(kExtents + 0, {Type::i32, "n" + program().axes[axis].name}, argument);
    }
    return kernel::variable(name, Type::i32);
}

kernel::Expr Context::pitch() {
    return stride("pitch", Type::i32, rt::Argument::Kind::pitch);
}

kernel::Expr Context::slice() {
    return stride("slice", Type::i64, rt::Argument::Kind::slice);
}

kernel::Expr Context::volume() {
    return stride("volume", Type::i64, rt::Argument::Kind::volume);
}

kernel::Expr Context::stride(int axis) {
    switch (axis) {
        case 0:
            return 1;
        case 1:
            return pitch();
        case 2:
            return slice();
        default:
            return volume();
    }
}

kernel::Expr Context::pitch_of_grid(int factor) {
    if (factor == stage_->factor) return pitch();
    return of_grid(factor, "pitch", Type::i32, rt::Argument::Kind::pitch, 0);
}

kernel::Expr Context::slice_of_grid(int factor) {
    if (factor == stage_->factor) return slice();
    return of_grid(factor, "slice", Type::i64, rt::Argument::Kind::slice, 0);
}

// The cells of the program's own grid, by which fields over fewer axes lie.
kernel::Expr Context::fine_extent(int axis) {
    if (stage_->factor == 1) return extent(axis);
    return of_grid(1, "n" + program().axes[axis].name, Type::i32, rt::Argument::Kind::extent, axis);
}

kernel::Expr Context::of_grid(int factor, const std::string& what, Type type, rt::Argument::Kind kind,
                              int axis) {
    const std::string wanted = fmt::format("{}_{}", what, factor);
    std::string& name = words_["of grid " + wanted];
    if (name.empty()) {
        rt::Argument argument;
        argument.kind = kind;
        argument.index = axis;
        argument.factor = factor;
        name = declare(kind == rt::Argument::Kind::extent ? kExtents : kStrides, {type, wanted}, argument);
    }
    return kernel::variable(name, type);
}

kernel::Expr Context::stride(const std::string& name, Type type, rt::Argument::Kind kind) {
    std::string& word = words_[name];
    if (word.empty()) {
        Slot slot;
        slot.parameter.type = type;
        slot.parameter.name = name;
        slot.argument.kind = kind;
        slot.argument.factor = stage_->factor;
        slot.order = kStrides;
        slots_.push_back(std::move(slot));
        word = name;
    }
    return kernel::variable(name, type);
}

kernel::Expr Context::scalar(ir::ExprId uniform, Type type) {
    if (const auto* constant = std::get_if<ir::Constant>(&program()[uniform].node)) {
        const Rational& value = constant->value;
        if (kernel::is_integer(type)) return kernel::int_literal(value.as_int64().value_or(0), type);
        return kernel::real_literal(type == Type::f32 ? double{value.to_float()} : value.to_double(), type);
    }
    if (steps_ > 1 && ir::changes_with_step(program(), uniform)) return step_scalar(uniform, type);
    std::string& name = scalars_[{uniform.index, type}];
    if (name.empty())
        name = declare_scalar(host_scalar_name(program(), uniform), host_scalar(program(), uniform), type);
    return kernel::variable(name, type);
}

std::string Context::declare_scalar(const std::string& wanted, rt::HostScalar scalar, Type type) {
    rt::Argument argument;
    argument.kind = rt::Argument::Kind::scalar;
    argument.scalar = std::move(scalar);
    argument.type = element_type(type);
    return declare(kScalars, {type, wanted}, std::move(argument));
}

kernel::Expr Context::host_value(const std::string& name, rt::HostScalar::Step value, Type type) {
    std::string& known = words_["host " + name];
    if (known.empty()) known = declare_scalar(name, {{value}}, type);
    return kernel::variable(known, type);
}

kernel::Expr Context::param(ir::ParamId param, Type type) {
    return host_value(program()[param].name, {rt::HostScalar::Op::param, 0, static_cast<int>(param.index)},
                      type);
}

kernel::Expr Context::step() {
    const kernel::Expr first = host_value("step", {rt::HostScalar::Op::step, 0, 0}, Type::i64);
    return steps_ > 1 ? first + kernel::convert(step_in_launch_, Type::i64) : first;
}

kernel::Expr Context::seed() {
    if (const std::optional<ir::ParamId> param = ir::seed_param(program()))
        return host_value(ir::kSeedName, {rt::HostScalar::Op::param, 0, static_cast<int>(param->index)},
                          Type::i64);
    return kernel::int_literal(static_cast<std::int64_t>(program().noise_seed), Type::i64);
}

std::string Context::partials(int reduction) {
    return partials(reduction, rt::Argument::Kind::partials);
}

std::string Context::step_partials(int reduction) {
    return partials(reduction, rt::Argument::Kind::step_partials);
}

std::string Context::partials(int reduction, rt::Argument::Kind kind) {
    std::string& name = words_["partials " + std::to_string(reduction)];
    if (name.empty()) {
        rt::Argument argument;
        argument.kind = kind;
        argument.index = reduction;
        name = declare(
            kPartials,
            {Type::f64, stage_->reductions[reduction]->name + "_partials", kernel::Parameter::Kind::output},
            argument);
    }
    return name;
}

kernel::Expr Context::partial_count(int reduction) {
    std::string& name = words_["count of partials " + std::to_string(reduction)];
    if (name.empty()) {
        rt::Argument argument;
        argument.kind = rt::Argument::Kind::partial_count;
        argument.index = reduction;
        name = declare(kPartials, {Type::i32, "n_" + stage_->reductions[reduction]->name}, argument);
    }
    return kernel::variable(name, Type::i32);
}

std::string Context::repeat_words(rt::RepeatWord from, const std::string& wanted, bool writable) {
    std::string& name = words_["words of the repeat"];
    if (name.empty()) {
        rt::Argument argument;
        argument.kind = rt::Argument::Kind::iterations;
        argument.index = kUnknownRepeat;
        argument.part = static_cast<int>(from);
        const auto kind = writable ? kernel::Parameter::Kind::output : kernel::Parameter::Kind::input;
        name = declare(kRepeats, {Type::i64, wanted, kind}, argument);
    }
    return name;
}

void Context::note(SourceRange where, kernel::Block& body) const {
    const std::string text = layout_->notes ? layout_->notes(where) : "";
    if (text.empty()) return;
    if (!body.empty()) {
        const auto* last = std::get_if<kernel::Comment>(&body.back().kind);
        if (last != nullptr && last->text == text) return;
    }
    body.push_back(kernel::Comment{text});
}

std::string Context::local(const std::string& wanted) {
    std::string& name = locals_[wanted];
    if (name.empty()) name = names_.take(wanted);
    return name;
}

std::string coef_symbol(const ir::Program& program, ir::CoefId coef) {
    // One namespace for the module: the program's name keeps it apart from kernels and their parameters.
    Names names;
    std::string symbol;
    for (std::uint32_t c = 0; c <= coef.index; ++c)
        symbol = names.take(program.name + "_" + program.coefs[c].name);
    return symbol;
}

kernel::Expr Context::coef(const ir::CoefElement& element, bool as_parameter) {
    const ir::Coef& coef = program()[element.coef];
    const Type type = kernel_type(coef.type);
    std::string name = coef_symbol(program(), element.coef);
    if (as_parameter) {
        std::string& declared = words_["coef " + coef.name];
        if (declared.empty()) {
            rt::Argument argument;
            argument.kind = rt::Argument::Kind::coefs;
            argument.index = static_cast<int>(element.coef.index);
            declared = declare(kCoefs, {type, coef.name, kernel::Parameter::Kind::input}, argument);
        }
        name = declared;
    }
    return kernel::element(name, {element.element}, type);
}

std::string Context::table(ir::TableId table, bool writable) {
    const std::string& wanted = program()[table].name;
    std::string& name = words_["table " + wanted];
    if (name.empty()) {
        rt::Argument argument;
        argument.kind = rt::Argument::Kind::table;
        argument.index = static_cast<int>(table.index);
        const auto kind = writable ? kernel::Parameter::Kind::output : kernel::Parameter::Kind::input;
        name = declare(writable ? kOutputs : kInputs, {table_shape(program()[table]).type, wanted, kind},
                       argument);
    }
    return name;
}

kernel::Expr Context::rows(ir::TableId table) {
    const std::string& wanted = program()[table].name;
    std::string& name = words_["rows of " + wanted];
    if (name.empty()) {
        rt::Argument argument;
        argument.kind = rt::Argument::Kind::rows;
        argument.index = static_cast<int>(table.index);
        name = declare(kStrides, {Type::i32, "n_" + wanted}, argument);
    }
    return kernel::variable(name, Type::i32);
}

std::string Context::point_array(ir::PointsId points, int part, const std::string& word, Type type,
                                 bool writable) {
    const std::string wanted = program()[points].name + "_" + word;
    std::string& name = words_[fmt::format("points {} {}", points.index, part)];
    if (name.empty()) {
        rt::Argument argument;
        argument.kind = rt::Argument::Kind::points;
        argument.index = static_cast<int>(points.index);
        argument.part = part;
        const auto kind = writable ? kernel::Parameter::Kind::output : kernel::Parameter::Kind::input;
        name = declare(writable ? kOutputs : kInputs, {type, wanted, kind}, argument);
    }
    return name;
}

kernel::Expr Context::point_count(ir::PointsId points, int part) {
    std::string& name = words_[fmt::format("count {} {}", points.index, part)];
    if (name.empty()) {
        rt::Argument argument;
        argument.kind = rt::Argument::Kind::count;
        argument.index = static_cast<int>(points.index);
        argument.part = part;
        const std::string& own = program()[points].name;
        const bool is_cells = part == static_cast<int>(rt::PointsCount::touched);
        name = declare(kStrides, {Type::i32, is_cells ? "n_" + own + "_cells" : "n_" + own}, argument);
    }
    return kernel::variable(name, Type::i32);
}

std::string Context::exchange(int index, const std::string& wanted) {
    std::string& name = words_[fmt::format("exchange {}", index)];
    if (name.empty()) {
        rt::Argument argument;
        argument.kind = rt::Argument::Kind::exchange;
        argument.index = index;
        kernel::Parameter parameter{Type::i64, wanted, kernel::Parameter::Kind::output};
        parameter.restricted = false;
        name = declare(kPartials, parameter, argument);
    }
    return name;
}

kernel::Expr Context::exchange_half(int index, const std::string& wanted) {
    std::string& name = words_[fmt::format("half of exchange {}", index)];
    if (name.empty()) {
        rt::Argument argument;
        argument.kind = rt::Argument::Kind::exchange;
        argument.index = index;
        argument.part = 1;
        name = declare(kStrides, {Type::i64, wanted}, argument);
    }
    return kernel::variable(name, Type::i64);
}

kernel::Expr Context::launch_steps() {
    std::string& name = words_["steps of the launch"];
    if (name.empty()) {
        rt::Argument argument;
        argument.kind = rt::Argument::Kind::steps;
        name = declare(kStrides, {Type::i32, "steps"}, argument);
    }
    return kernel::variable(name, Type::i32);
}

kernel::Expr Context::planes(rt::PlanesPart part, const std::string& wanted) {
    std::string& name = words_["planes " + wanted];
    if (name.empty()) {
        rt::Argument argument;
        argument.kind = rt::Argument::Kind::planes;
        argument.part = static_cast<int>(part);
        name = declare(kStrides, {Type::i32, wanted}, argument);
    }
    return kernel::variable(name, Type::i32);
}

std::string Context::neighbour(const Level& level, int side) {
    const std::string wanted = array(level) + (side == 0 ? "_below" : "_above");
    std::string& name = words_["neighbour " + wanted];
    if (name.empty()) {
        rt::Argument argument;
        argument.kind = rt::Argument::Kind::neighbour;
        argument.field = layout_->plan_field[level.field.index];
        argument.time = level.time;
        argument.part = side;
        name = declare(kOutputs,
                       {storage_type(stage_->field(level).storage), wanted, kernel::Parameter::Kind::output},
                       argument);
    }
    return name;
}

kernel::Expr Context::steps_sent() {
    std::string& name = words_["steps sent"];
    if (name.empty()) {
        rt::Argument argument;
        argument.kind = rt::Argument::Kind::sent;
        name = declare(kStrides, {Type::i32, "steps_sent"}, argument);
    }
    return kernel::variable(name, Type::i32);
}

kernel::Expr Context::element_offset(const CellIndex& cell) {
    // The 64-bit products come first, as the offset of a row or plane may exceed 2^31 elements.
    kernel::Expr offset;
    for (int axis = rank() - 1; axis >= 0; --axis) {
        const kernel::Expr& index = cell[static_cast<std::size_t>(axis)];
        if (!index.has_value()) continue;
        const kernel::Expr part = axis == 0   ? index
                                  : axis == 1 ? kernel::convert(index, Type::i64) * pitch()
                                              : index * stride(axis);
        offset = offset.has_value() ? offset + part : part;
    }
    return offset;
}

std::vector<const Context::Slot*> Context::ordered() const {
    std::vector<const Slot*> slots;
    for (const Slot& slot : slots_)
        slots.push_back(&slot);
    const auto key = [](const Slot* slot) {
        // Extents and strides are in the order of their axes, not in that of their first use.
        const int minor = slot->argument.kind == rt::Argument::Kind::extent   ? slot->argument.index
                          : slot->argument.kind == rt::Argument::Kind::slice  ? 1
                          : slot->argument.kind == rt::Argument::Kind::volume ? 2
                                                                              : 0;
        return std::pair(slot->order, minor);
    };
    std::stable_sort(slots.begin(), slots.end(),
                     [&](const Slot* a, const Slot* b) { return key(a) < key(b); });
    return slots;
}

std::vector<kernel::Parameter> Context::parameters() const {
    std::vector<kernel::Parameter> parameters;
    for (const Slot* slot : ordered())
        parameters.push_back(slot->parameter);
    return parameters;
}

std::vector<rt::Argument> Context::arguments(const std::vector<int>& plan_reductions) const {
    std::vector<rt::Argument> arguments;
    for (const Slot* slot : ordered()) {
        arguments.push_back(slot->argument);
        if (slot->argument.kind == rt::Argument::Kind::partials ||
            slot->argument.kind == rt::Argument::Kind::step_partials ||
            slot->argument.kind == rt::Argument::Kind::partial_count) {
            arguments.back().index = plan_reductions[slot->argument.index];
        }
    }
    return arguments;
}

}  // namespace halo::lower
