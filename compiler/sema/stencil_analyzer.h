// One stencil to its program: stencil.cpp has the statements, stencil_lets.cpp the lets, points.cpp points.
// Not for other rooms.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/sweeps.h"
#include "compiler/sema/evaluator.h"
#include "compiler/sema/fields.h"
#include "compiler/sema/guards.h"
#include "compiler/sema/solve_methods.h"
#include "compiler/sema/stencil.h"
#include "compiler/sema/types.h"

namespace halo::sema {

class StencilAnalyzer {
public:
    StencilAnalyzer(const syntax::File& file, const Symbols& symbols, AnalyzedStencil& result,
                    DiagnosticSink& sink)
        : file_(file),
          symbols_(symbols),
          result_(result),
          program_(result.program),
          sink_(sink),
          evaluator_(file, symbols, Place::step, result.program, declared_compute_type(symbols.stencil()),
                     sink) {}

    void run();

private:
    struct Target {
        Reference reference;
        int time = 0;
        bool is_iterate = false;  // p[k+1] of a `repeat k …`
    };
    // A statement, once for each iteration of the loops around it.
    struct Step {
        const syntax::StencilStatement* statement = nullptr;
        std::vector<LoopIndex> indices;
        std::vector<int> iterations;  // the iteration of each loop around it, outermost first
    };
    static constexpr std::size_t kMaxSteps = 20'000;

    // ---- loops

    void write_out(const syntax::StencilStatement& statement);

    // Of the loops over names that a statement is in.
    std::uint32_t iteration_of(const syntax::StencilStatement& statement) const;

    // Lets of a loop end with its iteration.
    void enter(const Step& step);

    // ---- what is assigned

    void find_target(const syntax::Assignment& assignment);

    bool claim(ir::FieldId id, int time, SourceRange where);
    // Of a field over fewer axes; false.
    bool refuse_assigning(ir::FieldId id, SourceRange where);

    // The field and level that a target names; nullopt where that is reported.
    // What is indexed or has the member, in the end; the expression itself where it is neither.
    const syntax::Expr& base_of(const syntax::Expr& expr) const;
    std::optional<Target> resolve_target(const syntax::Expr& expr);

    std::optional<Target> at_level(const Reference& reference, const syntax::Expr& expr);

    // ---- statements

    void read(const syntax::StencilStatement& statement);

    void read_assignment(const syntax::Assignment& assignment);

    void report_written_twice(const syntax::Assignment& assignment, const Reference& reference);
    void refuse_guards(const syntax::Assignment& assignment);
    void report_misfit(const Value& value, const Reference& reference, SourceRange where);

    ir::Assign assign(ir::FieldId field, int time, const Value& value, SourceRange value_where,
                      SourceRange where, const Cells& cells = {});

    bool reads_level(const std::vector<Value>& leaves, const Target& target);
    bool is_read_since(const Target& target) const;

    // Of other grids, when boundaries and margins are known (grids.cpp).
    void check_reads_of_grids();
    void check_four_axes();

    // What changes a field in place must not read cells that it may be writing.
    void check_in_place(const ir::Assign& assign);

    // ---- sweeps along an axis (sweeps.cpp)

    struct Sweep {
        bool has_begun = false;
        std::optional<ir::LineSweep> order;  // none: a mistake has been reported
        std::vector<std::uint32_t> targets;  // fields, in order
        std::set<std::uint32_t> fresh;       // those that nothing has written before
        std::optional<ir::Region> region;    // of its first statement
        std::vector<std::pair<std::string_view, Value>>
            names;  // lets so far, written out where they are used
    };
    // The innermost sweep of the blocks around a statement.
    std::optional<syntax::GuardId> sweep_around(const std::vector<syntax::GuardId>& guards) const;
    std::optional<syntax::GuardId> sweep_of_statement(const syntax::StencilStatement& statement) const;
    void note_swept(syntax::GuardId sweep, const Target& target, SourceRange where);
    // Makes what the sweep writes readable; false where it has no order.
    bool begin_sweep(syntax::GuardId id);
    bool check_swept(syntax::GuardId id, const std::vector<Value>& leaves, const Target& target,
                     const Cells& cells, const syntax::Assignment& assignment);
    void read_let_in_sweep(const syntax::LetDecl& let, syntax::GuardId id);
    // What sweeps read of what they write, when boundaries are known.
    std::optional<int> axis_of_sweep(const syntax::SweepOrder& order);
    void check_sweeps();
    void report_not_done(const ir::LineSweep& sweep, const ir::Access& access, SourceRange where);
    void check_recurrences(std::size_t first);  // of a sweep in parts
    void report_sweep_mistake(const ir::LineSweep& sweep, const ir::SweepMistake& mistake);
    // Cells of a state that a sweep leaves out keep their value: a statement before it says so.
    void keep_cells_of_sweeps();

