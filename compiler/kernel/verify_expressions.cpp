#include "compiler/kernel/verify_expressions.h"

#include <algorithm>

#include "compiler/kernel/type_word.h"
#include "compiler/kernel/walk.h"

namespace halo::kernel {
namespace {

// A value of `from` may be stored where a `to` is.
bool fits_in(Type from, Type to) {
    return from == to || (from == Type::i32 && to == Type::i64);
}

std::size_t argument_count(Function function) {
    switch (function) {
        case Function::fma:
            return 3;
        case Function::pow:
        case Function::atan2:
        case Function::min:
        case Function::max:
            return 2;
        default:
            return 1;
    }
}

}  // namespace

const ExpressionVerifier::Entity* ExpressionVerifier::find(const std::string& name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
        if (const auto known = scope->find(name); known != scope->end()) return &known->second;
    }
    return nullptr;
}

void ExpressionVerifier::declare(const std::string& name, Entity entity) {
    if (find(name)) fault("`{}` is declared while another one is visible", name);
    scopes_.back()[name] = entity;
}

const ExpressionVerifier::Entity* ExpressionVerifier::find_declared(const std::string& name) {
    const Entity* entity = find(name);
    if (!entity) fault("`{}` is not declared here", name);
    return entity;
}

void ExpressionVerifier::expect_all_threads(const std::string& what) {
    if (varying_ > 0) fault("{} stands where not all threads come", what);
    if (has_returned_) fault("{} comes after some threads may have returned", what);
}

void ExpressionVerifier::expect(const Expr& expr, Type type, const std::string& what) {
    if (!expr) return fault("{} is missing", what);
    check_expression(expr);
    if (!fits_in(expr.type(), type)) fault("{} is {}, not {}", what, word(expr.type()), word(type));
}

void ExpressionVerifier::expect_integer(const Expr& expr, const std::string& what) {
    if (!expr) return fault("{} is missing", what);
    check_expression(expr);
    if (!is_integer(expr.type())) fault("{} is {}, not an integer", what, word(expr.type()));
}

void ExpressionVerifier::check_address(const Expr& expr, Type type, bool stores, bool local) {
    const auto* address = expr ? std::get_if<AddressOf>(&expr->kind) : nullptr;
    if (!address) return fault("an address is expected");
    expect_integer(address->index, "the place of an address into `" + address->array + "`");
    if (expr.type() != type) fault("an address is of {}, not {}", word(expr.type()), word(type));
    const Entity* entity = find_declared(address->array);
    if (!entity) return;
    for (const Expr& row : address->rows)
        expect_integer(row, "an index of `" + address->array + "`");
    // All of a thread's own array may be handed over, whatever its dimensions.
    const bool is_all = local && address->rows.empty() && literal_of(address->index) == 0;
    const bool is_row = entity->kind == Entity::Kind::array && (entity->shared || local) &&
                        (entity->indices == address->rows.size() + 1 || is_all);
    if (entity->kind != Entity::Kind::pointer && !is_row)
        return fault("`{}` is no parameter's", address->array);
    if (entity->type != type) fault("`{}` holds {}, not {}", address->array, word(entity->type), word(type));
    if (stores && !entity->writable) fault("`{}` is stored to, but not declared for it", address->array);
}

const HelperShape& ExpressionVerifier::check_helper(Helper helper, const std::vector<Expr>& arguments) {
    const HelperShape& shape = shape_of(helper);
    if (find(shape.name)) fault("helper `{}` is hidden by another name", shape.name);
    check_call(shape.name, {shape.arguments, shape.has_barrier, shape.is_variadic}, arguments);
    return shape;
}

void ExpressionVerifier::check_call(const std::string& name, const FunctionShape& shape,
                                    const std::vector<Expr>& arguments) {
    const std::size_t least = shape.arguments.size();
    if (shape.is_variadic ? arguments.size() < least : arguments.size() != least)
        return fault("`{}` takes {} arguments, not {}", name, shape.arguments.size(), arguments.size());
    for (std::size_t a = 0; a < arguments.size(); ++a) {
        const bool address =
            arguments[a].has_value() && std::holds_alternative<AddressOf>(arguments[a]->kind);
        const Type type = shape.arguments[std::min(a, least - 1)];
        if (address)
            check_address(arguments[a], type, false, true);
        else
            expect(arguments[a], type, "an argument of `" + name + "`");
    }
    if (shape.has_barrier) expect_all_threads("`" + name + "`");
}

void ExpressionVerifier::check_expression(const Expr& expr) {
    if (!expr) return fault("an expression is missing");
    std::visit([&](const auto& node) { check_node(node, expr.type()); }, expr->kind);
}

void ExpressionVerifier::check_node(const IntLiteral&, Type type) {
    if (is_real(type)) fault("an integer literal is {}", word(type));
}

void ExpressionVerifier::check_node(const RealLiteral&, Type type) {
    if (!is_real(type)) fault("a real literal is {}", word(type));
}

void ExpressionVerifier::check_node(const BuiltinIndex&, Type type) {
    if (type != Type::i32) fault("a thread's index is {}", word(type));
}

void ExpressionVerifier::check_node(const Variable& node, Type type) {
    const Entity* entity = find_declared(node.name);
    if (!entity) return;
    if (entity->kind != Entity::Kind::scalar) return fault("`{}` is no number", node.name);
    if (entity->type != type) fault("`{}` is {}, read as {}", node.name, word(entity->type), word(type));
}

