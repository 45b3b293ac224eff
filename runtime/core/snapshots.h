// Snapshots: states that a session was in and goes back to. Each is all levels of its states that steps read,
// the halos with them.
//
// On the device nothing is copied: the arrays of a state stay as they are, and steps write to others
// (session/kept_arrays.h). On the host it is a copy, which goes there and comes back beside steps where the
// device has arrays for that, and for which the host waits where not (session/states_on_host.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/core/session.h"

namespace halo::rt {

namespace session {
class KeptArrays;
class StatesOnHost;
struct Level;
}  // namespace session

// How many are kept where. Slots are counted from 0; the first ones are the host's, as a schedule of
// snapshots changes the last ones most often.
struct SnapshotPlaces {
    int on_host = 0, on_device = 0;
    // All are on the device, and are of one step after the other: each needs room for its latest level alone.
    bool in_a_row = false;
    // So many arrays of a state more on the device, up to 2, by which those of the host come and go beside
    // steps: one for what is in use, the other for what comes next.
    int in_transit = 0;
    // Where it is not 0: the states on the device share the levels that they have in common, and there is
    // room for so many levels of each field.
    int levels = 0;
    int count() const { return on_host + on_device; }
};

class Snapshots {
public:
    // Takes the memory for all of them. The session must outlive them, and stay where it is. Throws
    // out_of_memory.
    Snapshots(Session& session, const SnapshotPlaces& places);
    ~Snapshots();
    Snapshots(const Snapshots&) = delete;
    Snapshots& operator=(const Snapshots&) = delete;
    static std::int64_t bytes_each(const Session& session, bool in_a_row = false);
    // Of each state, where all have as many; else 0.
    static int levels_each(const Session& session);

    // Puts the state into a slot, in place of what is there.
    void keep(int slot);
    // Puts a slot's state back. Session::go_back_to() counts the steps from there.
    void restore(int slot);
    // This slot is gone back to now, and the one below it next: those on the host are brought meanwhile.
    void approach(int slot);
    // Empties a slot of the device, whose arrays other states may take.
    void drop(int slot);
    // Gives a level of a state as a slot holds it to a field of another session: as of
    // Session::borrow_level() where that can be, and else as of copy_level(). False where neither can, or the
    // slot is on the host alone.
    bool give_level(int slot, const std::string& state, int time, Session& to, const std::string& field,
                    int to_time = 0) const;
    // Empties all slots. The session is in the state that it was in, in its own arrays.
    void forget();

private:
    bool is_on_host(int slot) const { return slot < places_.on_host; }
    session::KeptArrays& arrays() const;

    Session& session_;
    SnapshotPlaces places_;
    std::unique_ptr<session::StatesOnHost> on_host_;
    std::vector<std::vector<session::Level>> on_device_;  // states of KeptArrays
};

}  // namespace halo::rt
