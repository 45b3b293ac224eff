// Copies of the present levels of a session's fields, in the memory of its device: a state that is looked at
// later, should the steps since have spoilt it. To copy there costs the device's bandwidth, and no way over
// the host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/core/session.h"

namespace halo::rt {

class LevelCopies {
public:
    // Takes the memory for these fields. The session must outlive the copies, and stay where it is. Throws
    // bad_argument where it has no such field, and out_of_memory.
    LevelCopies(Session& session, const std::vector<std::string>& fields);
    // What that takes. Throws bad_argument.
    static std::int64_t bytes_of(const Session& session, const std::vector<std::string>& fields);

    void take();  // copies level t of each, in place of what was copied before
    // A part of a copy to a dense array of the field's element type, as Session::download_box().
    void download_box(const std::string& field, const Box& box, void* elements) const;

private:
    struct Copy {
        int field = 0;  // of the fields whose cells lie side by side in one array, the first that was named
        DeviceMemory memory;
    };
    const Copy& copy_of(int field) const;

    Session& session_;
    std::vector<Copy> copies_;
};

}  // namespace halo::rt
