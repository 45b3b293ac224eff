#include "compiler/lift/fortran/unit_builder.h"

namespace halo::lift::fortran {

namespace {

using c::Number;

// Of C, as the lifter knows them.
const char* c_name(Number number) {
    switch (number) {
        case Number::boolean:
            return "_Bool";
        case Number::i8:
            return "signed char";
        case Number::i16:
            return "short";
        case Number::i32:
            return "int";
        case Number::i64:
            return "long";
        case Number::f32:
            return "float";
        case Number::f64:
            return "double";
        default:
            return "void";
    }
}

}  // namespace

Number number_named(const std::string& type) {
    static const std::map<std::string, Number> names{{"i1", Number::boolean},
                                                     {"i8", Number::i8},
                                                     {"i16", Number::i16},
                                                     {"i32", Number::i32},
                                                     {"i64", Number::i64},
                                                     {"index", Number::i64},
                                                     {"f32", Number::f32},
                                                     {"f64", Number::f64},
                                                     {"!fir.logical<1>", Number::i8},
                                                     {"!fir.logical<2>", Number::i16},
                                                     {"!fir.logical<4>", Number::i32},
                                                     {"!fir.logical<8>", Number::i64}};
    const auto found = names.find(type);
    return found == names.end() ? Number::none : found->second;
}

int UnitBuilder::add_type(const c::Type& made) {
    unit.types.push_back(made);
    return static_cast<int>(unit.types.size()) - 1;
}

int UnitBuilder::number_type(Number number) {
    if (const auto found = numbers_.find(number); found != numbers_.end()) return found->second;
    c::Type made;
    made.kind = number == Number::none ? c::Type::Kind::other : c::Type::Kind::number;
    made.number = number;
    made.text = made.plain = c_name(number);
    return numbers_[number] = add_type(made);
}

int UnitBuilder::logical_type(Number number) {
    c::Type made = type(number_type(number));
    made.text = kLogical;
    return add_type(made);
}

int UnitBuilder::pointer_to(int element, bool is_restrict) {
    c::Type made;
    made.kind = c::Type::Kind::pointer;
    made.element = element;
    made.is_restrict = is_restrict;
    made.text = made.plain = type(element).text + "*";
    return add_type(made);
}

int UnitBuilder::reference_to(int element) {
    c::Type made;
    made.kind = c::Type::Kind::pointer;
    made.element = element;
    made.is_reference = true;
    made.text = made.plain = type(element).text + "&";
    return add_type(made);
}

int UnitBuilder::array_of(int element, int count) {
    c::Type made;
    made.kind = c::Type::Kind::array;
    made.element = element;
    if (count >= 0 && expr(count).kind == c::Expr::Kind::integer)
        made.count = expr(count).integer;
    else
        made.count_expr = count;
    made.text = made.plain = type(element).text + "[]";
    return add_type(made);
}

int UnitBuilder::other_type(const std::string& text) {
    c::Type made;
    made.text = made.plain = text;
    return add_type(made);
}

int UnitBuilder::add(c::Expr::Kind kind, int type, SourceRange where, std::vector<int> operands,
                     std::string text) {
    c::Expr made;
    made.kind = kind;
    made.type = type;
    made.where = where;
    made.operands = std::move(operands);
    made.text = std::move(text);
    unit.exprs.push_back(std::move(made));
    return static_cast<int>(unit.exprs.size()) - 1;
}

int UnitBuilder::whole(std::int64_t value, Number type, SourceRange where) {
    const int id = add(c::Expr::Kind::integer, number_type(type), where);
    expr(id).integer = value;
    return id;
}

int UnitBuilder::variable(int id, SourceRange where) {
    const c::Variable& named = unit.variables[static_cast<std::size_t>(id)];
    const c::Type& of = type(named.type);
    const int made = add(c::Expr::Kind::variable, of.is_reference ? of.element : named.type, where);
    expr(made).variable = id;
    expr(made).text = named.name;
    return made;
}

int UnitBuilder::copy(int from, SourceRange where) {
    c::Expr made = expr(from);
    made.where = where;
    unit.exprs.push_back(std::move(made));
    return static_cast<int>(unit.exprs.size()) - 1;
}

int UnitBuilder::read(int place) {
    const int made = copy(place, expr(place).where);
    expr(made).is_loaded = true;
    return made;
}

int UnitBuilder::convert(int from, int type) {
    return add(c::Expr::Kind::convert, type, expr(from).where, {from});
}

int UnitBuilder::unknown(const std::string& what, SourceRange where) {
    return add(c::Expr::Kind::unknown, number_type(Number::none), where, {}, what);
}

int UnitBuilder::binary(const std::string& op, Number type, int left, int right) {
    return add(c::Expr::Kind::binary, number_type(type), expr(left).where, {left, right}, op);
}

int UnitBuilder::add(c::Statement made) {
    unit.statements.push_back(std::move(made));
    return static_cast<int>(unit.statements.size()) - 1;
}

}  // namespace halo::lift::fortran
