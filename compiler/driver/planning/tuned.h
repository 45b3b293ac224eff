// Tuned schedules, as `run` and `explain` use them: what the store has for a program, a grid and a device.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "compiler/ir/analysis.h"
#include "compiler/ir/program.h"
#include "compiler/schedule/legality.h"
#include "compiler/tune/store.h"

namespace halo::driver {

// What schedules were tuned on and would run on.
struct TuneDevice {
    std::string name;  // "NVIDIA H200"
    std::string arch;  // "sm_90"
    int sms = 0;
    std::string compiler;      // "NVRTC 13.0"
    std::string text() const;  // "NVIDIA H200, sm_90, 132 SMs"
};

// program: after the passes, which `--strict-fp` changes, too. pinned: the text of what the user pins of the
// schedule.
std::string stage_key(const ir::Program& program, const ir::Stage& stage, const schedule::Extent& extent,
                      const std::string& pinned, const TuneDevice& device);

// The same for how the program does several steps at once.
std::string steps_key(const ir::Program& program, const schedule::Extent& extent, const std::string& pinned,
                      const TuneDevice& device);

// tuned.json in the folder of the disk cache; empty where that cannot be used.
std::filesystem::path usual_store();

class TunedSchedules {
public:
    // Reads the file; throws rt::Error (io) where it is no store.
    TunedSchedules(const std::filesystem::path& file, TuneDevice device)
        : device_(std::move(device)), entries_(tune::Store(file).read()) {}

    // Whatever the store has of the stage, of whichever compiler, finished or not.
    std::optional<tune::StoredStage> find(const ir::Program& program, const ir::Stage& stage,
                                          const schedule::Extent& extent, const std::string& pinned) const;
    // Of several steps at once.
    std::optional<tune::StoredStage> find_steps(const ir::Program& program, const schedule::Extent& extent,
                                                const std::string& pinned) const;
    const TuneDevice& device() const { return device_; }

private:
    std::optional<tune::StoredStage> find(const std::string& key) const;

    TuneDevice device_;
    tune::Entries entries_;
};

// `store`: as of --store; empty: the usual one, where a damaged file counts as none and is remarked upon.
// Throws rt::Error (io) for a named file that is not there or is no store.
std::shared_ptr<const TunedSchedules> open_tuned(const std::string& store, const TuneDevice& device,
                                                 std::string& remark);

}  // namespace halo::driver
