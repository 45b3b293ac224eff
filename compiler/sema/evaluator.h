// Expressions of a spec to Values: names, calls, derivatives and sums are gone when it is done.
//
// One evaluator fills one program: the step of a stencil, the `init` of a run, or its `until`. What goes
// wrong is reported here, once, at its place; the result is then poison, and nothing more is said about it.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "compiler/ir/finite_difference.h"
#include "compiler/ir/grids.h"
#include "compiler/sema/algebra.h"
#include "compiler/sema/arithmetic.h"
#include "compiler/sema/difference.h"
#include "compiler/sema/field_info.h"
#include "compiler/sema/ghosts.h"
#include "compiler/sema/shape.h"
#include "compiler/sema/symbols.h"
#include "compiler/syntax/tree.h"

namespace halo::sema {

inline constexpr std::int64_t kMaxTerms = 4096;   // of one sum, product, min or max over a range
inline constexpr int kMaxHistory = 8;             // the oldest level that can be read is t-8
inline constexpr std::int64_t kMaxOffset = 512;   // cells an access may reach along an axis
inline constexpr std::int64_t kMaxAccuracy = 30;  // of a derivative
inline constexpr int kMaxDerivative = 8;          // times along one axis
inline constexpr std::int64_t kMaxCoefElements = 4096;

enum class Place : std::uint8_t {
    step,     // a statement of a stencil
    setting,  // what has one value per launch: consts, defaults, spacings, weights, boundary values, run
              // settings
    ghost,    // of a boundary: varies from cell to cell and with time, reads no field
    init,     // of a run: varies from cell to cell, reads no field; axes are coordinates
    until,    // of a run or a repeat: params and reductions
    column,   // computed, of a table: params and the columns before it
    row       // of a run: fills a table's column; params and `row`
};

class Evaluator {
public:
    Evaluator(const syntax::File& file, const Symbols& symbols, Place place, ir::Program& program,
              ir::Scalar compute_type, DiagnosticSink& sink);

    const std::set<Difference>& made_differences() const { return made_differences_; }
    bool uses_spacing() const { return uses_spacing_; }  // besides in coordinates

    Value evaluate(syntax::ExprId id);
    Value number(syntax::ExprId id);     // refuses truth values, vectors and complex numbers
    Value quantity(syntax::ExprId id);   // refuses truth values
    Value condition(syntax::ExprId id);  // refuses numbers
    // What ends a run, or a repeat of the stencil: compares reductions, params and consts.
    Value until(syntax::ExprId id);
    // One value per launch. `what` names it in messages: "the spacing of `x`".
    Value setting(syntax::ExprId id, const std::string& what);
    // A number at the cell past a face that a boundary is for.
    Value past_face(syntax::ExprId id, const std::string& what);
    // Known when the program is compiled.
    std::optional<Rational> rational(syntax::ExprId id, const std::string& what);
    std::optional<std::int64_t> integer(syntax::ExprId id, const std::string& what, std::int64_t low,
                                        std::int64_t high);
    std::optional<double> known(syntax::ExprId id, const std::string& what);
    std::optional<double> known_in_loop(syntax::ExprId id, const std::string& what);  // sees loop indices

    // The weights of a `param coef` that a run gives instead.
    std::optional<std::vector<double>> coef_values(const Symbol& symbol, syntax::ExprId value);

    // What an expression names of a field. nullopt where it names no field, and where that is reported: then
    // `failed` is set.
    std::optional<Reference> reference(const syntax::Expr& expr, bool& failed);

    // Calls body for each combination of the indices, the last one fastest, with the indices visible; until
    // it says false. False there, and where something is reported.
    bool repeat(const std::vector<syntax::RangeIndex>& indices, SourceRange where,
                const std::function<bool()>& body);
    std::vector<LoopIndex> loop_indices() const;                   // that are visible now
    void set_loop_indices(const std::vector<LoopIndex>& indices);  // in place of those that are visible

    // What a clause `v.x …` of a field's or let's own block speaks of: info with that part for the whole, and
    // how many members were named. nullopt where the field is not of it, or there is no such part (reported).
    std::optional<FieldInfo> narrowed(syntax::ExprId part, const FieldInfo& info, int& depth);
    // A value for a field of several components: the part for one of them. nullopt: does not fit, reported.
    std::optional<Value> own_part(const Value& value, const FieldInfo& info, SourceRange where);

