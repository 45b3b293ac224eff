// Fields and values of several components: how they are declared, named, read and computed with.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "compiler/sema/builtins.h"
#include "compiler/sema/evaluator.h"

namespace halo::sema {

// ---- declarations

Shape Evaluator::make_shape(const syntax::TypeRef& type) {
    Shape result;
    result.type = &type;
    if (!type.components.empty()) {
        result.kind = Shape::Kind::vector;
        for (const syntax::Component& component : type.components) {
            const std::string& name = component.name.text;
            const auto first = std::find(result.names.begin(), result.names.end(), name);
            if (first != result.names.end()) {
                report(DiagnosticKind::duplicate_name, component.name.where,
                       fmt::format("there are two components called `{}`", name));
            } else if (name == "low" || name == "high") {
                report(DiagnosticKind::reserved_name, component.name.where,
                       fmt::format("a component cannot be called `{}`, like the side of an axis", name));
            }
            result.names.push_back(name);
            result.parts.push_back(make_shape(component.type));
        }
        return result;
    }
    const bool is_complex = type.storage.text == "c64" || type.storage.text == "c128";
    if (is_complex && type.arithmetic) {
        report(DiagnosticKind::type_mismatch, type.arithmetic->where,
               "a complex number is computed in the type of its parts");
    }
    if (is_complex) result.kind = Shape::Kind::complex;
    if (!type.count) return result;
    Shape array;
    array.kind = Shape::Kind::vector;
    const std::int64_t count =
        integer(*type.count, "the number of components", 1, kMaxComponents).value_or(1);
    array.parts.assign(static_cast<std::size_t>(count), result);
    return array;
}

void Evaluator::declare_layouts() {
    std::uint32_t first = 0;
    for (const Symbol& symbol : symbols_.all()) {
        if (symbol.kind != Symbol::Kind::field) continue;
        FieldLayout layout;
        layout.first = first;
        layout.shape = make_shape(symbol.field->type);
        first += static_cast<std::uint32_t>(layout.shape.leaves());
        layouts_.push_back(std::move(layout));
    }
}

std::optional<Value> Evaluator::own_part(const Value& value, const FieldInfo& info, SourceRange where) {
    static const Shape scalar;
    const Shape& shape = info.shape ? *info.shape : scalar;
    if (std::optional<std::vector<Value>> leaves = fit(value, shape)) return (*leaves)[info.leaf];
    report(DiagnosticKind::component_mismatch, where,
           fmt::format("this is {}, and `{}{}` is {}", describe(value), info.symbol->name, info.part,
                       describe(shape)));
    return std::nullopt;
}

// ---- names of components

// The word that picks a component: as written, or the value of an index. nullopt: reported.
std::optional<std::string> Evaluator::part_word(const syntax::Member& node) {
    constexpr std::int64_t kLimit = 1'000'000'000;
    if (!node.index) return node.member.text;
    const auto number = integer(*node.index, "the number of a component", -kLimit, kLimit);
    return number ? std::optional<std::string>(std::to_string(*number)) : std::nullopt;
}

// `f.3`, `v.x`, `f.(opposite[i])`; or `f.i`, where i is no component and is known when the spec is compiled.
template <class Whole>
std::optional<std::size_t> Evaluator::part_of(const Whole& whole, const syntax::Member& node) {
    std::optional<std::string> word = part_word(node);
    if (!word) return std::nullopt;
    if (auto part = find_part(whole, *word, symbols_.axes())) return part;
    const bool is_name =
        !node.index && !word->empty() && std::isdigit(static_cast<unsigned char>(word->front())) == 0;
    if (is_name) {
        const Value* local = find_local(*word);
        const Symbol* symbol = symbols_.find(*word);
        Value number;
        if (local) number = *local;
        if (!local && symbol && symbol->kind == Symbol::Kind::constant) number = constant(*symbol);
        if (number.is_number()) {
            word = number.number.to_string();
            if (auto part = find_part(whole, *word, symbols_.axes())) return part;
        }
    }
    Diagnostic& diagnostic = report(DiagnosticKind::unknown_component, node.member.where,
                                    fmt::format("{} has no component `{}`", describe(whole), *word));
    if (whole.kind == Whole::Kind::vector && whole.names.empty()) {
        diagnostic.note(fmt::format("its components are 0 to {}", whole.parts.size() - 1));
    } else if (whole.kind == Whole::Kind::vector || whole.kind == Whole::Kind::complex) {
        const std::vector<std::string> names =
            whole.kind == Whole::Kind::complex ? std::vector<std::string>{"re", "im"} : whole.names;
        diagnostic.note(fmt::format("its components are {}", fmt::join(names, ", ")));
        if (auto likely = closest_name(*word, names)) diagnostic.mend(node.member.where, *likely);
    }
    return std::nullopt;
}

std::optional<FieldInfo> Evaluator::narrowed(syntax::ExprId part, const FieldInfo& info, int& depth) {
    std::vector<const syntax::Member*> members;  // outermost first
    const syntax::Expr* base = &file_[part];
    while (const auto* member = std::get_if<syntax::Member>(&base->node)) {
        members.push_back(member);
        base = &file_[member->base];
    }
    const auto* name = std::get_if<syntax::NameUse>(&base->node);
    if (!name || name->name != info.symbol->name) return std::nullopt;
    static const Shape scalar;
    const Shape* shape = info.shape ? info.shape.get() : &scalar;
    FieldInfo result = info;
    std::size_t first = 0;
    for (std::size_t i = members.size(); i-- > 0;) {
        const std::optional<std::size_t> found = part_of(*shape, *members[i]);
        if (!found) return std::nullopt;
        result.part += "." + part_name(*shape, *found);
        first += shape->first_leaf(*found);
        shape = shape->kind == Shape::Kind::complex ? &scalar : &shape->parts[*found];
    }
    if (info.leaf < first || info.leaf - first >= shape->leaves()) return std::nullopt;
    depth = static_cast<int>(members.size());
    result.leaf = info.leaf - first;
    result.shape = shape->leaves() > 1 ? std::make_shared<const Shape>(*shape) : nullptr;
    return result;
}

std::optional<Reference> Evaluator::reference(const syntax::Expr& expr, bool& failed) {
    Reference result;
    std::vector<const syntax::Member*> members;  // outermost first
    const syntax::Expr* base = &expr;
    for (;;) {
        if (const auto* member = std::get_if<syntax::Member>(&base->node)) {
            members.push_back(member);
            base = &file_[member->base];
        } else if (const auto* index = std::get_if<syntax::Index>(&base->node)) {
            if (result.subscript) return std::nullopt;
            result.subscript = base;
            base = &file_[index->base];
        } else {
            break;
        }
    }
    const auto* name = std::get_if<syntax::NameUse>(&base->node);
    result.symbol = name && !find_local(name->name) ? find_symbol(name->name) : nullptr;
    if (!result.symbol || result.symbol->kind != Symbol::Kind::field) return std::nullopt;
    if ((place_ != Place::step && place_ != Place::setting) || layouts_.empty()) return std::nullopt;
    const FieldLayout& layout = layouts_[static_cast<std::size_t>(result.symbol->index)];
    result.name = result.symbol->name;
    result.first = layout.first;
    result.shape = &layout.shape;
    static const Shape scalar;  // a part of a complex number
    for (std::size_t i = members.size(); i-- > 0;) {
        const std::optional<std::size_t> part = part_of(*result.shape, *members[i]);
        if (!part) {
            failed = true;
            return std::nullopt;
        }
        result.name += "." + part_name(*result.shape, *part);
        result.first += static_cast<std::uint32_t>(result.shape->first_leaf(*part));
        result.shape = result.shape->kind == Shape::Kind::complex ? &scalar : &result.shape->parts[*part];
    }
    return result;
}

// ---- values

Value Evaluator::read_reference(const Reference& reference, SourceRange where) {
    if (place_ != Place::step) {
        refuse_field(*reference.symbol, where);
        return Value();
    }
    Subscripts at;
    if (reference.subscript) {
        const std::optional<Subscripts> given = subscripts(*reference.subscript, reference.name);
        if (!given) return Value();
        at = *given;
    }
    std::vector<Value> leaves;
    const Shape& shape = *reference.shape;
    std::size_t part = 0;  // that leaf i is of
    for (std::uint32_t i = 0; i < shape.leaves(); ++i) {
        while (part + 1 < shape.parts.size() && shape.first_leaf(part + 1) <= i)
            ++part;
        leaves.push_back(at_part(part, shape.parts.size(),
                                 [&] { return read_point(ir::FieldId{reference.first + i}, at, where); }));
        if (leaves.back().is_poison()) return Value();
    }
    std::size_t next = 0;
    return assemble(*reference.shape, leaves, next);
}

Value Evaluator::member(const syntax::Member& node, const syntax::Expr& expr) {
    bool failed = false;
    if (const std::optional<Reference> field = reference(expr, failed))
        return read_reference(*field, expr.where);
    if (failed) return Value();
    if (const Symbol* points = points_of(node.base))
        return point_value(*points, node.member, false, expr.where);
    const Value whole = evaluate(node.base);
    if (whole.is_row()) return column_of(node, whole, expr.where);
    if (whole.is_poison()) return whole;
    const std::optional<std::size_t> part = part_of(whole, node);
    return part ? whole.parts[*part] : Value();
}

// [a, b, c]
Value Evaluator::list(const syntax::List& node, SourceRange where) {
    if (node.elements.empty()) {
        report(DiagnosticKind::empty_range, where, "a vector has one component at least");
        return Value();
    }
    std::vector<Value> parts;
    for (std::size_t i = 0; i < node.elements.size(); ++i)
        parts.push_back(at_part(i, node.elements.size(), [&] { return quantity(node.elements[i]); }));
    return Value::vector_of(std::move(parts));
}

// ---- functions of vectors and complex numbers

Value Evaluator::algebraic(const syntax::CallExpr& node, SourceRange where) {
    const std::string& name = node.callee.text;
    if (!require_arguments(node, name == "dot" || name == "cross" ? 2 : 1, where)) return Value();
    // Functions that make a number of vectors take them at the places where they lie.
    const bool is_number = name == "dot" || name == "norm" || name == "cross";
    std::vector<Halves> outer = is_number ? std::exchange(apart_, {}) : apart_;
    std::vector<Value> arguments;
    for (const syntax::Argument& argument : node.arguments)
        arguments.push_back(quantity(argument.value));
    apart_ = std::move(outer);
    if (std::any_of(arguments.begin(), arguments.end(), [](const Value& each) { return each.is_poison(); }))
        return Value();
    const Value& first = arguments[0];
    if (name == "dot") return algebra_.dot(first, arguments[1], where);
    if (name == "cross") return algebra_.cross(first, arguments[1], where);
    if (name == "norm") return algebra_.norm(first, where);
    if (name == "conj") return algebra_.conjugate(first, where);
    if (first.is_vector()) {
        report(DiagnosticKind::component_mismatch, this->where(node.arguments[0].value),
               fmt::format("`{}` is of one complex number, and this is {}", name, describe(first)));
        return Value();
    }
    if (name == "re") return first.is_complex() ? first.parts[0] : first;
    if (name == "im") return first.is_complex() ? first.parts[1] : Value::of(Rational(0));
    return algebra_.argument(first, where);
}

}  // namespace halo::sema
