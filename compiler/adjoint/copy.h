// Parts of one program as parts of another.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "compiler/adjoint/algebra.h"

namespace halo::adjoint {

// Names that no two things of a program share.
class Names {
public:
    explicit Names(const ir::Program& program);
    // `wanted`, or that with a number behind; components are told apart by `_`, as a name has no dot.
    std::string take(const std::string& wanted);

private:
    std::set<std::string> taken_;
};

// Adds a trace to points, under that name or one with a number behind. Its index in Points::traces.
int add_trace(ir::Points& points, const std::string& name, bool sampled);

// A program with the axes, params, coefs and points of another, and nothing that is computed.
ir::Program frame_of(const ir::Program& program);

// What stands in the place of a leaf; nullopt: a copy of it. Reads are always replaced.
using ReplaceLeaf = std::function<std::optional<ir::ExprId>(const ir::Expr& leaf)>;

// A field that lies where an expression does; nullopt where it reads none.
std::optional<ir::FieldId> place_of(const ir::Program& program, ir::ExprId value);

ir::ExprId copy_expr(const ir::Program& from, ir::ExprId root, Algebra& to, const ReplaceLeaf& replace);

// A field of its own, with the type, the place and the boundary of another; with `is_defined` there is
// something past `free` faces, too. Its name is `name` as it is.
ir::FieldId copy_field(const ir::Program& from, ir::FieldId field, Algebra& to, const std::string& name,
                       ir::Role role, bool is_defined);

// A field that lies where another does, of its type, with nothing past its faces but what the caller sets.
ir::FieldId add_field_like(Algebra& to, ir::FieldId like, const std::string& name, ir::Role role);
void set_zero_past(Algebra& to, ir::FieldId field, int axis);
void set_periodic(ir::Program& program, ir::FieldId field, int axis);

// What is computed for nothing goes: statements for lets and outputs that nothing reads, other than
// `results`, and fields that no statement names.
ir::Program without_unread(const ir::Program& program, const std::set<std::string>& results);

// Infers what sema does: halos, margins, reaches.
void complete(ir::Program& program);

}  // namespace halo::adjoint
