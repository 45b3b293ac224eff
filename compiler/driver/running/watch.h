// Checks during a run whether the states are still finite.
//
// Where the run writes files, the last states that were all finite are kept, since they are written if later
// ones are not: copied beside the states where the engine has room, else fetched. States are fetched, too,
// where the engine cannot tell whether they are finite. Checks take a small share of the run's time, so small
// grids are checked after each piece of work, large ones every few seconds, and all at the end. Each rank
// checks its part of the states.
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
    // The first check, after `done` steps: states that are not finite there are taken as intended and not
    // watched. Collective, like check() and save_last_good().
    Watch(const RunRequest& request, Engine& engine, rt::Ranks& ranks, std::int64_t done);

    bool is_due() const;  // by this rank's clock
    void check(std::int64_t steps_done);
    void check_last(std::int64_t steps_done);  // no step follows, so the engine itself keeps the states

    // The field, the place and the step at which values were not finite.
    const std::optional<std::string>& trouble() const { return trouble_; }
    std::optional<std::int64_t> last_good_step() const { return last_good_step_; }
    double seconds() const { return spent_; }

    // Writes the last good states to the folder of the run's files, as NAME-FIELD-good-STEP.npy; none where
    // the run writes no files or keeps no state. Throws rt::Error (io).
    std::vector<WrittenFile> save_last_good() const;

private:
    using Clock = std::chrono::steady_clock;

    // The cells of a state that this process has, in the order of own_boxes().
    using Parts = std::vector<FieldValues>;
    // Where good states are kept: nowhere if nobody will write them, or they are too large.
    enum class Keeping : std::uint8_t { nowhere, on_host, in_engine };

    Keeping place_to_keep() const;
    Parts fetch(const std::string& field) const;
    Parts good_parts(const std::string& field) const;  // of the last good step; none where it was not kept
    // What is wrong with a field, in words. kept: where not null, its values are put there.
    std::optional<std::string> find_trouble(const std::string& field, Parts* kept) const;
    void check(std::int64_t steps_done, Keeping keeping);

    const RunRequest& request_;
    Engine& engine_;
    rt::Ranks& ranks_;
    std::vector<std::string> watched_;
    Keeping keeping_ = Keeping::nowhere;
    std::map<std::string, Parts> good_;  // those that are kept on the host
    bool good_is_present_ = false;       // the last good states are the present ones
    std::optional<std::int64_t> last_good_step_;
    std::optional<std::int64_t> last_check_;
    std::optional<std::string> trouble_;
    Clock::time_point start_ = Clock::now();
    double spent_ = 0;
};

}  // namespace halo::driver
