// Random expressions for random programs: trees of Nodes over what a program's statements may read.
#pragma once

#include <string>
#include <vector>

#include "random_program.h"

namespace halo::test {

// A value that statements may read, and how.
struct Readable {
    std::string name;
    std::vector<int> times{0};
    bool at_offsets = true;
    bool is_input = false;
};

struct Generated {
    Node node;
    double bound = 1;  // of its absolute value
};

// Every expression is kept within a bound of its absolute value, so that programs stay finite over many
// steps.
class ExpressionGenerator {
protected:
    using Kind = Node::Kind;

    ExpressionGenerator(std::uint64_t seed, const GeneratorOptions& options)
        : random_(seed), options_(options) {}
    ~ExpressionGenerator() = default;

    static Node binary(Kind kind, Node a, Node b);
    static Node unary(Kind kind, Node a);
    static Node number(int numerator, int denominator);
    static Node half(Node a);
    static Node access(std::string name, int time, Cells offset);
    // Scaled so that its absolute value is at most `limit`.
    Node tamed(Generated value, int limit);
    Cells random_offset();
    const Readable* pick_readable(bool at_offsets);
    Generated leaf();
    Generated expression(int depth);
    // c1 * a1 + c2 * a2 - … with coefficients that repeat.
    Generated many_terms(int depth);
    Generated arithmetic(int depth);
    Generated table_sum(int depth);
    Generated special(int depth);
    Generated chosen(Generated a, int depth);
    // Reads what it reads elsewhere, so only what may be read at offsets.
    Generated shifted(int depth);
    Generated difference_operator();
    Generated weighted_sum();

    Random random_;
    GeneratorOptions options_;
    RandomProgram program_;
    int radius_ = 0;
    bool all_periodic_ = false;
    bool in_table_ = false;
    std::vector<Readable> readable_;
    std::vector<std::string> reductions_;  // that may be read
};

}  // namespace halo::test
