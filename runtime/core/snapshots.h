// Snapshots: states that a session was in and goes back to. Each is a copy of all levels of its states that
// steps read, the halos with them, in one piece of memory: of the session's device, or of the host.
//
// On the device a copy is one more piece of work in its order, for which the host does not wait. A copy to
// the host waits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/core/session.h"

namespace halo::rt {

// How many are kept where. Slots are counted from 0; the first ones are the host's, as a schedule of
// snapshots changes the last ones most often.
struct SnapshotPlaces {
    int on_host = 0, on_device = 0;
    int count() const { return on_host + on_device; }
};

class Snapshots {
public:
    // Takes the memory for all of them. The session must outlive them, and stay where it is. Throws
    // out_of_memory.
    Snapshots(Session& session, const SnapshotPlaces& places);
    static std::int64_t bytes_each(const Session& session);

    // Puts the state into a slot, in place of what is there.
    void keep(int slot);
    // Puts a slot's state back. Session::go_back_to() counts the steps from there.
    void restore(int slot);
    // Copies a level of a state as a slot holds it to another session, as of Session::copy_level(); false
    // also where the slot is on the host.
    bool copy_level(int slot, const std::string& state, int time, Session& to, const std::string& field,
                    int to_time = 0) const;

private:
    struct Part {  // of a snapshot: a level
        int field = 0;
        int time = 0;
        std::int64_t first = 0, bytes = 0;
    };
    static std::vector<Part> parts_of(const Session& session);
    bool is_on_host(int slot) const { return slot < places_.on_host; }
    char* memory_of(int slot) const;

    Session& session_;
    SnapshotPlaces places_;
    std::vector<Part> parts_;
    std::int64_t bytes_ = 0;  // of each
    std::unique_ptr<char[]> on_host_;
    DeviceMemory on_device_;
    std::vector<std::vector<bool>> images_due_;  // by slot, then by part
};

}  // namespace halo::rt
