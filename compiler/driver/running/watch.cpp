#include "compiler/driver/running/watch.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "runtime/io/npy_parts.h"

namespace halo::driver {

namespace {

constexpr double kShare = 0.01;                                    // of the run's time
constexpr double kAllowance = 0.005;                               // seconds, whatever the run takes
constexpr std::int64_t kMaxKeptBytes = std::int64_t{2} << 30;      // of all states together, on the host
constexpr std::int64_t kMostFetchedCells = std::int64_t{1} << 30;  // of a grid whose states are fetched

}  // namespace

Watch::Parts Watch::fetch(const std::string& field) const {
    Parts parts;
    for (const rt::Box& box : engine_.own_boxes_of(field))
        parts.push_back(engine_.download_box(field, 0, box));
    return parts;
}

Watch::Parts Watch::good_parts(const std::string& field) const {
    if (good_is_present_) return fetch(field);
    if (keeping_ == Keeping::on_host) return good_.at(field);
    Parts parts;
    if (keeping_ == Keeping::in_engine)
        for (const rt::Box& box : engine_.own_boxes_of(field))
            parts.push_back(engine_.download_copy(field, box));
    return parts;
}

std::optional<std::string> Watch::find_trouble(const std::string& field, Parts* kept) const {
    NotFiniteCells cells;
    const bool is_finite = engine_.is_finite(field).value_or(false);
    if (kept != nullptr || !is_finite) {
        Parts parts = fetch(field);
        const std::vector<rt::Box> boxes = engine_.own_boxes_of(field);
        for (std::size_t i = 0; i < boxes.size() && !is_finite; ++i)
            cells.check(request_, rt::lattice_of(boxes[i]), parts[i]);
        if (kept != nullptr) *kept = std::move(parts);
    }
    return cells.words(ranks_, request_, field, engine_.whole_box_of(field).cells());
}

// Ranks of which one has no room keep as many states as the others, as they write them together.
Watch::Keeping Watch::place_to_keep() const {
    if (request_.outputs.empty()) return Keeping::nowhere;
    std::int64_t bytes = 0;
    for (const std::string& field : request_.states)
        bytes += engine_.whole_box_of(field).cells() * rt::size_of(engine_.type_of(field));
    const bool fits_on_host = bytes <= kMaxKeptBytes;
    if ((fits_on_host || ranks_.count() == 1) && engine_.make_room_for_copies(request_.states))
        return Keeping::in_engine;
    return fits_on_host ? Keeping::on_host : Keeping::nowhere;
}

Watch::Watch(const RunRequest& request, Engine& engine, rt::Ranks& ranks, std::int64_t done)
    : request_(request), engine_(engine), ranks_(ranks) {
    if (!request.watch) return;
    const Clock::time_point begin = Clock::now();
    const bool is_small = cell_count(request.extent) <= kMostFetchedCells;
    keeping_ = place_to_keep();
    for (const std::string& field : request.states) {
        // Where states would have to be fetched. Each of several ranks would decide that by its own cells.
        if (!is_small && (ranks.count() > 1 || !engine.is_finite(field).has_value())) continue;
        Parts values;
        const bool is_fetched = keeping_ == Keeping::on_host;
        if (find_trouble(field, is_fetched ? &values : nullptr)) continue;
        watched_.push_back(field);
        if (is_fetched) good_[field] = std::move(values);
    }
    if (keeping_ == Keeping::in_engine) engine_.copy_states();
    last_good_step_ = last_check_ = done;
    spent_ += std::chrono::duration<double>(Clock::now() - begin).count();
}

bool Watch::is_due() const {
    const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
    return spent_ <= kShare * elapsed + kAllowance;
}

void Watch::check(std::int64_t steps_done) {
    check(steps_done, keeping_);
}

void Watch::check_last(std::int64_t steps_done) {
    check(steps_done, Keeping::nowhere);
    good_is_present_ = last_good_step_ == steps_done;
}

void Watch::check(std::int64_t steps_done, Keeping keeping) {
    if (watched_.empty() || trouble_ || last_check_ == steps_done) return;
    const Clock::time_point begin = Clock::now();
    last_check_ = steps_done;
    const bool is_fetched = keeping == Keeping::on_host;
    std::map<std::string, Parts> now;
    for (const std::string& field : watched_) {
        if (std::optional<std::string> found = find_trouble(field, is_fetched ? &now[field] : nullptr)) {
            trouble_ = fmt::format("after step {}, {}", steps_done, *found);
            break;
        }
    }
    if (!trouble_) {
        last_good_step_ = steps_done;
        if (is_fetched) good_ = std::move(now);
        if (keeping == Keeping::in_engine) engine_.copy_states();
    }
    spent_ += std::chrono::duration<double>(Clock::now() - begin).count();
}

std::vector<WrittenFile> Watch::save_last_good() const {
    std::vector<WrittenFile> written;
    if (request_.outputs.empty() || !last_good_step_) return written;
    const std::filesystem::path folder = std::filesystem::path(request_.outputs.front().path).parent_path();
    for (const std::string& field : watched_) {
        const Parts parts = good_parts(field);
        if (parts.empty()) continue;
        const std::string plain = fmt::format("{}-{}-good.npy", request_.name, field);
        const std::string path = frame_path((folder / plain).string(), *last_good_step_, request_.steps);
        rt::FieldFile file(
            ranks_, path,
            rt::npy_layout({engine_.whole_box_of(field).extent(), request_.rank()}, engine_.type_of(field)));
        const std::vector<rt::Box> boxes = engine_.own_boxes_of(field);
        for (std::size_t i = 0; i < boxes.size(); ++i)
            file.write(0, boxes[i], parts[i].data());
        file.commit();
        written.push_back({field, path, *last_good_step_});
    }
    return written;
}

}  // namespace halo::driver
