// The statements of stencils and runs.
#include "compiler/lsp/name_walk.h"

namespace halo::lsp {

using namespace syntax;

void NameWalk::walk_type(const std::optional<TypeRef>& type) {
    if (!type) return;
    walk(type->count);
    for (const Component& component : type->components) {
        walk(component.type.count);
        walk_all(component.at);
    }
}

void NameWalk::walk_definitions(const std::vector<Definition>& all) {
    for (const Definition& each : all) {
        walk_type(each.type);
        walk(each.value);
    }
}

void NameWalk::walk_axis_values(const std::vector<AxisValue>& values) {
    for (const AxisValue& each : values) {
        use(each.axis);
        walk(each.value);
    }
}

void NameWalk::walk_properties(const std::vector<HaloEntry>& halos,
                               const std::vector<BoundaryEntry>& boundaries) {
    for (const HaloEntry& halo : halos) {
        use(halo.face);
        walk(halo.width);
    }
    for (const BoundaryEntry& boundary : boundaries) {
        walk(boundary.part);
        use(boundary.face);
        walk_all(boundary.values);
    }
}

// The level of a repeat is known in its statements.
void NameWalk::walk_guards(const std::vector<GuardId>& guards, SourceRange statement) {
    for (const GuardId id : guards) {
        const Guard& guard = tree_[id];
        for (const RegionEntry& entry : guard.region) {
            use(entry.axis);
            walk(entry.low);
            walk(entry.high);
        }
        walk(guard.condition);
        if (guard.sweep) use(guard.sweep->axis);
        if (!guard.repeat) continue;
        if (guard.repeat->level) declare_local(NameKind::index, *guard.repeat->level, statement);
        walk(guard.repeat->count);
        walk(guard.repeat->until);
    }
}

template <class Node>
void NameWalk::walk_each(const Node& node) {
    const std::size_t outer = locals_.size();
    if constexpr (requires { node.guards; }) walk_guards(node.guards, node.where);
    if constexpr (requires { node.repeat; }) {
        if (node.repeat) walk_guards(tree_.repeats_to(*node.repeat), node.where);
    }
    if constexpr (requires { node.params; }) walk_definitions(node.params);
    if constexpr (requires { node.consts; }) walk_definitions(node.consts);
    if constexpr (requires { node.values; }) walk_axis_values(node.values);
    if constexpr (requires { node.ranges; }) {
        for (const CoefRange& range : node.ranges) {
            walk(range.low);
            walk(range.high);
        }
    }
    if constexpr (requires { node.columns; }) {
        for (const ColumnDecl& column : node.columns) {
            walk_type(column.type);
            walk(column.value);
        }
    }
    if constexpr (requires { node.type; }) walk_type(node.type);
    if constexpr (requires { node.over; }) {
        for (const Name& axis : node.over)
            use(axis);
    }
    if constexpr (requires { node.at; }) walk_all(node.at);
    if constexpr (requires { node.coarse; }) {
        if (node.coarse) walk(*node.coarse);
    }
    if constexpr (requires { node.boundaries; }) walk_properties(node.halos, node.boundaries);
    if constexpr (requires { node.parameters; }) {
        for (const Name& parameter : node.parameters)
            declare_local(NameKind::parameter, parameter, node.where);
    }
    if constexpr (requires { node.target; }) walk_target(node.target);
    if constexpr (requires { node.tolerance; }) {
        walk(node.left);
        walk(node.right);
        if (node.along) use(*node.along);
        walk(node.tolerance);
        walk(node.most);
    }
    if constexpr (requires { node.points; }) use(node.points);
    if constexpr (requires { node.trace; }) walk(node.trace);
    if constexpr (requires { node.value; }) walk(node.value);
    if constexpr (requires { node.start; }) walk(node.start);
    if constexpr (requires { node.order; }) walk(node.order);
    if constexpr (requires { node.radius; }) walk(node.radius);
    locals_.resize(outer);
}

void NameWalk::walk_statement(const StencilStatement& statement) {
    const auto* const loop = std::get_if<ForStatement>(&statement);
    if (loop == nullptr) {
        std::visit([&](const auto& node) { walk_each(node); }, statement);
        return;
    }
    const std::size_t outer = locals_.size();
    enter(loop->indices, loop->where);
    for (const LoopBody& body : loop->body) {
        walk_statement(body.statement);
        if (const auto* let = std::get_if<LetDecl>(&body.statement))
            declare_local(NameKind::let, let->name, loop->where);
    }
    locals_.resize(outer);
}

void NameWalk::walk_action(const RunStatement& statement) {
    const std::size_t outer = locals_.size();
    const auto every = [&](const std::optional<Every>& frames) {
        if (!frames) return;
        walk(frames->steps);
        walk(frames->from);
        walk(frames->to);
    };
    const auto cut = [&](const Cut& place) {
        use(place.axis);
        walk(place.value);
    };
    const auto read = [&](const auto& node) {
        if constexpr (requires { node.indices; }) enter(node.indices, node.where);
        if constexpr (requires { node.body; }) {
            for (const InitStatement& init : node.body) {
                walk(init.field);
                walk(init.value);
            }
        }
        if constexpr (requires { node.stencil; }) use_stencil(node.stencil);
        if constexpr (requires { node.field; }) walk(node.field);
        if constexpr (requires { node.table; }) use(node.table);
        if constexpr (requires { node.points; }) use(node.points);
        if constexpr (requires { node.name; }) use(node.name);
        if constexpr (requires { node.extents; }) walk_all(node.extents);
        if constexpr (requires { node.positions; }) walk_all(node.positions);
        if constexpr (requires { node.count; }) walk(node.count);
        if constexpr (requires { node.until; }) walk(node.until);
        if constexpr (requires { node.value; }) walk(node.value);
        if constexpr (requires { node.every; }) every(node.every);
        if constexpr (requires { node.fps; }) walk(node.fps);
        if constexpr (requires { node.cuts; }) {
            for (const Cut& each : node.cuts)
                cut(each);
            for (const PartRange& range : node.ranges) {
                use(range.axis);
                walk(range.low);
                walk(range.high);
                walk(range.stride);
            }
        }
        if constexpr (requires { node.flipped; }) {
            if (node.cut) cut(*node.cut);
            if (node.range) {
                walk(node.range->low);
                walk(node.range->high);
            }
            for (const Name& axis : node.flipped)
                use(axis);
        }
    };
    std::visit(read, statement);
    locals_.resize(outer);
}

}  // namespace halo::lsp
