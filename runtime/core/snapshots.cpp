#include "runtime/core/snapshots.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>

#include "runtime/core/session/state.h"
#include "runtime/core/session/states_on_host.h"
#include "runtime/core/text.h"

namespace halo::rt {

using session::KeptArrays;
using session::Level;

KeptArrays& Snapshots::arrays() const {
    return session_.state_->parts.kept;
}

std::int64_t Snapshots::bytes_each(const Session& session, bool in_a_row) {
    return session.state_->parts.kept.bytes_of_state(in_a_row);
}

int Snapshots::levels_each(const Session& session) {
    return session.state_->parts.kept.levels_of_states();
}

Snapshots::Snapshots(Session& session, const SnapshotPlaces& places) : session_(session), places_(places) {
    const auto refuse = [&](int count, const std::string& why) {
        throw Error(ErrorCode::out_of_memory,
                    fmt::format("{} snapshot{} of {}: {}; keep fewer", count, count == 1 ? "" : "s",
                                bytes_text(bytes_each(session, places.in_a_row)), why));
    };
    on_device_.resize(static_cast<std::size_t>(places.on_device));
    try {
        if (places.levels > 0) {
            arrays().add_room_of_levels(places.levels);
        } else {
            arrays().add_room(places.on_device + places.in_transit, places.in_a_row);
        }
    } catch (const Error& trouble) {
        if (trouble.code() != ErrorCode::out_of_memory) throw;
        refuse(places.on_device + places.in_transit, trouble.what());
    }
    try {
        session::Parts& all = session_.state_->parts;
        on_host_ = std::make_unique<session::StatesOnHost>(all.setup, all.arrays, all.kept, places.on_host,
                                                           places.in_transit);
    } catch (const std::bad_alloc&) {
        arrays().drop_room();
        refuse(places.on_host, "the host has not so much memory");
    }
}

Snapshots::~Snapshots() {
    try {
        forget();
    } catch (const std::exception&) {  // of a device that failed before: the session's state is lost, too
    }
    on_host_.reset();  // no copy is on its way from here on
    arrays().drop_room();
}

void Snapshots::keep(int slot) {
    session_.state_->prepare();  // constants past faces are part of a state, before the first step, too
    session::Parts& parts = session_.state_->parts;
    if (!is_on_host(slot)) {
        KeptArrays::State& state = on_device_[static_cast<std::size_t>(slot - places_.on_host)];
        parts.kept.forget(state);
        state = parts.kept.keep();
        return;
    }
    on_host_->keep(slot);
}

void Snapshots::restore(int slot) {
    if (is_on_host(slot)) return on_host_->restore(slot);
    arrays().put_back(on_device_[static_cast<std::size_t>(slot - places_.on_host)]);
}

void Snapshots::approach(int slot) {
    if (is_on_host(slot)) return on_host_->bring(slot);
    if (slot == places_.on_host && slot > 0) on_host_->bring_below(slot);
}

void Snapshots::drop(int slot) {
    if (!is_on_host(slot)) arrays().forget(on_device_[static_cast<std::size_t>(slot - places_.on_host)]);
}

bool Snapshots::give_level(int slot, const std::string& state, int time, Session& to,
                           const std::string& field, int to_time) const {
    session::Parts &here = session_.state_->parts, &there = to.state_->parts;
    const int index = session_.state_->field(state, time), target = to.state_->field(field, to_time);
    const auto part = std::ranges::find_if(here.kept.parts(), [&](const KeptArrays::Part& each) {
        return each.field == index && each.time == time;
    });
    if (part == here.kept.parts().end() || !session::has_like_cells(there, target, here, index)) return false;
    const KeptArrays::State* const kept = is_on_host(slot)
                                              ? on_host_->on_device(slot)
                                              : &on_device_[static_cast<std::size_t>(slot - places_.on_host)];
    if (kept == nullptr) return false;
    void* const array = (*kept)[static_cast<std::size_t>(part - here.kept.parts().begin())].array;
    if (session::can_borrow(there, target, here, index)) {
        there.arrays.borrow(target, array);
        return true;
    }
    there.kept.make_way(target, to_time, true);
    there.arrays.copy_cells(target, there.arrays.level(target, to_time), array,
                            here.setup.geometry_of(here.setup.plan.fields[static_cast<std::size_t>(index)]));
    return true;
}

void Snapshots::forget() {
    on_host_->forget();
    for (KeptArrays::State& state : on_device_)
        arrays().forget(state);
    arrays().go_home();
}

}  // namespace halo::rt
