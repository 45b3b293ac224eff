// Terms as expressions of a spec; for spec_text.cpp.
#pragma once

#include <map>
#include <string>

#include "compiler/lift/spec_text.h"
#include "compiler/lift/spec_words.h"

namespace halo::lift {

class TermWriter {
public:
    TermWriter(const Model& model, const Form& form, const Precision& precision)
        : model_(model), form_(form), precision_(precision) {}

    Text term(int id, bool spelled_out = false);  // of current_; spelled_out: not by its let
    const Field& field(int id) const { return form_.fields[static_cast<std::size_t>(id)]; }
    int holder(int id) const;

protected:
    const Model& model_;
    const Form& form_;
    const Precision& precision_;
    Spec spec_;
    Names names_;
    const Statement* current_ = nullptr;
    std::map<int, std::string> lets_;
    std::string before_;  // the let that holds what a statement changes in place
    bool has_function_ = false, has_extremum_ = false;

    // meets_float: what is written for it means a float there. Throws Refusal.
    static Text number(const Term& each, bool meets_float);
    Text polynomial(const Polynomial& poly, SourceRange where);

private:
    Text operand(const Term& of, std::size_t which);
    Text converted(const Term& each);
    bool may_be_below_zero(int id) const;
    Text binary(const Term& each);
    bool is_value(int id, int value) const;
    Text call(const Term& each);
    std::string param(int scalar);
    std::string access(const Term& each);
};

}  // namespace halo::lift
