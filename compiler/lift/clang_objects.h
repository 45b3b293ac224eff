// Objects of classes as plain data: member functions, constructors, members; for clang_translate.cpp.
#pragma once

#include <clang/AST/ExprCXX.h>

#include <optional>
#include <string>
#include <vector>

#include "compiler/lift/clang_types.h"

namespace halo::lift {

class ObjectTranslator : public TypeTranslator {
public:
    using TypeTranslator::TypeTranslator;
    virtual int function(const clang::FunctionDecl& wanted) = 0;

protected:
    int add(c::Expr::Kind kind, const clang::Expr& from, std::vector<int> operands = {},
            std::string text = {});
    c::Expr& at(int id) { return unit.exprs[static_cast<std::size_t>(id)]; }
    // Makes a node of a kind that the lifter does not know: its operands may be read and changed.
    int unknown(const clang::Expr& from, const std::string& what);
    bool is_container(clang::QualType wanted);
    bool is_vector(clang::QualType wanted);

    // What the compiler knows: a constexpr variable that is an object, a whole number or what a function
    // returns; a call that returns a whole number. Nothing: it is none of these.
    std::optional<int> constant(const clang::VarDecl& variable);
    std::optional<int> constant(const clang::Expr& from);
    // How a path of members calls the part of an object that a base class is: `Base::`.
    std::string base_name(clang::QualType base) const;

    // Whether a function has an object as its first parameter; a closure's call has none.
    static bool has_object(const clang::FunctionDecl& decl);
    // Makes that parameter of the function.
    int object_parameter(const clang::CXXMethodDecl& method);
    // Says where its class is, and whether it can be called by itself.
    void describe_method(const clang::CXXMethodDecl& method, c::Function& made);
    // What a constructor does before its body, as statements.
    std::vector<int> initialisers(const clang::CXXConstructorDecl& constructor, int object);
    // While the body of a function is translated: `this` in it is that object; -1: it has none.
    void begin_method(const clang::FunctionDecl& decl, int object);
    void end_method() { objects_.pop_back(); }

    int this_object(const clang::CXXThisExpr& from);
    int member(const clang::MemberExpr& from);
    // The part of an object that a base class is.
    int base_part(const clang::CastExpr& from, int inner);
    int call_of(const clang::CallExpr& from, const clang::CXXMethodDecl& called, const clang::Expr& object,
                bool is_arrow, unsigned first_argument);
    int member_call(const clang::CXXMemberCallExpr& from);
    int operator_call(const clang::CXXOperatorCallExpr& from);
    int construct(const clang::CXXConstructExpr& from);
    // A struct that a list in braces makes.
    int made_of(const clang::InitListExpr& from, const clang::RecordDecl& record);

private:
    int computed(const clang::APValue& value, clang::QualType of, const clang::Expr& from);
    int call_of_library(const clang::CallExpr& from, const clang::CXXMethodDecl& called,
                        const clang::Expr& object, bool is_arrow, unsigned first_argument);
    bool is_value_class(const clang::CXXRecordDecl& of);
    int object_operand(const clang::Expr& object, bool is_arrow);
    bool is_hidden(const clang::ValueDecl& member) const;

    std::vector<int> objects_;  // the variables `this` of the functions around, -1 where there is none
    const clang::CXXRecordDecl* own_class_ = nullptr;  // of the function that is lifted
    bool has_begun_ = false;
};

}  // namespace halo::lift
