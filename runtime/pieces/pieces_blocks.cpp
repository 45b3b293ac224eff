// Steps by temporal kernels that overlap the exchange (TimeBlock::OfPieces).
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/pieces/interior_first.h"
#include "runtime/pieces/pieces.h"

namespace halo::rt {

namespace {

// Switches devices to another stream than the main one, and back at its end.
class OnStream {
public:
    OnStream(Device::StreamKind kind, std::vector<Session*> sessions) : sessions_(std::move(sessions)) {
        for (Session* session : sessions_)
            session->device().use_stream(kind);
    }
    ~OnStream() {
        for (Session* session : sessions_)
            session->device().use_stream(Device::StreamKind::main);
    }
    OnStream(const OnStream&) = delete;
    OnStream& operator=(const OnStream&) = delete;

private:
    const std::vector<Session*> sessions_;
};

}  // namespace

std::string why_not_each(std::int64_t interval, ExchangeScheme scheme, int steps_at_once) {
    const bool may_be_several = scheme == ExchangeScheme::asynchronous;
    if (may_be_several ? interval % steps_at_once == 0 : interval == steps_at_once) return "";
    return fmt::format("pieces exchange every {} steps, and the kernel does {} at once", interval,
                       steps_at_once);
}

std::string Pieces::why_synchronous_here() const {
    if (const std::optional<int> axis = cut_.axis_cut_besides_last())
        return fmt::format("the grid is cut along {}, too", plan().axes[*axis]);
    for (const Session* session : sessions_)
        if (!session->gives_planes()) return "no kernel does several steps at once";
    const std::string uneven =
        why_not_each(options_.interval, ExchangeScheme::asynchronous, plan().time_block->steps);
    if (!uneven.empty()) return uneven;
    for (const Carried& carried : carried_)
        if (carried.components.front().role != Role::state)
            return fmt::format("'{}' is exchanged, too, and is no state", carried.name);
    return "";
}

// The reason, agreed among all ranks: they use a scheme only where all can.
std::string Pieces::why_synchronous_anywhere() const {
    const std::string own = why_synchronous_here();
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
    const std::string uneven =
        why_not_each(options_.interval, ExchangeScheme::direct, plan().time_block->steps);
    if (!uneven.empty()) return uneven;
    for (const Session* session : sessions_)
        if (!session->stores_ghosts()) return "a kernel stores no ghosts at the neighbours";
    for (const Transfer& transfer : of_grid(1).transfers[static_cast<std::size_t>(cut_.grid.rank - 1)]) {
        Device& from = sessions_[static_cast<std::size_t>(transfer.from)]->device();
        Device& to = sessions_[static_cast<std::size_t>(transfer.to)]->device();
        if (!from.can_write_to(to)) return "a device has no way into another's memory";
    }
    return "";
}

void Pieces::choose_scheme() {
    scheme_ = ExchangeScheme::synchronous;
    if (options_.scheme == ExchangeScheme::synchronous || cut_.count() == 1) return;
    why_synchronous_ = why_synchronous_anywhere();
    if (!why_synchronous_.empty()) return;
    scheme_ = ExchangeScheme::asynchronous;
    if (options_.scheme == ExchangeScheme::asynchronous || !why_not_direct().empty()) return;
    scheme_ = ExchangeScheme::direct;
    const auto along = static_cast<std::size_t>(cut_.grid.rank - 1);
    for (const Transfer& transfer : of_grid(1).transfers[along]) {
        Session& from = *sessions_[static_cast<std::size_t>(transfer.from)];
        Session& to = *sessions_[static_cast<std::size_t>(transfer.to)];
        const int side = transfer.target[along] == 0 ? 1 : 0;  // of `from`, where `to` is
        GhostPlanes given;
        given.begin = transfer.source[along];
        given.end = given.begin + transfer.count[along];
        given.shift = transfer.target[along] - transfer.source[along];
        from.set_neighbour(side, to, given);
        if (&from.device() == &to.device()) continue;
        waiting_.emplace(&from.device(), &to.device());
        waiting_.emplace(&to.device(), &from.device());
    }
}

// The number of blocks of steps among the next `count` steps, up to the next exchange; 0: other steppers do
// them.
std::int64_t Pieces::blocks_within(std::int64_t count) const {
    if (scheme_ == ExchangeScheme::synchronous || !plan().time_block->kernel.within.contains(done_)) return 0;
    const std::int64_t single = plan().time_block->is_whole ? 0 : 1;  // the last, for its results
    return std::min(count - single, options_.interval) / plan().time_block->steps;
}

void Pieces::step_blocks(std::int64_t count) {
    if (scheme_ == ExchangeScheme::direct) {
        step_direct();
    } else {
        step_beside_exchange(count);
    }
}

// Steps with direct exchange: each piece waits for its neighbours after each block: they store its ghosts,
// and read what it overwrites.
void Pieces::step_direct() {
    if (good_for_ < options_.interval) exchange();
    if (!in_step_) wait_for_each_other();
    for (std::size_t i = 0; i < sessions_.size(); ++i)
        sessions_[i]->launch_planes(planes_for(i, 0), true);
    for (Session* session : sessions_)
        session->finish_block();
    wait_for_each_other();
    in_step_ = true;
    good_for_ = options_.interval;
}

void Pieces::wait_for_each_other() {
    for (Session* session : sessions_)
        session->device().record_event();
    for (const auto& [device, other] : waiting_)
        device->wait_for_event(*other);
}

// Overlaps the exchange with the interior, which needs no ghosts and is computed first. Later blocks have
// their ghosts, as the first block has computed them, too.
void Pieces::step_beside_exchange(std::int64_t blocks) {
    if (!in_step_) join_streams();
    const std::int64_t steps = plan().time_block->steps;
    for (std::int64_t after = blocks - 1; after >= 0; --after) {
        if (after == blocks - 1) {
            launch_interiors_first(after * steps);
        } else {
            for (std::size_t i = 0; i < sessions_.size(); ++i)
                sessions_[i]->launch_planes(planes_for(i, after * steps), false);
        }
        for (Session* session : sessions_)
            session->finish_block();
    }
    wait_for_main_stream(Device::StreamKind::urgent);
    in_step_ = true;
    good_for_ = 0;
}

// Launches a block and the exchange that its borders wait for. Two borders are computed concurrently, as each
// alone leaves SMs idle at its end.
void Pieces::launch_interiors_first(std::int64_t steps_after) {
    std::vector<InteriorFirst> parts;
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        const auto now = ghosts_for(i, plan().time_block->steps), later = ghosts_for(i, steps_after);
        parts.push_back(interior_first(planes_for(i, steps_after), {now[0] + later[0], now[1] + later[1]},
                                       plan().time_block->of_pieces()->traversals));
    }
    {
        const OnStream urgent(Device::StreamKind::urgent, sessions_);
        for (std::size_t i = 0; i < sessions_.size(); ++i)
            if (parts[i].interior.planes() > 0) sessions_[i]->launch_planes(parts[i].interior, false);
    }
    if (good_for_ < options_.interval) exchange();
    wait_for_main_stream(Device::StreamKind::side);
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        const auto& [below, above] = parts[i].borders;
        if (above.planes() > 0) {
            const OnStream beside(Device::StreamKind::side, {sessions_[i]});
            sessions_[i]->launch_planes(above, false);
        }
        if (below.planes() > 0) sessions_[i]->launch_planes(below, false);
    }
    join_main_stream();
}

