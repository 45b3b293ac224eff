#include "offline_run.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include "compiler/emit/launcher_model.h"
#include "runtime/core/element.h"
#include "temporary_folder.h"

namespace halo::test {

namespace {

constexpr int kSteps = kOfflineSteps;

std::string number(double value) {
    char text[64];
    std::snprintf(text, sizeof(text), "%.17g", value);
    return text;
}

const emit::FieldNames& names_of(const emit::LauncherModel& model, const std::string& field) {
    std::size_t index = 0;
    while (model.plan.fields[index].name != field)
        ++index;
    return model.fields[index];
}

// What callers set and get: not what unequal spacing gives.
std::vector<Reference::Level> levels_of(const Reference& reference) {
    std::vector<Reference::Level> levels;
    for (const Reference::Level& level : reference.levels())
        if (level.field.find("..") == std::string::npos) levels.push_back(level);
    return levels;
}

const emit::LevelName& level_of(const emit::LauncherModel& model, const Reference::Level& level) {
    return names_of(model, level.field).level(level.time);
}

const rt::FieldPlan& plan_of(const rt::LaunchPlan& plan, const std::string& field) {
    std::size_t index = 0;
    while (plan.fields[index].name != field)
        ++index;
    return plan.fields[index];
}

rt::ElementType type_of(const rt::LaunchPlan& plan, const std::string& field) {
    return plan_of(plan, field).type;
}

// To an array with gaps between its rows and planes, and back when the field has been cleared: nothing
// changes, and what lies in the gaps is not written. extent: along the field's own axes.
std::string through_gaps(const emit::LauncherModel& model, const emit::LevelName& level,
                         const rt::FieldPlan& field, const halo::rt::Extent& extent,
                         const std::string& type) {
    const std::int64_t pitch = extent[0] + 3, slice = pitch * (extent[1] + 1),
                       volume = slice * (extent[2] + 1);
    std::string arguments = "(solver, (" + type + "*)gapped";
    const int rank = field.grid.rank(model.plan.rank);
    if (rank > 1) arguments += ", " + std::to_string(pitch);
    if (rank > 2) arguments += ", " + std::to_string(slice);
    if (rank > 3) arguments += ", " + std::to_string(volume);
    arguments += ")";
    const auto call = [&](const std::string& text) {
        return "    if (" + text + ") { puts(" + model.message + "()); return 1; }\n";
    };
    std::string text = "    ((" + type + "*)gapped)[" + std::to_string(extent[0]) + "] = 1;\n";
    text += call(level.copy_to + arguments) + call(model.wait + "(solver)");
    text += call(level.set + "(solver, (" + type + "*)zeros)");
    text += call(level.copy_from + arguments) + call(model.wait + "(solver)");
    return text + "    if (((" + type + "*)gapped)[" + std::to_string(extent[0]) + "] != 1) return 3;\n";
}

// The calls of a user's program that have to do with points. What is read from start.bin lies there as
// bytes_of_points() has it.
class PointCalls {
public:
    PointCalls(const emit::LauncherModel& model, const Reference& reference)
        : model_(model), reference_(reference) {}

    std::string give() const {
        std::string text;
        for (std::size_t n = 0; n < model_.plan.points.size(); ++n) {
            const Reference::PointSet& set = set_of(n);
            const std::string numbers = "places_" + std::to_string(n);
            text += read(numbers, set.positions.size());
            // More points than there are at first.
            text += call(model_.points[n].place, numbers + ", 0");
            text += place(n);
            for (const auto& [name, values] : set.given) {
                const std::string of = name + "_" + std::to_string(n);
                text += read(of, values.size());
                text += call(function_of(n, name), of + rows(n, name, values.size()));
            }
        }
        return text;
    }

    std::string place_again() const {
        std::string text;
        for (std::size_t n = 0; n < model_.plan.points.size(); ++n)
            text += place(n);
        return text;
    }

