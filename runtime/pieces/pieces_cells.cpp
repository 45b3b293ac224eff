// Cells of the whole grid, from and to its pieces.
#include <fmt/format.h>

#include <cstring>

#include "runtime/core/error.h"
#include "runtime/pieces/pieces.h"

namespace halo::rt {

namespace {

// Of an index that may lie past an end of a periodic axis.
std::int64_t wrapped(std::int64_t index, std::int64_t extent) {
    return index < 0 ? index + extent : index >= extent ? index - extent : index;
}

}  // namespace

std::int64_t Pieces::cells() const {
    const Cells& extent = cut_.grid.extent;
    return extent[0] * extent[1] * extent[2];
}

std::int64_t Pieces::element_bytes(const std::string& field) const {
    for (const FieldPlan& plan : sessions_.front()->plan().fields)
        if (plan.name == field) return size_of(plan.type);
    throw Error(ErrorCode::bad_argument,
                fmt::format("'{}' has no field '{}'", sessions_.front()->plan().name, field));
}

void Pieces::check_size(const std::string& field, std::int64_t bytes) const {
    const std::int64_t all = cells() * element_bytes(field);
    if (bytes == all) return;
    throw Error(ErrorCode::bad_argument,
                fmt::format("field '{}' has {} bytes, and {} were given", field, all, bytes));
}

template <class Work>
void Pieces::for_rows(const Piece& piece, std::int64_t element, bool own_alone, const Work& work) const {
    const Cells& whole = cut_.grid.extent;
    const Cells extent = piece.extent();
    Cells begin{}, end = extent;
    for (int axis = 0; own_alone && axis < kMaxRank; ++axis) {
        const auto along = static_cast<std::size_t>(axis);
        begin[along] = piece.ghosts[along][0];
        end[along] = begin[along] + piece.own(axis);
    }
    for (std::int64_t z = begin[2]; z < end[2]; ++z) {
        for (std::int64_t y = begin[1]; y < end[1]; ++y) {
            const std::int64_t row = whole[0] * (wrapped(piece.first(1) + y, whole[1]) +
                                                 whole[1] * wrapped(piece.first(2) + z, whole[2]));
            const std::int64_t own_row = extent[0] * (y + extent[1] * z);
            // A row may cross a seam of the whole grid on its left and on its right.
            for (std::int64_t x = begin[0]; x < end[0];) {
                const std::int64_t at = wrapped(piece.first(0) + x, whole[0]);
                const std::int64_t count = std::min(end[0] - x, whole[0] - at);
                work((row + at) * element, (own_row + x) * element,
                     static_cast<std::size_t>(count * element));
                x += count;
            }
        }
    }
}

void Pieces::upload_elements(const std::string& field, int time, const void* elements, std::int64_t bytes) {
    const std::int64_t element = element_bytes(field);
    check_size(field, bytes);
    in_step_ = false;
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        std::vector<char> part(static_cast<std::size_t>(sessions_[i]->cells() * element));
        for_rows(piece(i), element, false,
                 [&](std::int64_t in_whole, std::int64_t in_part, std::size_t count) {
                     std::memcpy(part.data() + in_part, static_cast<const char*>(elements) + in_whole, count);
                 });
        sessions_[i]->upload_elements(field, time, part.data(), static_cast<std::int64_t>(part.size()));
    }
}

void Pieces::download_elements(const std::string& field, int time, void* elements, std::int64_t bytes) {
    const std::int64_t element = element_bytes(field);
    if (ranks_->is_first()) check_size(field, bytes);
    transport_->wait();
    std::string own;  // side by side, for the first rank
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        std::vector<char> part(static_cast<std::size_t>(sessions_[i]->cells() * element));
        sessions_[i]->download_elements(field, time, part.data(), static_cast<std::int64_t>(part.size()));
        for_rows(piece(i), element, true,
                 [&](std::int64_t in_whole, std::int64_t in_part, std::size_t count) {
                     if (ranks_->is_first())
                         std::memcpy(static_cast<char*>(elements) + in_whole, part.data() + in_part, count);
                     else
                         own.append(part.data() + in_part, count);
                 });
    }
    if (is_shared()) collect_cells(element, own, elements);
}

// One piece after the other, so that the first rank needs room for one beside the whole.
void Pieces::collect_cells(std::int64_t element, const std::string& own, void* elements) const {
    using Message = Ranks::Message;
    if (!ranks_->is_first()) {
        const Message message{0, const_cast<char*>(own.data()), static_cast<std::int64_t>(own.size())};
        return ranks_->exchange({}, std::vector<Message>{message});
    }
    for (int peer = 1; peer < ranks_->count(); ++peer) {
        const Piece& theirs = cut_.pieces[static_cast<std::size_t>(peer)];
        std::string part(static_cast<std::size_t>(theirs.own(0) * theirs.own(1) * theirs.own(2) * element),
                         '\0');
        ranks_->exchange(std::vector<Message>{{peer, part.data(), static_cast<std::int64_t>(part.size())}},
                         {});
        const char* next = part.data();
        for_rows(theirs, element, true, [&](std::int64_t in_whole, std::int64_t, std::size_t count) {
            std::memcpy(static_cast<char*>(elements) + in_whole, next, count);
            next += count;
        });
    }
}

}  // namespace halo::rt
