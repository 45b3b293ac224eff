#include "runtime/core/snapshots.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "runtime/core/session/state.h"
#include "runtime/core/text.h"

namespace halo::rt {

namespace {

constexpr std::int64_t kLevelAlignment = 256;  // within a snapshot, in bytes

}  // namespace

std::vector<Snapshots::Part> Snapshots::parts_of(const Session& session) {
    const session::Arrays& arrays = session.state_->parts.arrays;
    const std::vector<FieldPlan>& fields = session.plan().fields;
    std::vector<Part> parts;
    std::int64_t first = 0;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const FieldPlan& field = fields[i];
        // Other components of an array are in that of the first one.
        if (field.role != Role::state || field.component > 0) continue;
        const int index = static_cast<int>(i);
        for (int time = 0; time >= -field.history; --time) {
            parts.push_back({index, time, first, arrays.level_bytes(index)});
            first += (parts.back().bytes + kLevelAlignment - 1) / kLevelAlignment * kLevelAlignment;
        }
    }
    return parts;
}

Snapshots::Snapshots(Session& session, const SnapshotPlaces& places)
    : session_(session),
      places_(places),
      parts_(parts_of(session)),
      bytes_(bytes_each(session)),
      slots_(static_cast<std::size_t>(places.count())) {}

std::int64_t Snapshots::bytes_each(const Session& session) {
    const std::vector<Part> parts = parts_of(session);
    return parts.empty() ? 0 : parts.back().first + parts.back().bytes;
}

void Snapshots::take_memory(int slot) {
    Slot& taken = slots_[static_cast<std::size_t>(slot)];
    const bool on_host = slot < places_.on_host;
    if (bytes_ == 0 || taken.on_device.address() != nullptr || !taken.on_host.empty()) return;
    try {
        if (on_host)
            taken.on_host.resize(static_cast<std::size_t>(bytes_));
        else
            taken.on_device = DeviceMemory(session_.device(), bytes_);
    } catch (const std::bad_alloc&) {
        throw Error(ErrorCode::out_of_memory,
                    fmt::format("snapshot {} of {} needs {} of the host's memory; keep fewer", slot + 1,
                                places_.count(), bytes_text(bytes_)));
    } catch (const Error& trouble) {
        if (trouble.code() != ErrorCode::out_of_memory) throw;
        throw Error(ErrorCode::out_of_memory, fmt::format("snapshot {} of {}: {}; keep fewer", slot + 1,
                                                          places_.count(), trouble.what()));
    }
}

void Snapshots::keep(int slot) {
    take_memory(slot);
    Slot& to = slots_[static_cast<std::size_t>(slot)];
    to.images_due.clear();
    Device& device = session_.device();
    for (const Part& part : parts_) {
        const session::Level& level = session_.state_->parts.arrays.level(part.field, part.time);
        if (slot < places_.on_host)
            device.copy_to_host(to.on_host.data() + part.first, level.array, part.bytes);
        else
            device.copy_on_device(static_cast<char*>(to.on_device.address()) + part.first, level.array,
                                  part.bytes);
        to.images_due.push_back(level.images_due);
    }
}

void Snapshots::restore(int slot) {
    const Slot& from = slots_[static_cast<std::size_t>(slot)];
    Device& device = session_.device();
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const Part& part = parts_[i];
        session::Level& level = session_.state_->parts.arrays.level(part.field, part.time);
        if (slot < places_.on_host)
            device.copy_to_device(level.array, from.on_host.data() + part.first, part.bytes);
        else
            device.copy_on_device(
                level.array, static_cast<const char*>(from.on_device.address()) + part.first, part.bytes);
        level.images_due = from.images_due[i];
    }
}

bool Snapshots::copy_level(int slot, const std::string& state, int time, Session& to,
                           const std::string& field, int to_time) const {
    const int index = session_.state_->field(state, time), target = to.state_->field(field, to_time);
    session::Parts& there = to.state_->parts;
    const auto part = std::ranges::find_if(
        parts_, [&](const Part& each) { return each.field == index && each.time == time; });
    if (slot < places_.on_host || part == parts_.end() ||
        !session::has_like_cells(there, target, session_.state_->parts, index))
        return false;
    const auto* const memory =
        static_cast<const char*>(slots_[static_cast<std::size_t>(slot)].on_device.address());
    there.arrays.copy_cells(target, there.arrays.level(target, to_time), memory + part->first,
                            session_.geometry());
    return true;
}

}  // namespace halo::rt
