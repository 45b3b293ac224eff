#include "compiler/driver/planning/explain_entries.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "compiler/driver/console/arguments.h"
#include "compiler/driver/console/progress.h"
#include "compiler/ir/analysis.h"
#include "compiler/schedule/shared_layout.h"

namespace halo::driver {

namespace {

constexpr int kIndent = 14;

// Text of several lines in that column, without wrapping.
std::string picture(std::string_view title, const std::string& text) {
    std::string result = fmt::format("  {:<{}}", title, kIndent - 2);
    for (char c : text) {
        result += c;
        if (c == '\n') result += std::string(kIndent, ' ');
    }
    while (!result.empty() && (result.back() == ' ' || result.back() == '\n'))
        result.pop_back();
    return result + '\n';
}

std::string level_name(const ir::Program& program, ir::FieldId field, int time) {
    const std::string& name = program[field].name;
    if (time == 0) return name;
    return time > 0 ? fmt::format("{}[t+{}]", name, time) : fmt::format("{}[t{}]", name, time);
}

}  // namespace

std::string explain_entry(std::string_view title, std::string_view text, int width) {
    std::string result = fmt::format("  {:<{}}", title, kIndent - 2);
    int column = kIndent;
    std::string_view rest = text;
    while (!rest.empty()) {
        std::size_t end = rest.find_first_of(" \n");
        std::string_view word = rest.substr(0, end);
        if (column > kIndent && column + 1 + static_cast<int>(word.size()) > width) {
            result += '\n' + std::string(kIndent, ' ');
            column = kIndent;
        } else if (column > kIndent) {
            result += ' ';
            ++column;
        }
        result += word;
        column += static_cast<int>(word.size());
        if (end == std::string_view::npos) break;
        if (rest[end] == '\n') {
            result += '\n' + std::string(kIndent, ' ');
            column = kIndent;
        }
        rest.remove_prefix(end + 1);
    }
    return result + '\n';
}

std::string describe_reads(const ir::Program& program, const schedule::Footprint& footprint) {
    std::vector<std::string> words;
    for (const schedule::LevelRead& read : footprint.reads) {
        std::string text = level_name(program, read.field, read.time);
        if (read.at_neighbours()) {
            text += fmt::format(" at {} points ({})", read.offsets.size(), read.star ? "a star" : "a box");
        }
        words.push_back(text);
    }
    for (const ir::FieldId id : footprint.elsewhere) {
        const ir::Field& field = program[id];
        words.push_back(
            !field.grid.has_all_axes()
                ? fmt::format("{} (over {})", field.name, fmt::join(ir::own_axes(program, field), ", "))
            : field.grid.factor != 1 ? fmt::format("{} (on coarse({}))", field.name, field.grid.factor)
                                     : fmt::format("{} (of the grid itself)", field.name));
    }
    return words.empty() ? "nothing" : join(words, ", ");
}

std::string describe_writes(const ir::Program& program, const StageChoice& stage) {
    std::vector<std::string> words;
    for (const schedule::LevelWrite& write : stage.footprint.writes)
        words.push_back(level_name(program, write.field, write.time));
    for (int index : stage.stage.statements) {
        if (const auto* reduce =
                std::get_if<ir::Reduce>(&program.statements[static_cast<std::size_t>(index)])) {
            words.push_back(fmt::format("{} (reduced)", reduce->name));
        }
        if (const auto* sample =
                std::get_if<ir::Sample>(&program.statements[static_cast<std::size_t>(index)])) {
            const ir::Points& points = program[sample->points];
            words.push_back(fmt::format("{}.{} (sampled)", points.name,
                                        points.traces[static_cast<std::size_t>(sample->trace)].name));
        }
    }
    return join(words, ", ");
}

std::string describe_operations(const schedule::Operations& operations) {
    std::vector<std::string> words;
    auto add = [&](int count, const char* name) {
        if (count > 0) words.push_back(fmt::format("{} {}", count, name));
    };
    add(operations.adds, "add");
    add(operations.multiplies, "mul");
    add(operations.fmas, "fma");
    add(operations.divisions, "div");
    add(operations.roots, "root");
    add(operations.functions, "function");
    add(operations.draws, operations.draws == 1 ? "random number" : "random numbers");
    add(operations.comparisons, "compare");
    return words.empty() ? "no arithmetic" : join(words, ", ");
}

std::string describe_sharing(const schedule::Footprint& footprint) {
    const int saved = footprint.flops_alone - footprint.operations.flops();
    return saved <= 0 ? "" : fmt::format(" and {} shared with neighbours", saved);
}

std::string explain_shared(const ir::Program& program, const StageChoice& stage, int width) {
    schedule::SharedLayout layout = schedule::make_shared_layout(stage.footprint, stage.schedule);
    if (layout.levels.empty())
        return explain_entry("shared", "none: neighbours come through registers and caches", width);
    std::string text = explain_entry(
        "shared", fmt::format("{} a block", format_bytes(static_cast<double>(layout.bytes))), width);
    std::vector<schedule::SharedAccess> accesses =
        schedule::shared_accesses(stage.footprint, stage.schedule, layout);
    for (std::size_t i = 0; i < layout.levels.size(); ++i) {
        const schedule::StagedLevel& level = layout.levels[i];
        text += picture("", schedule::draw(program, level));
        for (const schedule::SharedAccess& access : accesses) {
            if (access.level != static_cast<int>(i)) continue;
            text += explain_entry(
                "",
                fmt::format("load at ({}): {} element{} a thread, {}",
                            fmt::join(access.offset.begin(), access.offset.begin() + program.rank(), ", "),
                            access.width, access.width == 1 ? "" : "s",
                            access.conflicts() == 0
                                ? "no bank conflicts"
                                : fmt::format("{} passes where {} would do: bank conflicts", access.passes,
                                              access.least)),
                width);
        }
    }
    return text +
           explain_entry("padding", schedule::choose_padding(stage.footprint, stage.schedule).reason, width);
}

}  // namespace halo::driver
