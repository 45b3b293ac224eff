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

std::int64_t Snapshots::bytes_each(const Session& session) {
    const std::vector<Part> parts = parts_of(session);
    if (parts.empty()) return 0;
    return (parts.back().first + parts.back().bytes + kLevelAlignment - 1) / kLevelAlignment *
           kLevelAlignment;
}

Snapshots::Snapshots(Session& session, const SnapshotPlaces& places)
    : session_(session),
      places_(places),
      parts_(parts_of(session)),
      bytes_(bytes_each(session)),
      images_due_(static_cast<std::size_t>(places.count())) {
    const auto refuse = [&](int count, const std::string& why) {
        throw Error(ErrorCode::out_of_memory, fmt::format("{} snapshot{} of {}: {}; keep fewer", count,
                                                          count == 1 ? "" : "s", bytes_text(bytes_), why));
    };
    if (bytes_ == 0) return;
    try {
        // Not filled: pages are taken when they are written.
        if (places.on_host > 0) on_host_.reset(new char[static_cast<std::size_t>(places.on_host * bytes_)]);
        if (places.on_device > 0) on_device_ = DeviceMemory(session.device(), places.on_device * bytes_);
    } catch (const std::bad_alloc&) {
        refuse(places.on_host, "the host has not so much memory");
    } catch (const Error& trouble) {
        if (trouble.code() != ErrorCode::out_of_memory) throw;
        refuse(places.on_device, trouble.what());
    }
}

char* Snapshots::memory_of(int slot) const {
    if (is_on_host(slot)) return on_host_.get() + slot * bytes_;
    return static_cast<char*>(on_device_.address()) + (slot - places_.on_host) * bytes_;
}

void Snapshots::keep(int slot) {
    std::vector<bool>& images_due = images_due_[static_cast<std::size_t>(slot)];
    images_due.clear();
    Device& device = session_.device();
    for (const Part& part : parts_) {
        const session::Level& level = session_.state_->parts.arrays.level(part.field, part.time);
        char* const to = memory_of(slot) + part.first;
        if (is_on_host(slot))
            device.copy_to_host(to, level.array, part.bytes);
        else
            device.copy_on_device(to, level.array, part.bytes);
        images_due.push_back(level.images_due);
    }
}

void Snapshots::restore(int slot) {
    Device& device = session_.device();
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const Part& part = parts_[i];
        session::Level& level = session_.state_->parts.arrays.level(part.field, part.time);
        const char* const from = memory_of(slot) + part.first;
        if (is_on_host(slot))
            device.copy_to_device(level.array, from, part.bytes);
        else
            device.copy_on_device(level.array, from, part.bytes);
        level.images_due = images_due_[static_cast<std::size_t>(slot)][i];
    }
}

bool Snapshots::copy_level(int slot, const std::string& state, int time, Session& to,
                           const std::string& field, int to_time) const {
    const int index = session_.state_->field(state, time), target = to.state_->field(field, to_time);
    session::Parts& there = to.state_->parts;
    const auto part = std::ranges::find_if(
        parts_, [&](const Part& each) { return each.field == index && each.time == time; });
    if (is_on_host(slot) || part == parts_.end() ||
        !session::has_like_cells(there, target, session_.state_->parts, index))
        return false;
    there.arrays.copy_cells(target, there.arrays.level(target, to_time), memory_of(slot) + part->first,
                            session_.geometry());
    return true;
}

}  // namespace halo::rt