    // In two parts, and more than there is.
    std::string take() const {
        std::string text;
        for (std::size_t n = 0; n < model_.plan.points.size(); ++n) {
            const std::size_t count = count_of(n);
            for (const auto& [name, values] : set_of(n).sampled) {
                const std::string of = name + "_" + std::to_string(n), get = function_of(n, name);
                text += "    static double " + of + "[" + std::to_string(values.size() + 1) + "];\n";
                text += "    if (!" + get + "(solver, " + of + ", 1, " + std::to_string(kSteps) +
                        ")) return 4;\n";
                text += call(get, of + ", 0, 2");
                text +=
                    call(get, of + " + " + std::to_string(2 * count) + ", 2, " + std::to_string(kSteps - 2));
                text += "    fwrite(" + of + ", 8, " + std::to_string(values.size()) + ", out);\n";
            }
        }
        return text;
    }

private:
    const Reference::PointSet& set_of(std::size_t n) const {
        for (const Reference::PointSet& set : reference_.points())
            if (set.name == model_.plan.points[n].name) return set;
        throw std::runtime_error("the reference has no such points");
    }
    std::size_t count_of(std::size_t n) const {
        return set_of(n).positions.size() / static_cast<std::size_t>(model_.plan.rank);
    }
    bool is_column(std::size_t n, const std::string& name) const {
        const auto& columns = model_.plan.points[n].columns;
        return std::find(columns.begin(), columns.end(), name) != columns.end();
    }
    std::string function_of(std::size_t n, const std::string& name) const {
        const rt::PointsPlan& plan = model_.plan.points[n];
        for (std::size_t i = 0; i < plan.columns.size(); ++i)
            if (plan.columns[i] == name) return model_.points[n].columns[i].function;
        for (std::size_t i = 0; i < plan.traces.size(); ++i)
            if (plan.traces[i].name == name) return model_.points[n].traces[i].function;
        throw std::runtime_error("the plan has no such numbers");
    }
    std::string rows(std::size_t n, const std::string& name, std::size_t numbers) const {
        if (is_column(n, name)) return "";
        return ", " + std::to_string(count_of(n) == 0 ? 0 : numbers / count_of(n));
    }
    std::string place(std::size_t n) const {
        return call(model_.points[n].place,
                    "places_" + std::to_string(n) + ", " + std::to_string(count_of(n)));
    }
    static std::string read(const std::string& array, std::size_t numbers) {
        const std::string count = std::to_string(numbers);
        return "    static double " + array + "[" + std::to_string(numbers + 1) + "];\n    if (fread(" +
               array + ", 8, " + count + ", in) != " + count + ") return 2;\n";
    }
    std::string call(const std::string& function, const std::string& arguments) const {
        return "    if (" + function + "(solver, " + arguments + ")) { puts(" + model_.message +
               "()); return 1; }\n";
    }

