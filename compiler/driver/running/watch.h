// Looks after the numbers of a run: are the states still finite?
//
// From time to time the states are fetched; if all is well they are kept as the last good ones, else the run
// is to stop. Looks are as frequent as a small part of the run's time allows, so small grids are looked at
// between all pieces of work and large ones every few seconds, and always at the end. Of several ranks each
// has its part of the states.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/running/engine.h"
#include "compiler/driver/running/outputs.h"
#include "compiler/driver/running/request.h"

namespace halo::driver {

class Watch {
public:
    // Looks at the start, after `done` steps: states that are not finite there are meant so, and are not
    // watched. Collective, as look() and save_last_good() are.
    Watch(const RunRequest& request, Engine& engine, rt::Ranks& ranks, std::int64_t done);

    bool is_due() const;  // by this rank's clock
    void look(std::int64_t steps_done);

    // The field, the place and the step at which numbers were not finite.
    const std::optional<std::string>& trouble() const { return trouble_; }
    std::optional<std::int64_t> last_good_step() const { return last_good_step_; }
    double seconds() const { return spent_; }

    // Writes the last good states beside the run's own files, as NAME-FIELD-good-STEP.npy; nothing where the
    // run writes no files or keeps no state. Throws rt::Error (io).
    std::vector<WrittenFile> save_last_good() const;

private:
    using Clock = std::chrono::steady_clock;

    // A state's cells that this process has, by own_boxes().
    using Parts = std::vector<FieldValues>;

    Parts fetch(const std::string& field) const;
    std::optional<std::string> find_trouble(const std::string& field, const Parts& parts) const;

    const RunRequest& request_;
    Engine& engine_;
    rt::Ranks& ranks_;
    std::vector<std::string> watched_;
    bool keeps_ = true;  // the states are small enough to be kept
    std::map<std::string, Parts> good_;
    std::optional<std::int64_t> last_good_step_;
    std::optional<std::int64_t> last_look_;
    std::optional<std::string> trouble_;
    Clock::time_point start_ = Clock::now();
    double spent_ = 0;
};

}  // namespace halo::driver
