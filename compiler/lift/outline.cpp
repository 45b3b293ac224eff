#include "compiler/lift/outline.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/lift/model.h"
#include "compiler/lift/mutation.h"
#include "compiler/lift/outline_memory.h"

namespace halo::lift {

namespace {

using StatementKind = c::Statement::Kind;
using ExprKind = c::Expr::Kind;
using Storage = c::Variable::Storage;

class Outliner {
public:
    Outliner(const c::Unit& whole, const Flow& flow, int nest) : unit_(whole), flow_(flow), nest_(nest) {}

    Outline make() {
        Mentions found;
        mention(nest_, found);
        for (const int id : found.order) {
            if (!found.declared.count(id)) define(id);
        }
        // Numbers come before arrays, whose lengths are made of them.
        std::stable_partition(result_.given.begin(), result_.given.end(),
                              [&](int id) { return type(variable(id).type).kind == c::Type::Kind::number; });
        result_.nest = nest_;
        build();
        return std::move(result_);
    }

private:
    struct Mentions {
        std::vector<int> order;
        std::set<int> known, declared;
    };

    const c::Expr& expr(int id) const { return unit_.exprs[static_cast<std::size_t>(id)]; }
    const c::Statement& statement(int id) const { return unit_.statements[static_cast<std::size_t>(id)]; }
    const c::Variable& variable(int id) const { return unit_.variables[static_cast<std::size_t>(id)]; }
    const c::Type& type(int id) const { return unit_.types[static_cast<std::size_t>(id)]; }

    // ---- what is mentioned

    void mention(int id, Mentions& found) const {
        if (id < 0) return;
        const c::Statement& each = statement(id);
        for (const int declared : each.variables) {
            found.declared.insert(declared);
            mention_lengths(declared, found);
            mention_expr(variable(declared).init, found);
        }
        if (each.kind == StatementKind::for_loop) mention(each.statements[0], found);
        mention_expr(each.expr, found);
        if (each.kind == StatementKind::for_loop) {
            mention_expr(each.step, found);
            mention(each.statements[1], found);
            return;
        }
        for (const int inner : each.statements)
            mention(inner, found);
    }
    void mention_expr(int id, Mentions& found) const {
        if (id < 0) return;
        const c::Expr& from = expr(id);
        if (from.kind == ExprKind::variable && found.known.insert(from.variable).second)
            found.order.push_back(from.variable);
        for (const int operand : from.operands)
            mention_expr(operand, found);
        if (from.kind != ExprKind::closure) return;
        const c::Function& body = unit_.functions[static_cast<std::size_t>(from.function)];
        found.declared.insert(body.parameters.begin(), body.parameters.end());
        mention(body.body, found);
    }
    void mention_lengths(int id, Mentions& found) const {
        for (int at = variable(id).type; at >= 0; at = type(at).element)
            mention_expr(type(at).count_expr, found);
    }

    // ---- what is made again

    struct Definition {
        int at = -1, value = -1;
    };

    void define(int id) {
        if (!done_.insert(id).second || variable(id).storage == Storage::global) return;
        Mentions lengths;
        mention_lengths(id, lengths);
        for (const int length : lengths.order) {
            if (flow_.changes_between(length, declared_at(id), nest_))
                throw Refusal(variable(id).where, "the length of `" + variable(id).name + "` is made of `" +
                                                      variable(length).name +
                                                      "`, which is changed afterwards");
            define(length);
        }
        const Definition made = definition(id);
        if (made.value < 0) {
            result_.given.push_back(id);
            return;
        }
        Mentions needed;
        mention_expr(made.value, needed);
        for (const int other : needed.order) {
            if (!needed.declared.count(other)) define(other);
        }
        values_[id] = made.value;
        result_.defined.push_back(id);
    }

    int declared_at(int id) const {
        for (std::size_t i = 0; i < unit_.statements.size(); ++i) {
            const c::Statement& each = unit_.statements[i];
            const bool has = each.kind == StatementKind::declare &&
                             std::count(each.variables.begin(), each.variables.end(), id) > 0;
            if (has && flow_.is_inside(static_cast<int>(i), outermost()))
                return flow_.begin(static_cast<int>(i));
        }
        return -1;
    }
    int outermost() const {
        int at = nest_;
        while (flow_.parent(at) >= 0)
            at = flow_.parent(at);
        return at;
    }

