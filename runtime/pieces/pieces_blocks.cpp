// Steps by kernels that do several at once, and take part in the exchange (TimeBlock::is_of_pieces).
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/pieces/interior_first.h"
#include "runtime/pieces/pieces.h"

namespace halo::rt {

namespace {

// Devices in a lane but the main one.
class InLane {
public:
    InLane(Device::Lane lane, std::vector<Session*> sessions) : sessions_(std::move(sessions)) {
        for (Session* session : sessions_)
            session->device().use_lane(lane);
    }
    ~InLane() {
        for (Session* session : sessions_)
            session->device().use_lane(Device::Lane::main);
    }
    InLane(const InLane&) = delete;
    InLane& operator=(const InLane&) = delete;

private:
    const std::vector<Session*> sessions_;
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
    for (const Session* session : sessions_)
        if (!session->stores_ghosts()) return "a kernel stores no ghosts at the neighbours";
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
    if (scheme_ == ExchangeScheme::direct) {
        step_direct();
    } else {
        step_beside_exchange();
    }
}

// Where each piece may only go on with its neighbours: they store its ghosts, and read what it overwrites.
void Pieces::step_direct() {
    if (good_for_ < options_.interval) exchange();
    if (!in_step_) wait_for_each_other();
    for (std::size_t i = 0; i < sessions_.size(); ++i)
        sessions_[i]->launch_planes(own_planes(i), true);
    for (Session* session : sessions_)
        session->finish_block();
    wait_for_each_other();
    in_step_ = true;
    good_for_ = options_.interval;
}

void Pieces::wait_for_each_other() {
    for (Session* session : sessions_)
        session->device().mark();
    for (const auto& [device, other] : waiting_)
        device->wait_for_mark(*other);
}

// What was exchanged last is copied while the planes that do not need it are computed: those of the interior,
// which come first. Two borders are computed side by side, as each alone leaves a device without work at its
// end.
void Pieces::step_beside_exchange() {
    if (!in_step_) join_lanes();
    std::vector<InteriorFirst> parts;
    for (std::size_t i = 0; i < sessions_.size(); ++i)
        parts.push_back(interior_first(own_planes(i), ghosts(i), plan().time_block->walks));
    {
        const InLane urgent(Device::Lane::urgent, sessions_);
        for (std::size_t i = 0; i < sessions_.size(); ++i)
            if (parts[i].interior.planes() > 0) sessions_[i]->launch_planes(parts[i].interior, false);
    }
    if (good_for_ < options_.interval) exchange();
    wait_for_main_lane(Device::Lane::beside);
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
        const auto& [below, above] = parts[i].borders;
        if (above.planes() > 0) {
            const InLane beside(Device::Lane::beside, {sessions_[i]});
            sessions_[i]->launch_planes(above, false);
        }
        if (below.planes() > 0) sessions_[i]->launch_planes(below, false);
    }
    for (Session* session : sessions_)
        session->finish_block();
    join_lanes();
    in_step_ = true;
    good_for_ = 0;
}

// Of this process's piece `index`.
PlaneRange Pieces::own_planes(std::size_t index) const {
    const int last = cut_.grid.rank - 1;
    const std::int64_t begin = piece(index).ghosts[static_cast<std::size_t>(last)][0];
    return {begin, begin + piece(index).own(last)};
}

// How many planes it has of the piece below, and of the one above.
std::array<std::int64_t, 2> Pieces::ghosts(std::size_t index) const {
    return piece(index).ghosts[static_cast<std::size_t>(cut_.grid.rank - 1)];
}

void Pieces::wait_for_main_lane(Device::Lane lane) {
    const InLane waiting(lane, sessions_);
    for (Session* session : sessions_)
        session->device().wait_for_lane(Device::Lane::main);
}

// What is asked for from then on begins when all lanes have done what they were asked for.
void Pieces::join_lanes() {
    for (Session* session : sessions_)
        for (const Device::Lane lane : {Device::Lane::beside, Device::Lane::urgent})
            session->device().wait_for_lane(lane);
    wait_for_main_lane(Device::Lane::urgent);
}

}  // namespace halo::rt
