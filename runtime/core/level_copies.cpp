#include "runtime/core/level_copies.h"

#include <algorithm>

#include "runtime/core/session/state.h"

namespace halo::rt {

namespace {

// Of these fields those that lie in arrays of their own: components that lie side by side share one.
std::vector<int> with_own_arrays(session::Parts& parts, const std::vector<int>& fields) {
    std::vector<int> found;
    for (const int field : fields) {
        const void* const array = parts.arrays.level(field, 0).array;
        if (std::ranges::none_of(found,
                                 [&](int other) { return parts.arrays.level(other, 0).array == array; }))
            found.push_back(field);
    }
    return found;
}

}  // namespace

std::int64_t LevelCopies::bytes_of(const Session& session, const std::vector<std::string>& fields) {
    std::vector<int> numbers;
    for (const std::string& field : fields)
        numbers.push_back(session.state_->field(field));
    std::int64_t bytes = 0;
    for (const int field : with_own_arrays(session.state_->parts, numbers))
        bytes += session.state_->parts.arrays.level_bytes(field);
    return bytes;
}

LevelCopies::LevelCopies(Session& session, const std::vector<std::string>& fields) : session_(session) {
    session::Parts& parts = session.state_->parts;
    std::vector<int> numbers;
    for (const std::string& field : fields)
        numbers.push_back(session.state_->field(field));
    for (const int field : with_own_arrays(parts, numbers))
        copies_.push_back({field, DeviceMemory(*parts.setup.device, parts.arrays.level_bytes(field))});
}

void LevelCopies::take() {
    session::Parts& parts = session_.state_->parts;
    for (const Copy& copy : copies_)
        parts.setup.device->copy_on_device(copy.memory.address(), parts.arrays.level(copy.field, 0).array,
                                           copy.memory.bytes());
}

const LevelCopies::Copy& LevelCopies::copy_of(int field) const {
    session::Arrays& arrays = session_.state_->parts.arrays;
    const auto found = std::ranges::find_if(copies_, [&](const Copy& copy) {
        return copy.field == field || arrays.level(copy.field, 0).array == arrays.level(field, 0).array;
    });
    if (found == copies_.end()) throw Error(ErrorCode::bad_argument, "this field's level was not copied");
    return *found;
}

void LevelCopies::download_box(const std::string& field, const Box& box, void* elements) const {
    session::Parts& parts = session_.state_->parts;
    const int index = session_.state_->field(field);
    parts.arrays.check_box(index, box);
    parts.arrays.download(index, session::Level{copy_of(index).memory.address()}, box, elements);
}

}  // namespace halo::rt