    // The assignment that surely gives the variable its value at the nest, where it can be repeated in front
    // of the nest.
    Definition definition(int id) const {
        const c::Variable& named = variable(id);
        const c::Type& of = type(named.type);
        if (of.kind == c::Type::Kind::array) {
            const bool is_list = named.is_const && named.init >= 0 && expr(named.init).kind == ExprKind::list;
            return is_list && is_pure(named.init, -1) ? Definition{0, named.init} : Definition{};
        }
        if (named.storage == Storage::parameter) return {};
        if (named.is_static) {  // set once, at the first call
            const bool is_constant = named.is_const && named.init >= 0 && is_literal(named.init);
            return is_constant ? Definition{0, named.init} : Definition{};
        }
        Definition last;
        for (const Flow::Change& each : flow_.changes()) {
            if (each.variable == id && each.value >= 0 && each.at < flow_.begin(nest_) &&
                is_done_before(each.statement))
                last = {each.at, each.value};
        }
        const bool has_changed = last.value >= 0 && flow_.changes_between(id, last.at, nest_);
        if (last.value < 0 || (has_changed && !has(Mutation::keep_counter))) return {};
        const c::Expr& value = expr(last.value);
        if (value.kind == ExprKind::closure) {  // what it has copied must still be the same
            const bool is_same = std::none_of(value.captured.begin(), value.captured.end(), [&](int copied) {
                return flow_.changes_between(copied, last.at, nest_);
            });
            return is_same ? last : Definition{};
        }
        if (of.kind == c::Type::Kind::other) return {};
        Mentions needed;
        mention_expr(last.value, needed);
        if (needed.known.count(id)) return {};  // made of what it was before
        // A number that is written down is the user's to choose, and so is one that is rounded.
        if (needed.order.empty() && !named.is_const && !of.is_reference) return {};
        if (!needed.order.empty() && c::is_real(of.number)) return {};
        return is_pure(last.value, last.at) ? last : Definition{};
    }

    // Whether what stands in the text before the nest is done, wholly, whenever the nest is entered: a
    // statement of a block around it, or the start of a loop around it.
    bool is_done_before(int id) const {
        const c::Statement& each = statement(id);
        const bool is_plain =
            each.kind == StatementKind::declare ||
            (each.kind == StatementKind::expression && expr(each.expr).kind == ExprKind::assign);
        const int around = flow_.parent(id);
        if (!is_plain || around < 0 || !flow_.is_inside(nest_, around)) return false;
        if (statement(around).kind == StatementKind::for_loop) return statement(around).statements[0] == id;
        // A `switch` jumps into its body past earlier statements.
        const int outer = flow_.parent(around);
        return statement(around).kind == StatementKind::block &&
               (outer < 0 || statement(outer).kind != StatementKind::unknown);
    }

    // Whether it has the same value when the nest is entered as at `from`.
    bool is_pure(int id, int from) const {
        const c::Expr& each = expr(id);
        switch (each.kind) {
            case ExprKind::integer:
            case ExprKind::real:
                return true;
            case ExprKind::variable: {
                const c::Variable& named = variable(each.variable);
                if (type(named.type).kind == c::Type::Kind::other) return false;
                if (named.storage == Storage::global) {
                    const bool is_array = type(named.type).kind == c::Type::Kind::array;
                    return is_array || named.is_const;
                }
                if (type(named.type).kind == c::Type::Kind::pointer && has(Mutation::keep_pointer))
                    return true;
                return !flow_.changes_between(each.variable, from, nest_);
            }
            case ExprKind::address:
                return expr(each.operands[0]).kind == ExprKind::subscript &&
                       is_pure_place(each.operands[0], from);
            case ExprKind::unary:
            case ExprKind::binary:
            case ExprKind::conditional:
            case ExprKind::convert:
            case ExprKind::list:
                return std::all_of(each.operands.begin(), each.operands.end(),
                                   [&](int operand) { return is_pure(operand, from); });
            default:
                return false;
        }
    }
    bool is_literal(int id) const {
        const c::Expr& each = expr(id);
        const bool is_number = each.kind == ExprKind::integer || each.kind == ExprKind::real;
        const bool is_made = each.kind == ExprKind::unary || each.kind == ExprKind::binary ||
                             each.kind == ExprKind::convert || each.kind == ExprKind::list;
        return is_number || (is_made && std::all_of(each.operands.begin(), each.operands.end(),
                                                    [this](int operand) { return is_literal(operand); }));
    }
    bool is_pure_place(int id, int from) const {  // a row, or an element, of an array in one block
        const c::Expr& each = expr(id);
        return is_pure(each.operands[0], from) && is_pure(each.operands[1], from);
    }

