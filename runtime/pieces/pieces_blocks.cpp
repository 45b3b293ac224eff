// Steps by kernels that do several at once, and take part in the exchange (TimeBlock::is_of_pieces).
#include <fmt/format.h>

#include "runtime/core/error.h"
#include "runtime/pieces/pieces.h"

namespace halo::rt {

namespace {

// Devices in their urgent lane.
class InUrgentLane {
public:
    explicit InUrgentLane(const std::vector<Session*>& sessions) : sessions_(sessions) {
        for (Session* session : sessions_)
            session->device().use_lane(Device::Lane::urgent);
    }
    ~InUrgentLane() {
        for (Session* session : sessions_)
            session->device().use_lane(Device::Lane::main);
    }
    InUrgentLane(const InUrgentLane&) = delete;
    InUrgentLane& operator=(const InUrgentLane&) = delete;

private:
    const std::vector<Session*>& sessions_;
};

}  // namespace

std::string Pieces::what_lacks() const {
    if (const std::optional<int> axis = cut_.axis_cut_besides_last())
        return fmt::format("the grid is cut along {}, too", plan().axes[*axis]);
    for (const Session* session : sessions_)
        if (!session->gives_planes()) return "no kernel does several steps at once";
    if (options_.interval != plan().time_block->steps)
        return fmt::format("pieces exchange every {} steps, and the kernel does {} at once",
                           options_.interval, plan().time_block->steps);
    for (const Carried& carried : carried_)
        if (find_field(carried.name)->role != Role::state)
            return fmt::format("'{}' is exchanged, too, and is no state", carried.name);
    return "";
}

// Ranks exchange when all others do.
std::string Pieces::what_lacks_anywhere() const {
    const std::string own = what_lacks();
    if (!is_shared()) return own;
    const bool is_whole = plan().time_block && plan().time_block->is_whole;
    const std::vector<std::string> all = ranks_->all_gather((is_whole ? 'w' : 's') + own);
    for (const std::string& each : all) {
        if (each.size() > 1) return each.substr(1);
        if (each != all.front()) return "the kernels for several steps are not alike in all ranks";
    }
    return "";
}

std::string Pieces::why_not_direct() const {
    if (is_shared()) return "the pieces are in several processes";
    for (const Transfer& transfer : transfers_[static_cast<std::size_t>(cut_.grid.rank - 1)]) {
        Device& from = sessions_[static_cast<std::size_t>(transfer.from)]->device();
        Device& to = sessions_[static_cast<std::size_t>(transfer.to)]->device();
        if (!from.can_write_to(to)) return "a device has no way into another's memory";
    }
    return "";
}

void Pieces::choose_scheme() {
    scheme_ = ExchangeScheme::synchronous;
    if (options_.scheme == ExchangeScheme::synchronous || cut_.count() == 1) return;
    why_synchronous_ = what_lacks_anywhere();
    if (!why_synchronous_.empty()) return;
    scheme_ = ExchangeScheme::asynchronous;
    if (options_.scheme == ExchangeScheme::asynchronous || !why_not_direct().empty()) return;
    scheme_ = ExchangeScheme::direct;
    const auto along = static_cast<std::size_t>(cut_.grid.rank - 1);
    for (const Transfer& transfer : transfers_[along]) {
        Session& from = *sessions_[static_cast<std::size_t>(transfer.from)];
        Session& to = *sessions_[static_cast<std::size_t>(transfer.to)];
        const int side = transfer.target[along] == 0 ? 1 : 0;  // of `from`, where `to` is
        GivenPlanes given;
        given.begin = transfer.source[along];
        given.end = given.begin + transfer.count[along];
        given.shift = transfer.target[along] - transfer.source[along];
        from.set_neighbour(side, to, given);
        if (&from.device() == &to.device()) continue;
        waiting_.emplace(&from.device(), &to.device());
        waiting_.emplace(&to.device(), &from.device());
    }
}

bool Pieces::steps_by_block(std::int64_t count) const {
    if (scheme_ == ExchangeScheme::synchronous) return false;
    const std::int64_t single = plan().time_block->is_whole ? 0 : 1;  // the last, for its results
    return count - single >= options_.interval;
}

void Pieces::step_block() {
    if (good_for_ < options_.interval) exchange();
    if (scheme_ == ExchangeScheme::direct) {
        step_direct();
    } else {
        step_borders_first();
    }
    good_for_ = options_.interval;
}

// Where each piece may only go on with its neighbours: they store its ghosts, and read what it overwrites.
void Pieces::step_direct() {
    const int last = cut_.grid.rank - 1;
    if (!in_step_) wait_for_each_other();
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        const Piece& piece = cut_.pieces[i];
        const std::int64_t begin = piece.ghosts[static_cast<std::size_t>(last)][0];
        sessions_[i]->launch_planes(begin, begin + piece.own(last), true);
    }
    for (Session* session : sessions_)
        session->finish_block();
    wait_for_each_other();
    in_step_ = true;
}

void Pieces::wait_for_each_other() {
    for (Session* session : sessions_)
        session->device().mark();
    for (const auto& [device, other] : waiting_)
        device->wait_for_mark(*other);
}

// The planes that neighbours have as ghosts come first and are copied while the others are computed.
void Pieces::step_borders_first() {
    if (!in_step_) join_lanes();
    const auto last = static_cast<std::size_t>(cut_.grid.rank - 1);
    std::vector<std::array<std::int64_t, 2>> inner;  // by session
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        const std::int64_t begin = piece(i).ghosts[last][0];
        inner.push_back({begin, begin + piece(i).own(static_cast<int>(last))});
    }
    for (const Transfer& transfer : transfers_[last]) {
        const std::size_t from = static_cast<std::size_t>(transfer.from) - first_;
        if (from >= inner.size()) continue;  // another rank's
        auto& [begin, end] = inner[from];
        if (transfer.target[last] == 0) {
            end = std::min(end, transfer.source[last]);
        } else {
            begin = std::max(begin, transfer.source[last] + transfer.count[last]);
        }
    }
    {
        const InUrgentLane urgent(sessions_);
        for (std::size_t i = 0; i < sessions_.size(); ++i) {
            const std::int64_t first = piece(i).ghosts[last][0];
            const std::int64_t end = first + piece(i).own(static_cast<int>(last));
            auto& [inner_begin, inner_end] = inner[i];
            inner_end = std::max(inner_begin, inner_end);  // of a thin piece all planes are given
            if (inner_begin > first) sessions_[i]->launch_planes(first, inner_begin, false);
            if (end > inner_end) sessions_[i]->launch_planes(inner_end, end, false);
        }
    }
    for (std::size_t i = 0; i < sessions_.size(); ++i)
        if (inner[i][1] > inner[i][0]) sessions_[i]->launch_planes(inner[i][0], inner[i][1], false);
    for (Session* session : sessions_)
        session->finish_block();
    {
        const InUrgentLane urgent(sessions_);
        exchange();
    }
    join_lanes();
    in_step_ = true;
}

void Pieces::join_lanes() {
    for (Session* session : sessions_)
        session->device().join_lanes();
}

}  // namespace halo::rt
