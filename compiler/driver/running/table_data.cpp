#include "compiler/driver/running/table_data.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/driver/running/initial_data.h"
#include "compiler/ir/analysis.h"
#include "compiler/support/file_kinds.h"
#include "runtime/io/csv.h"
#include "runtime/io/npy.h"

namespace halo::driver {

namespace {

std::vector<double> read_rows(const std::string& path, const ir::Table& table) {
    const std::size_t columns = ir::given_columns(table);
    const std::string what = (table.is_series ? "series " : "table ") + table.name;
    if (is_of(path, FileFormat::csv)) return rt::read_csv(path, columns, what);
    rt::NpyArray array = rt::read_npy(path);
    if (table.is_series && array.shape.size() == 1) return std::move(array.values);
    const bool fits = array.shape.size() == 2 && array.shape[1] == static_cast<std::int64_t>(columns);
    if (!fits && table.is_series)
        throw rt::Error(rt::ErrorCode::bad_argument,
                        fmt::format("{} holds an array of shape ({}); {} takes one axis of numbers", path,
                                    fmt::join(array.shape, ", "), what));
    if (!fits) {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < columns; ++i)
            names.push_back(table.columns[i].name);
        throw rt::Error(rt::ErrorCode::bad_argument,
                        fmt::format("{} holds an array of shape ({}); {} takes rows of {} numbers: {}", path,
                                    fmt::join(array.shape, ", "), what, columns, fmt::join(names, ", ")));
    }
    return std::move(array.values);
}

// Runs the columns' program on a grid of one cell for each row.
std::vector<double> compute_rows(const sema::TableFill& fill, const ir::Table& table,
                                 const RunRequest& request, Machine& machine) {
    const std::size_t columns = ir::given_columns(table);
    std::vector<double> rows(static_cast<std::size_t>(fill.rows) * columns);
    if (fill.rows == 0 || fill.init.statements.empty()) return rows;
    LoadTimings timings;
    CodeOptions options;
    options.strict_fp = request.strict_fp;
    std::unique_ptr<Engine> maker = machine.load_initializer(fill.init, {fill.rows, 1, 1}, options, timings);
    set_known_arguments(*maker, fill.init, request);
    maker->run(1, std::nullopt);
    for (std::size_t c = 0; c < columns; ++c) {
        const auto output =
            std::find_if(fill.init.fields.begin(), fill.init.fields.end(),
                         [&](const ir::Field& field) { return field.name == table.columns[c].name; });
        if (output == fill.init.fields.end()) continue;
        const FieldValues values = maker->download(output->name);
        for (std::int64_t row = 0; row < fill.rows; ++row)
            rows[static_cast<std::size_t>(row) * columns + c] = values.at(row);
    }
    return rows;
}

void give_rows(Engine& engine, const ir::Table& table, const std::vector<double>& rows) {
    if (table.is_series && rows.empty())
        throw rt::Error(rt::ErrorCode::bad_argument,
                        fmt::format("series {} needs one value at least", table.name));
    engine.set_table(table.name, rows);
}

}  // namespace

void fill_tables(Engine& engine, const ir::Program& program, const sema::RunSpec* run,
                 const RunRequest& request, Machine& machine) {
    for (const ir::Table& table : program.tables) {
        const auto load = std::find_if(request.table_loads.begin(), request.table_loads.end(),
                                       [&](const Load& each) { return each.field == table.name; });
        if (load != request.table_loads.end()) {
            give_rows(engine, table, read_rows(load->path, table));
            continue;
        }
        for (const sema::TableFill& fill : run->tables) {
            if (fill.table == table.name)
                give_rows(engine, table, compute_rows(fill, table, request, machine));
        }
    }
}

}  // namespace halo::driver
