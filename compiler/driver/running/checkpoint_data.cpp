#include "compiler/driver/running/checkpoint_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "compiler/driver/running/field_files.h"
#include "runtime/core/error.h"
#include "runtime/io/npy.h"
#include "runtime/ranks/together.h"

namespace halo::driver {

namespace {

// Names in which no field's file can end up: a field has no `-` in its name.
constexpr std::string_view kCoef = "data-coef-", kTable = "data-table-", kPoints = "data-points-",
                           kPointValues = "data-values-";

std::string data_file(std::string_view kind, const std::string& name) {
    return fmt::format("{}{}.npy", kind, name);
}

// What follows `kind` in the name of a file; empty for files of other kinds.
std::string name_in(std::string_view kind, std::string_view file) {
    constexpr std::string_view kEnd = ".npy";
    if (!file.starts_with(kind) || !file.ends_with(kEnd)) return {};
    return std::string(file.substr(kind.size(), file.size() - kind.size() - kEnd.size()));
}

std::vector<std::string> files_of_inputs(const ir::Program& program) {
    std::vector<std::string> files;
    for_levels(program, ir::Role::input,
               [&](const ir::Field& field, int time) { files.push_back(level_file(field.name, time)); });
    return files;
}

}  // namespace

bool holds_data(const Manifest& manifest) {
    return manifest.identity.data.empty();
}

std::string level_file(const std::string& field, int time) {
    return time == 0 ? field + ".npy" : fmt::format("{}.t{}.npy", field, time);
}

void write_data(rt::Ranks& ranks, const std::string& folder, Engine& engine, const ir::Program& program,
                const RunData& data) {
    for_levels(program, ir::Role::input, [&](const ir::Field& field, int time) {
        save_level(ranks, folder + "/" + level_file(field.name, time), engine, field.name, program.rank(),
                   time);
    });
    rt::together(ranks, [&] {
        if (!ranks.is_first()) return;
        const auto write = [&](const std::string& file, const std::vector<double>& values) {
            rt::write_npy(folder + "/" + file, {static_cast<std::int64_t>(values.size())}, values,
                          rt::ElementType::f64);
        };
        const auto write_all = [&](std::string_view kind, const auto& named) {
            for (const auto& [name, values] : named)
                write(data_file(kind, name), values);
        };
        write_all(kCoef, data.coefs);
        write_all(kTable, data.tables);
        write_all(kPoints, data.points);
        for (const auto& [name, values] : data.point_values)
            write(data_file(kPointValues, name.first + "." + name.second), values);
    });
}

void copy_data(rt::Ranks& ranks, const Checkpoint& from, const std::string& folder,
               const ir::Program& program) {
    rt::together(ranks, [&] {
        if (!ranks.is_first()) return;
        const std::vector<std::string> inputs = files_of_inputs(program);
        for (const Manifest::File& file : from.manifest.files) {
            if (!file.name.starts_with("data-") && std::ranges::count(inputs, file.name) == 0) continue;
            std::error_code error;
            std::filesystem::copy_file(from.folder + "/" + file.name, folder + "/" + file.name, error);
            if (error)
                throw rt::Error(rt::ErrorCode::io, fmt::format("cannot copy {}/{}: {}", from.folder,
                                                               file.name, error.message()));
        }
    });
}

void restore_data(rt::Ranks& ranks, const Checkpoint& checkpoint, Engine& engine,
                  const ir::Program& program) {
    if (!holds_data(checkpoint.manifest)) return;
    rt::together(ranks, [&] {
        const auto values = [&](const Manifest::File& file) {
            return rt::read_npy(checkpoint.folder + "/" + file.name).values;
        };
        const auto for_files = [&](std::string_view kind, const auto& work) {
            for (const Manifest::File& file : checkpoint.manifest.files)
                if (const std::string name = name_in(kind, file.name); !name.empty())
                    work(name, values(file));
        };
        for_files(kCoef, [&](const auto& name, const auto& all) { engine.set_coef(name, all); });
        for_files(kTable, [&](const auto& name, const auto& all) { engine.set_table(name, all); });
        for_files(kPoints, [&](const auto& name, const auto& all) { engine.set_points(name, all); });
        for_files(kPointValues, [&](const std::string& name, const auto& all) {
            const std::size_t dot = name.find('.');
            engine.set_point_values(name.substr(0, dot), name.substr(dot + 1), all);
        });
        for_levels(program, ir::Role::input, [&](const ir::Field& field, int time) {
            load_fields(checkpoint.folder + "/" + level_file(field.name, time), "field " + field.name, engine,
                        {field.name, {field.name}}, program.rank(), {{time}});
        });
    });
}

}  // namespace halo::driver
