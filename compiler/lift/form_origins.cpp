#include "compiler/lift/form_origins.h"

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/lift/mutation.h"

namespace halo::lift {

namespace {

// What parameters add to it.
Polynomial varying(const Polynomial& poly) {
    return poly - poly.of({});
}
bool is_below_zero(const Polynomial& poly) {
    return !poly.is_zero() &&
           std::ranges::all_of(poly.terms(), [](const auto& term) { return term.second < 0; });
}

class OriginFinder {
public:
    OriginFinder(const Model& model, const AxisFinder& axes, Form& form,
                 std::vector<std::vector<Touch>>& touches)
        : model_(model), axes_(axes), form_(form), touches_(touches) {}

    void find(std::size_t axis) {
        axis_ = axis;
        moved_.clear();
        for (bool again = true; again;) {
            again = false;
            for (std::size_t i = 0; i < form_.statements.size(); ++i)
                again = move(i) || again;
        }
        if (!moved_.empty()) apply();
    }

private:
    // A field, or the statement of a reduction, which has a place on the grid of its own.
    using Node = int;
    struct Member {
        Node node = -1;
        Polynomial place;  // of its cell from the loop's index, as far as parameters say
    };

    Node node_of(std::size_t statement) const {
        const int field = form_.statements[statement].field;
        return field >= 0 ? field : static_cast<Node>(form_.fields.size() + statement);
    }
    bool is_field(Node node) const { return node < static_cast<Node>(form_.fields.size()); }
    const Field& field(Node node) const { return form_.fields[static_cast<std::size_t>(node)]; }

    // An array in one block that is not exchanged with others from step to step.
    bool is_movable(Node node) const {
        if (!is_field(node)) return true;
        const Field& of = field(node);
        return model_.after_step.empty() && !of.modulus &&
               std::ranges::all_of(axes_.geometry(of.object).axes,
                                   [](const Geometry::Axis& axis) { return axis.level == 0; });
    }
    bool is_pointer(Node node) const {
        return !is_field(node) || model_.object(field(node).object).origin == Object::Origin::pointer;
    }

    std::vector<Member> members_of(std::size_t i) const {
        const AxisIndex& own = form_.statements[i].axes[axis_];
        std::vector<Member> members{{node_of(i), varying(own.offset)}};
        for (const Touch& touch : touches_[i]) {
            const AxisIndex& index = touch.axes[axis_];
            if (index.loop == own.loop && field(touch.field).lies_along(axis_))
                members.push_back({touch.field, varying(index.offset)});
        }
        return members;
    }
    Polynomial place_of(const Member& of) const {
        const auto found = moved_.find(of.node);
        return found == moved_.end() ? of.place : of.place - found->second;
    }
    std::optional<Polynomial> start_of(std::size_t i) const {
        const std::vector<Polynomial>& all =
            model_.stores[i].bounds.at(form_.statements[i].axes[axis_].loop).lower;
        const bool is_one = !all.empty() && std::ranges::all_of(all, [&](const Polynomial& each) {
            return (each - all.front()).constant().has_value();
        });
        return is_one ? std::optional(varying(all.front())) : std::nullopt;
    }

    // Whether something was moved.
    bool move(std::size_t i) {
        if (form_.statements[i].axes[axis_].loop < 0) return false;
        const std::vector<Member> members = members_of(i);
        const std::optional<Polynomial> start = start_of(i);
        const auto all = [&](auto&& holds) { return std::ranges::all_of(members, holds); };
        if (!start || !all([&](const Member& each) { return is_movable(each.node); })) return false;
        const Polynomial here = place_of(members.front());
        const bool is_apart = !all([&](const Member& each) { return place_of(each) == here; });
        const bool is_before =
            is_below_zero(here + *start) && all([&](const Member& each) { return is_pointer(each.node); });
        if (!is_apart && !is_before) return false;
        const auto known =
            std::ranges::find_if(members, [&](const Member& each) { return moved_.contains(each.node); });
        const Polynomial target = known == members.end() ? Polynomial(0) - *start : place_of(*known);
        bool has_moved = false;
        for (const Member& each : members)
            has_moved = moved_.emplace(each.node, each.place - target).second || has_moved;
        return has_moved;
    }

    void apply() {
        for (const auto& [node, by] : moved_) {
            if (!is_field(node)) continue;
            Field& of = form_.fields[static_cast<std::size_t>(node)];
            of.first.resize(form_.statements.front().axes.size());
            of.first[axis_] = by;
        }
        for (std::size_t i = 0; i < form_.statements.size(); ++i) {
            AxisIndex& own = form_.statements[i].axes[axis_];
            own.offset = own.offset - by(node_of(i));
            for (Touch& touch : touches_[i]) {
                AxisIndex& index = touch.axes[axis_];
                if (field(touch.field).lies_along(axis_))
                    index.offset = index.offset - by(touch.field);
                else
                    index = own;
            }
        }
    }
    Polynomial by(Node node) const {
        const auto found = moved_.find(node);
        return found == moved_.end() ? Polynomial(0) : found->second;
    }

    const Model& model_;
    const AxisFinder& axes_;
    Form& form_;
    std::vector<std::vector<Touch>>& touches_;
    std::size_t axis_ = 0;
    std::map<Node, Polynomial> moved_;  // by how many cells
};

}  // namespace

void find_origins(const Model& model, const AxisFinder& axes, Form& form,
                  std::vector<std::vector<Touch>>& touches) {
    OriginFinder finder(model, axes, form, touches);
    for (std::size_t a = 0; a < form.statements.front().axes.size(); ++a)
        finder.find(a);
}

Polynomial first_element(const Field& of) {
    Polynomial sum;
    for (std::size_t a = 0; a < of.first.size() && !has(Mutation::drop_origin); ++a)
        sum = sum + of.first[a] * of.stride[a];
    return sum;
}

}  // namespace halo::lift
