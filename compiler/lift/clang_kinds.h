// Which kinds of statements and expressions of Clang's tree the lifter knows. All others are refused.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace clang {
class Decl;
class Expr;
class Stmt;
}  // namespace clang

namespace halo::lift {

enum class Handling : unsigned char {
    modelled,   // the lifter knows what it computes and changes
    traversed,  // refused in a nest; around one, what its parts change is seen
    opaque      // refused in a nest; around one, it may change everything that the function has
};

Handling handling_of(const clang::Stmt& statement);

// Why a statement that is not modelled is refused.
std::string words_for(const clang::Stmt& statement);
// Whether no attribute of a variable says more of what it holds, and when, than its declaration does.
bool is_plain_declaration(const clang::Decl& declared);
// Whether it counts a loop whose iterations have no order, by the mark of a header that haloc lift brings.
bool is_unordered(const clang::Decl& declared);
// Whether the body of a function is not what it does, by the mark of such a header.
bool is_elsewhere(const clang::Decl& declared);
// Whether a pragma has other rules for it than the rest of the file.
bool has_own_rounding(const clang::Expr& expr);

struct NodeKind {
    std::string name;  // as Clang has it: "ForStmt"
    Handling handling = Handling::opaque;
};
// Every kind that this version of Clang has.
std::vector<NodeKind> node_kinds();

// The names of all kinds in a statement, and in the functions that it calls.
void collect_kinds(const clang::Stmt* statement, std::set<std::string>& into);

}  // namespace halo::lift
