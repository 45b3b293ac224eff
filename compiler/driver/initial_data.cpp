#include "compiler/driver/initial_data.h"

#include <algorithm>
#include <set>

#include "compiler/driver/groups.h"
#include "compiler/lower/storage.h"
#include "runtime/io/npy.h"
#include "runtime/io/photo.h"

namespace halo::driver {

namespace {

void upload_all_levels(Engine& engine, const ir::Field& field, const FieldValues& values) {
    for (int time = 0; time >= -field.history; --time)
        engine.upload(field.name, time, values);
}

const ir::Field* find_field(const ir::Program& program, const std::string& name) {
    for (const ir::Field& field : program.fields) {
        if (field.name == name) return &field;
    }
    return nullptr;
}

// Of each field of the set.
std::vector<std::vector<double>> read_values(const Load& load, const FieldSet& set,
                                             const RunRequest& request) {
    const std::string what = "field " + load.field;
    if (load.path.ends_with(".png")) {
        const std::vector<std::uint8_t> grey =
            rt::read_photo(load.path, request.extent[0], request.extent[1], what);
        return {std::vector<double>(grey.begin(), grey.end())};
    }
    rt::NpyArray array = rt::read_npy(load.path, set.npy_shape(request.npy_shape()), what);
    if (!set.is_single()) return separate(array.values, set.fields.size());
    std::vector<std::vector<double>> values;
    values.push_back(std::move(array.values));
    return values;
}

CodeOptions options_of_init(const RunRequest& request) {
    CodeOptions options;
    options.strict_fp = request.strict_fp;
    return options;
}

}  // namespace

void prepare_initial_data(const std::optional<ir::Program>& init, const RunRequest& request,
                          Machine& machine) {
    if (init) machine.prepare(*init, request.extent, options_of_init(request));
}

void set_known_arguments(Engine& engine, const ir::Program& program, const RunRequest& request) {
    for (const auto& [name, value] : request.params) {
        bool known = std::any_of(program.params.begin(), program.params.end(),
                                 [&](const ir::Param& p) { return p.name == name; });
        if (known) engine.set_param(name, value);
    }
    for (const auto& [name, values] : request.coefs) {
        bool known = std::any_of(program.coefs.begin(), program.coefs.end(),
                                 [&](const ir::Coef& c) { return c.name == name; });
        if (known) engine.set_coef(name, values);
    }
}

std::vector<std::string> fill_initial_data(Engine& engine, const ir::Program& program,
                                           const std::optional<ir::Program>& init, const RunRequest& request,
                                           Machine& machine) {
    std::set<std::string> filled;
    std::set<std::string> loaded;
    for (const Load& load : request.loads) {
        const FieldSet set = find_fields(program, load.field);
        loaded.insert(set.fields.begin(), set.fields.end());
    }
    if (init) {
        LoadTimings timings;
        std::unique_ptr<Engine> maker =
            machine.load_maker(*init, request.extent, options_of_init(request), timings);
        set_known_arguments(*maker, *init, request);
        maker->run(1, std::nullopt);
        for (const ir::Field& output : init->fields) {
            const ir::Field* field = find_field(program, output.name);
            if (field == nullptr || output.role != ir::Role::output || loaded.contains(field->name)) continue;
            upload_all_levels(engine, *field, maker->download(field->name));
            filled.insert(field->name);
        }
    }
    for (const Load& load : request.loads) {
        const FieldSet set = find_fields(program, load.field);
        std::vector<std::vector<double>> values = read_values(load, set, request);
        for (std::size_t i = 0; i < set.fields.size(); ++i) {
            const ir::Field* field = find_field(program, set.fields[i]);
            upload_all_levels(engine, *field,
                              FieldValues::rounded(lower::element_type(field->storage), values[i]));
            filled.insert(field->name);
        }
    }
    std::vector<std::string> zeros;
    for (const ir::Field& field : program.fields) {
        const bool is_injected = std::any_of(
            program.statements.begin(), program.statements.end(), [&](const ir::Statement& statement) {
                const auto* inject = std::get_if<ir::Inject>(&statement);
                return inject != nullptr && &program[inject->target] == &field;
            });
        if (is_injected) continue;  // it is meant to start at rest
        bool starts_with_values = field.role == ir::Role::state || field.role == ir::Role::input;
        if (starts_with_values && !filled.contains(field.name)) zeros.push_back(field.name);
    }
    return zeros;
}

}  // namespace halo::driver
