// Cells of the whole grid, from and to its pieces.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/core/error.h"
#include "runtime/pieces/pieces.h"

namespace halo::rt {

namespace {

struct PlacedBox {
    Box whole, local;  // the same cells, of the whole grid and of a piece's session
};

// The boxes that a piece computes, cut where it crosses an end of the whole grid.
std::vector<PlacedBox> computed(const Piece& piece, const Grid& grid) {
    std::vector<PlacedBox> parts{{whole_box({}), whole_box({})}};
    for (int axis = 0; axis < kMaxRank; ++axis) {
        const auto along = static_cast<std::size_t>(axis);
        const std::int64_t extent = grid.extent[along], first = piece.first(axis);
        const std::int64_t end = first + piece.cells(axis);
        std::vector<PlacedBox> longer;
        for (const PlacedBox& part : parts)
            for (const std::int64_t period : {-extent, std::int64_t{0}, extent}) {
                PlacedBox piece_of = part;
                const std::int64_t from = std::max(first, period), to = std::min(end, period + extent);
                if (from >= to) continue;
                piece_of.whole.begin[along] = from - period;
                piece_of.whole.end[along] = to - period;
                piece_of.local.begin[along] = from - first;
                piece_of.local.end[along] = to - first;
                longer.push_back(piece_of);
            }
        parts = std::move(longer);
    }
    return parts;
}

// The intersection of `part` and `box`.
PlacedBox common(const PlacedBox& part, const Box& box) {
    PlacedBox result;
    result.whole = intersection(part.whole, box);
    Cells by{};
    for (std::size_t axis = 0; axis < kMaxRank; ++axis)
        by[axis] = part.local.begin[axis] - part.whole.begin[axis];
    result.local = shifted(result.whole, by);
    return result;
}

PlacedBox of_field(const FieldGrid& grid, const PlacedBox& cells) {
    return {box_of_field(grid, cells.whole), box_of_field(grid, cells.local)};
}

PlacedBox own_cells(const Piece& piece) {
    PlacedBox own;
    own.whole = {piece.begin, piece.end};
    Cells by{};
    for (int axis = 0; axis < kMaxRank; ++axis)
        by[static_cast<std::size_t>(axis)] = -piece.first(axis);
    own.local = shifted(own.whole, by);
    return own;
}

}  // namespace

std::int64_t Pieces::cells() const {
    return whole_box(cut_.grid.extent).cells();
}

std::int64_t Pieces::element_bytes(const std::string& field) const {
    const FieldPlan* const found = find_field(field);
    if (found == nullptr)
        throw Error(ErrorCode::bad_argument, fmt::format("'{}' has no field '{}'", plan().name, field));
    return size_of(found->type);
}

Box Pieces::whole_box_of(const std::string& field) const {
    return box_of_field(find_field(field)->grid, whole_box(cut_.grid.extent));
}

void Pieces::check_size(const std::string& field, std::int64_t bytes) const {
    const std::int64_t needed = element_bytes(field) * whole_box_of(field).cells();
    if (bytes != needed)
        throw Error(ErrorCode::bad_argument,
                    fmt::format("field '{}' has {} bytes, and {} were given", field, needed, bytes));
}

std::vector<Box> Pieces::own_boxes() const {
    std::vector<Box> boxes;
    for (std::size_t i = 0; i < sessions_.size(); ++i)
        boxes.push_back(own_cells(piece(i)).whole);
    return boxes;
}

std::vector<Box> Pieces::computed_boxes() const {
    std::vector<Box> boxes;
    for (std::size_t i = 0; i < sessions_.size(); ++i)
        for (const PlacedBox& part : computed(piece(i), cut_.grid))
            boxes.push_back(part.whole);
    return boxes;
}

void Pieces::upload_box(const std::string& field, int time, const Box& box, const void* elements) {
    const std::int64_t size = element_bytes(field);
    const FieldGrid grid = find_field(field)->grid;
    const char* const from = static_cast<const char*>(elements);
    std::vector<char> rows;
    in_step_ = false;
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        for (const PlacedBox& part : computed(piece(i), cut_.grid)) {
            const PlacedBox cells = common(of_field(grid, part), box);
            if (cells.whole.is_empty()) continue;
            if (is_contiguous(cells.whole, box)) {
                sessions_[i]->upload_box(field, time, cells.local,
                                         from + box.index(cells.whole.begin) * size);
                continue;
            }
            rows.resize(static_cast<std::size_t>(cells.whole.cells() * size));
            for_runs(cells.whole, box, cells.whole,
                     [&](std::int64_t in_box, std::int64_t in_rows, std::int64_t count) {
                         std::memcpy(rows.data() + in_rows * size, from + in_box * size,
                                     static_cast<std::size_t>(count * size));
                     });
            sessions_[i]->upload_box(field, time, cells.local, rows.data());
        }
    }
}

void Pieces::download_box(const std::string& field, int time, const Box& box, void* elements) {
    const std::int64_t size = element_bytes(field);
    const FieldGrid grid = find_field(field)->grid;
    char* const to = static_cast<char*>(elements);
    std::vector<char> rows;
    transport_->wait();
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        const PlacedBox cells = common(of_field(grid, own_cells(piece(i))), box);
        if (cells.whole.is_empty()) continue;
        if (is_contiguous(cells.whole, box)) {
            sessions_[i]->download_box(field, time, cells.local, to + box.index(cells.whole.begin) * size);
            continue;
        }
        rows.resize(static_cast<std::size_t>(cells.whole.cells() * size));
        sessions_[i]->download_box(field, time, cells.local, rows.data());
        for_runs(cells.whole, box, cells.whole,
                 [&](std::int64_t in_box, std::int64_t in_rows, std::int64_t count) {
                     std::memcpy(to + in_box * size, rows.data() + in_rows * size,
                                 static_cast<std::size_t>(count * size));
                 });
    }
}

void Pieces::upload_elements(const std::string& field, int time, const void* elements, std::int64_t bytes) {
    check_size(field, bytes);
    upload_box(field, time, whole_box_of(field), elements);
}

void Pieces::download_elements(const std::string& field, int time, void* elements, std::int64_t bytes) {
    check_size(field, bytes);
    download_box(field, time, whole_box_of(field), elements);
}

}  // namespace halo::rt
