// Sums of weighted terms: collected, grouped by coefficient, written out. Private to the room;
// group_coefficients decides what belongs to which sum.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/passes/coefficient.h"

namespace halo::passes {

struct LinearForm;

// coefficient * term.
struct WeightedTerm {
    Coefficient coefficient;
    std::optional<ir::ExprId> term;            // nullopt: the uniform term, 1
    std::shared_ptr<const LinearForm> nested;  // where the term is a sum that may be opened: its parts

    bool is_uniform() const { return !term; }
};

// A sum in order of first appearance.
struct LinearForm {
    std::vector<WeightedTerm> items;
};

class LinearForms {
public:
    LinearForms(const ir::Program& program, ir::ExprBuilder& builder, Coefficients& coefficients)
        : program_(program), builder_(builder), coefficients_(coefficients) {}

    // Appends item * factor to a form under construction, joined with a like term: 2*u + u is 3*u and k*u +
    // m*u is (k+m)*u, but u and k*u stay apart, so that u + k*a - k*u can become u + k*(a - u).
    class Sum {
    public:
        explicit Sum(LinearForms& forms) : forms_(forms) {}
        void add(const WeightedTerm& item, const Coefficient& factor);
        LinearForm take();  // terms that cancelled are gone

    private:
        LinearForms& forms_;
        LinearForm form_;
        std::map<std::pair<std::optional<ir::ExprId>, bool>, std::size_t> place_;  // by term, and whether its
                                                                                   // factor is a mere number
    };

    // The form's value: a coefficient that all of it shares times a term of `type`, with the parts of that
    // term.
    WeightedTerm write(const LinearForm& form, ir::Scalar type);

    // coefficient * term as one expression.
    ir::ExprId value(const WeightedTerm& weighted, ir::Scalar type);

private:
    struct Signed {
        ir::ExprId value;
        bool negative = false;
    };
    struct Group {
        Coefficient coefficient;  // positive number
        std::vector<const WeightedTerm*> items;
        bool is_uniform = false;
    };
    std::vector<Group> group(const LinearForm& form);
    bool is_reversed(const Group& group) const;
    Coefficient write_group(const Group& group, ir::Scalar type, ir::ExprId& sum,
                            std::shared_ptr<const LinearForm>* parts);
    std::vector<Signed> write_block(const Group& group, ir::Scalar type);
    ir::ExprId chain(std::vector<Signed> terms);

    const ir::Program& program_;
    ir::ExprBuilder& builder_;
    Coefficients& coefficients_;
};

}  // namespace halo::passes
