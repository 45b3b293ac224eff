#include "compiler/driver/running/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/running/checkpoint_data.h"
#include "compiler/driver/running/field_files.h"
#include "compiler/driver/running/params.h"
#include "compiler/ir/print.h"
#include "compiler/support/file_kinds.h"
#include "runtime/core/disk_cache.h"
#include "runtime/io/npy.h"
#include "runtime/ranks/together.h"

namespace halo::driver {

namespace {

std::string trace_file(const std::string& points, const std::string& trace) {
    return fmt::format("trace.{}.{}.npy", points, trace);
}

// Calls work(field, time) for each level of each field that steps write and keep.
template <class Work>
void for_written_levels(const ir::Program& program, const Work& work) {
    for_levels(program, ir::Role::state, work);
    for_levels(program, ir::Role::output, work);
}

template <class Work>
void for_sampled(const ir::Program& program, const Work& work) {
    for (const ir::Points& points : program.points)
        for (const ir::Points::Trace& trace : points.traces)
            if (trace.sampled) work(points.name, trace.name);
}

std::string bytes_of(const std::vector<double>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}

bool is_input(const ir::Program& program, const std::string& name) {
    const FieldSet set = find_fields(program, name);
    return std::ranges::any_of(program.fields, [&](const ir::Field& field) {
        return field.role == ir::Role::input && std::ranges::count(set.fields, field.name) > 0;
    });
}

}  // namespace

CheckpointInterval parse_interval(const std::string& text) {
    if (text.empty()) return {};
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data(), end, number);
    const std::string unit(last, end);
    if (error == std::errc() && number > 0) {
        if (unit.empty()) return {number, 0};
        const auto count = static_cast<double>(number);
        if (unit == "s") return {0, count};
        if (unit == "min") return {0, 60 * count};
        if (unit == "h") return {0, 3600 * count};
    }
    throw CommandError(ExitCode::usage,
                       fmt::format("--checkpoint-every: `{}` is no number of steps and no time", text),
                       "for example --checkpoint-every 1000, or --checkpoint-every 10min (s, min, h)");
}

RunIdentity identity_of(rt::Ranks& ranks, const ir::Program& program, const sema::RunSpec* run,
                        const RunRequest& request) {
    RunIdentity identity;
    identity.program = program.name;
    identity.meaning = rt::hash_key(
        {ir::print(program), std::to_string(program.noise_seed), request.strict_fp ? "strict" : ""});
    identity.grid.assign(request.extent.begin(), request.extent.begin() + request.rank());
    const std::vector<double> params = param_values(program, request);
    for (std::size_t i = 0; i < params.size(); ++i)
        identity.params.emplace_back(program.params[i].name, params[i]);
    std::vector<std::string> data;
    for (const auto& [name, values] : request.coefs)
        data.insert(data.end(), {name, bytes_of(values)});
    if (run != nullptr) {
        if (run->init) data.push_back(ir::print(*run->init) + std::to_string(run->init->noise_seed));
        for (const sema::TableFill& fill : run->tables)
            data.insert(data.end(), {fill.table, std::to_string(fill.rows), ir::print(fill.init)});
        for (const sema::PointPlaces& places : run->places)
            data.insert(data.end(), {places.points, bytes_of(places.positions)});
        for (const sema::PointFill& fill : run->point_fills)
            data.insert(data.end(), {fill.points, fill.name, ir::print(fill.init)});
    }
    const auto add_file = [&](const Load& load) {
        data.insert(data.end(), {load.field, file_digest(ranks, parse_array_name(load.path).file)});
    };
    for (const Load& load : request.loads)
        if (is_input(program, load.field)) add_file(load);
    for (const auto* loads : {&request.table_loads, &request.point_loads})
        std::ranges::for_each(*loads, add_file);
    identity.data = rt::hash_key(std::vector<std::string_view>(data.begin(), data.end()));
    return identity;
}

std::set<std::string> saved_fields(const Checkpoint& checkpoint, const ir::Program& program) {
    std::set<std::string> names;
    const auto add = [&](const ir::Field& field, int) { names.insert(field.name); };
    for_written_levels(program, add);
    if (holds_data(checkpoint.manifest)) for_levels(program, ir::Role::input, add);
    return names;
}

void check_checkpoint(const Checkpoint& checkpoint, const RunIdentity& identity, const RunRequest& request) {
    const Manifest& manifest = checkpoint.manifest;
    check_identity(checkpoint.folder, manifest.identity, identity);
    if (manifest.steps > request.steps)
        throw CommandError(
            ExitCode::usage,
            fmt::format("{} is after step {}, and this run is to end after step {}", checkpoint.folder,
                        manifest.steps, request.steps),
            fmt::format("--steps counts from the beginning, such as --steps {}", 2 * manifest.steps));
}

