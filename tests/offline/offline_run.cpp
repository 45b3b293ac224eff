#include "offline_run.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "compare_engines.h"
#include "compiler/emit/launcher_model.h"
#include "runtime/core/element.h"
#include "temporary_folder.h"

namespace halo::test {

namespace {

constexpr int kSteps = 5;

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

const emit::LevelName& level_of(const emit::LauncherModel& model, const Reference::Level& level) {
    return names_of(model, level.field).level(level.time);
}

rt::ElementType type_of(const rt::LaunchPlan& plan, const std::string& field) {
    std::size_t index = 0;
    while (plan.fields[index].name != field)
        ++index;
    return plan.fields[index].type;
}

// To an array with gaps between its rows and planes, and back when the field has been cleared: nothing
// changes, and what lies in the gaps is not written.
std::string through_gaps(const emit::LauncherModel& model, const emit::LevelName& level,
                         const std::array<std::int64_t, 3>& extent, const std::string& type) {
    const std::int64_t pitch = extent[0] + 3, slice = pitch * (extent[1] + 1);
    std::string arguments = "(solver, (" + type + "*)gapped";
    if (model.plan.rank > 1) arguments += ", " + std::to_string(pitch);
    if (model.plan.rank > 2) arguments += ", " + std::to_string(slice);
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
    const std::int64_t gapped = (reference.extent[0] + 3) * (reference.extent[1] + 1) * reference.extent[2];
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
        text += check + model.set_table[n] + "(solver, " + rows + ", 0)" + failed;
        text += check + model.set_table[n] + "(solver, " + rows + ", " + std::to_string(numbers / given) +
                ")" + failed;
    }
    const auto moved = [&](const std::string& call, const Reference::Level& level, const std::string& file) {
        const auto size = rt::size_of(type_of(plan, level.field));
        return call + "(values, " + std::to_string(size) + ", " + std::to_string(cells) + ", " + file + ")";
    };
    const auto values_of = [&](const Reference::Level& level) {
        return "(solver, (" + names_of(model, level.field).type + "*)values)";
    };
    for (const Reference::Level& level : reference.levels()) {
        text += "    if (" + moved("fread", level, "in") + " == 0) return 2;\n";
        text += check + level_of(model, level).set + values_of(level) + failed;
        text +=
            through_gaps(model, level_of(model, level), reference.extent, names_of(model, level.field).type);
    }
    text += check + model.advance + "(solver, " + std::to_string(kSteps - 2) + ")" + failed;
    text += check + model.advance + "(solver, 2)" + failed;
    for (const Reference::Level& level : reference.levels()) {
        text += check + level_of(model, level).get + values_of(level) + failed;
        text += "    " + moved("fwrite", level, "out") + ";\n";
    }
    for (const std::string& get : model.get_reduction) {
        text += check + get + "(solver, &value)" + failed + "    fwrite(&value, 8, 1, out);\n";
    }
    text += check + model.wait + "(solver)" + failed;
    return text + "    " + model.destroy + "(solver);\n    return fclose(out);\n}\n";
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

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string compare(const Offline& offline, const Reference& reference, const std::string& end,
                    const std::string& result) {
    const auto& reductions = offline.lowered.plan.reductions;
    if (result.size() != end.size() + 8 * reductions.size()) return "the results are of the wrong size";
    std::size_t at = 0;
    for (const Reference::Level& level : reference.levels()) {
        const rt::ElementType type = type_of(offline.lowered.plan, level.field);
        const auto size = static_cast<std::size_t>(rt::size_of(type));
        for (std::size_t cell = 0; cell < level.end.size(); ++cell, at += size) {
            if (std::memcmp(result.data() + at, end.data() + at, size) == 0) continue;
            return level.field + " differs first in cell " + std::to_string(cell) + ": it is " +
                   number(rt::decode(result.data() + at, type)) + ", not " + number(level.end[cell]);
        }
    }
    for (std::size_t n = 0; n < reductions.size(); ++n) {
        double value = 0;
        std::memcpy(&value, result.data() + end.size() + 8 * n, 8);
        const double expected = reference.reduction(reductions[n].name);
        if (value != expected && !(std::fabs(value - expected) <= 1e-12 * std::fabs(expected))) {
            return reductions[n].name + " is " + number(value) + ", not " + number(expected);
        }
    }
    return "";
}

}  // namespace

std::string offline_difference(const OfflineCase& offline_case, const BuildCommand& build,
                               const std::function<std::string(std::string)>& change_source) {
    const Offline offline = make_offline(offline_case);
    const std::string& name = offline.program.name;
    const Reference reference(offline.program, offline_case.extent, kSteps, 7);
    std::string start, end;
    for (std::size_t n = 0; n < reference.tables().size(); ++n)
        start += bytes_of(reference.tables()[n].second, offline.lowered.plan.tables[n].type);
    for (const Reference::Level& level : reference.levels()) {
        const rt::ElementType type = type_of(offline.lowered.plan, level.field);
        start += bytes_of(level.start, type);
        end += bytes_of(level.end, type);
    }
    const TemporaryFolder folder;
    write_file(folder / (name + ".cu"),
               change_source ? change_source(offline.files.source) : offline.files.source);
    write_file(folder / (name + ".h"), offline.files.header);
    write_file(folder / "main.c", c_program(offline, reference));
    write_file(folder / "start.bin", start);
    const CommandResult run =
        run_command("cd '" + folder.path().string() + "' && " + build(name) + " && ./program");
    if (run.code != 0) return run.output.empty() ? "the program failed" : run.output;
    return compare(offline, reference, end, read_file(folder / "end.bin"));
}

}  // namespace halo::test