    // How the fields of the stencil are made up, by Symbol::index. Reports what is wrong with the types.
    void declare_layouts();
    const std::vector<FieldLayout>& layouts() const { return layouts_; }

    // Which cell and level a target or access names; nullopt where that has been reported.
    std::optional<Subscripts> subscripts(const syntax::Expr& expr, const std::string& base);

    // ---- positions (places.cpp)
    // Where the statement that is read now has its points: what can be had at several places is had there.
    void set_wanted(Halves place) {
        wanted_ = place;
        apart_.clear();
    }
    // Of a vector whose parts are wanted at these places each.
    void set_wanted(const std::vector<Halves>& places);
    // The places of the parts of something that starts at a field; one where they are one.
    std::vector<Halves> places_of(const Shape& shape, std::uint32_t first) const;
    Halves wanted() const { return wanted_; }
    // The place of what has none given: where its fields are. Reports an expression that could be at several.
    Halves own_place(syntax::ExprId id);
    // `at x+1/2, y`: nullopt where that has been reported.
    std::optional<Halves> stagger(const std::vector<syntax::ExprId>& at);
    // False, and a message, where a value does not lie at the place where `what` ("`vx`") has its points.
    bool require_position(const Value& value, Halves place, const std::string& what, syntax::ExprId id);
    Position position_at(Halves place) const;
    // The same of a field, which lies anywhere along axes that it has not.
    Position position_of(ir::FieldId field, Halves place) const;
    Halves axes_of(ir::FieldId field) const;
    bool is_staggered() const { return is_staggered_; }
    void set_staggered() { is_staggered_ = true; }

    // ---- grids (grids.cpp)
    // The grid (rt::FieldGrid::factor) of the statement that is read now.
    void set_grid(int factor) { grid_ = factor; }
    int grid() const { return grid_; }
    // `on coarse(2)`: 2; 1 where nothing is said, or where a mistake has been reported.
    int coarseness(const std::optional<syntax::ExprId>& factor);
    // False, and a message, where a statement of that grid reads a field of another without saying which
    // cells.
    bool check_grid(const Value& value, int factor, SourceRange where);
    // The cells along an axis, and the distance between them.
    Value length(int axis, SourceRange where) {
        return coordinate_of(ir::CoordinateKind::extent, axis, where);
    }
    Value width_of_cells(int grid, int axis, SourceRange where);
    SourceRange spacing_where(int axis) const { return spacing_where_[static_cast<std::size_t>(axis)]; }

    // Declares axes, params and coefs in the program as the stencil gives them; reports what is wrong there.
    void declare_axes();
    void declare_params();
    void declare_coefs();
    void declare_accuracy();
    void declare_fast();
    void declare_tables();
    void check_consts();  // those that nothing used, too

    Arithmetic& arithmetic() { return arithmetic_; }
    std::vector<FieldInfo>& fields() { return fields_; }
    ir::Program& program() { return program_; }
    const Symbols& symbols() const { return symbols_; }
    const syntax::File& file() const { return file_; }
    DiagnosticSink& sink() { return sink_; }
    Algebra& algebra() { return algebra_; }
    // Some statement could not be written out: what is assigned is not known, and no message says so again.
    void set_targets_unknown() { are_targets_unknown_ = true; }
    void forget_let(const Symbol& symbol) { lets_.erase(symbol.index); }
    void define_let(const Symbol& symbol, Value value);
    void define_reduction(const Symbol& symbol) { reduced_.insert(symbol.index); }
    void begin_statement() { read_early_.clear(); }
    // Of a loop over names: messages say which it is, until another is entered.
    void enter_iteration(std::uint32_t iteration);
    // A name that expressions see from here on: `row` where a run fills a table.
    void define_local(std::string_view name, Value value) { locals_.push_back({name, std::move(value)}); }
    // Of the repeats around a statement that name their levels, innermost first.
    void set_iterates(std::vector<const Iterates*> iterates) { iterates_ = std::move(iterates); }
    bool is_innermost(const Iterates& level) const { return iterates_.front() == &level; }
    // Within `inject`, the numbers of these points are known; nullptr: of none.
    void set_injected(const Symbol* points) { injected_ = points; }
    // The side of an equation that is read now; none: no equation.
    void set_unknown(std::optional<UnknownField> unknown) { equation_ = unknown; }
    // What `step` is, and `time` is made of, in place of the steps done.
    void set_step(Value step) { step_ = std::move(step); }
    // The statement that is read now writes this symbol's field; for the suggestion on `u = u + …`.
    void set_target(const Symbol& symbol, SourceRange where) { target_ = {&symbol, where}; }
    SourceRange where(syntax::ExprId id) const { return file_[id].where; }

