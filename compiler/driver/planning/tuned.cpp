#include "compiler/driver/planning/tuned.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/ir/print.h"
#include "runtime/core/disk_cache.h"
#include "runtime/core/error.h"

namespace halo::driver {

std::string TuneDevice::text() const {
    return fmt::format("{}, {}, {} SMs", name, arch, sms);
}

std::string stage_key(const ir::Program& program, const ir::Stage& stage, const schedule::Extent& extent,
                      const std::string& pinned, const TuneDevice& device) {
    const std::string text = ir::print(program);
    const std::string statements = fmt::format("{}", fmt::join(stage.statements, " "));
    const std::string grid = fmt::format("{}", fmt::join(extent, " "));
    const std::string on = device.text();
    return rt::hash_key({"tuned stage", text, statements, grid, pinned, on});
}

std::string steps_key(const ir::Program& program, const schedule::Extent& extent, const std::string& pinned,
                      const TuneDevice& device) {
    const std::string text = ir::print(program);
    const std::string grid = fmt::format("{}", fmt::join(extent, " "));
    const std::string on = device.text();
    return rt::hash_key({"tuned steps", text, grid, pinned, on});
}

std::filesystem::path usual_store() {
    const std::filesystem::path folder = rt::DiskCache::in_user_folder().folder();
    return folder.empty() ? folder : folder / "tuned.json";
}

std::optional<tune::StoredStage> TunedSchedules::find(const ir::Program& program, const ir::Stage& stage,
                                                      const schedule::Extent& extent,
                                                      const std::string& pinned) const {
    return find(stage_key(program, stage, extent, pinned, device_));
}

std::optional<tune::StoredStage> TunedSchedules::find_steps(const ir::Program& program,
                                                            const schedule::Extent& extent,
                                                            const std::string& pinned) const {
    return find(steps_key(program, extent, pinned, device_));
}

std::optional<tune::StoredStage> TunedSchedules::find(const std::string& key) const {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return std::nullopt;
    return found->second;
}

std::shared_ptr<const TunedSchedules> open_tuned(const std::string& store, const TuneDevice& device,
                                                 std::string& remark) {
    if (!store.empty()) {
        if (!std::filesystem::exists(store))
            throw rt::Error(rt::ErrorCode::io, fmt::format("there is no store of tuned schedules {}", store));
        return std::make_shared<TunedSchedules>(store, device);
    }
    const std::filesystem::path file = usual_store();
    if (file.empty()) return nullptr;
    try {
        return std::make_shared<TunedSchedules>(file, device);
    } catch (const rt::Error& trouble) {
        remark = fmt::format("tuned schedules are not used: {}", trouble.what());
        return nullptr;
    }
}

}  // namespace halo::driver
