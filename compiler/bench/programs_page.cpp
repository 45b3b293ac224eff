#include <fmt/format.h>

#include <algorithm>

#include "compiler/bench/page.h"
#include "compiler/bench/page_words.h"
#include "compiler/bench/programs_results.h"

namespace halo::bench {

namespace {

std::string program_rate(const ProgramResult& result, const ProgramRun& run) {
    if (!run.wrong.empty()) return "**wrong**";
    return run.seconds > 0 ? gstencil(result.rate(run)) : "–";
}

std::string part_of_bound(const ProgramResult& result, const ProgramRun& run, const MachineFacts& machine) {
    const double bound = result.bound(machine);
    return run.seconds > 0 && bound > 0 ? percent(result.rate(run) / bound) : "–";
}

std::string programs_introduction(const ProgramsResults& results) {
    const MachineFacts& machine = results.machine;
    const std::string checked = machine.is_gpu ? "single steps of one cell a thread, all bits of all fields "
                                                 "(sums that a program reads depend on the "
                                                 "order, and may differ by 2⁻¹⁸)"
                                               : "the reference interpreter";
    return fmt::format("## On a {}\n\n{}; {}; commit {}, by `{}`.\n", machine.is_gpu ? "GPU" : "CPU",
                       machine.name, machine.software, machine.commit, results.command) +
           machine_words(machine) +
           fmt::format(
               "\nPrograms of [the examples](examples.md), by the plan that the compiler chooses from the "
               "spec and "
               "the grid alone. A run does all of its steps as\n`haloc run` does, several at once where that "
               "was "
               "chosen; \"singly\" is the same step by step. Each was compared with {} before it was\ntimed, "
               "on the "
               "same grid and from the same data, and ended with finite numbers. A rate is the median of up "
               "to "
               "three runs, after one that is not counted.\n\nBytes are those that a step moves between "
               "memory and "
               "chip at least, where it is done by itself: each level that a stage reads or writes, once. "
               "The bound\n"
               "is what the copy would give these. A run that does several steps at once can be above it, "
               "and so "
               "can one whose grid stays in a cache.\n\n",
               checked);
}

std::string rates_of_programs(const ProgramsResults& results) {
    std::string text =
        table_head({"program", "steps", "done by", "GStencil/s", "of the bound", "singly, GStencil/s",
                    "of the bound", "bytes a cell", "bound, GStencil/s"});
    for (const ProgramResult& each : results.programs)
        text += table_row({each.which.name(), std::to_string(each.which.steps),
                           each.kind.empty() ? "–" : each.kind, program_rate(each, each.run),
                           part_of_bound(each, each.run, results.machine), program_rate(each, each.single),
                           part_of_bound(each, each.single, results.machine),
                           fmt::format("{:g}", each.bytes_per_cell), gstencil(each.bound(results.machine))});
    return text;
}

// The section on plans, of a GPU, whose plans a model chooses: what it says beside what was measured.
std::string plans_of_programs(const ProgramsResults& results) {
    if (!results.machine.is_gpu || results.programs.empty()) return "";
    std::string text =
        "\n### The plans\n\nWhat the model predicts is what plans are chosen by; a ratio above 1 is a "
        "program that "
        "is faster than predicted.\n\n" +
        table_head({"program", "plan", "predicted, GStencil/s", "measured", "ratio"});
    const auto row = [&](const ProgramResult& each, const ProgramRun& run) {
        const double predicted = each.predicted_rate(run), measured = each.rate(run);
        text +=
            table_row({each.which.name(), "`" + run.plan + "`", predicted > 0 ? gstencil(predicted) : "–",
                       program_rate(each, run),
                       predicted > 0 && measured > 0 ? fmt::format("{:.2f}", measured / predicted) : "–"});
    };
    for (const ProgramResult& each : results.programs) {
        if (each.run.plan.empty()) continue;
        row(each, each.run);
        if (each.single.plan != each.run.plan) row(each, each.single);
    }
    return text;
}

std::string programs_trouble(const ProgramsResults& results) {
    std::string text;
    for (const ProgramResult& each : results.programs) {
        const bool both = each.run.wrong == each.single.wrong;
        if (!each.run.wrong.empty())
            text += fmt::format("- {} is wrong: {}\n", each.which.name(), each.run.wrong);
        if (!each.single.wrong.empty() && !both)
            text += fmt::format("- {} is wrong, singly: {}\n", each.which.name(), each.single.wrong);
        if (!each.trouble.empty()) text += fmt::format("- {}: {}\n", each.which.name(), each.trouble);
    }
    for (const std::string& missing : results.missing)
        text += "- " + missing + "\n";
    return text.empty() ? "" : "\n### What is wrong or missing\n\n" + text;
}

}  // namespace

double ProgramResult::cells() const {
    return static_cast<double>(which.extent[0]) * static_cast<double>(which.extent[1]) *
           static_cast<double>(which.extent[2]);
}

double ProgramResult::rate(const ProgramRun& measured) const {
    return measured.seconds > 0 ? cells() / measured.seconds : 0;
}

double ProgramResult::predicted_rate(const ProgramRun& measured) const {
    return measured.predicted > 0 ? cells() / measured.predicted : 0;
}

double ProgramResult::bound(const MachineFacts& machine) const {
    return bytes_per_cell > 0 ? machine.copy() / bytes_per_cell : 0;
}

std::string programs_page(const ProgramsResults& results) {
    return programs_introduction(results) + rates_of_programs(results) + plans_of_programs(results) +
           programs_trouble(results);
}

}  // namespace halo::bench