    // A search for a similar name takes time for each name, so only the first mistakes have one.
    bool may_suggest() const { return suggestions_ < 100; }
    // The stencil's names of the kinds that are wanted, to choose a likely one from.
    template <class Wanted>
    std::vector<std::string> candidates(Wanted&& wanted) const {
        return may_suggest() ? symbols_.names(wanted) : std::vector<std::string>();
    }
    // Reports a name that nothing has, with the likely one among `candidates`; nullptr where it has been
    // reported before.
    Diagnostic* report_unknown(DiagnosticKind kind, std::string_view name, SourceRange where,
                               const std::string& message, const std::vector<std::string>& candidates);
    Diagnostic* report_unknown_axis(std::string_view name, SourceRange where);
    Diagnostic& report(DiagnosticKind kind, SourceRange where, std::string message) {
        return sink_.report(kind, where, std::move(message));
    }

private:
    struct Coef {
        bool is_valid = false;
        std::vector<int> low, high;
        std::vector<Value> elements;  // row-major
    };
    struct Local {
        std::string_view name;
        Value value;
        int axis = -1;  // of a parameter that stands for an axis; it has no value
    };
    struct Scope;  // restores place and locals

    // evaluate.cpp
    Value evaluate_node(const syntax::Expr& expr);
    Value name_use(const std::string& name, SourceRange where);
    Value symbol_use(const Symbol& symbol, SourceRange where);
    Value unary(const syntax::UnaryExpr& node, SourceRange where);
    Value binary(const syntax::BinaryExpr& node, SourceRange where);
    std::optional<Value> square_of_length(const syntax::BinaryExpr& node, SourceRange where);
    Value equality(const syntax::BinaryExpr& node, SourceRange where);
    Value conditional(const syntax::Conditional& node, SourceRange where);
    Value clock(const std::string& name, SourceRange where);
    Value reduction(const Symbol& symbol, SourceRange where);
    Value constant(const Symbol& symbol);
    Value param(const Symbol& symbol, SourceRange where);
    bool require_number(const Value& value, SourceRange where);
    bool require_quantity(const Value& value, SourceRange where);
    bool require_truth(const Value& value, SourceRange where);
    const Local* find_entry(std::string_view name) const;
    const Value* find_local(std::string_view name) const;
    // What a name means here: a shared def sees shared names and the axes alone.
    const Symbol* find_symbol(std::string_view name) const {
        return in_shared_ ? symbols_.find_shared(name) : symbols_.find(name);
    }
    std::optional<int> find_axis(std::string_view name) const;  // by its name, or that of a parameter
    std::vector<std::string> visible_names() const;
    std::string setting_rule(std::string_view extent) const;
    void refuse_varying(std::string_view what_varies, SourceRange where);

    // components.cpp
    Value member(const syntax::Member& node, const syntax::Expr& expr);
    Value list(const syntax::List& node, SourceRange where);
    // make(), for part number `part` of a vector of `count`, where that part is wanted.
    template <class Make>
    auto at_part(std::size_t part, std::size_t count, Make&& make) {
        if (apart_.empty() || apart_.size() != count) return make();
        std::vector<Halves> outer = std::exchange(apart_, {});
        const Halves outer_place = std::exchange(wanted_, outer[part]);
        auto result = make();
        apart_ = std::move(outer);
        wanted_ = outer_place;
        return result;
    }
    template <class Map>
    Value map_at_parts(const Value& value, Map&& map) {
        std::size_t part = 0;
        return map_parts(value, [&](const Value& each) {
            return at_part(part++, value.is_vector() ? value.parts.size() : 0, [&] { return map(each); });
        });
    }
    // The operand of a derivative that turns numbers into a vector, or a vector into numbers.
    Value whole_operand(syntax::ExprId id, const std::string& name);
    Value read_reference(const Reference& reference, SourceRange where);
    template <class Whole>
    std::optional<std::size_t> part_of(const Whole& whole, const syntax::Member& node);
    std::optional<std::string> part_word(const syntax::Member& node);
    Shape make_shape(const syntax::TypeRef& type);
    Value algebraic(const syntax::CallExpr& node, SourceRange where);

