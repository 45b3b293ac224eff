#include "compiler/driver/running/checkpoint_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/console/files.h"
#include "runtime/core/disk_cache.h"
#include "runtime/core/error.h"
#include "runtime/core/file_read.h"
#include "runtime/core/folder.h"
#include "runtime/core/json_value.h"
#include "runtime/host/processors.h"
#include "runtime/host/thread_pool.h"
#include "runtime/ranks/together.h"

namespace halo::driver {

namespace {

namespace fs = std::filesystem;
using rt::json::Value;

constexpr const char* kManifest = "manifest.json";
constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kHalfDone = ".step-";
constexpr std::int64_t kBlock = std::int64_t{16} << 20;  // bytes that are hashed by themselves
constexpr std::size_t kMostManifest = std::size_t{64} << 20;

[[noreturn]] void refuse_checkpoint(const std::string& message, const std::string& hint = {}) {
    throw CommandError(ExitCode::file, message, hint);
}

[[noreturn]] void fail_at(const std::string& doing, const std::string& path, int error) {
    throw rt::Error(rt::ErrorCode::io,
                    fmt::format("cannot {} \"{}\": {}", doing, path, std::strerror(error)));
}

void flush_folder(const std::string& path) {
    const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) fail_at("open", path, errno);
    ::fsync(folder);  // where the file system cannot, it says so; there is nothing else to try
    ::close(folder);
}

void rename_folder(const std::string& from, const std::string& to) {
    if (::rename(from.c_str(), to.c_str()) != 0) fail_at("write", to, errno);
}

// The steps in the name of a checkpoint's folder; none for other names.
std::optional<std::int64_t> steps_of(const std::string& name) {
    if (!name.starts_with(kPrefix)) return std::nullopt;
    std::int64_t steps = -1;
    const char* const end = name.data() + name.size();
    const auto [last, error] = std::from_chars(name.data() + kPrefix.size(), end, steps);
    return error == std::errc() && last == end && steps >= 0 ? std::optional(steps) : std::nullopt;
}

// The checkpoints in a folder, by their steps.
std::vector<std::int64_t> checkpoints_in(const std::string& path) {
    std::vector<std::int64_t> all;
    for (const std::string& name : rt::names_in(path))
        if (const auto steps = steps_of(name); steps && fs::exists(fs::path(path) / name / kManifest))
            all.push_back(*steps);
    std::ranges::sort(all);
    return all;
}

std::string block_digests(const std::string& path, std::int64_t bytes, int rank, int count) {
    const std::int64_t blocks = (bytes + kBlock - 1) / kBlock;
    const std::int64_t mine = blocks > rank ? (blocks - rank + count - 1) / count : 0;
    std::vector<std::string> digests(static_cast<std::size_t>(mine));
    const auto threads = static_cast<int>(std::clamp<std::int64_t>(mine, 1, rt::default_threads()));
    rt::ThreadPool pool(threads);
    pool.run(mine, [&](std::int64_t begin, std::int64_t end) {
        rt::FileRead file(path);
        std::string block;
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t at = (rank + i * count) * kBlock;
            block.resize(static_cast<std::size_t>(std::min(kBlock, bytes - at)));
            file.read_at(at, block.data(), block.size());
            digests[static_cast<std::size_t>(i)] = rt::hash_key({block});
        }
    });
    std::string all;
    for (const std::string& digest : digests)
        all += digest;
    return all;
}

// ---- the manifest: numbers as text, so that those that are not finite can be said

std::string number_text(double value) {
    return fmt::format("{}", value);
}

template <class Pairs>
Value pairs_json(const Pairs& pairs) {
    Value all = Value::list({});
    for (const auto& [name, value] : pairs)
        all.push_back(Value::list({name, number_text(value)}));
    return all;
}

Value content_json(const Manifest& manifest) {
    Value files = Value::list({});
    for (const Manifest::File& file : manifest.files)
        files.push_back(Value::object({{"name", file.name}, {"bytes", file.bytes}, {"sha256", file.digest}}));
    return Value::object({{"program", manifest.identity.program},
                          {"meaning", manifest.identity.meaning},
                          {"grid", manifest.identity.grid},
                          {"params", pairs_json(manifest.identity.params)},
                          {"data", manifest.identity.data},
                          {"steps", manifest.steps},
                          {"reductions", pairs_json(manifest.reductions)},
                          {"files", std::move(files)}});
}

double number_from(const Value& json) {
    return std::strtod(json.text().c_str(), nullptr);
}

