#include "runtime/pieces/pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/core/error.h"

namespace halo::rt {

namespace {

const FieldPlan* find_field(const LaunchPlan& plan, const std::string& name) {
    for (const FieldPlan& field : plan.fields)
        if (field.name == name) return &field;
    return nullptr;
}

}  // namespace

Pieces::Pieces(Decomposition cut, std::vector<Session*> sessions, PiecesOptions options)
    : cut_(std::move(cut)),
      sessions_(std::move(sessions)),
      options_(std::move(options)),
      good_for_(options_.interval) {
    if (sessions_.size() != cut_.pieces.size())
        throw Error(ErrorCode::bad_argument, "each piece of a grid needs a session");
    for (std::size_t i = 0; i < sessions_.size(); ++i)
        if (sessions_[i]->geometry().extent != cut_.pieces[i].extent())
            throw Error(ErrorCode::bad_argument, fmt::format("session {} is not of its piece's extents", i));
    const LaunchPlan& plan = sessions_.front()->plan();
    transfers_ = transfers(cut_, plan.halo);
    for (const std::string& name : options_.carried) {
        const FieldPlan* field = find_field(plan, name);
        if (field == nullptr || field->component > 0) continue;  // it lies in another's array
        Carried carried;
        carried.name = name;
        carried.element = size_of(field->type) * field->interleave;
        carried.levels = static_cast<int>(std::min<std::int64_t>(options_.interval, field->history + 1));
        carried_.push_back(carried);
    }
}

std::int64_t Pieces::exchange_bytes() const {
    std::int64_t element = 0;
    for (const Carried& field : carried_)
        element += field.element * field.levels;
    std::int64_t cells = 0;
    for (const auto& along : transfers_)
        for (const Transfer& transfer : along)
            cells += transfer.count[0] * transfer.count[1] * transfer.count[2];
    return cells * element;
}

void Pieces::step(std::int64_t count) {
    while (count > 0) {
        if (good_for_ == 0) exchange();
        const std::int64_t steps = std::min(count, good_for_);
        for (Session* session : sessions_)
            session->step(steps);
        good_for_ -= steps;
        count -= steps;
    }
}

void Pieces::synchronize() {
    for (Session* session : sessions_)
        session->synchronize();
}

// Each piece copies from its neighbours to its own ghosts when they are done with their steps; they go on
// when their cells have been copied.
void Pieces::exchange() {
    for (const std::vector<Transfer>& along : transfers_) {
        if (along.empty()) continue;
        wait_for_each_other(along);
        for (const Transfer& transfer : along) {
            Device& from = sessions_[static_cast<std::size_t>(transfer.from)]->device();
            Device& to = sessions_[static_cast<std::size_t>(transfer.to)]->device();
            for (const BoxCopy& box : boxes(transfer)) {
                to.copy_from(from, box);
                exchanged_.bytes += box.row_bytes * box.rows * box.planes;
            }
        }
        wait_for_each_other(along);
    }
    ++exchanged_.times;
    good_for_ = options_.interval;
}

// Of all pairs before any piece goes on: what one queues next is not what another waits for.
void Pieces::wait_for_each_other(const std::vector<Transfer>& along) {
    for (const Transfer& transfer : along) {
        Device& from = sessions_[static_cast<std::size_t>(transfer.from)]->device();
        Device& to = sessions_[static_cast<std::size_t>(transfer.to)]->device();
        if (&from == &to) continue;
        to.wait_for(from);
        from.wait_for(to);
    }
}

std::vector<BoxCopy> Pieces::boxes(const Transfer& transfer) {
    const Session& from = *sessions_[static_cast<std::size_t>(transfer.from)];
    const Session& to = *sessions_[static_cast<std::size_t>(transfer.to)];
    std::vector<BoxCopy> result;
    for (const Carried& field : carried_) {
        const std::vector<void*> sources = from.level_arrays(field.name);
        const std::vector<void*> targets = to.level_arrays(field.name);
        for (std::size_t level = 0; level < static_cast<std::size_t>(field.levels); ++level)
            result.push_back(box_copy(transfer, from.geometry(), sources[level], to.geometry(),
                                      targets[level], field.element));
    }
    return result;
}

double Pieces::reduction(const std::string& name) {
    PartialResults all;
    const int last = cut_.grid.rank - 1;
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        const PartialResults of_piece = sessions_[i]->partial_results(name);
        if (sessions_.size() == 1) return of_piece.combined();
        const auto along = static_cast<std::size_t>(last);
        if (of_piece.tile[along] != 1 || of_piece.blocks[along] != cut_.pieces[i].cells(last))
            throw Error(ErrorCode::bad_argument,
                        fmt::format("'{}' is not reduced plane by plane, which pieces need", name));
        const std::int64_t planes = of_piece.blocks[along];
        const std::int64_t of_plane = static_cast<std::int64_t>(of_piece.values.size()) / planes;
        const std::int64_t first = cut_.pieces[i].ghosts[along][0] * of_plane;
        const auto begin = of_piece.values.begin() + first;
        all.values.insert(all.values.end(), begin, begin + cut_.pieces[i].own(last) * of_plane);
        all.op = of_piece.op;
        all.square_root = of_piece.square_root;
    }
    return all.combined();
}

}  // namespace halo::rt
