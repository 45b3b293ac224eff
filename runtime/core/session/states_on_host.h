// States of a session in the host's memory. Not for other rooms.
//
// Where the device has arrays for it, a state goes there and comes back beside the session's steps, by the
// stream of fetches. Nothing has to be copied within the device for that: the arrays of a state are kept
// (kept_arrays.h) while they are copied out, and one that comes back is kept from the moment it is asked for.
// So it is used there like any other that is kept. Without such arrays the host waits for its copies.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/core/session/kept_arrays.h"

namespace halo::rt::session {

class StatesOnHost {
public:
    // in_transit: the states that KeptArrays has room for besides, 2 or less. Throws bad_alloc.
    StatesOnHost(Setup& setup, Arrays& arrays, KeptArrays& kept, int count, int in_transit);
    ~StatesOnHost();
    StatesOnHost(const StatesOnHost&) = delete;
    StatesOnHost& operator=(const StatesOnHost&) = delete;

    void keep(int slot);  // the present state
    void restore(int slot);
    // The state where it is on the device; null where it has to be restored.
    const KeptArrays::State* on_device(int slot);
    // Begins to bring this state, and after it the one below it, where they are not on the device.
    void bring(int slot);
    void bring_below(int slot) { bring_one(slot - 1, slot); }
    void forget();  // those on the device

private:
    class Memory;
    struct OnHost {
        std::vector<std::unique_ptr<Memory>> levels;
        std::vector<bool> images_due;
    };
    struct InTransit {
        int slot = -1;  // none: empty
        KeptArrays::State state;
        std::unique_ptr<WorkMark> copied;  // to or from the host
        bool is_copied = true;             // for all work that is submitted from now on
        bool arrives = false;              // from the host, and nothing has read it yet
    };
    bool can_copy_beside() const { return !in_transit_.empty(); }
    InTransit* find(int slot);
    // One that is empty, and not that of `spared`, where there is another.
    InTransit& place_for(int slot, int spared);
    void wait_for(InTransit& place);
    void drop(InTransit& from);
    void bring_one(int slot, int spared);
    template <class Copy>
    void copy_beside(InTransit& place, const Copy& copy);

    Setup& setup_;
    Arrays& arrays_;
    KeptArrays& kept_;
    std::vector<OnHost> states_;
    std::vector<InTransit> in_transit_;
};

}  // namespace halo::rt::session