    // ---- repeats (repeats.cpp)

    struct Repeated {
        int number = 0;
        std::int64_t count = 1;
        std::size_t first_statement = 0;
        struct Written {
            std::uint32_t first = 0, leaves = 1;  // fields
            bool is_iterate = false, is_guarded = false;
            bool is_solved = false;  // by an equation
            bool is_inner = false;   // by a repeat within this one
            SourceRange where;
            std::string name;
        };
        std::vector<Written> targets;
        Iterates iterates;
        struct End {  // of an iteration
            ir::Assign assign;
            ir::FieldId next;  // what it takes its value of
            bool keeps = false;
        };
        std::vector<End> ends;
        std::vector<const Symbol*> lets;  // known to the end of the block
        std::uint32_t first_reduction = 0, past_reduction = 0;
    };
    // The innermost.
    std::optional<syntax::GuardId> repeat_around(const std::vector<syntax::GuardId>& guards) const;
    std::optional<syntax::GuardId> repeat_of_statement(const syntax::StencilStatement& statement) const;
    void see_levels_of(std::optional<syntax::GuardId> repeat);
    void note_repeated(syntax::GuardId id, Target& target, const syntax::Assignment& assignment);
    // Of an assignment whose target had its message.
    void note_misread(syntax::GuardId id, syntax::ExprId target);
    void note_solved(syntax::GuardId id, const Target& target, SourceRange where);
    void refuse_outer_level(const Iterates& level, const std::string& field, SourceRange where);
    // A field that has levels of a repeat has none of one within it.
    bool has_other_levels(syntax::GuardId id, const Target& target, SourceRange where);
    void claim_iterates();
    // Of the statement that is read next.
    void enter_repeat(std::optional<syntax::GuardId> repeat);
    void begin_repeat(syntax::GuardId id);
    void keep_before_repeat(const Repeated& repeated);
    std::uint32_t count_reductions() const;
    // A field's value at the cell itself.
    Value read_cell(ir::FieldId field, int time, SourceRange where);
    void check_level_name(const syntax::Name& level);
    // p[k+1] has a field of its own, which p takes its value of at the end of each iteration.
    void assign_iterate(syntax::GuardId id, const Target& target, const std::vector<Value>& leaves,
                        const Cells& cells, const syntax::Assignment& assignment);
    // Whether a cell is one that the statement is for; none where all are.
    std::optional<Value> is_among(const Cells& cells, SourceRange where);
    ir::KeepingStatements keeping_;  // of `where` and `on` in a repeat
    // A field and what holds its next level may exchange their arrays.
    void widen_halos_of_iterates();
    void end_repeat(syntax::GuardId id);
    void end_by_condition(syntax::GuardId id);
    void refuse_early_reads(const Repeated& outermost);
    bool refuse_early_read(const std::vector<ir::ExprId>& roots, std::uint32_t found, std::uint32_t past);
    void check_times_in_step(syntax::GuardId outermost);

    // ---- equations (solve.cpp)

    void find_solve_target(const syntax::SolveStatement& solve);
    void refuse_iterate(const Target& target, SourceRange where);
    const SolveMethod* method_of(const syntax::SolveStatement& solve);
    bool can_be_unknown(const Target& target, SourceRange where);
    void read_solve(const syntax::SolveStatement& solve);
    std::optional<Equation> equation_of(const syntax::SolveStatement& solve, const Target& target,
                                        const SolveMethod& method);
    bool check_tolerance(const Value& tolerance, syntax::ExprId id);
    bool find_axis_along(const syntax::Name& along, Equation& equation);
    bool check_sides(const syntax::SolveStatement& solve, const Equation& equation);
    bool find_form(const syntax::SolveStatement& solve, Equation& equation);
    bool check_faces(const syntax::SolveStatement& solve, Equation& equation);
    bool fits(const Equation& equation, const SolveMethod& method, const syntax::SolveStatement& solve);
    SourceRange method_words(const syntax::SolveStatement& solve) const;
    bool is_tridiagonal(const Equation& equation, const syntax::SolveStatement& solve);
    std::string text_of_unknown(const Equation& equation) const;
    void check_solves();

    // ---- axes whose cells are not equally far apart

    using Refusal = std::function<void(SourceRange, const std::string& what, const std::string& mend)>;
    void find_periodic_axes();
    void check_distances(const ir::StretchedAxis& stretched);
    void check_stretched_axes();
    void check_faces_along(const ir::StretchedAxis& stretched, std::size_t index, const Refusal& refuse);
    const ir::AxisTable* axis_table(ir::FieldId field) const;  // that it holds; null: none

    void read_let(const syntax::LetDecl& let);

    bool require_positions(const Value& value, Halves place, const std::string& what, syntax::ExprId id);