    // access.cpp
    Value index(const syntax::Index& node, const syntax::Expr& expr);
    Value index_computed(const syntax::Index& node, const syntax::Expr& expr, const std::string& name);
    Value moved(const Value& value, const Subscripts& at, const std::string& name, SourceRange where);
    Value coef_element(const Symbol& symbol, const syntax::Index& node, SourceRange where);
    Value read_field(ir::FieldId id, int time, const ir::Offset& offset, const ir::GridMap& map,
                     SourceRange where);
    Value read_iterate(ir::FieldId id, Subscripts at, SourceRange where);
    bool has_axes(ir::FieldId id, const Subscripts& at, SourceRange where);
    Value read_point(ir::FieldId id, const Subscripts& at, SourceRange where);
    void refuse_no_point(ir::FieldId id, const Subscripts& at, SourceRange where);
    Value read_let(const Symbol& symbol, SourceRange where);
    bool check_early(const Symbol& symbol, SourceRange where);
    Value retime(const Value& value, int time, SourceRange where);
    void refuse_field(const Symbol& symbol, SourceRange where);
    bool level_exists(ir::FieldId id, int time, SourceRange where);
    bool accept(const ir::Access& access, SourceRange where);
    bool accept_mapped(const ir::Access& access, int axis, SourceRange where);
    void ask_for_boundary(FieldInfo& info, int axis, int side, SourceRange where);
    struct Anchor {
        int axis = 0;  // -1: time; -2: the iteration of a `repeat`
        bool forward = true;
        SourceRange where;
        const Iterates* level = nullptr;  // of an iteration
    };
    std::optional<std::string> axis_within(syntax::ExprId id) const;
    void report_unknown_subscript(const std::string& name, SourceRange where);
    bool collect_subscript(syntax::ExprId id, bool forward, std::vector<Anchor>& anchors, Rational& rest);
    bool place_subscript(syntax::ExprId id, Subscripts& result, std::vector<bool>& named,
                         const std::string& base);
    void report_unnamed_offset(const syntax::Index& node, const syntax::Expr& expr, syntax::ExprId subscript,
                               const std::string& base);

    // grids.cpp
    struct GridPlace {
        int axis = 0;
        ir::AxisPlace place;
    };
    bool names_other_grid(syntax::ExprId id) const;
    std::optional<GridPlace> grid_place(syntax::ExprId id);
    void refuse_grid_subscript(syntax::ExprId id, const std::string& axis);
    std::optional<int> grid_of_operand(const Value& operand, int axis, SourceRange where);
    Value coarse_coordinate(ir::CoordinateKind kind, int axis, SourceRange where);
    bool check_let_grid(const Symbol& symbol, const Value& value, SourceRange where);

    // places.cpp
    struct PlaceFinder;  // finds the places that an expression can take
    Places places(syntax::ExprId id);
    Value evaluate_at(syntax::ExprId id, Halves place);
    std::string names_at(Halves place, Halves axes) const;
    void refuse_apart(const Value& left, syntax::ExprId left_id, const Value& right, syntax::ExprId right_id,
                      SourceRange where);
    syntax::ExprId part_elsewhere(syntax::ExprId id);
    const Symbol* placeless_let(syntax::ExprId id) const;
    const Symbol* let_to_move(syntax::ExprId id);
    void offer_interpolation(Diagnostic& diagnostic, syntax::ExprId id, Halves apart);

    // calls.cpp
    Value call(const syntax::CallExpr& node, SourceRange where);
    Value call_builtin(const syntax::CallExpr& node, SourceRange where);
    Value argument_value(syntax::ExprId id);
    Value call_def(const Symbol& symbol, const syntax::CallExpr& node, SourceRange where);
    Value coordinate(const syntax::CallExpr& node, SourceRange where);
    Value coordinate_of(ir::CoordinateKind kind, int axis, SourceRange where);
    Value noise(const syntax::CallExpr& node, SourceRange where);
    Value extremum(const syntax::CallExpr& node, SourceRange where);
    Value whole_division(const syntax::CallExpr& node, SourceRange where);
    Value rounding(const syntax::CallExpr& node, SourceRange where);
    bool offer_derivative(const syntax::CallExpr& node, SourceRange where);
    Value unknown_call(const syntax::CallExpr& node, SourceRange where);
    bool require_arguments(const syntax::CallExpr& node, std::size_t count, SourceRange where);
    std::optional<int> axis_argument(const syntax::Argument& argument);
    bool for_each_term(const syntax::Fold& node, SourceRange where,
                       const std::function<bool(syntax::ExprId)>& body);
    Value fold(const syntax::Fold& node, SourceRange where);
    Value comprehension(const syntax::Fold& node, SourceRange where);
    bool check_indices(const std::vector<syntax::RangeIndex>& indices);
    bool repeat_level(const std::vector<syntax::RangeIndex>& indices, std::size_t level, SourceRange where,
                      std::int64_t& terms, const std::function<bool()>& body);