void ExpressionVerifier::check_node(const Element& node, Type type) {
    for (const Expr& index : node.indices)
        expect_integer(index, "an index of `" + node.array + "`");
    const Entity* entity = find_declared(node.array);
    if (!entity) return;
    if (entity->kind != Entity::Kind::pointer && entity->kind != Entity::Kind::array)
        return fault("`{}` has no elements", node.array);
    if (entity->type != type) fault("`{}` holds {}, read as {}", node.array, word(entity->type), word(type));
    if (entity->indices != node.indices.size())
        fault("`{}` takes {} indices, not {}", node.array, entity->indices, node.indices.size());
}

void ExpressionVerifier::check_node(const AddressOf& node, Type) {
    fault("the address into `{}` is used as a number", node.array);
}

void ExpressionVerifier::check_node(const Negate& node, Type type) {
    expect(node.operand, type, "what is negated");
    if (type == Type::boolean) fault("a boolean is negated as a number");
}

void ExpressionVerifier::check_node(const Not& node, Type type) {
    expect(node.operand, Type::boolean, "what `!` takes");
    if (type != Type::boolean) fault("`!` gives {}", word(type));
}

void ExpressionVerifier::check_node(const Convert& node, Type) {
    check_expression(node.operand);
}

void ExpressionVerifier::check_node(const Binary& node, Type type) {
    if (!node.left || !node.right) return fault("an operand is missing");
    check_expression(node.left);
    check_expression(node.right);
    const Type left = node.left.type(), right = node.right.type();
    const bool logical = node.op == Operator::logical_and || node.op == Operator::logical_or;
    const bool compares = node.op >= Operator::less && node.op <= Operator::not_equal;
    if (left != right && !(is_integer(left) && is_integer(right)))
        fault("an operator stands between {} and {}", word(left), word(right));
    if ((left == Type::boolean) != logical) fault("an operator takes {}", word(left));
    if (node.op == Operator::mod && !is_integer(left)) fault("`%` takes {}", word(left));
    const Type wide = fits_in(left, right) ? right : left;
    const Type gives = compares || logical ? Type::boolean : wide;
    if (type != gives) fault("an operator gives {}, read as {}", word(gives), word(type));
}

void ExpressionVerifier::check_node(const Select& node, Type type) {
    expect(node.condition, Type::boolean, "a condition");
    expect(node.then, type, "a choice");
    expect(node.otherwise, type, "a choice");
}

void ExpressionVerifier::check_node(const Call& node, Type type) {
    if (node.arguments.size() != argument_count(node.function))
        fault("a function has {} arguments", node.arguments.size());
    const bool has_fast = node.function == Function::sin || node.function == Function::cos ||
                          node.function == Function::exp || node.function == Function::log ||
                          node.function == Function::rsqrt;
    if (node.fast && !(has_fast && type == Type::f32)) fault("a function of {} has no fast form", word(type));
    const bool of_integers = node.function == Function::min || node.function == Function::max;
    if (!is_real(type) && !(of_integers && is_integer(type))) fault("a function gives {}", word(type));
    for (const Expr& argument : node.arguments)
        expect(argument, type, "a function's argument");
}

void ExpressionVerifier::check_node(const CallHelper& node, Type type) {
    const HelperShape& helper = check_helper(node.helper, node.arguments);
    if (!helper.result) return fault("`{}` has no value", helper.name);
    if (*helper.result != type) fault("`{}` is read as {}", helper.name, word(type));
}

void ExpressionVerifier::check_node(const CallLambda& node, Type type) {
    const Entity* entity = find_declared(node.lambda);
    if (!entity) return;
    if (entity->kind != Entity::Kind::lambda) return fault("`{}` is no function", node.lambda);
    if (type != entity->type) fault("`{}` is read as {}", node.lambda, word(type));
    check_call(node.lambda, {entity->parameters}, node.arguments);
}

void ExpressionVerifier::check_node(const Shuffle& node, Type type) {
    expect(node.operand, type, "what a shuffle moves");
    if (size_of(type) < 4) fault("a shuffle moves {}", word(type));
    expect(node.index, Type::i32, "a shuffle's lane");
}

bool ExpressionVerifier::varies(const Expr& expr) const {
    bool found = false;
    for_each_expr(expr, [&](const Expr& part) {
        if (const auto* index = std::get_if<BuiltinIndex>(&part->kind))
            found = found || index->builtin <= Builtin::thread_z;
        if (const auto* variable = std::get_if<Variable>(&part->kind)) {
            const Entity* entity = find(variable->name);
            found = found || (entity && entity->varies);
        }
        if (const auto* element = std::get_if<Element>(&part->kind)) {
            // What a kernel reads through a parameter and never stores is the same for equal indices.
            const Entity* entity = find(element->array);
            found = found || !entity || entity->kind != Entity::Kind::pointer || entity->writable ||
                    entity->varies;
        }
        // A constant is the same in all lanes; a shuffle hides it from compilers.
        if (const auto* moved = std::get_if<Shuffle>(&part->kind))
            found = found || !is_constant(moved->operand);
        found = found || std::holds_alternative<CallHelper>(part->kind) ||
                std::holds_alternative<CallLambda>(part->kind);
    });
    return found;
}

bool ExpressionVerifier::is_constant(const Expr& expr) const {
    bool constant = true;
    for_each_expr(expr, [&](const Expr& part) {
        if (const auto* variable = std::get_if<Variable>(&part->kind)) {
            const Entity* entity = find(variable->name);
            constant = constant && (!entity || entity->constant);
        } else {
            constant = constant && (std::holds_alternative<IntLiteral>(part->kind) ||
                                    std::holds_alternative<Binary>(part->kind));
        }
    });
    return constant;
}

}  // namespace halo::kernel
