// The launcher's halos outside of steps: after values were set, or what lies past faces has changed.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/emit/host_expression.h"
#include "compiler/emit/launcher_writer.h"

namespace halo::emit {

namespace {

class HaloWriter : LauncherWriter {
public:
    HaloWriter(const LauncherModel& model, Writer& out) : LauncherWriter(model, out) {}

    void write() {
        write_fill_halos();
        write_fill_carried();
    }

private:
    static std::string face_name(rt::BoundaryKind kind) {
        switch (kind) {
            case rt::BoundaryKind::periodic:
                return "Face::periodic";
            case rt::BoundaryKind::fixed:
                return "Face::fixed";
            case rt::BoundaryKind::clamp:
                return "Face::clamp";
            case rt::BoundaryKind::mirror:
                return "Face::mirror";
            case rt::BoundaryKind::formula:
            case rt::BoundaryKind::free:
                return "Face::open";
        }
        return "";
    }

    // What a cell past the face has, as a number that the element's C type is made from.
    std::string face_value(const rt::FieldPlan& field, const FieldNames& names,
                           const rt::FacePlan& face) const {
        if (face.kind != rt::BoundaryKind::fixed) return "0";
        const std::string value = print_host_scalar(face.value, names_);
        if (field.type == rt::ElementType::f16) return "f16_bits(" + value + ")";
        if (field.type == rt::ElementType::bf16) return "bf16_bits(" + value + ")";
        const bool rounds = LauncherModel::rounds_face(field.type, face);
        return rounds ? fmt::format("nearest<{}>({})", names.type, value) : value;
    }

    std::string axis_name(const FieldNames& field, int axis) const {
        return field.word + "_" + plan_.axes[static_cast<std::size_t>(axis)];
    }

    // stride: elements from one cell to the next, but for components.
    void write_axis(const rt::FieldPlan& field, const FieldNames& names, int axis, std::string stride) {
        const int components = field.interleave;
        if (components > 1)
            stride = axis == 0 ? std::to_string(components) : fmt::format("{}LL * {}", components, stride);
        const auto& [low, high] = field.boundary[axis];
        std::vector<std::string> members{names_.extent(axis),
                                         stride,
                                         std::to_string(field.halo[axis][0]),
                                         std::to_string(field.halo[axis][1]),
                                         face_name(low.kind),
                                         face_name(high.kind)};
        const bool values = low.kind == rt::BoundaryKind::fixed || high.kind == rt::BoundaryKind::fixed;
        if (values) {
            members.push_back(face_value(field, names, low));
            members.push_back(face_value(field, names, high));
        }
        fill(fmt::format("const Axis {}{{", axis_name(names, axis)), members, "};");
    }

    // Returns the arguments for them.
    std::string write_axes(int index, const FieldArray& array) {
        const rt::FieldPlan& field = plan_.fields[index];
        const FieldNames& names = model_.fields[index];
        std::string axes;
        auto stride = array.strides.begin();
        for (int axis = 0; axis < std::max(plan_.rank, 3); ++axis) {
            const bool has = std::ranges::find(array.axes, axis) != array.axes.end();
            if (has) write_axis(field, names, axis, *stride++);
            axes += has ? ", " + axis_name(names, axis) : ", Axis()";
        }
        return axes;
    }

    void write_fill_halo(int index) {
        const FieldNames& names = model_.fields[index];
        const FieldArray array = model_.array_of(index, "solver.");
        const std::string axes = write_axes(index, array);
        for (const LevelName& level : names.levels) {
            return_unless_ok(fmt::format("fill_halo(solver, solver.{} + {}{}{})", level.member, array.origin,
                                         model_.to_component(index), axes));
        }
    }

    // Levels that no step has written yet; what a step writes is filled there, and read after that alone.
    void write_computed_halo(int index) {
        const rt::FieldPlan& field = plan_.fields[index];
        if (field.role != rt::Role::state && field.role != rt::Role::input) return;
        for (int time = 0; time >= -field.history; --time) {
            for (const rt::KernelPlan* kernel : model_.fillers(index)) {
                const std::string step =
                    time == 0 ? names_.step() : fmt::format("{} - {}", names_.step(), -time);
                return_unless_ok(fmt::format("{}(solver, solver.{}, {})", launch_function(*kernel),
                                             model_.fields[index].level(time).member, step));
            }
        }
    }

    // Of what iterations carry on, several of which are done at once: these leave halos as they were.
    void write_fill_carried() {
        if (!plan_.time_block || plan_.time_block->of_repeat() == nullptr) return;
        const auto repeat = static_cast<std::size_t>(plan_.time_block->of_repeat()->repeat);
        for (const rt::RepeatPlan::Exchange& each : plan_.repeats[repeat].exchanges) {
            if (!needs_fill(plan_.fields[each.field])) continue;
            const FieldNames& names = model_.fields[each.field];
            const FieldArray array = model_.array_of(each.field, "solver.");
            comment(fmt::format("The halo of one array of {}.", names.word));
            out_.line("{} {}(const {}& solver, {}* array) {{", model_.status, fill_function(names),
                      model_.solver, names.type);
            {
                const auto body = out_.indent();
                const std::string axes = write_axes(each.field, array);
                out_.line("return fill_halo(solver, array + {}{});", array.origin, axes);
            }
            out_.line("}}");
        }
    }

    // All levels, also those that kernels write later: kernels leave what lies past fixed faces alone.
    void write_fill_halos() {
        if (!any_halo()) return;
        comment("The halos of all levels, from their cells and from the values past fixed faces.");
        out_.line("{} fill_halos(const {}& solver) {{", model_.status, model_.solver);
        {
            const auto body = out_.indent();
            for (int index = 0; index < count(plan_.fields); ++index) {
                if (!model_.has_halo(index)) continue;
                if (model_.fills_halo_by_copies(index)) write_fill_halo(index);
                write_computed_halo(index);
            }
            out_.line("return {};", model_.code("OK"));
        }
        out_.line("}}");
    }
};

}  // namespace

std::string fill_function(const FieldNames& field) {
    return "fill_halo_of_" + field.word;
}

bool needs_fill(const rt::FieldPlan& field) {
    for (int axis = 0; axis < rt::kMaxRank; ++axis)
        for (int side = 0; side < 2; ++side)
            if (field.halo[axis][side] > 0 && field.image(axis, side).shows_cell()) return true;
    return false;
}

void write_fill_halos(const LauncherModel& model, Writer& out) {
    HaloWriter(model, out).write();
}

}  // namespace halo::emit