    // What has one value, is a condition, or comes of coordinates alone is known at every cell, past edges
    // too: a name for the expression.
    bool is_name(const Value& value);

    // A field for each part of the value that reads fields; gives what the let stands for from here on.
    Value store(const Value& value, const syntax::LetDecl& let, const Symbol& symbol, const std::string& name,
                const std::shared_ptr<const Shape>& shape, Halves place, std::size_t& leaf);

    // Where a let is computed: where it says, else where its fields are.
    Halves place_of(const syntax::LetDecl& let);
    // Of the lets that say it: before any statement, for one of them makes the whole stencil staggered.
    void find_let_places();

    const Symbol* let_symbol(const syntax::LetDecl& let);

    // ---- reductions (stencil_reductions.cpp)

    void read_reduction(const syntax::ReduceDecl& reduce);

    // How many cells along the axis a reduction is over: one value per launch.
    Value cells_along(const ir::Reduce& reduce, int axis);

    // A mean is the sum of each cell's share of it. How many cells there are is known once margins are.
    void divide_means();

    void read_schedule(const syntax::ScheduleBlock& block);

    // ---- points (points.cpp)

    void declare_points();
    void read_interpolation(const syntax::PointsDecl& declaration, ir::Points& points);
    const Symbol* points_symbol(const syntax::Name& name);  // nullptr where that is reported
    bool check_at_cell(const Value& value, SourceRange where, const Target* target);
    bool can_inject(const Target& target, const syntax::InjectStatement& inject);
    void read_inject(const syntax::InjectStatement& inject);
    void read_sample(const syntax::SampleStatement& sample);
    std::optional<int> sampled_trace(const Symbol& points, const syntax::SampleStatement& sample);
    void number_traces();
    void check_point_margins();

    // ---- lets past edges

    // Calls visit(expr) for each access and coordinate that the value needs.
    template <class Visit>
    void for_each_leaf(const Value& value, Visit&& visit) {
        seen_.resize(program_.exprs.size(), 0);
        ++turn_;
        std::vector<ir::ExprId> pending{value.id};
        while (!pending.empty()) {
            const ir::ExprId id = pending.back();
            pending.pop_back();
            if (seen_[id.index] == turn_) continue;
            seen_[id.index] = turn_;
            const ir::Expr& expr = program_[id];
            visit(expr);
            ir::for_each_operand(expr, [&](ir::ExprId operand) { pending.push_back(operand); });
        }
    }

    bool reads_field(const Value& value);

    // At a face where all it reads is periodic, a let is periodic; where all is free, it is free; else it has
    // no boundary until the user says one. Noise is what the fields around it are. A coordinate is not
    // periodic along its axis, and is not free.
    void infer_boundary(const Value& value, ir::Field& field, FieldInfo& info);

    // ---- the end

    // Parameters of a def that would hide what they cannot: `f[x+1]` means the axis, whatever `x` is.
    void check_defs();

    void report_nothing_to_compute();

    void find_fields_without_boundary();

    const syntax::File& file_;
    const Symbols& symbols_;
    AnalyzedStencil& result_;
    ir::Program& program_;
    DiagnosticSink& sink_;
    Evaluator evaluator_;

    Guards guards_{evaluator_};
    std::map<std::uint32_t, Sweep> sweeps_;      // by GuardId
    std::map<std::uint32_t, Repeated> repeats_;  // by GuardId
    int repeat_count_ = 0, sweep_count_ = 0;
    std::map<const syntax::SolveStatement*, std::optional<Target>> solve_targets_;
    std::map<std::uint32_t, int> solves_of_;  // by unknown: so far
    std::vector<ExchangedFields> exchanged_;  // by solves
    struct Solved {
        std::size_t first = 0, past = 0;  // statements
        const syntax::SolveStatement* statement = nullptr;
    };
    std::vector<Solved> solved_;
    std::vector<syntax::GuardId> current_repeats_;             // outermost first
    std::vector<const syntax::Assignment*> steps_of_targets_;  // parallel to targets_
    std::vector<Step> steps_;
    std::vector<int> iterations_, current_iterations_;
    int turn_count_ = 0;
    std::vector<std::pair<std::size_t, const Symbol*>> loop_lets_;  // that are known now; how deep
    std::vector<std::optional<Target>> targets_;                    // of the assignments, in order
    std::size_t next_target_ = 0;
    std::map<const syntax::LetDecl*, const Symbol*> let_symbols_;
    std::map<const syntax::LetDecl*, Halves> let_places_;
    std::vector<std::pair<std::size_t, Value>> means_;  // statements, with what they are the means of
    bool has_poison_ = false;
    bool computes_ = false;  // something that outlives the step
    std::vector<std::uint32_t> seen_;
    std::uint32_t turn_ = 0;
};

}  // namespace halo::sema