Manifest from_json(const Value& json) {
    Manifest manifest;
    manifest.identity.program = json.at("program");
    manifest.identity.meaning = json.at("meaning");
    manifest.identity.grid = json.at("grid").get<std::vector<std::int64_t>>();
    for (const Value& param : json.at("params").items())
        manifest.identity.params.emplace_back(param.at(0), number_from(param.at(1)));
    manifest.identity.data = json.at("data");
    manifest.steps = json.at("steps");
    for (const Value& reduction : json.at("reductions").items())
        manifest.reductions[reduction.at(0).text()] = number_from(reduction.at(1));
    for (const Value& file : json.at("files").items())
        manifest.files.push_back({file.at("name"), file.at("bytes"), file.at("sha256")});
    return manifest;
}

std::string manifest_text(const Manifest& manifest) {
    const Value content = content_json(manifest);
    return Value::object({{"format", Manifest::kFormat},
                          {"haloc", HALO_VERSION},
                          {"sha256", rt::hash_key({content.dump()})},
                          {"content", content}})
               .dump(1) +
           '\n';
}

Manifest read_manifest(const std::string& text, const std::string& path) {
    const std::string damaged = fmt::format("the checkpoint is damaged: {} is no manifest", path);
    try {
        const Value json = Value::parse(text);
        const auto format = json.at("format").get<std::int64_t>();
        if (format != Manifest::kFormat)
            refuse_checkpoint(fmt::format("{} is of another format ({}) than this haloc reads ({})", path,
                                          format, Manifest::kFormat),
                              "take the version of haloc that wrote it");
        const Value& content = json.at("content");
        if (json.at("sha256").text() != rt::hash_key({content.dump()})) refuse_checkpoint(damaged);
        return from_json(content);
    } catch (const rt::json::Mistake&) {
        refuse_checkpoint(damaged);
    }
}

// Checks that all files were written, with the same result on all ranks.
void check_files_written(rt::Ranks& ranks, const Checkpoint& checkpoint) {
    for (const Manifest::File& file : checkpoint.manifest.files) {
        const std::string path = checkpoint.folder + "/" + file.name;
        std::error_code error;
        const auto bytes = fs::file_size(path, error);
        std::string trouble;
        if (error)
            trouble = fmt::format("{} is missing", path);
        else if (static_cast<std::int64_t>(bytes) != file.bytes)
            trouble = fmt::format("{} has {} bytes, and was written with {}", path, bytes, file.bytes);
        for (const std::string& found : ranks.all_gather(trouble))
            if (!found.empty()) refuse_checkpoint("the checkpoint is damaged: " + found);
        if (file_digest(ranks, path) != file.digest)
            refuse_checkpoint(fmt::format("the checkpoint is damaged: {} is not what was written", path));
    }
}

}  // namespace

std::string file_digest(rt::Ranks& ranks, const std::string& path) {
    std::string mine;
    std::int64_t bytes = 0;
    rt::together(ranks, [&] {
        bytes = rt::FileRead(path).bytes();
        mine = block_digests(path, bytes, ranks.rank(), ranks.count());
    });
    const std::vector<std::string> all = ranks.all_gather(mine);
    const std::size_t digits = rt::hash_key({}).size();
    std::string in_order;
    for (std::int64_t block = 0; block * kBlock < bytes; ++block) {
        const std::string& of_rank = all[static_cast<std::size_t>(block) % all.size()];
        in_order += of_rank.substr(static_cast<std::size_t>(block) / all.size() * digits, digits);
    }
    return rt::hash_key({in_order});
}

Checkpoint find_checkpoint(rt::Ranks& ranks, const std::string& path) {
    Checkpoint found{path, {}};
    std::string text, older;
    rt::together(ranks, [&] {
        if (!ranks.is_first()) return;
        if (!fs::is_directory(path)) refuse_checkpoint(fmt::format("there is no checkpoint {}", path));
        if (!fs::exists(fs::path(path) / kManifest)) {
            const std::vector<std::int64_t> all = checkpoints_in(path);
            if (all.empty()) refuse_checkpoint(fmt::format("there is no complete checkpoint in {}", path));
            found.folder = fmt::format("{}/{}{}", path, kPrefix, all.back());
            if (all.size() > 1)
                older = fmt::format("--restart {}/{}{} is an older one", path, kPrefix, all[all.size() - 2]);
        }
        text = read_text(found.folder + "/" + kManifest, kMostManifest);
    });
    found.folder = ranks.broadcast(found.folder);
    text = ranks.broadcast(text);
    try {
        found.manifest = read_manifest(text, found.folder + "/" + kManifest);
        check_files_written(ranks, found);
    } catch (const CommandError& error) {
        if (older.empty() || !error.hint().empty()) throw;
        throw CommandError(error.code(), error.what(), older);
    }
    return found;
}

