#include "compiler/kernel/walk.h"

namespace halo::kernel {
namespace {

using Visit = std::function<void(const Expr&)>;

void operands(const IntLiteral&, const Visit&) {}
void operands(const RealLiteral&, const Visit&) {}
void operands(const Variable&, const Visit&) {}
void operands(const BuiltinIndex&, const Visit&) {}
void operands(const Element& node, const Visit& visit) {
    for (const Expr& index : node.indices)
        visit(index);
}
void operands(const AddressOf& node, const Visit& visit) {
    for (const Expr& row : node.rows)
        visit(row);
    visit(node.index);
}
void operands(const Negate& node, const Visit& visit) {
    visit(node.operand);
}
void operands(const Not& node, const Visit& visit) {
    visit(node.operand);
}
void operands(const Convert& node, const Visit& visit) {
    visit(node.operand);
}
void operands(const Binary& node, const Visit& visit) {
    visit(node.left);
    visit(node.right);
}
void operands(const Select& node, const Visit& visit) {
    visit(node.condition);
    visit(node.then);
    visit(node.otherwise);
}
void operands(const Call& node, const Visit& visit) {
    for (const Expr& argument : node.arguments)
        visit(argument);
}
void operands(const CallHelper& node, const Visit& visit) {
    for (const Expr& argument : node.arguments)
        visit(argument);
}
void operands(const CallLambda& node, const Visit& visit) {
    for (const Expr& argument : node.arguments)
        visit(argument);
}
void operands(const Shuffle& node, const Visit& visit) {
    visit(node.operand);
    visit(node.index);
}

void roots(const Declare& node, const Visit& visit) {
    visit(node.value);
}
void roots(const DeclarePointer& node, const Visit& visit) {
    visit(node.value);
}
void roots(const AdvancePointer& node, const Visit& visit) {
    visit(node.by);
}
void roots(const DeclareArray& node, const Visit& visit) {
    for (const Expr& dim : node.dims)
        visit(dim);
    if (node.from) visit(node.from);
}
void roots(const DeclareLambda& node, const Visit& visit) {
    if (node.value) visit(node.value);
}
void roots(const Assign& node, const Visit& visit) {
    visit(node.target);
    visit(node.value);
}
void roots(const LoadVector& node, const Visit& visit) {
    visit(node.to);
    visit(node.from);
}
void roots(const CopyVector& node, const Visit& visit) {
    visit(node.to);
    visit(node.from);
}
void roots(const CopyAsync& node, const Visit& visit) {
    visit(node.to);
    visit(node.from);
}
void roots(const CommitCopies&, const Visit&) {}
void roots(const AwaitCopies&, const Visit&) {}
void roots(const StoreVector& node, const Visit& visit) {
    visit(node.to);
    visit(node.from);
}
void roots(const StoreLine& node, const Visit& visit) {
    visit(node.to);
    visit(node.from);
    visit(node.passes_caches);
}
void roots(const Prefetch& node, const Visit& visit) {
    visit(node.from);
}
void roots(const CopyCells& node, const Visit& visit) {
    visit(node.to);
    visit(node.from);
    visit(node.count);
}
void roots(const FillCells& node, const Visit& visit) {
    visit(node.to);
    visit(node.value);
    visit(node.count);
}
void roots(const For& node, const Visit& visit) {
    visit(node.begin);
    visit(node.end);
    visit(node.step);
}
void roots(const If& node, const Visit& visit) {
    visit(node.condition);
}
void roots(const Scope&, const Visit&) {}
void roots(const Barrier&, const Visit&) {}
void roots(const Return&, const Visit&) {}
void roots(const RunHelper& node, const Visit& visit) {
    for (const Expr& argument : node.arguments)
        visit(argument);
}
void roots(const RunLambda& node, const Visit& visit) {
    for (const Expr& argument : node.arguments)
        visit(argument);
}
void roots(const CallFunction& node, const Visit& visit) {
    for (const Expr& argument : node.arguments)
        visit(argument);
}
void roots(const Comment&, const Visit&) {}
void roots(const BlankLine&, const Visit&) {}

}  // namespace

void for_each_statement(const Block& block, const std::function<void(const Statement&)>& visit) {
    for (const Statement& statement : block) {
        visit(statement);
        if (const auto* loop = std::get_if<For>(&statement.kind)) for_each_statement(loop->body, visit);
        if (const auto* scope = std::get_if<Scope>(&statement.kind)) for_each_statement(scope->body, visit);
        if (const auto* lambda = std::get_if<DeclareLambda>(&statement.kind))
            for_each_statement(lambda->body, visit);
        if (const auto* guard = std::get_if<If>(&statement.kind)) {
            for_each_statement(guard->then, visit);
            for_each_statement(guard->otherwise, visit);
        }
    }
}

void for_each_expr(const Expr& expr, const Visit& visit) {
    if (!expr) return;
    visit(expr);
    std::visit(
        [&](const auto& node) {
            operands(node, [&](const Expr& operand) { for_each_expr(operand, visit); });
        },
        expr->kind);
}

void for_each_expr(const Block& block, const Visit& visit) {
    for_each_statement(block, [&](const Statement& statement) {
        std::visit(
            [&](const auto& node) { roots(node, [&](const Expr& root) { for_each_expr(root, visit); }); },
            statement.kind);
    });
}

std::set<std::string> names_in(const KernelFunction& function) {
    std::set<std::string> names;
    for (const Parameter& parameter : function.parameters)
        names.insert(parameter.name);
    for (const NamedConstant& constant : function.constants)
        names.insert(constant.name);
    for_each_statement(function.body, [&](const Statement& statement) {
        if (const auto* declare = std::get_if<Declare>(&statement.kind)) names.insert(declare->name);
        if (const auto* row = std::get_if<DeclarePointer>(&statement.kind)) names.insert(row->name);
        if (const auto* array = std::get_if<DeclareArray>(&statement.kind)) names.insert(array->name);
        if (const auto* lambda = std::get_if<DeclareLambda>(&statement.kind)) names.insert(lambda->name);
        if (const auto* loop = std::get_if<For>(&statement.kind)) names.insert(loop->var);
    });
    return names;
}

std::set<std::string> variables_in(const Block& block) {
    std::set<std::string> names;
    for_each_expr(block, [&](const Expr& expr) {
        if (const auto* variable = std::get_if<Variable>(&expr->kind)) names.insert(variable->name);
    });
    return names;
}

}  // namespace halo::kernel
