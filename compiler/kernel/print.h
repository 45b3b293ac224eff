// Prints a KernelProgram as C-like text: the common base of every back end's printer, and, as it stands, the
// neutral form that tests compare. A back end overrides the words that differ; it takes no decisions.
#pragma once

#include <string>

#include "compiler/kernel/program.h"

namespace halo::kernel {

// As C has it; f16 and bf16 are structs of the prelude.
const char* c_type_name(Type type);

class Printer {
public:
    // Levels of precedence of C, the tighter the larger.
    enum Precedence {
        kNone,
        kConditional,
        kOr,
        kAnd,
        kBitOr,
        kBitAnd,
        kEquality,
        kRelation,
        kShift,
        kSum,
        kProduct,
        kPrefix,
        kPostfix
    };

    virtual ~Printer() = default;
    std::string print(const Program& program);

protected:
    // Words of the language printed to.
    virtual std::string type_name(Type type) const { return c_type_name(type); }
    virtual std::string builtin_name(Builtin builtin) const;
    virtual std::string function_name(Function function, Type type) const;
    virtual std::string fast_function_name(Function function) const;  // f32
    // The function that divides numbers of the type in place of `/`; empty where that does.
    virtual std::string division_function(Type) const { return ""; }
    virtual std::string barrier(Barrier::Of of) const;
    virtual std::string shuffle(Shuffle::From from, const std::string& operand,
                                const std::string& index) const;
    virtual std::string shared_qualifier() const { return "shared "; }
    virtual std::string unroll_pragma(const For& loop) const;
    virtual std::string constant_array(const ConstantArray& array) const;
    // The function's head, from its first word to the closing parenthesis of its parameters.
    virtual std::string signature(const KernelFunction& function) const;
    // Text between the header comment and the constants: includes and helpers.
    virtual std::string prelude(const Program& program) const;
    virtual std::string prologue(const KernelFunction& function) const;  // first lines of a body, indented
    virtual std::string parameter(const Parameter& parameter) const;
    virtual std::string dynamic_shared(const DeclareArray& array) const;
    std::string view(const DeclareArray& array) const;

    virtual std::string special_literal(double value, Type type) const;  // NaN and the infinities

    std::string expression(const Expr& expr, int outer_precedence = 0) const;

private:
    void block(const Block& block, int depth);
    void statement(const Statement& statement, int depth);
    void constants(const std::vector<NamedConstant>& constants, int depth);
    void function(const KernelFunction& function);
    void line(int depth, const std::string& text);  // wraps past the column limit
    void loop(const For& loop, int depth);
    void guard(const If& guard, int depth, const std::string& before = "");
    std::string simple_statement(const Statement& statement) const;
    std::string assignment(const Assign& assign) const;
    std::string pointer_to(const Expr& element) const;
    std::string subscripted(std::string text, const std::vector<Expr>& indices) const;
    std::string array_dims(const DeclareArray& array) const;
    std::string arguments(const std::vector<Expr>& arguments) const;
    std::string real_literal(double value, Type type) const;

    std::string text_;
};

// The neutral form.
std::string print(const Program& program);

}  // namespace halo::kernel
