#include "compiler/driver/running/saved_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "compiler/driver/console/exit_code.h"
#include "compiler/support/file_kinds.h"
#include "runtime/ranks/together.h"

namespace halo::driver {

namespace {

// Machines differ in the sign of what is no number.
double unsigned_if_nan(double value) {
    return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

void add_column(RunRequest& request, const std::string& name, const std::string& path,
                const sema::Frames& frames) {
    Output column;
    column.kind = Output::Kind::column;
    column.field.name = name;
    column.path = path;
    column.frames = frames;
    request.outputs.push_back(std::move(column));
}

// "mass [kg]", in quotes where a reader of tables would take it apart.
std::string title(const std::string& name, const std::string& unit) {
    const std::string text = with_unit(name, unit);
    if (text.find_first_of(",\"") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text)
        quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

}  // namespace

bool take_column(RunRequest& request, const FileArgument& argument, const sema::Frames& frames) {
    const std::string& name = argument.field;
    if (std::ranges::count(request.reductions, name) == 0) return false;
    if (!argument.parts.empty())
        refuse_usage(fmt::format("--save {}: a reduction is one number, and has no part", name),
                     fmt::format("for example --save {0}={0}.csv", name));
    if (frames.together)
        refuse_usage(fmt::format("--save {}: a table has all its rows in one file already", name),
                     "leave --together out");
    if (frames.every > 0 && frames.from == 0)
        refuse_usage(fmt::format("--save-every: there is nothing to write of {} before the first step: it is "
                                 "computed in each step",
                                 name),
                     fmt::format("for example --save-every '{0} from {0}'", frames.every));
    // `--save mass` alone
    const std::string path = argument.path == name + ".npy"
                                 ? name + std::string(usual_ending(FileUse::save_column))
                                 : argument.path;
    add_column(request, name, path, frames);
    return true;
}

void take_columns(RunRequest& request, const std::vector<sema::Save>& saves,
                  const std::set<std::string>& given) {
    for (const sema::Save& save : saves)
        if (!given.contains(save.field)) add_column(request, save.field, save.path, save.frames);
}

void check_columns(const RunRequest& request) {
    for (const Output& one : request.outputs)
        for (const Output& other : request.outputs)
            if (one.is_column() && shares_file(one, other) && one.frames != other.frames)
                refuse_usage(fmt::format("{} and {} are columns of {}, and are saved after other steps",
                                         one.field.name, other.field.name, one.path),
                             "give them the same `every`, or files of their own");
}

void SavedTable::begin(const RunRequest& request) {
    const std::string& path = columns_.front()->path;
    if (needs_hdf5(path)) {
        std::vector<rt::Hdf5Table::Column> columns;
        for (const Output* column : columns_)
            columns.push_back({column->field.name, column->unit});
        hdf5_ = std::make_unique<rt::Hdf5Table>(path, columns, request.time_unit, provenance_);
    } else {
        std::string titles = "step," + title("time", request.time_unit);
        for (const Output* column : columns_)
            titles += "," + title(column->field.name, column->unit);
        titles += "\n";
        text_.emplace(path);
        text_->write(titles.data(), titles.size());
    }
}

void SavedTable::write(std::int64_t done, double time, const std::vector<double>& numbers) {
    if (hdf5_) return hdf5_->add_row(done, time, numbers);
    const std::string row = fmt::format("{},{},{}\n", done, time, fmt::join(numbers, ","));
    text_->write(row.data(), row.size());
}

void SavedTable::add_row(rt::Ranks& ranks, Engine& engine, const RunRequest& request, std::int64_t done) {
    // The last row may have been written before the run was known to end there.
    if (std::exchange(last_row_, done) == done && is_begun_) return;
    std::vector<double> numbers;
    for (const Output* column : columns_)
        if (done > 0) numbers.push_back(unsigned_if_nan(engine.reduction(column->field.name)));
    rt::together(ranks, [&] {
        if (!ranks.is_first()) return;
        if (!is_begun_) begin(request);
        if (done > 0) write(done, request.time_after(done), numbers);
    });
    is_begun_ = true;
}

void SavedTable::finish(rt::Ranks& ranks) {
    rt::together(ranks, [&] {
        if (text_) text_->commit();
        if (hdf5_) hdf5_->commit();
    });
}

}  // namespace halo::driver
