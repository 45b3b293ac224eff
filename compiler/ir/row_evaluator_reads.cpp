// What an access reads: the cells of a row, and past an edge what the field's boundary says.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "compiler/ir/analysis.h"
#include "compiler/ir/rounding.h"
#include "compiler/ir/row_evaluator.h"

namespace halo::ir {

namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

// A field's value as it is kept (Interpreter::field).
template <class T>
T unpacked(double cell) {
    if constexpr (std::is_same_v<T, std::int64_t>) {
        return std::bit_cast<std::int64_t>(cell);
    } else {
        return static_cast<T>(cell);
    }
}

}  // namespace

std::int64_t RowEvaluator::cell_read(const Access& access, int axis, std::int64_t cell) {
    const auto [times, over] = access.map[static_cast<std::size_t>(axis)];
    const std::int64_t place = times * cell + access.offset[static_cast<std::size_t>(axis)];
    return place / over - (place % over < 0 ? 1 : 0);  // rounded down
}

std::int32_t RowEvaluator::source_code(const Field& field, int axis, std::int64_t index) const {
    const auto& faces = field.boundary[axis];
    const std::int64_t n = field.grid.extent(extent_)[static_cast<std::size_t>(axis)];
    const rt::ImageSource source = rt::image_source(faces[0].kind, faces[1].kind, index, n);
    if (source.shows == rt::ImageMap::Shows::cell) return static_cast<std::int32_t>(source.cell);
    return -1 - source.side;
}

void RowEvaluator::prepare_reading(ExprId id, const Access& access) {
    Reading& reading = readings_[id.index];
    const Field& field = program_[access.field];
    for (int axis = 0; axis < kMaxRank; ++axis) {
        reading.source[axis].resize(static_cast<std::size_t>(extent_[axis]), 0);
        if (axis >= program_.rank() || !field.grid.has(axis)) continue;  // the one cell is at 0
        for (std::int64_t i = 0; i < extent_[axis]; ++i)
            reading.source[axis][i] = source_code(field, axis, cell_read(access, axis, i));
    }
    if (!field.grid.has(0) || access.is_mapped()) return;
    const std::int64_t cells = field.grid.extent(extent_)[0];
    reading.straight_begin = std::clamp<std::int64_t>(-access.offset[0], 0, cells);
    reading.straight_end = std::clamp<std::int64_t>(cells - access.offset[0], reading.straight_begin, cells);
}

double RowEvaluator::face_value(const Field& field, int axis, int side) const {
    const Face& face = field.boundary[axis][side];
    if (face.kind != BoundaryKind::fixed) return kNotANumber;
    const double value = step_constant(face.value);
    const bool is_reference = type_[face.value.index] != field.type;  // Arithmetic::f64 rounds no real
    return field.storage == Storage::i64 || is_reference ? value : stored(value, field.storage);
}

template <class T>
void RowEvaluator::node(ExprId id, const Access& node, T* out) {
    if (is_ghost_) {
        Cell cell = first_;
        for (std::size_t axis = 0; axis < kMaxRank; ++axis)
            cell[axis] += node.offset[axis];
        out[0] = unpacked<T>(read_cell(node.field, level_time_, cell));
        return;
    }
    const Reading& reading = readings_[id.index];
    const Field& field = program_[node.field];
    const std::int32_t* source = reading.source[0].data();
    // Past which face the whole row lies, if any; the first axis has its say cell by cell.
    std::array<std::int32_t, kMaxRank> row{};
    int past = 0;  // the first other axis past whose face the row lies; 0: none
    for (int axis = kMaxRank - 1; axis > 0; --axis) {
        row[axis] = reading.source[axis][first_[axis]];
        if (row[axis] < 0) past = axis;
    }
    const bool outside = past > 0;
    const bool formula = has_formula(field);
    const Extent own = field.grid.extent(extent_);
    const T row_value = converted<T>(outside ? face_value(field, past, -1 - row[past]) : 0.0);
    const double* cells = outside ? nullptr : reading.level + own.index_of(row);
    Cell cell;
    for (int axis = 1; axis < kMaxRank; ++axis)
        cell[axis] = cell_read(node, axis, first_[axis]);
    const std::int64_t x_begin = first_[0];
    const auto one_by_one = [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t x = from; x < to; ++x) {
            const std::int32_t i = source[x];
            cell[0] = cell_read(node, 0, x);
            out[x - x_begin] = formula && (i < 0 || outside)
                                   ? unpacked<T>(read_cell(node.field, node.time, cell))
                               : i < 0   ? converted<T>(face_value(field, 0, -1 - i))
                               : outside ? row_value
                                         : unpacked<T>(cells[i]);
        }
    };
    const std::int64_t end = x_begin + cells_;
    const std::int64_t begin_straight = std::clamp(reading.straight_begin, x_begin, end);
    const std::int64_t end_straight = std::clamp(reading.straight_end, begin_straight, end);
    one_by_one(x_begin, begin_straight);
    if (outside && formula) {
        one_by_one(begin_straight, end_straight);
    } else if (outside) {
        std::fill(out + (begin_straight - x_begin), out + (end_straight - x_begin), row_value);
    } else {
        const double* from = cells + node.offset[0];
        for (std::int64_t x = begin_straight; x < end_straight; ++x)
            out[x - x_begin] = unpacked<T>(from[x]);
    }
    one_by_one(end_straight, end);
}

template void RowEvaluator::node(ExprId, const Access&, float*);
template void RowEvaluator::node(ExprId, const Access&, double*);
template void RowEvaluator::node(ExprId, const Access&, std::uint8_t*);
template void RowEvaluator::node(ExprId, const Access&, std::int32_t*);
template void RowEvaluator::node(ExprId, const Access&, std::int64_t*);

}  // namespace halo::ir
