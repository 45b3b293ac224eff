// Expressions of a .halo file's tree (tree.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/support/rational.h"
#include "compiler/support/source.h"

namespace halo::syntax {

struct ExprId {
    std::uint32_t index = 0;
    friend bool operator==(ExprId, ExprId) = default;
};

struct Name {
    std::string text;
    SourceRange where;
};

struct Missing {};  // did not parse; its message has been given

struct Number {  // exact; the text as written is the node's range
    Rational value;
    bool is_imaginary = false;  // 2i
};

struct NameUse {  // u, lambda, x
    std::string name;
};

struct Member {  // v.x, f.3, f.(opposite[i]): component or column
    ExprId base;
    Name member;                  // may be digits; what is between the parentheses, where `index` is given
    std::optional<ExprId> index;  // computed when the spec is compiled
};

struct Index {  // u[t+1, x-1], c[r], w[i, j]
    ExprId base;
    std::vector<ExprId> subscripts;  // at least one
};

struct Argument {
    std::optional<Name> keyword;  // order=8
    ExprId value;
};
struct CallExpr {  // laplacian(u), d(u, x, order=8)
    Name callee;
    std::vector<Argument> arguments;
};

enum class UnaryKind : std::uint8_t { negate, plus, logical_not };
struct UnaryExpr {
    UnaryKind kind;
    ExprId operand;
};

enum class BinaryKind : std::uint8_t {
    add,
    subtract,
    multiply,
    divide,
    power,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,
    logical_and,
    logical_or
};
struct BinaryExpr {
    BinaryKind kind;
    ExprId left, right;
    SourceRange operator_where;
};

struct Conditional {  // if condition then value else otherwise
    ExprId condition, then, otherwise;
};

struct RangeIndex {  // i in low..high, both inclusive
    Name name;
    ExprId low, high;
};
enum class FoldKind : std::uint8_t { sum, prod, min, max, list };
struct Fold {  // sum(i in a..b, j in c..d) body, [body for i in a..b]; the last index runs fastest
    FoldKind kind;
    std::vector<RangeIndex> indices;  // at least one, but of names
    ExprId body;
    std::vector<ExprId> terms = {};  // sum(a in x, y) body: the body for each name; then `body` is the first
};

struct RowLet {  // let e = expression, within a sum over a table
    Name name;
    ExprId value;
};
struct TableFold {  // sum(a in atoms) body; sum(s in samples) { let e = …; body }
    Name row;
    Name table;
    std::vector<RowLet> lets;
    ExprId body;
    bool is_block = false;  // in braces
};

struct List {  // [4/5, -1/5]: the weights of a coef, or a vector
    std::vector<ExprId> elements;
};

struct Expr {
    SourceRange where;           // without the parentheses around it
    bool parenthesised = false;  // (a + b)
    std::variant<Missing, Number, NameUse, Member, Index, CallExpr, UnaryExpr, BinaryExpr, Conditional, Fold,
                 TableFold, List>
        node;
    std::uint32_t iteration = 0;  // of loops over names: in File::iterations
};

// No expression is higher than this (operators on one level count), so recursion over a tree is safe.
inline constexpr int kMaxExpressionHeight = 1000;

}  // namespace halo::syntax
