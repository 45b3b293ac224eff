#include "compiler/emit/launcher_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "compiler/emit/emit.h"
#include "compiler/emit/launcher.h"
#include "compiler/kernel/part.h"
#include "compiler/support/error.h"
#include "runtime/core/plan_check.h"
#include "runtime/core/plan_repeats.h"

namespace halo::emit {

namespace {

std::string upper_case(std::string text) {
    for (char& c : text) {
        const bool valid = std::isalnum(static_cast<unsigned char>(c)) != 0;
        c = valid ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : '_';
    }
    return text;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

void check_stem(const std::string& stem) {
    const bool odd = stem.empty() || std::ranges::any_of(stem, [](char c) {
                         return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
                     });
    if (odd)
        throw UnsupportedError(
            "the file's name cannot stand in an #include; choose one without quotes and backslashes");
}

std::string level_suffix(int time) {
    if (time >= 0) return "";
    return time == -1 ? "_before" : "_before" + std::to_string(-time);
}

std::string member_suffix(int time) {
    if (time > 1) return "_next" + std::to_string(time);
    return time == 1 ? "_next" : time == 0 ? "_now" : level_suffix(time);
}

}  // namespace

namespace {

// What a caller in C gives and gets.
const char* c_type(rt::ElementType type) {
    switch (type) {
        case rt::ElementType::f32:
            return "float";
        case rt::ElementType::f64:
            return "double";
        case rt::ElementType::u8:
            return "unsigned char";
        case rt::ElementType::i32:
            return "int";
        case rt::ElementType::i64:
            return "long long";
        case rt::ElementType::boolean:
            return "bool";
        case rt::ElementType::f16:
        case rt::ElementType::bf16:
            return "unsigned short";
    }
    throw InternalError("an element type has no C type");
}

}  // namespace

LauncherModel::LauncherModel(const kernel::Program& the_kernels, const rt::LaunchPlan& the_plan,
                             const std::string& the_stem)
    : plan(the_plan),
      kernels(the_kernels),
      stem(the_stem),
      prefix(the_plan.name),
      upper(upper_case(the_plan.name)) {
    check_stem(stem);
    for (const kernel::KernelFunction& kernel : kernels.functions)
        taken_.insert(kernel.name);
    for (const kernel::ConstantArray& array : kernels.constant_arrays)
        taken_.insert(array.name);
    solver = take(prefix + "_solver");
    status = take(prefix + "_status");
    create = take(prefix + "_create");
    destroy = take(prefix + "_destroy");
    advance = take(prefix + "_advance");
    wait = take(prefix + "_wait");
    use_stream = take(prefix + "_use_stream");
    message = take(prefix + "_message");
    for (const std::string& axis : plan.axes)
        extents.push_back("n" + axis);
    for (const rt::ParamPlan& param : plan.params)
        set_param.push_back(take(prefix + "_set_" + param.name));
    for (const rt::CoefPlan& coef : plan.coefs)
        set_coef.push_back(take(prefix + "_set_" + coef.name));
    for (const rt::TablePlan& table : plan.tables)
        set_table.push_back(take(prefix + "_set_" + table.name));
    std::string first_word;  // of the component whose array it is
    for (const rt::FieldPlan& field : plan.fields) {
        FieldNames names;
        names.word = word_of(field.name);
        if (field.component == 0) first_word = names.word;
        names.type = c_type(field.type);
        const int latest = field.role == rt::Role::state ? 1 + field.spare_levels : 0;
        for (int time = latest; time >= -field.history; --time) {
            const std::string& array = field.component == 0 ? names.word : first_word;
            LevelName level{time, array + member_suffix(time), "", "", "", ""};
            const std::string word = names.word + level_suffix(time);
            const bool is_callers = !is_axis_table(static_cast<int>(fields.size()));
            if (time <= 0 && is_callers && field.role != rt::Role::intermediate) {
                level.set = take(prefix + "_set_" + word);
                level.copy_from = take(prefix + "_copy_" + word + "_from");
            }
            if (time <= 0 && is_callers) {
                level.get = take(prefix + "_get_" + word);
                level.copy_to = take(prefix + "_copy_" + word + "_to");
            }
            names.levels.push_back(level);
        }
        fields.push_back(names);
    }
    for (const rt::ReductionPlan& reduction : plan.reductions) {
        const bool is_read = reduction.ahead_of < 0 && !rt::is_hidden_reduction(reduction.name);
        get_reduction.push_back(is_read ? take(prefix + "_get_" + reduction.name) : "");
        std::string word = reduction.name;
        std::ranges::replace(word, '.', '_');
        while (std::ranges::any_of(plan.reductions, [&](const auto& other) { return word == other.name; }) &&
               word != reduction.name)
            word += "_";
        reduction_words.push_back(std::move(word));
    }
    name_points();
}

void LauncherModel::name_points() {
    std::set<std::string> members;
    const auto unique = [&](std::string member) {
        while (!members.insert(member).second)
            member += "_";
        return member;
    };
    for (const rt::PointsPlan& each : plan.points) {
        PointsNames names{unique(each.name + "_points"), take(prefix + "_place_" + each.name), {}, {}};
        for (const std::string& column : each.columns) {
            const std::string word = each.name + "_" + column;
            names.columns.push_back({unique(word + "_column"), take(prefix + "_set_" + word)});
        }
        for (const rt::PointsPlan::Trace& trace : each.traces) {
            const std::string word = each.name + "_" + trace.name;
            names.traces.push_back({unique(word + (trace.sampled ? "_sampled" : "_injected")),
                                    take(prefix + (trace.sampled ? "_get_" : "_set_") + word)});
        }
        points.push_back(std::move(names));
    }
}

std::string LauncherModel::take(const std::string& wanted) {
    std::string name = wanted;
    while (!taken_.insert(name).second)
        name += "_";
    return name;
}

std::string LauncherModel::word_of(const std::string& field) const {
    std::string word = field;
    if (const std::size_t dots = word.find(".."); dots != std::string::npos) word.erase(dots, 1);
    std::ranges::replace(word, '.', '_');
    const auto is_known = [&](const std::string& wanted) {
        return std::ranges::any_of(plan.fields,
                                   [&](const rt::FieldPlan& each) { return each.name == wanted; }) ||
               std::ranges::any_of(fields, [&](const FieldNames& each) { return each.word == wanted; });
    };
    while (word != field && is_known(word))
        word += "_";
    return word;
}

bool LauncherModel::is_axis_table(int field) const {
    return std::ranges::any_of(plan.stretched, [&](const rt::StretchedAxisPlan& axis) {
        return std::ranges::find(axis.tables, field, &rt::StretchedAxisPlan::Table::field) !=
               axis.tables.end();
    });
}

bool LauncherModel::is_spacing(int field) const {
    return std::ranges::find(plan.stretched, field, &rt::StretchedAxisPlan::field) != plan.stretched.end();
}

std::string LauncherModel::extent_list(const std::string& before, const std::string& between) const {
    std::string list;
    for (const std::string& extent : extents)
        list += (list.empty() ? "" : between) + before + extent;
    return list;
}

bool LauncherModel::is_given_by_steps(int reduction) const {
    return plan.time_block &&
           std::ranges::find(plan.time_block->reductions, reduction) != plan.time_block->reductions.end();
}

bool LauncherModel::reads_reduction(const rt::KernelPlan& kernel, int index) {
    return std::ranges::any_of(kernel.arguments, [&](const rt::Argument& argument) {
        return argument.kind == rt::Argument::Kind::scalar &&
               std::ranges::any_of(argument.scalar.steps, [&](const rt::HostScalar::Step& step) {
                   return step.op == rt::HostScalar::Op::reduction && step.index == index;
               });
    });
}

bool LauncherModel::finds_reduction(const rt::KernelPlan& kernel, int index) {
    const auto takes = [&](rt::Argument::Kind kind) {
        return std::ranges::any_of(kernel.arguments, [&](const rt::Argument& argument) {
            return argument.kind == kind && argument.index == index;
        });
    };
    const bool computes_scalars = std::ranges::any_of(kernel.arguments, [](const rt::Argument& argument) {
        return argument.kind == rt::Argument::Kind::device_scalars;
    });
    return takes(rt::Argument::Kind::partials) &&
           !(computes_scalars && takes(rt::Argument::Kind::partial_count));
}

bool LauncherModel::is_read(int reduction) const {
    return std::ranges::any_of(
        plan.kernels, [&](const rt::KernelPlan& kernel) { return reads_reduction(kernel, reduction); });
}

bool LauncherModel::computes_columns() const {
    return std::ranges::any_of(plan.kernels, [](const rt::KernelPlan& kernel) {
        return kernel.domain.kind == rt::Domain::Kind::rows;
    });
}

bool LauncherModel::has_interleaved() const {
    return most_bytes() > 0;
}

int LauncherModel::most_bytes() const {
    std::int64_t most = 0;
    for (const rt::FieldPlan& field : plan.fields)
        if (field.interleave > 1) most = std::max(most, rt::size_of(field.type));
    return static_cast<int>(most);
}

std::string LauncherModel::times_components(int field) const {
    return is_interleaved(field) ? fmt::format(" * {}", plan.fields[field].interleave) : "";
}

std::string LauncherModel::to_component(int field) const {
    const int component = plan.fields[field].component;
    return times_components(field) + (component > 0 ? fmt::format(" + {}", component) : "");
}

std::string LauncherModel::create_parameters() const {
    return is_fixed() ? "" : extent_list("long long ", ", ") + ", ";
}

int LauncherModel::coef_elements(int index) const {
    int elements = 1;
    const rt::CoefPlan& coef = plan.coefs[index];
    for (std::size_t dimension = 0; dimension < coef.low.size(); ++dimension) {
        elements *= coef.high[dimension] - coef.low[dimension] + 1;
    }
    return elements;
}

bool LauncherModel::has_halo(int field) const {
    for (int axis = 0; axis < plan.rank; ++axis) {
        for (int side = 0; side < 2; ++side) {
            const rt::BoundaryKind kind = plan.fields[field].boundary[axis][side].kind;
            const bool shows =
                kind == rt::BoundaryKind::formula ? !fillers(field).empty() : kind != rt::BoundaryKind::free;
            if (shows && plan.fields[field].halo[axis][side] > 0) return true;
        }
    }
    return false;
}

namespace {

bool reads(const rt::HostScalar& scalar, rt::HostScalar::Op op, int index) {
    return std::ranges::any_of(
        scalar.steps, [&](const rt::HostScalar::Step& step) { return step.op == op && step.index == index; });
}

bool reads_param(const rt::HostScalar& scalar, int param) {
    return reads(scalar, rt::HostScalar::Op::param, param);
}

bool fills_by(const rt::KernelPlan& kernel, rt::HostScalar::Op op, int index) {
    return kernel.fills_halo && std::ranges::any_of(kernel.arguments, [&](const rt::Argument& argument) {
               return reads(argument.scalar, op, index);
           });
}

// Of fields whose halo is kept.
template <class Test>
bool any_fixed_face(const LauncherModel& model, const Test& test) {
    for (std::size_t index = 0; index < model.plan.fields.size(); ++index) {
        if (!model.has_halo(static_cast<int>(index))) continue;
        const rt::FieldPlan& field = model.plan.fields[index];
        for (const auto& faces : field.boundary)
            for (const rt::FacePlan& face : faces)
                if (face.kind == rt::BoundaryKind::fixed && test(field.type, face)) return true;
    }
    return false;
}

}  // namespace

bool LauncherModel::halo_needs(int param) const {
    return any_fixed_face(*this, [&](rt::ElementType,
                                     const rt::FacePlan& face) { return reads_param(face.value, param); }) ||
           std::ranges::any_of(plan.kernels, [&](const rt::KernelPlan& kernel) {
               return fills_by(kernel, rt::HostScalar::Op::param, param);
           });
}

bool LauncherModel::halo_needs_series(int series) const {
    return std::ranges::any_of(plan.kernels, [&](const rt::KernelPlan& kernel) {
        return fills_by(kernel, rt::HostScalar::Op::series, series);
    });
}

bool LauncherModel::places_depend_on(int param) const {
    const auto reads = [&](const rt::HostScalar& scalar) { return reads_param(scalar, param); };
    return !plan.points.empty() &&
           (std::ranges::any_of(plan.spacing, reads) || std::ranges::any_of(plan.origin, reads));
}

// As the kernel's parameter is called.
std::string LauncherModel::exchange_member(int index) const {
    const rt::KernelPlan& kernel = plan.time_block->kernel;
    const auto& parameters = kernel::kernel_named(kernels, kernel.name).parameters;
    for (std::size_t n = 0; n < kernel.arguments.size(); ++n) {
        const rt::Argument& argument = kernel.arguments[n];
        if (argument.kind == rt::Argument::Kind::exchange && argument.index == index && argument.part == 0)
            return parameters[n].name;
    }
    return "exchange_" + std::to_string(index);
}

bool LauncherModel::has_fixed_face(rt::ElementType type) const {
    return any_fixed_face(*this, [&](rt::ElementType of, const rt::FacePlan&) { return of == type; });
}

bool LauncherModel::rounds_face(rt::ElementType type, const rt::FacePlan& face) {
    const bool is_number =
        face.value.steps.size() == 1 && face.value.steps[0].op == rt::HostScalar::Op::constant;
    const bool is_whole =
        type == rt::ElementType::u8 || type == rt::ElementType::i32 || type == rt::ElementType::i64;
    return is_whole && !is_number;
}

bool LauncherModel::rounds_faces() const {
    return any_fixed_face(*this, rounds_face);
}

bool LauncherModel::axes_depend_on(int param) const {
    return std::ranges::any_of(plan.stretched, [&](const rt::StretchedAxisPlan& axis) {
        return reads_param(axis.distance, param) || reads_param(plan.origin[axis.axis], param);
    });
}

std::vector<const rt::KernelPlan*> LauncherModel::fillers(int field) const {
    std::vector<const rt::KernelPlan*> found;
    for (const rt::KernelPlan& kernel : plan.kernels) {
        const bool fills = kernel.fills_halo && kernel.fills_halo->field == field;
        const bool is_known = std::ranges::any_of(
            found, [&](const rt::KernelPlan* known) { return known->name == kernel.name; });
        if (fills && !is_known) found.push_back(&kernel);
    }
    return found;
}

bool LauncherModel::fills_halo_by_copies(int field) const {
    const std::vector<const rt::KernelPlan*> found = fillers(field);
    if (found.empty()) return has_halo(field);
    // The kernels fill levels that are uploaded; values past faces must be there in all levels.
    bool has_values = false;
    for (int axis = 0; axis < plan.rank; ++axis)
        for (int side = 0; side < 2; ++side)
            has_values =
                has_values || (plan.fields[field].halo[axis][side] > 0 &&
                               plan.fields[field].boundary[axis][side].kind == rt::BoundaryKind::fixed);
    return found.front()->fills_after_uploads && has_values;
}

bool LauncherModel::has_halo_of_fewer_axes() const {
    for (int field = 0; field < static_cast<int>(plan.fields.size()); ++field)
        if (!plan.fields[field].grid.is_whole() && has_halo(field)) return true;
    return false;
}

bool LauncherModel::fills_halos_by_copies() const {
    for (int field = 0; field < static_cast<int>(plan.fields.size()); ++field)
        if (fills_halo_by_copies(field)) return true;
    return false;
}

std::string LauncherModel::part(const std::string& name) const {
    const std::string text = kLauncherParts;
    const std::string heading = "// [" + name + "]\n";
    const std::size_t begin = text.find(heading);
    if (begin == std::string::npos) throw InternalError("the launcher has no part " + name);
    const std::size_t from = begin + heading.size();
    const std::size_t end = text.find("// [", from);
    std::string section = text.substr(from, end == std::string::npos ? end : end - from);
    constexpr const char* kExtents[] = {"NX", "NY", "NZ", "NW"};
    for (int axis = 0; axis < plan.rank; ++axis)
        replace_all(section, kExtents[axis], "solver." + extents[axis]);
    replace_all(section, "stencil_status", status);
    replace_all(section, "stencil_solver", solver);
    replace_all(section, "STENCIL_", upper + "_");
    return section;
}

std::string why_no_launcher(const rt::LaunchPlan& plan) {
    if (rt::has_coarse_grids(plan)) return "fields lie on several grids";
    if (plan.rank > 3 && std::ranges::any_of(plan.fields, [&](const rt::FieldPlan& field) {
            return field.interleave > 1 || (!field.grid.is_whole() && field.grid.rank(plan.rank) > 2);
        }))
        return "fields over a grid of four axes lie over three of them, or with components side by side";
    if (std::ranges::any_of(plan.stretched, [&](const rt::StretchedAxisPlan& axis) {
            return axis.field >= 0 && plan.fields[axis.field].type != rt::ElementType::f32 &&
                   plan.fields[axis.field].type != rt::ElementType::f64;
        }))
        return "a spacing is stored in 16 bits";
    if (rt::waits_within_repeats(plan))
        return "the host computes numbers between the statements of a `repeat`";
    return "";
}

bool can_have_launcher(const rt::LaunchPlan& plan) {
    return why_no_launcher(plan).empty();
}

OfflineFiles print_offline(const kernel::Program& kernels, const rt::LaunchPlan& plan,
                           const std::string& stem, const std::vector<std::string>& made_with) {
    if (!can_have_launcher(plan))
        throw UnsupportedError(plan.name + ": a launcher is not built yet where " + why_no_launcher(plan));
    const LauncherModel model(kernels, plan, stem);
    return {print_launcher_source(model, print_cuda(kernels), print_made_with(made_with)),
            print_launcher_header(model)};
}

std::string print_made_with(const std::vector<std::string>& options) {
    if (options.empty()) return "";
    std::string text =
        "// Made with these options, which `haloc run --cuda` takes from here for edited kernels:\n";
    for (const std::string& option : options)
        text += "//   " + option + '\n';
    return text;
}

}  // namespace halo::emit