    // ---- the function

    void build() {
        result_.unit = unit_;
        c::Unit& unit = result_.unit;
        const c::Function& around = unit_.functions[static_cast<std::size_t>(unit_.function)];
        const Memory memory(unit_, flow_, nest_);
        for (const int id : result_.given) {
            c::Variable& named = unit.variables[static_cast<std::size_t>(id)];
            named.is_own = memory.is_own(id);
            named.is_outer = memory.is_outer(id);
            named.is_reached = flow_.is_escaped(id);
            const auto points = [&](int each) {
                return type(variable(each).type).kind == c::Type::Kind::pointer;
            };
            for (const int other : result_.given) {
                const bool is_apart = other == id || memory.is_own(id) || memory.is_own(other);
                if (!is_apart && points(id) && points(other) && memory.may_share(id, other))
                    named.shares.push_back(other);
            }
            named.storage = Storage::parameter;
            named.is_static = false;
            named.init = -1;
        }
        c::Statement body;
        body.kind = StatementKind::block;
        for (const int id : result_.defined) {
            unit.variables[static_cast<std::size_t>(id)].init = values_.at(id);
            c::Statement again;
            again.kind = StatementKind::declare;
            again.variables = {id};
            body.statements.push_back(static_cast<int>(unit.statements.size()));
            unit.statements.push_back(again);
        }
        body.statements.push_back(nest_);
        c::Function made = around;
        made.parameters = result_.given;
        made.body = static_cast<int>(unit.statements.size());
        unit.statements.push_back(body);
        made.where = head();
        result_.where = statement(nest_).where;
        result_.function = around.begin;
        result_.in_block = statement(flow_.parent(nest_)).kind == StatementKind::block;
        for (int at = flow_.parent(nest_); at >= 0; at = flow_.parent(at))
            result_.around.push_back(statement(at).where);
        const std::size_t scope = around.full_name.rfind("::");
        if (scope != std::string::npos) result_.scope = around.full_name.substr(0, scope + 2);
        const std::string_view text = unit.source.text();
        const std::size_t next = text.find_first_not_of(" \t\r\n", result_.where.end);
        if (text[result_.where.end - 1] != '}' && next != std::string_view::npos && text[next] == ';')
            result_.where.end = static_cast<std::uint32_t>(next) + 1;
        unit.function = static_cast<int>(unit.functions.size());
        unit.functions.push_back(made);
        for (const int id : flow_.changed_in(nest_)) {
            if (flow_.is_escaped(id))
                throw Refusal(head(),
                              "`" + variable(id).name +
                                  "` is changed in this loop, and may be read or changed by another name");
            if (std::count(result_.given.begin(), result_.given.end(), id) > 0 &&
                flow_.is_live_after(id, nest_))
                unit.results.push_back(id);
        }
    }
    SourceRange head() const {
        const bool are_several = statement(nest_).kind == StatementKind::block;
        const c::Statement& first =
            are_several ? statement(statement(nest_).statements[0]) : statement(nest_);
        SourceRange where = first.where;
        const int body = first.kind == StatementKind::for_loop ? first.statements[1] : -1;
        if (body >= 0 && statement(body).where.begin > where.begin)
            where.end = statement(body).where.begin - 1;
        return where;
    }

