#include "compiler/driver/running/initial_data.h"
#include "compiler/driver/running/coordinates.h"

#include <algorithm>
#include <functional>
#include <set>

#include "compiler/driver/running/coordinates.h"
#include "compiler/driver/running/field_files.h"
#include "compiler/driver/running/groups.h"
#include "compiler/driver/running/stretched_axes.h"
#include "compiler/lower/shared/storage.h"
#include "compiler/passes/part.h"
#include "runtime/io/photo.h"

namespace halo::driver {

namespace {

std::vector<int> times_of(const ir::Field& field) {
    std::vector<int> times;
    for (int time = 0; time >= -field.history; --time)
        times.push_back(time);
    return times;
}

// Copies what the initializer computed to all levels of a field. Its own engine holds the cells of `made` and
// counts from the first of them.
void copy_to_all_levels(Engine& engine, const ir::Field& field, Engine& maker, const rt::Box& made) {
    const auto copy_on_device = [&](int time) {
        return engine.copy_level(field.name, time, maker, field.name, 0);
    };
    if (made == engine.whole_box_of(field.name) && std::ranges::all_of(times_of(field), copy_on_device))
        return;
    std::array<std::int64_t, rt::kMaxRank> to_maker{};
    std::ranges::transform(made.begin, to_maker.begin(), std::negate<>());
    std::vector<rt::Box> wanted;
    for (const rt::Box& box : engine.computed_boxes_of(field.name))
        wanted.push_back(intersection(box, made));
    for (const rt::Box& part : in_parts(wanted, rt::size_of(engine.type_of(field.name)))) {
        const FieldValues values = maker.download_box(field.name, 0, shifted(part, to_maker));
        for (const int time : times_of(field))
            engine.upload_box(field.name, time, part, values);
    }
}

const ir::Field* find_field(const ir::Program& program, const std::string& name) {
    for (const ir::Field& field : program.fields) {
        if (field.name == name) return &field;
    }
    return nullptr;
}

void load_picture(const Load& load, Engine& engine, const ir::Field& field, const RunRequest& request) {
    const Extent extent = field.grid.own_axes(field.grid.extent(request.extent), std::int64_t{1});
    const std::vector<std::uint8_t> grey =
        rt::read_photo(load.path, extent[0], extent[1], "field " + load.field);
    const FieldValues values = FieldValues::rounded(lower::element_type(field.storage),
                                                    std::vector<double>(grey.begin(), grey.end()));
    for (const int time : times_of(field))
        engine.upload(field.name, time, values);
}

CodeOptions options_of_init(const RunRequest& request) {
    CodeOptions options;
    options.strict_fp = request.strict_fp;
    return options;
}

bool lies_whole(const ir::Field& field) {
    return field.grid.has_all_axes();
}

// Fields on coarser grids are computed beside those of the grid, by one program.
rt::FieldGrid grid_of_program(const ir::Field& field) {
    rt::FieldGrid grid = field.grid;
    grid.factor = 1;
    return grid;
}

// The cells of whole fields are computed box by box where processes share the grid, which may be larger than
// what one device holds.
std::vector<rt::Box> boxes_of(const Initializer& init, const Engine& engine, const Machine& machine,
                              const RunRequest& request) {
    std::vector<rt::Box> boxes{rt::whole_box(request.extent)};
    if (machine.is_shared() && init.grid.is_whole()) boxes = engine.computed_boxes();
    for (rt::Box& box : boxes)
        box = rt::box_of_field(init.grid, box);
    return boxes;
}

}  // namespace

std::vector<Initializer> initializers_of(const ir::Program& init) {
    std::vector<Initializer> parts{{init, rt::FieldGrid{}}};
    for (const ir::Field& field : init.fields)
        if (field.role == ir::Role::output &&
            std::ranges::find(parts, grid_of_program(field), &Initializer::grid) == parts.end())
            parts.push_back({init, grid_of_program(field)});
    for (Initializer& part : parts) {
        std::vector<std::uint32_t> place(init.fields.size());
        part.program.fields.clear();
        part.program.statements.clear();
        for (std::size_t f = 0; f < init.fields.size(); ++f) {
            const bool is_table = init.fields[f].role == ir::Role::input;
            if (!is_table && grid_of_program(init.fields[f]) != part.grid) continue;
            place[f] = static_cast<std::uint32_t>(part.program.fields.size());
            part.program.fields.push_back(init.fields[f]);
            if (!is_table)
                part.program.fields.back().grid = rt::FieldGrid::coarse(init.fields[f].grid.factor);
        }
        for (ir::Expr& expr : part.program.exprs)
            if (auto* access = std::get_if<ir::Access>(&expr.node))
                access->field.index = place[access->field.index];
        for (const ir::Statement& statement : init.statements) {
            ir::Assign assign = std::get<ir::Assign>(statement);  // from coordinates, and tables of them
            if (grid_of_program(init[assign.target]) != part.grid) continue;
            assign.target.index = place[assign.target.index];
            part.program.statements.emplace_back(std::move(assign));
        }
    }
    std::erase_if(parts, [](const Initializer& part) { return part.program.statements.empty(); });
    return parts;
}

ir::Program program_of_box(const Initializer& init, const Extent& whole, const rt::Box& box) {
    if (box == rt::whole_box(whole)) return init.program;
    passes::Part part;
    part.whole = whole;
    part.first = box.begin;
    part.extent = box.extent();
    for (std::size_t axis = 0; axis < whole.size(); ++axis)
        part.cut[axis] = part.extent[axis] != whole[axis];
    return passes::program_of_part(init.program, part);
}

void prepare_initial_data(const std::optional<ir::Program>& init, const RunRequest& request,
                          Machine& machine) {
    // What is prepared is one program.
    if (init && std::ranges::all_of(init->fields, lies_whole))
        machine.prepare(*init, request.extent, options_of_init(request));
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

// Whether what the field starts with can be seen in what the program computes.
bool is_read(const ir::Program& program, const ir::Field& field) {
    std::vector<ir::ExprId> roots;
    for (const ir::Statement& statement : program.statements) {
        const std::vector<ir::ExprId> own = ir::roots_of(statement);
        roots.insert(roots.end(), own.begin(), own.end());
    }
    for (const std::uint32_t i : ir::reached_exprs(program, roots)) {
        const auto* access = std::get_if<ir::Access>(&program.exprs[i].node);
        if (access != nullptr && &program[access->field] == &field && access->time <= 0) return true;
    }
    // A first statement that is not for all cells leaves the others as they are.
    for (const ir::Statement& statement : program.statements) {
        const auto* assign = std::get_if<ir::Assign>(&statement);
        if (assign == nullptr || &program[assign->target] != &field) continue;
        return assign->condition || assign->region != ir::Region{} || assign->margins != ir::Margins{};
    }
    return true;
}

std::vector<std::string> fill_initial_data(Engine& engine, const ir::Program& program,
                                           const std::optional<ir::Program>& init, const RunRequest& request,
                                           Machine& machine, const std::set<std::string>& kept) {
    std::set<std::string> filled = kept;
    std::set<std::string> loaded;
    for (const Load& load : request.loads) {
        const FieldSet set = find_fields(program, load.field);
        loaded.insert(set.fields.begin(), set.fields.end());
    }
    std::set<std::string> distances;  // between cells: first of all, as positions follow from them
    for (const ir::StretchedAxis& axis : program.stretched)
        if (!axis.field.empty()) distances.insert(axis.field);
    bool has_points = false;
    std::map<int, ir::AxisPoints> points;
    const auto is_due = [&](const std::string& field) {
        return has_points != distances.contains(field) && !kept.contains(field);
    };
    const auto is_wanted = [&](const ir::Field& output) {
        const ir::Field* field = find_field(program, output.name);
        return field != nullptr && output.role == ir::Role::output && !loaded.contains(field->name) &&
               is_due(field->name);
    };
    const auto fill = [&](const Initializer& part, const ir::Program* whole) {
        if (std::ranges::none_of(part.program.fields, is_wanted)) return;
        for (const rt::Box& box : boxes_of(part, engine, machine, request)) {
            const bool is_all = whole != nullptr && box == rt::whole_box(request.extent);
            const ir::Program of_box = is_all ? ir::Program() : program_of_box(part, request.extent, box);
            const ir::Program& made = is_all ? *whole : of_box;
            LoadTimings timings;
            std::unique_ptr<Engine> maker =
                part.grid.is_whole()
                    ? machine.load_initializer(made, box.extent(), options_of_init(request), timings)
                    : machine.load_alone(made, box.extent(), options_of_init(request), timings);
            set_known_arguments(*maker, made, request);
            if (has_points) fill_axis_tables(*maker, made, points, box);
            maker->run(1, std::nullopt);
            for (const ir::Field& output : part.program.fields) {
                if (!is_wanted(output)) continue;
                copy_to_all_levels(engine, *find_field(program, output.name), *maker,
                                   rt::box_of_field(rt::FieldGrid::coarse(output.grid.factor), box));
                filled.insert(output.name);
            }
        }
    };
    const auto compute = [&] {
        if (init)
            for (const Initializer& part : initializers_of(*init))
                fill(part, std::ranges::all_of(init->fields, lies_whole) ? &*init : nullptr);
    };
    const auto load_file = [&](const Load& load) {
        const FieldSet set = find_fields(program, load.field);
        if (!is_due(set.fields.front())) return;
        std::vector<std::vector<int>> times;
        for (const std::string& name : set.fields)
            times.push_back(times_of(*find_field(program, name)));
        if (serves(load.path, FileUse::load_picture)) {
            load_picture(load, engine, *find_field(program, set.fields.front()), request);
        } else {
            check_coordinates(load, set, program, request);
            load_fields(load.path, "field " + load.field, engine, set, request.rank(), times);
        }
        filled.insert(set.fields.begin(), set.fields.end());
    };
    const auto fill_due = [&] {
        compute();
        for (const Load& load : request.loads)
            load_file(load);
    };
    if (!distances.empty() && machine.is_shared())
        throw rt::Error(rt::ErrorCode::bad_argument,
                        "a spacing that is a field is not built yet where several processes share the grid; "
                        "a formula of the index is");
    const bool keeps_tables = std::ranges::any_of(program.stretched, [&](const ir::StretchedAxis& axis) {
        return std::ranges::any_of(axis.tables,
                                   [&](const auto& table) { return kept.contains(table.field); });
    });
    if (!distances.empty()) fill_due();
    has_points = true;
    if (!keeps_tables) {
        points = points_of_axes(engine, program, request);
        fill_axis_tables(engine, program, points, rt::whole_box(request.extent));
    }
    for (const ir::StretchedAxis& axis : program.stretched)
        for (const ir::StretchedAxis::Table& table : axis.tables)
            filled.insert(table.field);
    fill_due();
    std::vector<std::string> zeros;
    for (const ir::Field& field : program.fields) {
        const bool is_injected = std::any_of(
            program.statements.begin(), program.statements.end(), [&](const ir::Statement& statement) {
                const auto* inject = std::get_if<ir::Inject>(&statement);
                return inject != nullptr && &program[inject->target] == &field;
            });
        if (is_injected) continue;  // it is meant to start at rest
        bool starts_with_values = field.role == ir::Role::state || field.role == ir::Role::input;
        if (starts_with_values && !filled.contains(field.name) && is_read(program, field))
            zeros.push_back(field.name);
    }
    return zeros;
}

}  // namespace halo::driver
