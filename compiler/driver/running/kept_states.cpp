#include "compiler/driver/running/kept_states.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "compiler/adjoint/snapshots.h"
#include "compiler/driver/console/progress.h"
#include "runtime/host/host_memory.h"

namespace halo::driver {

namespace {

// Of a GPU's memory; other work on it and steps' own buffers need some.
constexpr std::int64_t kReservedShare = 16, kLeastReserved = std::int64_t{256} << 20;
// More than this, and copies to the host pay.
constexpr std::int64_t kMostRepeats = 3;

class SessionStates final : public KeptStates {
public:
    SessionStates(rt::Session& session, const rt::SnapshotPlaces& places) : snapshots_(session, places) {}
    void keep(int slot) override { snapshots_.keep(slot); }
    void restore(int slot) override { snapshots_.restore(slot); }
    bool give_level(int slot, const std::string& state, int time, Engine& to,
                    const std::string& input) override {
        return to.session() != nullptr && snapshots_.give_level(slot, state, time, *to.session(), input);
    }
    void forget() override { snapshots_.forget(); }

private:
    rt::Snapshots snapshots_;
};

// Of the interpreter, whose levels are the host's.
class HostStates final : public KeptStates {
public:
    HostStates(Engine& engine, const ir::Program& program) : engine_(engine) {
        for (const ir::Field& field : program.fields)
            for (int time = 0; field.role == ir::Role::state && time >= -field.history; --time)
                levels_.emplace_back(field.name, time);
    }
    void keep(int slot) override {
        const auto at = static_cast<std::size_t>(slot);
        if (kept_.size() <= at) kept_.resize(at + 1);
        kept_[at].clear();
        for (const auto& [field, time] : levels_)
            kept_[at].push_back(engine_.download(field, time));
    }
    void restore(int slot) override {
        const std::vector<FieldValues>& from = kept_[static_cast<std::size_t>(slot)];
        for (std::size_t i = 0; i < levels_.size(); ++i)
            engine_.upload(levels_[i].first, levels_[i].second, from[i]);
    }
    bool give_level(int /*slot*/, const std::string& /*state*/, int /*time*/, Engine& /*to*/,
                    const std::string& /*input*/) override {
        return false;
    }

private:
    Engine& engine_;
    std::vector<std::pair<std::string, int>> levels_;
    std::vector<std::vector<FieldValues>> kept_;  // by slot, then by level
};

}  // namespace

SnapshotRoom snapshot_room(Engine& engine) {
    const std::int64_t host = rt::host_memory().free_bytes;
    if (engine.session() == nullptr || engine.session()->device().is_host_memory())
        return {host / 2, host, 0, 0};  // half, as other programs need some, too
    const rt::MemoryInfo memory = engine.session()->device().memory();
    const std::int64_t reserve = std::max(memory.total_bytes / kReservedShare, kLeastReserved);
    const std::int64_t room = std::max<std::int64_t>(memory.free_bytes - reserve, 0);
    return {room, room, host / 2, reserve};
}

std::int64_t snapshot_bytes(Engine& engine, const ir::Program& program, bool in_a_row) {
    if (engine.session() != nullptr) return rt::Snapshots::bytes_each(*engine.session(), in_a_row);
    std::int64_t bytes = 0;
    for (const ir::Field& field : program.fields)
        if (field.role == ir::Role::state)
            bytes += (1 + field.history) * cell_count(engine.extent()) *
                     static_cast<std::int64_t>(rt::size_of(engine.type_of(field.name)));
    return bytes;
}

rt::SnapshotPlaces choose_snapshots(std::optional<std::int64_t> asked, std::int64_t steps, std::int64_t bytes,
                                    std::int64_t in_a_row, const SnapshotRoom& room) {
    const std::int64_t most = std::clamp<std::int64_t>(steps, 1, 1 << 30),
                       each = std::max<std::int64_t>(bytes, 1);
    // The first one has its past, too.
    const std::int64_t every_step = most * in_a_row + (bytes - in_a_row);
    if (in_a_row < bytes && asked.value_or(steps) >= steps &&
        every_step <= (asked ? room.most_on_device : room.on_device))
        return {0, static_cast<int>(most), true};
    const std::int64_t device = std::min(room.on_device / each, most), host = room.on_host / each;
    const std::int64_t enough = adjoint::snapshots_for(steps, kMostRepeats);
    std::int64_t count = asked ? std::min(*asked, most) : device;
    if (!asked && device < enough) count = std::clamp<std::int64_t>(device + host, 1, enough);
    const std::int64_t most_on_device = room.most_on_device / each,
                       on_device = std::min(count, most_on_device);
    if (count - on_device <= host) return {static_cast<int>(count - on_device), static_cast<int>(on_device)};
    const std::string reserve =
        room.reserve == 0
            ? ""
            : fmt::format(" past {} that are left free", format_bytes(static_cast<double>(room.reserve)));
    throw rt::Error(
        rt::ErrorCode::out_of_memory,
        fmt::format(
            "{} snapshot{} of {} need {}, and there is room for {}{}; keep fewer, or use a smaller grid",
            count, count == 1 ? "" : "s", format_bytes(static_cast<double>(bytes)),
            format_bytes(static_cast<double>(count) * static_cast<double>(bytes)), most_on_device + host,
            reserve));
}

std::unique_ptr<KeptStates> make_kept_states(Engine& engine, const ir::Program& program,
                                             const rt::SnapshotPlaces& places) {
    if (engine.session() != nullptr) return std::make_unique<SessionStates>(*engine.session(), places);
    return std::make_unique<HostStates>(engine, program);
}

}  // namespace halo::driver