    const c::Unit& unit_;
    const Flow& flow_;
    int nest_;
    Outline result_;
    std::set<int> done_;
    std::map<int, int> values_;
};

}  // namespace

Outline outline(const c::Unit& whole, const Flow& flow, int nest) {
    return Outliner(whole, flow, nest).make();
}

Outline outline_several(const c::Unit& whole, int block, std::size_t first, std::size_t past) {
    c::Unit unit = whole;
    std::vector<int>& list = unit.statements[static_cast<std::size_t>(block)].statements;
    const auto begin = list.begin() + static_cast<std::ptrdiff_t>(first),
               end = list.begin() + static_cast<std::ptrdiff_t>(past);
    const int made = static_cast<int>(unit.statements.size());
    c::Statement several;
    several.kind = StatementKind::block;
    several.statements.assign(begin, end);
    several.where = {whole.statements[static_cast<std::size_t>(*begin)].where.begin,
                     whole.statements[static_cast<std::size_t>(*(end - 1))].where.end};
    *begin = made;
    list.erase(begin + 1, end);
    unit.statements.push_back(several);
    return outline(unit, Flow(unit, unit.function), made);
}

std::vector<Inserted> outlined_text(const Outline& outline, const std::string& name,
                                    const std::vector<int>& results) {
    const c::Unit& unit = outline.unit;
    // Names of types may be known in the function alone; a struct has no other.
    const auto type_text = [&](const c::Variable& named) {
        int at = named.type;
        while (unit.types[static_cast<std::size_t>(at)].element >= 0)
            at = unit.types[static_cast<std::size_t>(at)].element;
        const bool is_number = unit.types[static_cast<std::size_t>(at)].kind == c::Type::Kind::number;
        const c::Type& of = unit.types[static_cast<std::size_t>(named.type)];
        return is_number ? of.plain : of.text;
    };
    std::string parameters;
    bool has_object = false;
    for (const int id : outline.given) {
        const c::Variable& named = unit.variables[static_cast<std::size_t>(id)];
        const c::Type& of = unit.types[static_cast<std::size_t>(named.type)];
        has_object = has_object || named.is_object;
        if (named.is_object) continue;
        const bool is_whole = of.is_vector || of.is_std_array || (of.is_class && unit.is_cxx);
        parameters += fmt::format("{}__typeof__({}){} {}", parameters.empty() ? "" : ", ", type_text(named),
                                  is_whole ? "&" : "", named.name);
    }
    std::string stores;
    for (const int id : results) {
        const c::Variable& named = unit.variables[static_cast<std::size_t>(id)];
        const c::Type& of = unit.types[static_cast<std::size_t>(named.type)];
        const c::Type& held = of.is_reference ? unit.types[static_cast<std::size_t>(of.element)] : of;
        parameters +=
            fmt::format("{}{}* halo_lift_{}", parameters.empty() ? "" : ", ", held.plain, named.name);
        stores += fmt::format("    *halo_lift_{} = {};\n", named.name, named.name);
    }
    const c::Function& function = unit.functions[static_cast<std::size_t>(unit.function)];
    const std::string kind = has_object ? "" : "static ",
                      rest = "(" + (parameters.empty() && !unit.is_cxx ? "void" : parameters) + ")" +
                             (has_object && function.is_const ? " const" : "");
    std::string text = " {\n";
    for (const int id : outline.defined) {
        const c::Variable& named = unit.variables[static_cast<std::size_t>(id)];
        const c::Expr& init = unit.exprs[static_cast<std::size_t>(named.init)];
        const std::string value(unit.source.text(init.where));
        text += init.kind == ExprKind::closure
                    ? fmt::format("    auto {} = {};\n", named.name, value)
                    : fmt::format("    __typeof__({}) {} = {};\n", type_text(named), named.name, value);
    }
    text += "    " + std::string(unit.source.text(outline.where)) + "\n" + stores + "}\n";
    if (function.class_end == 0) return {{outline.function, kind + "void " + name + rest + text}};
    return {{function.class_end, kind + "void " + name + rest + ";\n"},
            {outline.function, "void " + outline.scope + name + rest + text}};
}

}  // namespace halo::lift
