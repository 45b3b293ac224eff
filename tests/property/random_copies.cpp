#include "random_copies.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "random_expression.h"

namespace halo::test {

namespace {

bool is_assigned_within_step(const RandomProgram& program, const std::string& name) {
    return std::ranges::any_of(program.statements, [&](const StatementSpec& statement) {
        return statement.kind == StatementSpec::Kind::output && statement.target == name;
    });
}

void replace_some_reads(Node& node, const std::string& field, const std::string& copy, Random& random) {
    if (node.kind == Node::Kind::access && node.name == field && node.time == 0 && random.chance(60))
        node.name = copy;
    for (Node& operand : node.operands)
        replace_some_reads(operand, field, copy, random);
}

}  // namespace

void add_copies(RandomProgram& program) {
    Random random(program.seed ^ 0x3d7a90c1e85f2b64ULL);
    if (program.is_staggered() || !program.chained.empty() || !random.chance(35)) return;
    std::vector<const FieldSpec*> whole;
    for (const FieldSpec& field : program.fields)
        if (field.over == kAllAxes && field.coarse == 1 && !is_assigned_within_step(program, field.name))
            whole.push_back(&field);
    if (whole.empty()) return;
    const FieldSpec& field = *random.pick(whole);
    StatementSpec let;
    let.kind = StatementSpec::Kind::let;
    let.target = "copy_of_it";
    let.value.kind = Node::Kind::access;
    let.value.name = field.name;
    let.faces = random.chance(75) ? field.faces : program.fields.front().faces;
    for (StatementSpec& statement : program.statements)
        if (statement.coarse == 1) replace_some_reads(statement.value, field.name, let.target, random);
    program.statements.insert(program.statements.begin(), std::move(let));
}

}  // namespace halo::test