// The number of ghost planes below and above that so many steps need; `index` is of this process's pieces.
std::array<std::int64_t, 2> Pieces::ghosts_for(std::size_t index, std::int64_t steps) const {
    std::array<std::int64_t, 2> deep = piece(index).ghosts[static_cast<std::size_t>(cut_.grid.rank - 1)];
    for (std::size_t side = 0; side < 2; ++side)
        if (deep[side] > 0)
            deep[side] = steps > 0 ? deep[side] - (options_.interval - steps) * options_.reach[side] : 0;
    return deep;
}

// The piece's own planes, and the ghosts that the steps after these need.
PlaneRange Pieces::planes_for(std::size_t index, std::int64_t steps_after) const {
    const int last = cut_.grid.rank - 1;
    const std::int64_t begin = piece(index).ghosts[static_cast<std::size_t>(last)][0];
    const auto [below, above] = ghosts_for(index, steps_after);
    return {begin - below, begin + piece(index).own(last) + above};
}

void Pieces::wait_for_main_stream(Device::StreamKind kind) {
    const OnStream waiting(kind, sessions_);
    for (Session* session : sessions_)
        session->device().wait_for_stream(Device::StreamKind::main);
}

void Pieces::join_main_stream() {
    for (Session* session : sessions_)
        for (const Device::StreamKind kind : {Device::StreamKind::side, Device::StreamKind::urgent})
            session->device().wait_for_stream(kind);
}

// Later work begins when all streams have completed theirs.
void Pieces::join_streams() {
    join_main_stream();
    wait_for_main_stream(Device::StreamKind::urgent);
}

}  // namespace halo::rt
