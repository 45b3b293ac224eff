// What a small change of one thing adds to the objective, collected from all that reads it.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "compiler/adjoint/active.h"
#include "compiler/adjoint/copy.h"
#include "compiler/adjoint/faces.h"

namespace halo::adjoint {

// weight * carrier where `where` holds, else 0. The weight is the same in all cells; the carrier is what the
// cells of a field have of their own. Both of one type.
struct Term {
    ir::ExprId weight, carrier;
    std::optional<ir::ExprId> where;
};

// Goes through an expression backwards, from `seed`, what a change of it adds. Calls back for what is read in
// it and varies, with what a change of that adds at the cell of the expression.
struct PullBackCalls {
    std::function<void(const ir::Access&, const Term&)> on_read;
    std::function<void(ir::ParamId, const Term&)> on_param;
    std::function<void(const ir::PointColumn&, const Term&)> on_number;  // of expressions at points
};
void pull_back(Algebra& algebra, ir::ExprId root, const Term& seed, Varied& varied,
               const PullBackCalls& calls);

// The adjoints of fields, term by term, while the statements that read them are gone through backwards.
class Gather {
public:
    // Lets that terms need at neighbours are added to the program's statements.
    Gather(Algebra& algebra, Names& names) : a_(algebra), names_(names) {}

    // `field[cell + offset]` was read by a statement whose cells lie where `at` does.
    void add(ir::FieldId field, const ir::Offset& offset, const Term& term, ir::FieldId at);
    bool has(ir::FieldId field) const { return reads_.contains(field); }
    // What a change of the field in a cell adds to the objective; 0 where nothing reads it.
    ir::ExprId sum(ir::FieldId field);

    // Faces of a field past which no cell that counts reads anything: free ones of the given program.
    void set_undefined(ir::FieldId field, const FaceSet& faces) { undefined_[field] = faces; }

    // Says that a field holds an adjoint, whose boundary is free to be chosen.
    void own(ir::FieldId field) { adjoints_.insert(field); }

    // The value of a term at its cell.
    ir::ExprId at_cell(const Term& term);

private:
    struct Read {
        ir::Offset offset;
        Term term;
        ir::FieldId at;
    };
    using Periodic = std::array<bool, ir::kMaxRank>;

    ir::ExprId masked(const Term& term);  // the carrier where it counts
    ir::FieldId named(const Term& term, ir::FieldId at, const Periodic& periodic);
    bool can_stand(ir::FieldId field, const Periodic& periodic) const;
    void set_boundary(ir::FieldId field, const Periodic& periodic);

    Algebra& a_;
    Names& names_;
    std::map<ir::FieldId, std::vector<Read>> reads_;
    std::map<std::tuple<ir::ExprId, ir::FieldId, Periodic>, ir::FieldId> named_;
    std::map<ir::FieldId, Periodic> bounded_;
    std::set<ir::FieldId> adjoints_;
    std::map<ir::FieldId, FaceSet> undefined_;
};

}  // namespace halo::adjoint
