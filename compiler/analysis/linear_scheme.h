// The amplification matrix of one time step of a linear program, for von Neumann's analysis.
//
// For a wave exp(i (a x + b y + c z)), with x, y, z counted in cells, a read at an offset is a factor, and a
// step maps the amplitudes of all states and of the past levels that are kept to those of the next step by
// one small matrix. The grid is taken to be unbounded, without boundaries. Coefficients of states that vary
// from cell to cell (inputs, coordinates) are frozen at the values of one cell. Terms without states
// (sources) do not affect the growth of a wave and are left out.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/analysis/eigenvalues.h"
#include "compiler/analysis/evaluate.h"
#include "compiler/ir/program.h"

namespace halo::analysis {

struct Refusal {  // why there is no answer
    std::string reason;
    SourceRange where;  // of the cause in the text; empty where there is none
};

struct FrozenCell {
    Cell index{};
    std::vector<std::optional<double>> inputs;  // by FieldId; nullopt: not known
};

class LinearScheme {
public:
    // Keeps a reference to the program, as sema made it.
    static std::variant<LinearScheme, Refusal> make(const ir::Program& program);

    std::size_t rows() const { return rows_; }   // of the matrix: states and their past levels
    std::int64_t work() const { return work_; }  // an estimate of a matrix's complex multiplications
    bool varies_along(int axis) const { return varies_along_[static_cast<std::size_t>(axis)]; }

    // Fields and params in factors: what multiplies or divides states, or selects between them.
    const std::set<ir::FieldId>& coefficient_fields() const { return coefficient_fields_; }
    const std::set<ir::ParamId>& coefficient_params() const { return coefficient_params_; }
    bool has_coordinates() const { return has_coordinates_; }
    bool leaves_out_regions() const { return leaves_out_regions_; }

    // Sets the factors. A factor that is not known is a refusal.
    std::optional<Refusal> freeze(const RunValues& values, const FrozenCell& cell);

    // The matrix for the wave whose phase grows by these angles a cell along each axis, with the frozen
    // factors.
    using Angles = std::array<double, ir::kMaxRank>;
    Matrix matrix(const Angles& angles) const;

private:
    enum class Kind : std::uint8_t { known, linear };
    struct Node {
        Kind kind = Kind::known;
        ir::ExprId expr;
        std::vector<std::size_t> operands;  // in the same statement's list
        bool is_factor = false;             // its value must be known
        double value = 0;                   // of known nodes, after freeze()
        bool is_determined = false;
    };
    struct Step {  // a statement
        ir::FieldId target;
        int time = 0;
        Kind kind = Kind::known;
        std::vector<Node> nodes;  // operands first; the last is the value
    };
    using LevelKey = std::pair<ir::FieldId, int>;
    using Form = std::vector<Complex>;  // a linear form: the coefficient of each row's amplitude

    explicit LinearScheme(const ir::Program& program) : program_(&program) {}
    std::optional<Refusal> read_statements();
    std::optional<Refusal> read(const ir::Assign& assign);
    std::optional<Refusal> classify(Step& step, Node& node);
    void mark_factor(Step& step, std::size_t node);
    void note_leaf(const ir::Expr& expr);
    void evaluate_known(const Step& step, Node& node, PointEvaluator& leaves, const FrozenCell& cell);
    Form form_of(const Step& step, const Node& node, const std::vector<Form>& values,
                 const std::map<LevelKey, Form>& levels, const Angles& angles) const;
    std::size_t row_of(ir::FieldId field, int age) const {
        return first_row_[field.index] + static_cast<std::size_t>(age);
    }

    const ir::Program* program_;
    std::vector<Step> steps_;
    std::vector<std::size_t> first_row_;  // by FieldId, of states
    std::size_t rows_ = 0;
    std::int64_t work_ = 0;
    std::array<bool, ir::kMaxRank> varies_along_{};
    std::map<LevelKey, std::optional<Refusal>> broken_;         // levels that are not linear, and why
    std::map<LevelKey, Kind> written_;                          // by the statements read so far
    std::map<LevelKey, std::pair<double, bool>> known_levels_;  // value, and whether it is known
    std::set<ir::FieldId> coefficient_fields_;
    std::set<ir::ParamId> coefficient_params_;
    bool has_coordinates_ = false;
    bool leaves_out_regions_ = false;
};

}  // namespace halo::analysis