void restore(rt::Ranks& ranks, const Checkpoint& checkpoint, Engine& engine, const ir::Program& program) {
    const Manifest& manifest = checkpoint.manifest;
    restore_data(ranks, checkpoint, engine, program);
    rt::StepsBefore before{manifest.steps, manifest.reductions, {}};
    rt::together(ranks, [&] {
        for_sampled(program, [&](const std::string& points, const std::string& trace) {
            const std::string path = checkpoint.folder + "/" + trace_file(points, trace);
            before.traces.push_back({points, trace, rt::read_npy(path).values});
        });
    });
    engine.continue_from(before);
    rt::together(ranks, [&] {
        for_written_levels(program, [&](const ir::Field& field, int time) {
            const FieldSet set{field.name, {field.name}};
            load_fields(checkpoint.folder + "/" + level_file(field.name, time), "field " + field.name, engine,
                        set, program.rank(), {{time}});
        });
    });
}

void write_checkpoint_files(rt::Ranks& ranks, CheckpointFolder& target, Engine& engine,
                            const ir::Program& program, RunIdentity identity, std::int64_t done,
                            const std::function<void(const std::string& folder)>& write_given_data) {
    const std::string folder = target.begin(done);
    for_written_levels(program, [&](const ir::Field& field, int time) {
        save_level(ranks, folder + "/" + level_file(field.name, time), engine, field.name, program.rank(),
                   time);
    });
    for_sampled(program, [&](const std::string& points, const std::string& trace) {
        const std::vector<double> rows = engine.trace(points, trace);
        rt::together(ranks, [&] {
            if (!ranks.is_first()) return;
            rt::write_npy(folder + "/" + trace_file(points, trace), {static_cast<std::int64_t>(rows.size())},
                          rows, rt::ElementType::f64);
        });
    });
    write_given_data(folder);
    Manifest manifest;
    manifest.identity = std::move(identity);
    manifest.steps = done;
    for (const ir::Statement& statement : program.statements) {
        const auto* reduce = std::get_if<ir::Reduce>(&statement);
        if (reduce != nullptr && done > 0) manifest.reductions[reduce->name] = engine.reduction(reduce->name);
    }
    target.finish(std::move(manifest));
}

Checkpoints::Checkpoints(rt::Ranks& ranks, const std::string& path, CheckpointInterval interval,
                         RunIdentity identity, const ir::Program& program,
                         const std::optional<Checkpoint>& continued)
    : ranks_(ranks),
      interval_(interval),
      identity_(std::move(identity)),
      program_(program),
      folder_(ranks, path, continued ? continued->folder : "") {
    if (!continued) return;
    if (holds_data(continued->manifest)) {
        identity_.data.clear();
        data_from_ = continued;
    }
    std::error_code ignored;
    const std::string same = folder_.folder_of(continued->manifest.steps);
    if (std::filesystem::equivalent(same, continued->folder, ignored)) there_ = continued->manifest.steps;
}

std::optional<std::int64_t> Checkpoints::steps_to_next(std::int64_t done) const {
    if (interval_.steps == 0) return std::nullopt;
    return interval_.steps - done % interval_.steps;
}

// Whether a checkpoint is due after `done` steps; of several ranks the first one's clock decides.
bool Checkpoints::is_due(std::int64_t done) {
    if (interval_.steps > 0) return done % interval_.steps == 0;
    if (interval_.seconds == 0) return false;
    const double passed = std::chrono::duration<double>(Clock::now() - last_).count();
    return !ranks_.broadcast(passed >= interval_.seconds ? "due" : "").empty();
}

void Checkpoints::write(Engine& engine, std::int64_t done, const Console& console) {
    if (there_ == done) return;
    try {
        trouble_.clear();
        write_files(engine, done);
        there_ = done;
        newest_ = folder_.folder_of(done);
    } catch (const std::exception& exception) {
        folder_.abandon();
        const rt::Error error = rt::as_error(exception);
        if (error.code() != rt::ErrorCode::io) throw;
        trouble_ = error.what();
        console.warning(fmt::format("no checkpoint after step {}: {}{}", done, trouble_,
                                    there_ ? fmt::format("; the one after step {} remains", *there_) : ""));
    }
    last_ = Clock::now();
}

void Checkpoints::write_files(Engine& engine, std::int64_t done) {
    write_checkpoint_files(ranks_, folder_, engine, program_, identity_, done,
                           [&](const std::string& folder) {
                               if (data_from_) copy_data(ranks_, *data_from_, folder, program_);
                           });
    // The one before may be gone.
    if (data_from_) data_from_->folder = folder_.folder_of(done);
}

}  // namespace halo::driver
