#include <fmt/format.h>

#include "compiler/bench/growth_programs.h"
#include "compiler/bench/page.h"
#include "compiler/driver/console/progress.h"

namespace halo::bench {

namespace {

std::string milliseconds(double seconds) {
    return seconds <= 0 ? "–" : fmt::format("{:.{}f}", seconds * 1e3, seconds < 0.1 ? 2 : 0);
}

std::string grids(const Results& results) {
    std::string text =
        "\n#### Time and the grid\n\nA step of the 3D 7-point star in f32, by the schedule that is chosen "
        "for each "
        "grid.\n\n| cells | µs a step | GStencil/s | schedule |\n| --- | --- | --- | --- |\n";
    for (const GridGrowth& each : results.grids)
        text += fmt::format("| {}³ | {:.1f} | {:.1f} | {} |\n", each.side, each.seconds * 1e6,
                            each.rate / 1e9, each.schedule);
    return text;
}

std::string compiles(const Results& results) {
    std::string text =
        "\n#### Time to compile and the program\n\n`chain`: each statement reads neighbours of the one "
        "before, and is a "
        "stage of its own. `wide`: each has a field of its\nown, and all are one stage. `lets`: one "
        "statement made of a "
        "row of lets. Milliseconds.\n\n| program | statements | check | optimise | choose | lower | print | "
        "to text | "
        "kB of text | to machine code |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    for (const CompileGrowth& each : results.compiles)
        text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", each.shape,
                            each.statements, milliseconds(each.check), milliseconds(each.optimise),
                            milliseconds(each.choose), milliseconds(each.lower), milliseconds(each.print),
                            milliseconds(each.to_text()), each.text_bytes / 1000, milliseconds(each.compile));
    return text;
}

}  // namespace

std::string growth_section(const Results& results, const PageFiles& files) {
    if (results.grids.empty() && results.compiles.empty()) return "";
    std::string text = "\n### How time grows\n";
    if (!files.growth.empty())
        text +=
            fmt::format("\n![Speed against the grid, and compiling against the program]({})\n", files.growth);
    if (!results.grids.empty()) text += grids(results);
    if (!results.compiles.empty()) text += compiles(results);
    return text;
}

}  // namespace halo::bench
