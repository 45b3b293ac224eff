// The interpreter's arithmetic: evaluates expressions over pieces of a row, one node after the other in arena
// order. Private to the room.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "compiler/ir/interpreter.h"
#include "compiler/ir/program.h"

namespace halo::ir {

using rt::Extent;

// A node's values along a piece of a row, in its own type.
struct Row {
    std::vector<float> f32;
    std::vector<double> f64;
    std::vector<std::uint8_t> boolean;
    std::vector<std::int32_t> i32;
    std::vector<std::int64_t> i64;

    void resize(Scalar type, std::size_t cells) {
        if (type == Scalar::f32) f32.resize(cells);
        if (type == Scalar::f64) f64.resize(cells);
        if (type == Scalar::boolean) boolean.resize(cells);
        if (type == Scalar::i32) i32.resize(cells);
        if (type == Scalar::i64) i64.resize(cells);
    }
};

// A table's rows, all columns of one after the other. Computed columns are filled by the interpreter.
struct TableRows {
    std::int64_t rows = 0;
    std::vector<double> values;
};

// What expressions read besides each other.
struct Surroundings {
    double step = 0;                         // steps done before this one
    std::vector<double> params;              // by ParamId
    std::vector<double> reductions;          // by ReductionId: the latest values
    std::vector<std::vector<double>> coefs;  // by CoefId
    std::vector<double> point_values;        // by PointColumn::column: of the point that an Inject is at
    std::vector<std::vector<const double*>>
        levels;                     // by FieldId, then 1 - time: t+1, t, t-1 …; null where not kept
    std::vector<TableRows> tables;  // by TableId
};

// A place on the grid, or past an edge.
using Cell = std::array<std::int64_t, kMaxRank>;

class RowEvaluator {
public:
    static constexpr std::int64_t kMaxCells = 256;  // of a piece

    // Keeps a reference to the program. Nodes that none of `roots` needs are left alone.
    RowEvaluator(const Program& program, const Extent& extent, Arithmetic arithmetic,
                 const std::vector<ExprId>& roots);

    // Computes all that is the same for every cell; before the first evaluate() of a step.
    void begin_step(const Surroundings& surroundings);

    // After a change of Surroundings::reductions within the step.
    void update_reductions();

    // `root` for so many cells of a row, from `first` on, as doubles; an i64 as its bits. cells <= kMaxCells.
    void evaluate(ExprId root, const Cell& first, std::int64_t cells, std::vector<double>& values);

    // `root`, one of the roots, at one row of a table: it reads params and columns of that table alone.
    double evaluate_at_row(ExprId root, std::int64_t row);

    double step_constant(ExprId id) const;  // after begin_step(); `id` reads no field and no idx or pos

private:
    // Where the cells of a read come from.
    struct Reading {
        const double* level = nullptr;
        std::array<std::vector<std::int32_t>, kMaxRank> source;  // by axis and cell; -1 - side past a face
        std::int64_t straight_begin = 0, straight_end = 0;  // where source[0][x] is x + offset, if at all
    };

    template <class T>
    std::vector<T>& cells_of(ExprId id);
    std::int64_t grid_index(int axis, std::int64_t index) const;  // on the whole grid
    static std::int64_t cell_read(const Access& access, int axis,
                                  std::int64_t cell);  // by its map and offset
    std::int32_t source_code(const Field& field, int axis, std::int64_t index) const;
    void prepare_reading(ExprId id, const Access& access);
    void evaluate_node(ExprId id);
    void evaluate_constants(const std::vector<ExprId>& ids);
    template <class T>
    void evaluate_as(ExprId id);
    template <class T>
    void evaluate_boolean_of(const Binary& node, std::uint8_t* out);
    void evaluate_logic(ExprId id);

    template <class T>
    void node(ExprId id, const Constant& node, T* out);
    template <class T>
    void node(ExprId id, const ParamRef& node, T* out);
    template <class T>
    void node(ExprId id, const CoefElement& node, T* out);
    template <class T>
    void node(ExprId id, const Access& node, T* out);
    template <class T>
    void node(ExprId id, const Coordinate& node, T* out);
    template <class T>
    void node(ExprId id, const Unary& node, T* out);
    template <class T>
    void node(ExprId id, const Binary& node, T* out);
    template <class T>
    void node(ExprId id, const Fma& node, T* out);
    template <class T>
    void node(ExprId id, const Select& node, T* out);
    template <class T>
    void node(ExprId id, const Call& node, T* out);
    template <class T>
    void node(ExprId id, const ReductionRef& node, T* out);
    template <class T>
    void node(ExprId id, const TableSum& node, T* out);
    template <class T>
    void node(ExprId id, const TableColumn& node, T* out);
    template <class T>
    void node(ExprId id, const SeriesValue& node, T* out);
    template <class T>
    void node(ExprId id, const Noise& node, T* out);
    template <class T>
    void node(ExprId id, const PointColumn& node, T* out);

    double in_storage(const Field& field, double value) const;
    double face_value(const Field& field, int axis, int side) const;
    void find_terms(const std::vector<bool>& needed);

    // ---- ghosts (row_evaluator_ghosts.cpp)
    double read_cell(FieldId field, int time, Cell cell);
    double ghost(FieldId field, int time, const Cell& cell, int axis, int side, std::int64_t distance);
    RowEvaluator(const RowEvaluator& outer, int depth);
    void prepare_ghosts();
    double value_at(ExprId root, const Cell& cell, int level_time);

    const Program& program_;
    Extent extent_;
    std::vector<Scalar> type_;                    // by node: the type it is computed in
    std::vector<std::optional<Rational>> exact_;  // by node: of constants alone, not rounded yet
    std::vector<bool> constant_;                  // by node: the same for every cell of a step
    std::vector<ExprId> step_constants_;          // the needed ones, in order
    std::vector<ExprId> of_reductions_;           // of those, the ones that read a reduction
    std::vector<Row> rows_;
    std::vector<Reading> readings_;           // by node; used of accesses alone
    std::vector<std::vector<ExprId>> plans_;  // by root: what it needs besides step constants, in order
    std::vector<bool> reads_row_;             // by node: it differs from row to row of a table
    std::map<std::uint32_t, std::vector<ExprId>> terms_;  // by sum over a table: what each row computes
    const Surroundings* surroundings_ = nullptr;

    // The piece under evaluation.
    Cell first_{};
    std::int64_t cells_ = 0;
    std::int64_t row_ = 0;  // of the table that is summed over

    // Past formula faces: evaluates one ghost at a time, which may read ghosts of later axes by the next one.
    Arithmetic arithmetic_;
    std::unique_ptr<RowEvaluator> ghosts_;
    bool is_ghost_ = false;
    int level_time_ = 0;  // of the level whose ghost it is
};

}  // namespace halo::ir
