#include "compiler/driver/command/lift_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "compiler/driver/console/progress.h"

namespace halo::driver {

namespace {

std::string how_many(std::size_t count, const std::string& what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string outcome_in_words(const LiftReport& function) {
    if (function.contains("difference"))
        return fmt::format("does not lift: found to be computed otherwise, which is a mistake in haloc: {}",
                           function["difference"].get<std::string>());
    const std::string outcome = function["outcome"];
    if (outcome == "refused") return "refused";
    const std::size_t lifted = function["stencils"].size();
    std::string text = "lifts";
    if (outcome == "part")
        text =
            fmt::format("{} of {} lift{}", lifted, how_many(lifted + function["refused"].size(), "loop nest"),
                        lifted == 1 ? "s" : "");
    if (function["verified"]) return text + ", verified";
    return fmt::format("{}, not verified: {}", text, function["not_verified"].get<std::string>());
}

std::string stencil_in_words(const LiftReport& stencil) {
    std::string text = fmt::format("`{}`", stencil["name"].get<std::string>());
    if (!stencil.contains("predicted_gstencil_per_s")) return text + ": the model says nothing of it";
    std::string grid;
    for (const auto& each : stencil["grid"])
        grid += (grid.empty() ? "" : " x ") + std::to_string(each.get<std::int64_t>());
    return fmt::format("{}: {} bytes and {:.0f} flops a cell, {} predicted on a grid of {}", text,
                       stencil["bytes_per_cell"].get<std::int64_t>(), stencil["flops_per_cell"].get<double>(),
                       format_rate(stencil["predicted_gstencil_per_s"].get<double>() * 1e9), grid);
}

// Names of the text, which differ from one place to another.
std::string without_names(const std::string& reason) {
    std::string text;
    bool is_name = false;
    for (const char each : reason) {
        if (each == '`') {
            if (!is_name) text += "`…`";
            is_name = !is_name;
        } else if (!is_name) {
            text += each;
        }
    }
    return text;
}

}  // namespace

std::string file_in_words(const LiftReport& file) {
    const std::string name = file["file"];
    if (file.contains("trouble"))
        return fmt::format("{}: not read: {}\n", name, file["trouble"].get<std::string>());
    if (file["functions"].empty()) return "";
    std::string text = name + "\n";
    for (const LiftReport& function : file["functions"]) {
        text += fmt::format("  {} (line {}): {}\n", function["function"].get<std::string>(),
                            function["line"].get<int>(), outcome_in_words(function));
        for (const LiftReport& stencil : function["stencils"])
            text += "    " + stencil_in_words(stencil) + "\n";
        if (!function["refused"].empty())
            text += fmt::format("    {}: {}\n", function["refused"][0]["place"].get<std::string>(),
                                function["refused"][0]["reason"].get<std::string>());
    }
    return text;
}

LiftReport lift_summary(const LiftReport& files) {
    std::map<std::string, std::size_t> counts, reasons;
    for (const LiftReport& file : files) {
        ++counts[file.contains("trouble") ? "files_not_read" : "files"];
        if (file.contains("trouble")) continue;
        counts["left_out"] += file["left_out"].get<std::size_t>();
        for (const LiftReport& function : file["functions"]) {
            ++counts["functions"];
            const bool differs = function.contains("difference");
            ++counts[differs ? "different" : function["outcome"].get<std::string>()];
            if (function["verified"]) ++counts["verified"];
            if (!function["refused"].empty())
                ++reasons[without_names(function["refused"][0]["reason"].get<std::string>())];
        }
    }
    LiftReport summary;
    for (const char* each : {"files", "files_not_read", "functions", "left_out", "whole", "part", "refused",
                             "different", "verified"})
        summary[each] = counts[each];
    std::vector<std::pair<std::string, std::size_t>> sorted(reasons.begin(), reasons.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    summary["reasons"] = LiftReport::array();
    for (const auto& [reason, count] : sorted)
        summary["reasons"].push_back({{"reason", reason}, {"functions", count}});
    return summary;
}

std::string summary_in_words(const LiftReport& summary) {
    const auto count = [&](const char* of) { return summary[of].get<std::size_t>(); };
    std::string text = fmt::format("{} with loops over arrays in {} ({} without left out)",
                                   how_many(count("functions"), "function"), how_many(count("files"), "file"),
                                   count("left_out"));
    if (count("files_not_read") > 0)
        text += fmt::format("; {} not read", how_many(count("files_not_read"), "file"));
    text += fmt::format("\n{} whole, {} in part, {} refused; {} verified\n", count("whole"), count("part"),
                        count("refused"), count("verified"));
    if (count("different") > 0)
        text += fmt::format("{} found to be computed otherwise, which is a mistake in haloc\n",
                            count("different"));
    if (!summary["reasons"].empty()) text += "what stands in the way first, in so many functions:\n";
    for (const LiftReport& each : summary["reasons"])
        text += fmt::format("{:6}  {}\n", each["functions"].get<std::size_t>(),
                            each["reason"].get<std::string>());
    return text;
}

}  // namespace halo::driver
