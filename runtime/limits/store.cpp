#include "runtime/limits/store.h"

#include <array>
#include <cmath>
#include <filesystem>
#include <utility>
#include <vector>

#include "runtime/core/error.h"
#include "runtime/core/file_read.h"
#include "runtime/core/json_value.h"
#include "runtime/io/atomic_file.h"

namespace halo::rt {

namespace {

using Json = json::Value;

constexpr const char* kFormat = "halocline limits 1";

struct Figure {
    const char* name;
    double DeviceLimits::* value;
};
constexpr std::array<Figure, 5> kFigures{{{"copy_bytes_per_s", &DeviceLimits::copy_bandwidth},
                                          {"l2_bytes_per_s", &DeviceLimits::l2_bandwidth},
                                          {"launch_s", &DeviceLimits::launch_seconds},
                                          {"graph_launch_s", &DeviceLimits::graph_launch_seconds},
                                          {"barrier_s", &DeviceLimits::barrier_seconds}}};

struct Entry {
    DeviceIdentity identity;
    DeviceLimits limits;
};

std::filesystem::path file_in(const std::filesystem::path& folder) {
    return folder / "limits.json";
}

Entry entry_from(const Json& json) {
    Entry entry{{json.at("device"), json.at("driver"), json.at("compiler")}, {}};
    for (const Figure& figure : kFigures) {
        const double value = json.at(figure.name);
        if (std::isfinite(value) && value > 0) entry.limits.*figure.value = value;
    }
    return entry;
}

std::vector<Entry> read(const std::filesystem::path& folder) {
    std::vector<Entry> entries;
    try {
        constexpr std::int64_t kMostBytes = std::int64_t{1} << 24;
        const Json file = Json::parse(FileRead(file_in(folder).string()).read_all(kMostBytes));
        if (file.at("format").text() != kFormat) return {};
        for (const Json& each : file.at("devices").items())
            entries.push_back(entry_from(each));
    } catch (const json::Mistake&) {
        return {};
    } catch (const Error&) {
        return {};
    }
    return entries;
}

}  // namespace

std::optional<DeviceLimits> find_limits(const std::filesystem::path& folder, const DeviceIdentity& identity) {
    if (folder.empty()) return std::nullopt;
    for (const Entry& entry : read(folder))
        if (entry.identity == identity) return entry.limits;
    return std::nullopt;
}

void keep_limits(const std::filesystem::path& folder, const DeviceIdentity& identity,
                 const DeviceLimits& limits) {
    std::vector<Entry> entries = read(folder);
    std::erase_if(entries, [&](const Entry& entry) { return entry.identity == identity; });
    entries.push_back({identity, limits});
    Json json;
    json["format"] = kFormat;
    json["devices"] = Json::list({});
    for (const Entry& entry : entries) {
        Json each;
        each["device"] = entry.identity.device;
        each["driver"] = entry.identity.driver;
        each["compiler"] = entry.identity.compiler;
        for (const Figure& figure : kFigures)
            each[figure.name] = entry.limits.*figure.value;
        json["devices"].push_back(std::move(each));
    }
    const std::string text = json.dump(2) + '\n';
    AtomicFile file(file_in(folder).string());
    file.write(text.data(), text.size());
    file.commit();
}

}  // namespace halo::rt