    const emit::LauncherModel& model_;
    const Reference& reference_;
};

// A user's program: start values from start.bin, results to end.bin, all as the fields' types.
std::string c_program(const Offline& offline, const Reference& reference) {
    const rt::LaunchPlan& plan = offline.lowered.plan;
    const emit::LauncherModel model(offline.lowered.kernels, plan, plan.name);
    const std::string check = "    if (";
    const std::string failed = ") { puts(" + model.message + "()); return 1; }\n";
    std::int64_t cells = 1;
    std::string extents;
    for (int axis = 0; axis < plan.rank; ++axis) {
        cells *= reference.extent[axis];
        if (!model.is_fixed()) extents += std::to_string(reference.extent[axis]) + ", ";
    }
    std::string text = "#include <stdio.h>\n#include \"" + plan.name + ".h\"\n";
    text += "static double values[" + std::to_string(cells) + "], zeros[" + std::to_string(cells) + "];\n";
    std::int64_t gapped = 3;
    for (const std::int64_t length : reference.extent)
        gapped = gapped == 3 ? length + 3 : gapped * (length + 1);
    text += "static double gapped[" + std::to_string(gapped) + "];\nint main(void) {\n";
    text += "    " + model.solver + "* solver = NULL;\n    double value = 0;\n";
    text += "    FILE* in = fopen(\"start.bin\", \"rb\");\n    FILE* out = fopen(\"end.bin\", \"wb\");\n";
    text += check + model.create + "(" + extents + "&solver)" + failed;
    for (std::size_t n = 0; n < plan.params.size(); ++n) {
        const double value = plan.params[n].default_value.value_or(0.25 + 0.125 * static_cast<double>(n));
        text += check + model.set_param[n] + "(solver, " + number(value) + ")" + failed;
    }
    text += check + model.use_stream + "(solver, NULL)" + failed;
    for (std::size_t n = 0; n < plan.tables.size(); ++n) {
        const rt::TablePlan& table = plan.tables[n];
        const std::size_t numbers = reference.tables()[n].second.size(),
                          given = static_cast<std::size_t>(table.given);
        const std::string rows = "rows_" + std::to_string(n), type = model.rows_type(static_cast<int>(n));
        text += "    static " + type + " " + rows + "[" + std::to_string(numbers + 1) + "];\n";
        text += "    if (fread(" + rows + ", sizeof(" + type + "), " + std::to_string(numbers) +
                ", in) != " + std::to_string(numbers) + ") return 2;\n";
        // More rows than there are at first.
        if (!table.is_series) text += check + model.set_table[n] + "(solver, " + rows + ", 0)" + failed;
        text += check + model.set_table[n] + "(solver, " + rows + ", " + std::to_string(numbers / given) +
                ")" + failed;
    }
    const PointCalls points(model, reference);
    text += points.give();
    const auto moved = [&](const std::string& call, const Reference::Level& level, const std::string& file) {
        const auto size = rt::size_of(type_of(plan, level.field));
        return call + "(values, " + std::to_string(size) + ", " + std::to_string(level.start.size()) + ", " +
               file + ")";
    };
    const auto values_of = [&](const Reference::Level& level) {
        return "(solver, (" + names_of(model, level.field).type + "*)values)";
    };
    for (const Reference::Level& level : levels_of(reference)) {
        text += "    if (" + moved("fread", level, "in") + " == 0) return 2;\n";
        text += check + level_of(model, level).set + values_of(level) + failed;
        const rt::FieldPlan& field = plan_of(plan, level.field);
        text += through_gaps(model, level_of(model, level), field,
                             field.grid.own_axes(reference.extent, std::int64_t{1}),
                             names_of(model, level.field).type);
    }
    text += check + model.advance + "(solver, " + std::to_string(kSteps - 2) + ")" + failed;
    text += points.place_again();
    text += check + model.advance + "(solver, 2)" + failed;
    for (const Reference::Level& level : levels_of(reference)) {
        text += check + level_of(model, level).get + values_of(level) + failed;
        text += "    " + moved("fwrite", level, "out") + ";\n";
    }
    text += points.take();
    for (const std::string& get : model.get_reduction) {
        if (get.empty()) continue;
        text += check + get + "(solver, &value)" + failed + "    fwrite(&value, 8, 1, out);\n";
    }
    text += check + model.wait + "(solver)" + failed;
    return text + "    " + model.destroy + "(solver);\n    return fclose(out);\n}\n";
}

// Those that launchers have a function for.
std::vector<std::string> reductions_given(const rt::LaunchPlan& plan) {
    std::vector<std::string> names;
    for (const rt::ReductionPlan& reduction : plan.reductions)
        if (reduction.ahead_of < 0 && !rt::is_hidden_reduction(reduction.name))
            names.push_back(reduction.name);
    return names;
}

// As they lie in a file. What the interpreter keeps of an i64 is its bits.
std::string bytes_of(const std::vector<double>& values, rt::ElementType type) {
    std::string bytes(values.size() * static_cast<std::size_t>(rt::size_of(type)), '\0');
    if (type == rt::ElementType::i64) {
        std::memcpy(bytes.data(), values.data(), bytes.size());
    } else {
        rt::encode(values.data(), static_cast<std::int64_t>(values.size()), type, bytes.data());
    }
    return bytes;
}

std::string bytes_of_points(const Offline& offline, const Reference& reference) {
    std::string bytes;
    for (const rt::PointsPlan& plan : offline.lowered.plan.points) {
        for (const Reference::PointSet& set : reference.points()) {
            if (set.name != plan.name) continue;
            bytes += bytes_of(set.positions, rt::ElementType::f64);
            for (const auto& [name, values] : set.given)
                bytes += bytes_of(values, rt::ElementType::f64);
        }
    }
    return bytes;
}

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// A value that is not a number has no bits of its own.
bool same_element(const char* a, const char* b, rt::ElementType type) {
    const auto size = static_cast<std::size_t>(rt::size_of(type));
    return std::memcmp(a, b, size) == 0 ||
           (std::isnan(rt::decode(a, type)) && std::isnan(rt::decode(b, type)));
}

// What lies at the beginning of `given`, which moves on; `name` is for the message.
std::string compare_values(const std::string& name, const std::vector<double>& expected, rt::ElementType type,
                           std::string_view& given) {
    const std::string bytes = bytes_of(expected, type);
    if (given.size() < bytes.size()) return "the results are of the wrong size";
    const auto size = static_cast<std::size_t>(rt::size_of(type));
    for (std::size_t n = 0; n < expected.size(); ++n) {
        if (same_element(given.data() + n * size, bytes.data() + n * size, type)) continue;
        return name + " differs first in cell " + std::to_string(n) + ": it is " +
               number(rt::decode(given.data() + n * size, type)) + ", not " +
               number(rt::decode(bytes.data() + n * size, type));
    }
    given.remove_prefix(bytes.size());
    return "";
}

// The traces that are sampled, as the program writes them: in the order of the plan's points.
template <class Each>
void for_sampled(const rt::LaunchPlan& plan, const Reference& reference, const Each& each) {
    for (const rt::PointsPlan& points : plan.points)
        for (const Reference::PointSet& set : reference.points())
            for (std::size_t n = 0; set.name == points.name && n < set.sampled.size(); ++n)
                each(set, set.sampled[n].first, set.sampled[n].second);
}

std::string compare(const Offline& offline, const Reference& reference, const OfflineResults& results,
                    std::string_view given) {
    const rt::LaunchPlan& plan = offline.lowered.plan;
    std::string trouble;
    for (std::size_t n = 0; n < results.levels.size() && trouble.empty(); ++n) {
        const std::string field = levels_of(reference)[n].field;
        trouble = compare_values(field, results.levels[n], type_of(plan, field), given);
    }
    std::size_t trace = 0;
    for_sampled(plan, reference, [&](const Reference::PointSet& set, const std::string& name, const auto&) {
        const std::vector<double>& expected = results.sampled[trace++];
        if (trouble.empty())
            trouble = compare_values(set.name + "." + name, expected, rt::ElementType::f64, given);
    });
    if (!trouble.empty()) return trouble;
    if (given.size() != 8 * results.reductions.size()) return "the results are of the wrong size";
    for (std::size_t n = 0; n < results.reductions.size(); ++n) {
        double value = 0;
        std::memcpy(&value, given.data() + 8 * n, 8);
        const double expected = results.reductions[n];
        const bool same = value == expected || (std::isnan(value) && std::isnan(expected)) ||
                          std::fabs(value - expected) <= 1e-12 * std::fabs(expected);
        if (!same) return reductions_given(plan)[n] + " is " + number(value) + ", not " + number(expected);
    }
    return "";
}

std::string start_bytes(const Offline& offline, const Reference& reference) {
    const rt::LaunchPlan& plan = offline.lowered.plan;
    std::string start;
    for (std::size_t n = 0; n < reference.tables().size(); ++n)
        start += bytes_of(reference.tables()[n].second, plan.tables[n].type);
    start += bytes_of_points(offline, reference);
    for (const Reference::Level& level : levels_of(reference))
        start += bytes_of(level.start, type_of(plan, level.field));
    return start;
}

void give_start(const Reference& reference, rt::Session& session) {
    for (const rt::ParamPlan& param : session.plan().params) {
        const auto n = static_cast<std::size_t>(&param - session.plan().params.data());
        session.set_param(param.name, param.default_value.value_or(0.25 + 0.125 * static_cast<double>(n)));
    }
    for (const auto& [name, rows] : reference.tables())
        session.set_table(name, rows);
    for (const Reference::PointSet& set : reference.points()) {
        session.set_points(set.name, set.positions);
        for (const auto& [name, values] : set.given)
            session.set_point_values(set.name, name, values);
    }
    for (const Reference::Level& level : levels_of(reference)) {
        const std::string bytes = bytes_of(level.start, type_of(session.plan(), level.field));
        session.upload_elements(level.field, level.time, bytes.data(),
                                static_cast<std::int64_t>(bytes.size()));
    }
}

}  // namespace

OfflineResults results_of(const Reference& reference, const rt::LaunchPlan& plan) {
    OfflineResults results;
    for (const Reference::Level& level : levels_of(reference))
        results.levels.push_back(level.end);
    for_sampled(plan, reference, [&](const auto&, const auto&, const std::vector<double>& values) {
        results.sampled.push_back(values);
    });
    for (const std::string& name : reductions_given(plan))
        results.reductions.push_back(reference.reduction(name));
    return results;
}

OfflineResults results_of(const Reference& reference, rt::Session& session) {
    give_start(reference, session);
    session.step(kSteps);
    OfflineResults results;
    for (const Reference::Level& level : levels_of(reference)) {
        const rt::ElementType type = type_of(session.plan(), level.field);
        std::string bytes = bytes_of(level.start, type);
        session.download_elements(level.field, level.time, bytes.data(),
                                  static_cast<std::int64_t>(bytes.size()));
        std::vector<double> values(level.start.size());
        if (type == rt::ElementType::i64) {
            std::memcpy(values.data(), bytes.data(), bytes.size());
        } else {
            rt::decode(bytes.data(), static_cast<std::int64_t>(values.size()), type, values.data());
        }
        results.levels.push_back(std::move(values));
    }
    for_sampled(session.plan(), reference,
                [&](const Reference::PointSet& set, const std::string& name, const auto&) {
                    results.sampled.push_back(session.trace(set.name, name));
                });
    for (const std::string& name : reductions_given(session.plan()))
        results.reductions.push_back(session.reduction(name));
    return results;
}

std::string offline_difference(const Offline& offline, const Reference& reference,
                               const OfflineResults& results, const BuildCommand& build,
                               const ChangeSource& change_source) {
    const std::string& name = offline.program.name;
    const TemporaryFolder folder;
    write_file(folder / (name + ".cu"),
               change_source ? change_source(offline.files.source) : offline.files.source);
    write_file(folder / (name + ".h"), offline.files.header);
    write_file(folder / "main.c", c_program(offline, reference));
    write_file(folder / "start.bin", start_bytes(offline, reference));
    const CommandResult run =
        run_command("cd '" + folder.path().string() + "' && " + build(name) + " && ./program");
    if (run.code != 0) return run.output.empty() ? "the program failed" : run.output;
    return compare(offline, reference, results, read_file(folder / "end.bin"));
}

std::string offline_difference(const OfflineCase& offline_case, const BuildCommand& build,
                               const ChangeSource& change_source) {
    const Offline offline = make_offline(offline_case);
    const Reference reference(offline.program, offline_case.extent, kSteps, 7);
    return offline_difference(offline, reference, results_of(reference, offline.lowered.plan), build,
                              change_source);
}

}  // namespace halo::test
