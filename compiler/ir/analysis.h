// Questions about a StencilProgram that several rooms ask.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/program.h"

namespace halo::ir {

// Of a node, in order.
inline std::vector<ExprId> operands(const Expr& expr) {
    std::vector<ExprId> all;
    for_each_operand(expr, [&](ExprId operand) { all.push_back(operand); });
    return all;
}

// Whether a node by itself, whatever its operands, leaves an expression uniform (see program.h).
bool is_uniform_leaf(const Expr& expr);

// True for each expression that has one value per launch (see program.h).
std::vector<bool> uniform_exprs(const Program& program);

// Whether a node by itself, whatever its operands, has another value in each step: the step's number, noise,
// a reduction's result.
bool changes_with_step(const Expr& expr);
// The same of all that an expression needs.
bool changes_with_step(const Program& program, ExprId root);

// The expressions of a statement: its value, and its condition where it has one.
std::vector<ExprId> roots_of(const Statement& statement);

// True for each expression that `roots` need, themselves included.
std::vector<bool> reachable_exprs(const Program& program, const std::vector<ExprId>& roots);

// Their indices, themselves included, ascending. Costs what they need and no more, so that what is asked for
// every statement stays linear in the program.
std::vector<std::uint32_t> reached_exprs(const Program& program, const std::vector<ExprId>& roots);
// The levels that they read.
std::set<Level> levels_read(const Program& program, const std::vector<ExprId>& roots);
// Whether they read a field; time: at that level alone.
bool reads(const Program& program, const std::vector<ExprId>& roots, FieldId field,
           std::optional<int> time = std::nullopt);
bool reads(const Program& program, const Statement& statement, FieldId field,
           std::optional<int> time = std::nullopt);

// Whether a real number is made of others by sums, differences, products and signs alone.
bool is_of_sums_and_products(const Program& program, ExprId value);

// The same for many sets of roots of one program: each set costs what it needs and no more, so that what is
// asked for every stage stays linear in the program.
class ReachWalk {
public:
    explicit ReachWalk(const Program& program) : program_(program), seen_by_(program.exprs.size(), 0) {}
    // Indices of the expressions that the roots need, themselves included, ascending; until the next call.
    const std::vector<std::uint32_t>& from(const std::vector<ExprId>& roots);

private:
    const Program& program_;
    std::vector<std::uint32_t> seen_by_;
    std::vector<std::uint32_t> reached_;
    std::uint32_t turn_ = 0;
};

// Each field's inferred halo: how far any statement reads past the domain, by axis and side. Faces that are
// free are never read past and have none.
void infer_halos(Program& program);

// Sets Face::reach of formula faces from what their ghosts read, and of mirrors opposite one: a reflection
// must not leave through it.
void infer_reaches(Program& program);

// Whether a formula says what is read past a face of the field; its halo is then filled by kernels of its
// own.
bool has_formula(const Field& field);

// Of statements, by their index, that write cells which they leave out with what these held: the expressions
// that the other cells are computed from.
using KeepingStatements = std::map<std::size_t, std::vector<ExprId>>;

// Sets the margins of each statement (program.h) from the free faces of what it reads; a let that has margins
// passes them on to its readers. What is read to be kept as it is needs no value, and makes no margin. Raises
// Face::reach where a boundary of what has margins must not show these.
void infer_margins(Program& program, const KeepingStatements& keeping = {});
// Cells at each face that a statement leaves out; none of what has no margins.
const Margins& margins_of(const Statement& statement);

// A stage is a run of statements that one sweep can compute: no statement reads, at an offset, what another
// of the same stage writes. A statement that works in place (in_place.h) or at points has a stage of its own,
// but for the lets that it alone reads, and for what is done for the same cells (SharedCells); statements for
// different steps of a run are of different stages. Stages run in order.
struct Stage {
    std::vector<int> statements;  // indices into Program::statements, in order
};
// Lets that no result needs are in no stage.
std::vector<Stage> form_stages(const Program& program);
// The steps of a run that a statement is for, and so all of a stage are.
rt::StepRange steps_of(const Statement& statement);
rt::StepRange steps_of(const Program& program, const Stage& stage);

// Whether a statement of it is a reduction.
bool reduces(const Program& program);
bool reduces(const Program& program, const Stage& stage);

// Whether the field is one that the compiler has added, which users neither name nor see (rt::is_hidden).
bool is_hidden(const Program& program, const Field& field);

// The names of the axes that a field lies over.
std::vector<std::string> own_axes(const Program& program, const Field& field);

// Columns of a table that the run gives; the computed ones come after them.
std::size_t given_columns(const Table& table);

// Fields that need an array: all but lets that are read in their own stage only.
std::vector<bool> stored_fields(const Program& program, const std::vector<Stage>& stages);

}  // namespace halo::ir