    // tables.cpp
    Value table_fold(const syntax::TableFold& node, SourceRange where);
    bool changes_with_step(ir::ExprId id) const;
    ir::Scalar column_type(const syntax::TypeRef& type, ir::Scalar otherwise);
    bool accept_row_name(const syntax::Name& name, const char* what);
    Value column_of(const syntax::Member& node, const Value& row, SourceRange where);
    void declare_table(const Symbol& symbol);
    void declare_series(const Symbol& symbol);
    Value series_value(const Symbol& symbol, const syntax::Index& node, SourceRange where);
    std::optional<SourceRange> time_level_in(syntax::ExprId id) const;
    void declare_columns(const syntax::ColumnDecl& declaration, ir::TableId id);
    std::optional<ir::Table::Column> computed_column(const syntax::ColumnDecl& declaration, ir::TableId id);

    // points.cpp
    const Symbol* points_of(syntax::ExprId id) const;  // nullptr where it names none
    std::optional<Value> trace_value(const syntax::Index& node, const syntax::Expr& expr);
    Value point_value(const Symbol& points, const syntax::Name& member, bool is_trace, SourceRange where);

    // differential.cpp, derivative.cpp
    static bool is_differential(std::string_view name);
    Value differential(const syntax::CallExpr& node, SourceRange where);
    struct DifferentialOptions {
        std::int64_t accuracy = 2;
        int side = 0;  // -1: low, +1: high, 0: both
    };
    std::optional<DifferentialOptions> differential_options(const syntax::CallExpr& node);
    struct AxisCount {
        int axis = 0;
        int count = 0;
    };
    std::optional<std::vector<AxisCount>> axes_of(const syntax::CallExpr& node, std::size_t first,
                                                  std::size_t last, SourceRange where);
    Value biharmonic(const Value& operand, std::int64_t accuracy, SourceRange where);
    std::optional<std::vector<Value>> along_axes(const Value& vector, const std::string& what,
                                                 SourceRange where);
    Value gradient(const Value& operand, std::int64_t accuracy, SourceRange where);
    Value divergence(const Value& operand, std::int64_t accuracy, SourceRange where);
    Value curl(const Value& operand, std::int64_t accuracy, SourceRange where);
    Value upwind(const Value& operand, const Value& velocity, int axis, std::int64_t order,
                 SourceRange where);
    // The derivative along one axis, at the place that is wanted along it.
    Value differentiate(const Value& operand, int axis, int derivative, std::int64_t accuracy,
                        SourceRange where);
    struct Pairs {  // of points that lie symmetrically about the one that is computed
        int axis = 0;
        int derivative = 0;
        bool is_staggered = false;  // the operand lies half a cell from it
        bool to_half = false;       // it lies half a cell up
    };
    struct OneSided {
        int axis = 0;
        int derivative = 1;
        std::int64_t accuracy = 1;  // any order >= 1
        int side = -1;              // -1: low, +1: high
        int beyond = 0;             // nodes on the other side
    };
    const std::vector<ir::Tap>& difference(int derivative, std::int64_t accuracy, bool is_staggered);
    Value add_pairs(std::optional<Value> sum, const std::vector<ir::Tap>& taps, const Value& operand,
                    const Pairs& pairs, SourceRange where);
    Value add_term(const std::optional<Value>& sum, const Value& weight, const Value& factor,
                   SourceRange where);
    Value interpolated(const Value& operand, int axis, std::int64_t accuracy, SourceRange where);
    Value one_sided(const Value& operand, const OneSided& form, SourceRange where);
    Value centre_weight(const std::vector<ir::Tap>& taps, const Value& operand, int axis, int derivative,
                        SourceRange where);
    Value laplacian(const Value& operand, std::int64_t accuracy, SourceRange where);
    Value spacing_power(const Value& operand, int axis, int exponent, SourceRange where);

