#include "compiler/bench/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/bench/page_words.h"
#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/console/progress.h"

namespace halo::bench {

namespace {

std::vector<const CaseResult*> of_section(const Results& results, Section section) {
    std::vector<const CaseResult*> all;
    for (const CaseResult& result : results.cases)
        if (result.which.section == section) all.push_back(&result);
    return all;
}

std::string clocks(const MachineFacts& machine) {
    if (!machine.is_gpu) return "";
    std::string text = fmt::format("Its cores may run at {:.2f} GHz", machine.core_clock_ghz);
    if (machine.clock_busy_ghz > 0)
        text += fmt::format(
            "; counted by cycles in a short kernel they ran at {:.2f} GHz before the first measurement and "
            "at {:.2f} "
            "GHz after the last",
            machine.clock_idle_ghz, machine.clock_busy_ghz);
    if (machine.memory_clock_ghz > 0)
        text += fmt::format(". Memory: {:.2f} GHz, {} bits wide", machine.memory_clock_ghz,
                            machine.memory_bus_bits);
    return text + ".\n";
}

std::string copies(const MachineFacts& machine) {
    if (machine.copy() <= 0) return "";
    const std::string size = driver::format_bytes(static_cast<double>(machine.copy_bytes));
    if (!machine.is_gpu)
        return fmt::format("A copy of {} by all threads ran at {:.1f} GB/s, bytes read and written.\n", size,
                           machine.copy_driver / 1e9);
    return fmt::format(
        "A copy of {} on the device ran at {:.2f} TB/s by a kernel of 16 bytes a thread and at {:.2f} TB/s "
        "by the "
        "driver, bytes read and written. Fused multiply-adds reached {:.1f} TFLOP/s in f32 and {:.1f} in "
        "f64.\n",
        size, machine.copy_kernel / 1e12, machine.copy_driver / 1e12, machine.flops_f32 / 1e12,
        machine.flops_f64 / 1e12);
}

std::string introduction(const Results& results) {
    const MachineFacts& machine = results.machine;
    std::string text =
        fmt::format("## On a {}\n\n{}; {}; commit {}, by `haloc bench{}{}{}`.\n",
                    machine.is_gpu ? "GPU" : "CPU", machine.name, machine.software, machine.commit,
                    results.quick ? " --quick" : "", results.choices_alone ? " --choices-alone" : "",
                    results.grids.empty() && results.compiles.empty() ? "" : " --growth");
    text += machine_words(machine);
    text +=
        "\nAll figures are of one run, on random data. Each way to run a stencil was verified in that run "
        "before it "
        "was timed:\non a small grid of odd lengths value by value against the reference interpreter, and on "
        "its own "
        "grid ";
    text += machine.is_gpu ? "bit by bit\nagainst one cell a thread.\n" : "against the interpreter, too.\n";
    text += "Times are medians of three to seven runs of many steps each.\n";
    return text;
}

// A cell of a table: "522.3", or why there is no figure: the result was wrong, or it was not measured.
std::string rate_cell(const CaseResult& result, const std::string& variant) {
    const Measurement* found = result.find(variant);
    if (found == nullptr) return "–";
    if (!found->wrong.empty()) return "**wrong**";
    const double rate = result.rate(*found) / 1e9;
    const std::string text = rate < 10 ? fmt::format("{:.3f}", rate) : fmt::format("{:.1f}", rate);
    return variant == result.chosen ? "**" + text + "**" : text;
}

std::string of_bound(const CaseResult& result, const MachineFacts& machine) {
    const Measurement* choice = result.choice();
    const double bound = result.bound(machine);
    return choice == nullptr || choice->seconds <= 0 || bound <= 0 ? "–"
                                                                   : percent(result.rate(*choice) / bound);
}

bool has(const std::vector<const CaseResult*>& cases, const std::string& variant) {
    return std::any_of(cases.begin(), cases.end(),
                       [&](const CaseResult* each) { return each->find(variant) != nullptr; });
}

std::string table_of_strategies(const Results& results, const std::vector<const CaseResult*>& cases) {
    std::vector<std::string> variants;
    for (const std::string& variant : results.variants)
        if (has(cases, variant)) variants.push_back(variant);
    if (has(cases, "chosen")) variants.emplace_back("chosen");
    std::vector<std::string> titles{"stencil"};
    titles.insert(titles.end(), variants.begin(), variants.end());
    titles.emplace_back("of the bound");
    std::string text = table_head(titles);
    for (const CaseResult* result : cases) {
        std::vector<std::string> cells{result->which.name()};
        for (const std::string& variant : variants)
            cells.push_back(rate_cell(*result, variant));
        cells.push_back(of_bound(*result, results.machine));
        text += table_row(cells);
    }
    return text;
}

std::string table_of_choices(const Results& results) {
    std::string text =
        table_head({"stencil", "schedule", "against naive", "registers", "spilled", "spread of the runs"});
    for (const CaseResult& result : results.cases) {
        const Measurement* choice = result.choice();
        if (choice == nullptr || choice->seconds <= 0) continue;
        const Measurement* naive = result.find("naive");
        const bool compared = naive != nullptr && naive->seconds > 0;
        text += table_row({result.which.name(), choice->schedule,
                           compared ? fmt::format("{:.2f} ×", naive->seconds / choice->seconds) : "–",
                           choice->registers < 0 ? "–" : std::to_string(choice->registers),
                           choice->spill_bytes < 0 ? "–" : fmt::format("{} B", choice->spill_bytes),
                           percent(choice->spread)});
    }
    return text;
}

std::string sweeps(const Results& results) {
    const std::vector<const CaseResult*> cases = of_section(results, Section::sweeps);
    if (cases.empty()) return "";
    if (!results.machine.is_gpu)
        return "\n### Stencils\n\nGStencil/s: cells × steps / seconds / 10⁹. The bound is that of one sweep: "
               "the speed of the "
               "copy over the bytes that a\nsweep must move; these grids are small enough for caches, which "
               "may pass it.\n\n" +
               table_of_strategies(results, cases);
    return "\n### Stencils\n\nGStencil/s: cells × steps / seconds / 10⁹, by strategy, each by the schedule "
           "that is "
           "chosen within it; `naive`\nis one cell a thread in blocks of 32 × 8. The compiler's own choice "
           "is bold. The bound "
           "is that of one sweep: the speed\nof the faster copy over the bytes that a sweep must move, each "
           "level that is read or "
           "written once.\n\n" +
           table_of_strategies(results, cases);
}

std::string derivatives(const Results& results) {
    const std::vector<const CaseResult*> cases = of_section(results, Section::derivatives);
    if (cases.empty()) return "";
    std::string text =
        "\n### Derivatives\n\nFirst derivatives of 8th order on a periodic grid, as above.\n\n" +
        table_of_strategies(results, cases);
    std::vector<std::string> words;
    for (const CaseResult* result : cases) {
        const std::string& published = result->which.published.words;
        if (published.empty()) continue;
        const std::string line = fmt::format("{}: {}", result->which.grid(), published);
        if (std::find(words.begin(), words.end(), line) == words.end()) words.push_back(line);
    }
    if (!words.empty()) text += "\nBy others, in runs of their own, in GStencil/s:\n\n";
    for (const std::string& line : words)
        text += "- " + line + "\n";
    return text;
}

std::string runs(const Results& results) {
    const std::vector<const CaseResult*> cases = of_section(results, Section::runs);
    if (cases.empty()) return "";
    std::string text = "\n### Whole runs\n\n" + table_head({"run", "by", "time", "GStencil/s", "of the bound",
                                                            "naive takes", "by others"});
    for (const CaseResult* result : cases) {
        const Measurement* choice = result->choice();
        if (choice == nullptr) continue;
        const auto time_of = [&](const Measurement* measured) {
            if (measured == nullptr || measured->seconds <= 0) return std::string("–");
            return driver::format_seconds(measured->seconds * static_cast<double>(result->which.steps));
        };
        const std::string& published = result->which.published.words;
        text += table_row({result->which.name(), choice->schedule,
                           choice->wrong.empty() ? time_of(choice) : "**wrong**",
                           rate_cell(*result, result->chosen), of_bound(*result, results.machine),
                           time_of(result->find("naive")), published.empty() ? "–" : published});
    }
    return text;
}

std::string sums(const Results& results) {
    const std::vector<const CaseResult*> cases = of_section(results, Section::sums);
    if (cases.empty()) return "";
    std::string text =
        "\n### Sums over tables\n\nFlops are counted as CUDA's case studies count them: 13 for a sample and "
        "voxel, 9 for "
        "an atom and point. The bound is what\nthe special function units give at the highest clock, 16 "
        "calls a clock "
        "and SM: two a term (`sin`, `cos`) and one (`rsqrt`).\n\n" +
        table_head({"sum", "schedule", "10⁹ terms/s", "GFLOP/s", "of the bound", "by others, GFLOP/s"});
    for (const CaseResult* result : cases) {
        const Measurement* choice = result->choice();
        if (choice == nullptr) continue;
        const double terms = result->rate(*choice);
        const std::string& published = result->which.published.words;
        text += table_row({result->which.name(), choice->schedule,
                           choice->wrong.empty() ? fmt::format("{:.2f}", terms / 1e9) : "**wrong**",
                           fmt::format("{:.1f}", terms * result->which.flops_per_term / 1e9),
                           of_bound(*result, results.machine), published.empty() ? "–" : published});
    }
    return text;
}

std::string mistakes(const Results& results) {
    std::string text;
    for (const CaseResult& result : results.cases) {
        for (const Measurement& each : result.measurements)
            if (!each.wrong.empty())
                text +=
                    fmt::format("- {} by {} is wrong: {}\n", result.which.name(), each.schedule, each.wrong);
        if (!result.trouble.empty()) text += fmt::format("- {}: {}\n", result.which.name(), result.trouble);
    }
    for (const std::string& missing : results.missing)
        text += "- " + missing + "\n";
    return text.empty() ? "" : "\n### What is wrong or missing\n\n" + text;
}

}  // namespace

std::string machine_words(const MachineFacts& machine) {
    return clocks(machine) + copies(machine);
}

std::string page(const Results& results, const PageFiles& files) {
    std::string text = introduction(results) + sweeps(results);
    if (!files.roofline.empty())
        text += fmt::format(
            "\n![Roofline: GFLOP/s against flops a byte]({})\n\nThe line that rises is the speed of the "
            "copy. A kernel "
            "that does several steps in one sweep can lie above it.\n",
            files.roofline);
    text += derivatives(results) + runs(results) + sums(results);
    if (!results.cases.empty() && results.machine.is_gpu)
        text += "\n### The schedules chosen\n\n" + table_of_choices(results);
    return text + growth_section(results, files) + mistakes(results);
}

std::string put_into(const std::string& text, const std::string& page, const std::string& path,
                     const std::string& title) {
    const std::string begin_line = std::string(kBegin) + "\n", end_line = kEnd;
    const std::size_t begin = text.find(begin_line), end = text.find(end_line);
    if (text.empty()) return "# " + title + "\n\n" + begin_line + page + end_line + "\n";
    if (begin == std::string::npos || end == std::string::npos || end < begin)
        throw driver::CommandError(
            driver::ExitCode::file,
            fmt::format("{} is there and has not the lines `{}` and, further down, `{}`", path, kBegin, kEnd),
            "what stands between them is replaced; add them, or name another file");
    const std::size_t from = begin + begin_line.size();
    return text.substr(0, from) + page + text.substr(end);
}

}  // namespace halo::bench