void check_identity(const std::string& path, const RunIdentity& there, const RunIdentity& here) {
    const auto differ = [&](const std::string& how, const std::string& hint = {}) {
        throw CommandError(ExitCode::usage, fmt::format("{} is {}", path, how), hint);
    };
    if (there.program != here.program)
        differ(fmt::format("a checkpoint of {}, and this is {}", there.program, here.program));
    if (there.grid != here.grid)
        differ(fmt::format("of another grid: {} cells, and this run has {}", fmt::join(there.grid, " x "),
                           fmt::join(here.grid, " x ")));
    if (there.meaning != here.meaning)
        differ(
            fmt::format("of another {}: what its statements say has changed, or --strict-fp", here.program),
            "run the spec that it was written by");
    for (const auto& [name, value] : here.params) {
        const auto known = std::ranges::find(there.params, name, &std::pair<std::string, double>::first);
        if (known != there.params.end() && number_text(known->second) != number_text(value))
            differ(fmt::format("of {} = {}, and this run has {}", name, known->second, value),
                   fmt::format("--set {}={}", name, known->second));
    }
    if (!there.data.empty() && there.data != here.data)
        differ(
            "of other data: an `init`, coefficients, a table, points or a file that is loaded has changed");
}

CheckpointFolder::CheckpointFolder(rt::Ranks& ranks, std::string path, const std::string& continued)
    : ranks_(ranks), path_(std::move(path)) {
    while (path_.size() > 1 && path_.ends_with('/'))
        path_.pop_back();
    std::error_code ignored;
    const bool own = !continued.empty() && fs::equivalent(fs::path(continued).parent_path(), path_, ignored);
    const std::vector<std::int64_t> known = checkpoints_in(path_);
    if (!known.empty() && !own)
        throw CommandError(
            ExitCode::usage,
            fmt::format("{} holds a checkpoint of another run, after step {}", path_, known.back()),
            fmt::format("go on from it with --restart {}, or give another folder", path_));
    rt::together(ranks_, [&] {
        if (!ranks_.is_first()) return;
        if (::mkdir(path_.c_str(), 0777) != 0 && errno != EEXIST) fail_at("make the folder", path_, errno);
        if (!fs::is_directory(path_)) fail_at("make the folder", path_, EEXIST);
        if (::access(path_.c_str(), W_OK | X_OK) != 0) fail_at("write to", path_, errno);
        for (const std::string& name : rt::names_in(path_))
            if (name.starts_with(kHalfDone)) fs::remove_all(fs::path(path_) / name, ignored);
    });
}

std::string CheckpointFolder::folder_of(std::int64_t steps) const {
    return fmt::format("{}/{}{}", path_, kPrefix, steps);
}

std::string CheckpointFolder::begin(std::int64_t steps) {
    const std::string folder = fmt::format("{}/{}{}.part", path_, kHalfDone, steps);
    rt::together(ranks_, [&] {
        if (!ranks_.is_first()) return;
        std::error_code ignored;
        fs::remove_all(folder, ignored);
        if (::mkdir(folder.c_str(), 0777) != 0) fail_at("make the folder", folder, errno);
    });
    begun_ = folder;
    return folder;
}

void CheckpointFolder::abandon() noexcept {
    try {
        std::error_code ignored;
        if (!begun_.empty() && ranks_.is_first()) fs::remove_all(begun_, ignored);
    } catch (const std::exception&) {
        // The next run in this folder removes it.
    }
    begun_.clear();
}

void CheckpointFolder::finish(Manifest manifest) {
    rt::together(ranks_, [&] {
        std::vector<std::string> names = rt::names_in(begun_);
        std::ranges::sort(names);
        for (const std::string& name : names)
            manifest.files.push_back(
                {name, static_cast<std::int64_t>(fs::file_size(begun_ + "/" + name)), ""});
    });
    for (Manifest::File& file : manifest.files)
        file.digest = file_digest(ranks_, begun_ + "/" + file.name);
    rt::together(ranks_, [&] {
        if (!ranks_.is_first()) return;
        write_text(begun_ + "/" + kManifest, manifest_text(manifest));
        flush_folder(begun_);
        const std::string target = folder_of(manifest.steps);
        const auto out_of_the_way = [&](const std::string& name) {
            const std::string old = fmt::format("{}/.{}.old", path_, name);
            rename_folder(path_ + "/" + name, old);  // at once; what is left of it is no checkpoint
            std::error_code ignored;
            fs::remove_all(old, ignored);
        };
        // The run that this one goes on from may have come further: its checkpoint of this step is replaced.
        // The one that it went on from remains.
        if (fs::exists(target)) out_of_the_way(fs::path(target).filename().string());
        rename_folder(begun_, target);
        flush_folder(path_);
        for (const std::string& name : rt::names_in(path_)) {
            if (const auto steps = steps_of(name); !steps || *steps == manifest.steps) continue;
            try {
                out_of_the_way(name);
            } catch (const rt::Error&) {
                // The new one is complete; an old one beside it does no harm.
            }
        }
    });
    begun_.clear();
}

}  // namespace halo::driver
