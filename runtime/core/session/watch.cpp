#include "runtime/core/session/watch.h"

namespace halo::rt::session {

namespace {

// Above this size a step takes long enough for a check after each, and the memory is better left free.
constexpr std::int64_t kMaxSnapshotBytes = std::int64_t{1} << 30;

}  // namespace

bool holds(const Parts& parts, const HostScalar& until, const std::vector<double>& reductions,
           std::int64_t steps) {
    std::vector<double> values = parts.params.values();
    values.insert(values.end(), reductions.begin(), reductions.end());
    return rt::evaluate(until, values, parts.setup.geometry.extent, static_cast<double>(steps)) != 0;
}

std::vector<Snapshot::Saved> Snapshot::all() {
    std::vector<Saved> saved;
    const std::vector<FieldPlan>& fields = parts_.setup.plan.fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const FieldPlan& field = fields[i];
        if (field.component > 0) continue;  // in the array of the first component
        if (field.role != Role::state && field.role != Role::output && field.history == 0) continue;
        const int index = static_cast<int>(i);
        for (int time = 0; time >= -field.history; --time) {
            Level& level = parts_.arrays.level(index, time, 0);
            saved.push_back({level.array, parts_.arrays.level_bytes(index), &level});
        }
    }
    for (const DeviceMemory* const partials : parts_.reductions.read_by_scalars())
        saved.push_back({partials->address(), partials->bytes(), nullptr});
    return saved;
}

bool Snapshot::has_room() {
    if (!memory_.empty()) return true;
    std::int64_t bytes = 0;
    for (const Saved& saved : all())
        bytes += saved.bytes;
    const MemoryInfo memory = parts_.setup.device->memory();
    if (bytes > kMaxSnapshotBytes || (memory.total_bytes > 0 && bytes > memory.free_bytes / 2)) return false;
    for (const Saved& saved : all())
        memory_.emplace_back(*parts_.setup.device, saved.bytes);
    return !memory_.empty();
}

void Snapshot::save() {
    const std::vector<Saved> saved = all();
    images_due_.resize(saved.size());
    for (std::size_t i = 0; i < saved.size(); ++i) {
        parts_.setup.device->copy_on_device(memory_[i].address(), saved[i].memory, memory_[i].bytes());
        images_due_[i] = saved[i].level != nullptr && saved[i].level->images_due;
    }
}

void Snapshot::restore() {
    const std::vector<Saved> saved = all();
    for (std::size_t i = 0; i < saved.size(); ++i) {
        parts_.setup.device->copy_on_device(saved[i].memory, memory_[i].address(), memory_[i].bytes());
        if (saved[i].level != nullptr) saved[i].level->images_due = images_due_[i];
    }
}

}  // namespace halo::rt::session
