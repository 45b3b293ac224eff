// Arrays as values: sections, and what is computed element by element where it is assigned.
#include <algorithm>
#include <sstream>

#include "compiler/lift/fortran/translate_values.h"
#include "compiler/lift/mutation.h"

namespace halo::lift::fortran {

using c::Number;
using ExprKind = c::Expr::Kind;

std::size_t ValueTranslator::Section::rank() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(axes, [](const Axis& each) { return each.step != 0; }));
}

// a[k - lower][j - lower], the first subscript last.
int ValueTranslator::element(const Held& of, const std::vector<int>& subscripts, SourceRange where) {
    if (of.section != nullptr) {
        if (subscripts.size() != of.section->rank())
            return build_.unknown("a section is used here that is not understood", where);
        std::vector<int> all;
        std::size_t next = 0;
        for (const Section::Axis& axis : of.section->axes) {
            if (axis.step == 0) {
                all.push_back(axis.lower);
                continue;
            }
            const int first = build_.whole(1, Number::i32, where);
            int apart = sized("-", subscripts[next++], first);
            if (axis.step != 1) apart = sized("*", apart, build_.whole(axis.step, Number::i32, where));
            all.push_back(sized("+", has(Mutation::drop_section) ? first : axis.lower, apart));
        }
        return element(held_[of.section->array], all, where);
    }
    if (of.place >= 0 && build_.expr(of.place).kind == ExprKind::unknown) return of.place;
    if (of.array == nullptr || of.place < 0 || subscripts.size() != of.array->lower.size())
        return build_.unknown("an element of this is not understood", where);
    int at = build_.read(of.place);
    build_.expr(at).where = where;
    for (std::size_t level = 0; level < subscripts.size(); ++level) {
        const c::Type type = build_.type(build_.expr(at).type);
        if (type.kind == c::Type::Kind::array) at = build_.convert(at, build_.pointer_to(type.element));
        const std::size_t axis = has(Mutation::swap_subscripts) ? level : subscripts.size() - 1 - level;
        at = build_.add(ExprKind::subscript, type.element, where,
                        {at, from_lower(subscripts[axis], of.array->lower[axis], where)});
    }
    return at;
}

// `a(2:n, 1)`: where each of several subscripts begins, ends, and by how much it counts; then the shape.
void ValueTranslator::translate_section(const mlir::Operation& from) {
    const SourceRange where = place_of(from);
    Section made;
    made.array = from.operands[0];
    std::istringstream parts(without(from.attribute("is_triplet"), "array<i1:>"));
    std::size_t next = 1;
    bool is_known = held_[made.array].section == nullptr;
    for (std::string each; std::getline(parts, each, ',');) {
        Section::Axis axis;
        const bool is_triplet = each.find("true") != std::string::npos;
        if (next + (is_triplet ? 2 : 0) >= from.operands.size()) break;
        axis.lower =
            is_triplet ? bound(from.operands[next], where) : held_[before_widening(from.operands[next])].expr;
        if (is_triplet) {
            axis.upper = bound(from.operands[next + 1], where);
            axis.step = constant(from.operands[next + 2]).value_or(0);
            is_known = is_known && axis.step != 0;
        }
        is_known = is_known && axis.lower >= 0;
        next += is_triplet ? 3 : 1;
        made.axes.push_back(axis);
    }
    const Array* array = held_[made.array].array;
    if (!is_known || array == nullptr || made.axes.size() != array->lower.size()) {
        held_[from.results[0]] = {-1, build_.unknown("this section is not understood", where)};
        return;
    }
    const Section& kept = sections_[from.results[0]] = std::move(made);
    held_[from.results[0]] = {-1, -1, nullptr, version_of(from), &kept};
}

void ValueTranslator::translate_elements(const mlir::Operation& from) {
    Held& made = held_[from.results[0]];
    if (from.name == "hlfir.as_expr") {  // as it is now
        const Held of = held_[from.operands[0]];
        made = of;
        made.version = is_current(of.version) ? version_ : of.version;
    } else if (from.name == "hlfir.elemental") {
        made = {-1, -1, nullptr, version_, nullptr, &from};
    } else {
        std::vector<int> places;
        for (std::size_t i = 1; i < from.operands.size(); ++i)
            places.push_back(held_[before_widening(from.operands[i])].expr);
        const int value = value_at(from.operands[0], places, place_of(from));
        held_[from.results[0]] = {value, -1, nullptr, version_};
    }
}

int ValueTranslator::computed_at(const mlir::Operation& elements, const std::vector<int>& places,
                                 SourceRange where) {
    const mlir::Block& body = elements.regions.at(0).at(0);
    if (body.arguments.size() != places.size())
        return build_.unknown("what is computed for each element is not understood", where);
    for (std::size_t i = 0; i < places.size(); ++i)
        held_[body.arguments[i]] = {places[i]};
    for (const auto& each : body.operations) {
        if (each->name == "hlfir.yield_element") return number(each->operands[0], where);
        translate_value(*each);
    }
    return build_.unknown("what is computed for each element is not understood", where);
}

int ValueTranslator::place_at(int value, const std::vector<int>& places, SourceRange where) {
    const Held known = held_[value];
    const Array* array = known.array;
    std::vector<int> subscripts = places;
    for (std::size_t i = 0; array != nullptr && i < places.size() && i < array->lower.size(); ++i) {
        const int one = build_.whole(1, Number::i32, where);
        if (array->lower[i] >= 0) subscripts[i] = sized("+", sized("-", places[i], one), array->lower[i]);
    }
    return element(known, subscripts, where);
}

int ValueTranslator::value_at(int value, const std::vector<int>& places, SourceRange where) {
    const Held known = held_[value];
    if (known.expr >= 0) return number(value, where);
    if (!is_current(known.version))
        return build_.unknown("an array is used here that was read before something else has changed", where);
    if (known.computed != nullptr) return computed_at(*known.computed, places, where);
    const int read = build_.read(place_at(value, places, where));
    build_.expr(read).where = where;
    return read;
}

int ValueTranslator::bound(int value, SourceRange where) {
    const mlir::Operation* from = maker(value);
    const auto is = [&](const char* name) { return from != nullptr && from->name == name; };
    if (is("arith.select") && module_.value(value).type == "index") {
        const mlir::Operation* compared = maker(from->operands[0]);
        const bool is_length = compared != nullptr && compared->name == "arith.cmpi" &&
                               compared->operands[0] == from->operands[1] && constant(from->operands[2]) == 0;
        if (is_length) return bound(from->operands[1], where);
    }
    if ((is("arith.addi") || is("arith.subi")) && module_.value(value).type == "index") {
        const int left = bound(from->operands[0], where), right = bound(from->operands[1], where);
        return left < 0 || right < 0 ? -1 : sized(is("arith.addi") ? "+" : "-", left, right);
    }
    return held_[before_widening(value)].expr;
}

}  // namespace halo::lift::fortran
