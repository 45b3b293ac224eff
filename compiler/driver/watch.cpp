#include "compiler/driver/watch.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "compiler/driver/agreement.h"
#include "runtime/io/npy.h"

namespace halo::driver {

namespace {

constexpr double kShare = 0.04;                                // of the run's time
constexpr double kAllowance = 0.02;                            // seconds, whatever the run takes
constexpr std::int64_t kMaxKeptBytes = std::int64_t{2} << 30;  // of all states together, on the host
constexpr std::int64_t kMaxCells = std::int64_t{1} << 30;      // of a grid whose states are fetched

}  // namespace

Watch::Watch(const RunRequest& request, Engine& engine, rt::Ranks& ranks)
    : request_(request), engine_(engine), ranks_(ranks) {
    if (!request.watch || cell_count(request.extent) > kMaxCells) return;
    watched_ = request.states;
    std::vector<std::string> finite;
    std::int64_t bytes = 0;
    const Clock::time_point begin = Clock::now();
    for (const std::string& field : watched_) {
        FieldValues values = engine_.download(field);
        if (find(field, values)) continue;
        bytes += values.bytes();
        keeps_ = bytes <= kMaxKeptBytes;
        finite.push_back(field);
        if (keeps_) good_[field] = std::move(values);
    }
    if (!keeps_) good_.clear();
    watched_ = std::move(finite);
    last_good_step_ = last_look_ = 0;
    spent_ += std::chrono::duration<double>(Clock::now() - begin).count();
}

bool Watch::is_due() const {
    const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
    return spent_ <= kShare * elapsed + kAllowance;
}

std::optional<std::string> Watch::find(const std::string& field, const FieldValues& values) const {
    return agree(ranks_, ranks_.is_first() ? find_trouble(request_, field, values) : std::nullopt);
}

void Watch::look(std::int64_t steps_done) {
    if (watched_.empty() || trouble_ || last_look_ == steps_done) return;
    const Clock::time_point begin = Clock::now();
    last_look_ = steps_done;
    std::map<std::string, FieldValues> now;
    for (const std::string& field : watched_) {
        FieldValues values = engine_.download(field);
        if (std::optional<std::string> found = find(field, values)) {
            trouble_ = fmt::format("after step {}, {}", steps_done, *found);
            break;
        }
        if (keeps_) now[field] = std::move(values);
    }
    if (!trouble_) {
        last_good_step_ = steps_done;
        good_ = std::move(now);
    }
    spent_ += std::chrono::duration<double>(Clock::now() - begin).count();
}

std::vector<WrittenFile> Watch::save_last_good() const {
    std::vector<WrittenFile> written;
    if (request_.outputs.empty() || !last_good_step_ || !ranks_.is_first()) return written;
    const std::filesystem::path folder = std::filesystem::path(request_.outputs.front().path).parent_path();
    for (const auto& [field, values] : good_) {
        const std::string plain = fmt::format("{}-{}-good.npy", request_.name, field);
        const std::string path = frame_path((folder / plain).string(), *last_good_step_, request_.steps);
        rt::write_npy(path, request_.npy_shape(), values.data(), static_cast<std::size_t>(values.bytes()),
                      values.type);
        written.push_back({field, path, *last_good_step_});
    }
    return written;
}

}  // namespace halo::driver
