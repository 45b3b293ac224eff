#include "compiler/driver/running/kept_states.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "compiler/driver/console/progress.h"
#include "runtime/host/host_memory.h"

namespace halo::driver {

namespace {

// Of a GPU's memory; other work on it and steps' own buffers need some.
constexpr std::int64_t kReservedShare = 16, kLeastReserved = std::int64_t{256} << 20;
// More than this, and copies to the host pay.
constexpr std::int64_t kMostRepeats = 3;
constexpr std::int64_t kMostInTransit = 2;

// Of a session, or of each piece of a grid.
class SessionStates final : public KeptStates {
public:
    SessionStates(Engine& engine, const rt::SnapshotPlaces& places) {
        for (rt::Session* session : engine.sessions())
            snapshots_.push_back(std::make_unique<rt::Snapshots>(*session, places));
    }
    void keep(int slot) override {
        for (const auto& each : snapshots_)
            each->keep(slot);
    }
    void restore(int slot) override {
        for (const auto& each : snapshots_)
            each->restore(slot);
    }
    void approach(int slot) override {
        for (const auto& each : snapshots_)
            each->approach(slot);
    }
    void drop(int slot) override {
        for (const auto& each : snapshots_)
            each->drop(slot);
    }
    // What can be given is the same in all pieces.
    bool give_level(int slot, const std::string& state, int time, Engine& to,
                    const std::string& input) override {
        const std::vector<rt::Session*> sessions = to.sessions();
        if (sessions.size() != snapshots_.size()) return false;
        for (std::size_t i = 0; i < sessions.size(); ++i)
            if (!snapshots_[i]->give_level(slot, state, time, *sessions[i], input)) return false;
        return true;
    }
    void forget() override {
        for (const auto& each : snapshots_)
            each->forget();
    }

private:
    std::vector<std::unique_ptr<rt::Snapshots>> snapshots_;  // by piece
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
    const std::vector<rt::Session*> sessions = engine.sessions();
    if (sessions.empty() || sessions.front()->device().is_host_memory())
        return {host / 2, host, 0, 0};          // half, as other programs need some, too
    std::map<const rt::Device*, double> bytes;  // of a snapshot, on each device
    double all = 0;
    for (const rt::Session* session : sessions) {
        const auto each = static_cast<double>(rt::Snapshots::bytes_each(*session));
        bytes[&session->device()] += each;
        all += each;
    }
    // Each device keeps its part of all snapshots: the one with the least room for it says how many fit.
    SnapshotRoom least{0, 0, host / 2, 0};
    bool is_first = true;
    for (const auto& [device, part] : bytes) {
        const rt::MemoryInfo memory = device->memory();
        const std::int64_t reserve = std::max(memory.total_bytes / kReservedShare, kLeastReserved);
        const auto free = static_cast<double>(std::max<std::int64_t>(memory.free_bytes - reserve, 0));
        const auto room = static_cast<std::int64_t>(part > 0 && part < all ? free * (all / part) : free);
        least.reserve += reserve;
        if (!is_first && room >= least.on_device) continue;
        is_first = false;
        least.on_device = least.most_on_device = room;
    }
    return least;
}

std::int64_t snapshot_bytes(Engine& engine, const ir::Program& program, bool in_a_row) {
    std::int64_t bytes = 0;
    for (const rt::Session* session : engine.sessions())
        bytes += rt::Snapshots::bytes_each(*session, in_a_row);
    if (bytes > 0) return bytes;
    for (const ir::Field& field : program.fields)
        if (field.role == ir::Role::state)
            bytes += (1 + field.history) * cell_count(engine.extent()) *
                     static_cast<std::int64_t>(rt::size_of(engine.type_of(field.name)));
    return bytes;
}

std::int64_t snapshot_bytes(Engine& engine, const ir::Program& program, const rt::SnapshotPlaces& places) {
    const std::int64_t each = snapshot_bytes(engine, program, places.in_a_row || places.levels > 0);
    return places.levels > 0 ? each * places.levels / std::max(places.count(), 1) : each;
}

int snapshot_levels(Engine& engine) {
    const std::vector<rt::Session*> sessions = engine.sessions();
    return sessions.empty() ? 1 : std::max(1, rt::Snapshots::levels_each(*sessions.front()));
}

adjoint::SnapshotBudget snapshot_budget(const rt::SnapshotPlaces& places, int levels) {
    if (places.levels == 0) return {places.count()};
    return {places.levels, levels, 1};
}

rt::SnapshotPlaces choose_snapshots(std::optional<std::int64_t> asked, std::int64_t steps, Engine& engine,
                                    const ir::Program& program) {
    return choose_snapshots(
        asked, steps,
        {snapshot_bytes(engine, program), snapshot_bytes(engine, program, true), snapshot_levels(engine)},
        snapshot_room(engine));
}

rt::SnapshotPlaces choose_snapshots(std::optional<std::int64_t> asked, std::int64_t steps,
                                    const SnapshotSizes& sizes, const SnapshotRoom& room) {
    const auto [bytes, in_a_row, levels] = sizes;
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
    if (count == on_device) {
        rt::SnapshotPlaces places{0, static_cast<int>(count)};
        if (asked || levels == 1 || count == most || levels * in_a_row != bytes) return places;
        places.levels = static_cast<int>(std::min<std::int64_t>(room.on_device / in_a_row, most + levels));
        places.on_device = adjoint::most_kept(steps, snapshot_budget(places, levels));
        return places;
    }
    if (count - on_device <= host) {
        // Arrays of two states on the device are better used for those of the host to come and go beside
        // steps.
        const std::int64_t in_transit = std::min({kMostInTransit, on_device, host - (count - on_device)});
        rt::SnapshotPlaces places{static_cast<int>(count - on_device + in_transit),
                                  static_cast<int>(on_device - in_transit)};
        places.in_transit = static_cast<int>(in_transit);
        return places;
    }
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
    if (!engine.sessions().empty()) return std::make_unique<SessionStates>(engine, places);
    return std::make_unique<HostStates>(engine, program);
}

}  // namespace halo::driver
