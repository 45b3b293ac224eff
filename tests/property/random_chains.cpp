#include "random_chains.h"

#include <fmt/format.h>

#include <stdexcept>

#include "analyzed.h"

namespace halo::test {

namespace {

RandomProgram with_some_statements(RandomProgram program, Random& random) {
    for (std::size_t i = program.statements.size(); i-- > 0;)
        if (program.statements.size() > 1 && random.chance(40)) program = without_statement(program, i);
    return program;
}

void rename(Node& node, const std::string& from, const std::string& to) {
    if (node.name == from) node.name = to;
    for (Node& operand : node.operands)
        rename(operand, from, to);
}

// As a stencil of another name, whose reductions have other names, too.
std::string text_of_link(RandomProgram link, const std::string& name) {
    for (const StatementSpec& statement : std::vector(link.statements)) {
        if (statement.kind != StatementSpec::Kind::reduction) continue;
        for (StatementSpec& other : link.statements) {
            if (other.target == statement.target) other.target += name;
            rename(other.value, statement.target, statement.target + name);
        }
    }
    const std::string text = link.text(), head = "stencil random(";
    return "stencil " + name + "(" + text.substr(text.find(head) + head.size());
}

}  // namespace

void add_chain(RandomProgram& made) {
    constexpr int kTries = 6;
    Random random(made.seed * 16 + 7);
    for (int attempt = 0; attempt < kTries; ++attempt) {
        std::string lines = fmt::format("run random {{\n    steps {}\n", random.between(1, 2)), stencils;
        const int links = random.between(1, 2);
        for (int link = 0; link < links; ++link) {
            const std::string name = fmt::format("link{}", link);
            stencils += text_of_link(with_some_statements(made, random), name);
            if (random.chance(40))
                lines += fmt::format("    then {} for {}\n", name, random.between(1, 2));
            else
                lines +=
                    fmt::format("    every {}{} do {}\n", random.between(1, 3),
                                random.chance(30) ? fmt::format(" from {}", random.between(1, 3)) : "", name);
        }
        RandomProgram chained = with_some_statements(made, random);
        chained.chained = stencils + lines + "}\n";
        try {
            analyze_text(chained.text());
        } catch (const std::runtime_error&) {
            continue;
        }
        made = std::move(chained);
        return;
    }
}

}  // namespace halo::test