    // stretched.cpp
    bool is_stretched(int axis) const;
    bool declare_stretched(const syntax::AxisValue& given, int axis);  // false: its spacing is one number
    Value axis_table(int axis, const ir::AxisTable& holds, ir::Scalar type, SourceRange where);
    std::optional<ir::ExprId> moved_table(const ir::Access& access, const ir::Offset& offset,
                                          SourceRange where);
    Value stretched_position(int axis, SourceRange where);
    Value stretched_difference(const Value& operand, const StretchedDifference& form, SourceRange where);
    Value stretched_pairs(const Value& operand, const Pairs& pairs, std::int64_t accuracy, SourceRange where);

    Value shifted(const Value& operand, int axis, int distance, SourceRange where);

    // declare.cpp
    Coef make_coef(const Symbol& symbol);
    bool coef_ranges(const syntax::CoefDecl& declaration, Coef& coef);
    bool coef_elements(const syntax::CoefDecl& declaration, syntax::ExprId value, std::size_t dimension,
                       Coef& coef);
    void declare_launch_time_coef(const Symbol& symbol, const Coef& coef);

    const syntax::File& file_;
    const Symbols& symbols_;
    Place place_;
    bool is_of_stencil_;  // of its statements, whatever is read at the moment
    ir::Program& program_;
    DiagnosticSink& sink_;
    Arithmetic arithmetic_;
    Algebra algebra_;

    std::vector<FieldLayout> layouts_;  // by Symbol::index of fields
    std::vector<FieldInfo> fields_;
    std::unordered_map<int, Value> lets_;  // by Symbol::index; absent before the let's statement
    std::unordered_set<int> reduced_;      // by Symbol::index: reductions whose statement has been read
    std::unordered_set<int> read_early_;   // those that this statement reads before
    std::unordered_map<int, std::unordered_set<int>> early_lets_;  // the same for lets that are a name alone
    std::unordered_map<int, Value> consts_;  // by Symbol::index; absent until it is asked for
    std::vector<int> consts_in_progress_;
    std::unordered_map<int, Coef> coefs_;               // by Symbol::index
    std::unordered_map<int, ir::CoefId> launch_coefs_;  // by Symbol::index
    std::array<Value, ir::kMaxRank> spacing_;
    std::array<SourceRange, ir::kMaxRank> spacing_where_{};
    bool uses_spacing_ = false;
    std::int64_t accuracy_ = 2;
    std::vector<ir::Function> fast_;  // functions that may be approximations
    bool in_table_sum_ = false;
    std::map<std::tuple<int, std::int64_t, bool>, std::vector<ir::Tap>>
        differences_;              // by derivative, accuracy and whether it is staggered
    SourceRange derived_where_{};  // of the call whose differences are made
    std::set<Difference> made_differences_;

    std::vector<Local> locals_;  // def parameters and indices of sums, innermost last
    std::size_t frame_ = 0;      // locals_ before this are not seen
    bool in_shared_ = false;     // what is read stands outside of stencils
    std::vector<const Symbol*> calls_;
    std::string setting_what_;
    bool is_compile_time_ = false;  // a setting that params cannot be in
    std::optional<std::pair<const Symbol*, SourceRange>> target_;
    bool are_targets_unknown_ = false;
    std::vector<const Iterates*> iterates_;
    std::optional<UnknownField> equation_;
    const Symbol* injected_ = nullptr;
    std::optional<Value> step_;
    int grid_ = 1;
    bool has_coarse_ = false;                 // some field or statement is of a coarser grid
    std::unordered_map<int, int> let_grids_;  // by Symbol::index: the grid that a let was computed on
    Halves wanted_ = 0;
    std::vector<Halves>
        apart_;  // of the parts of the vector that is wanted, where they are not all `wanted_`
    bool is_staggered_ = false;  // some field of the stencil lies off the cells' points
    int depth_ = 0;
    std::uint32_t iteration_ = 0;
    int noise_streams_ = 0;
    int suggestions_ = 0;
    std::unordered_set<std::string> unknown_;  // names that have had their message
};

// "`u[t+1, x-2]`" as a user writes it.
std::string access_text(const std::string& name, int time, const ir::Offset& offset,
                        const std::vector<std::string>& axes);

}  // namespace halo::sema
