// What can be said of a lifted function, from runs of its parts and of the whole.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compiler/lift/verify.h"
#include "compiler/lift/whole_run.h"

namespace halo::lift {

namespace {

constexpr double kMostCellSteps = 3e6;  // times steps, of constant sizes

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

// Sizes that the text fixes, and that the reference interpreter would take long for.
bool is_large(const Nests& found) {
    return std::any_of(found.lifted.begin(), found.lifted.end(), [](const Lifted& each) {
        double cells = 1;
        for (const Polynomial& extent : each.form.grid)
            cells *= static_cast<double>(extent.constant().value_or(1));
        if (each.model.time_loop >= 0) {
            const Loop& time = each.model.loop(each.model.time_loop);
            cells *= static_cast<double>((time.upper - time.lower).constant().value_or(1));
        }
        return cells > kMostCellSteps;
    });
}

std::string without_numbers(const std::string& text) {
    std::string left;
    for (const char each : text)
        if (each < '0' || each > '9') left += each;
    return left;
}
// Whether two sources have the same stencils, but for sizes.
bool are_alike(const Nests& one, const Nests& other) {
    return std::equal(one.lifted.begin(), one.lifted.end(), other.lifted.begin(), other.lifted.end(),
                      [](const Lifted& a, const Lifted& b) {
                          return without_numbers(a.spec.body) == without_numbers(b.spec.body);
                      });
}

Verdict verify_as_it_is(const Options& options, const Nests& found, const ParsedFile& file,
                        bool& was_too_long) {
    Verdict verdict;
    std::vector<std::string> untried(found.lifted.size());  // why a spec was not run by itself
    verdict.sentences.resize(found.lifted.size());
    for (std::size_t i = 0; i < found.lifted.size(); ++i) {
        const Lifted& each = found.lifted[i];
        const std::string name = each.outline ? each.spec.name + ": " : "";
        try {
            Verification run = verify(options, each);
            verdict.largest_ulps = std::max(verdict.largest_ulps, run.largest_ulps);
            verdict.sum_ulps = std::max(verdict.sum_ulps, run.sum_ulps);
            for (const std::string& line : run.table)
                verdict.table.push_back(name + line);
            if (!run.passed) {
                verdict.difference = run.sentences.front();
                return verdict;
            }
            verdict.sentences[i] = std::move(run.sentences);
        } catch (const SourceError& trouble) {
            untried[i] = first_line(trouble.what());
            verdict.table.push_back(name + "not run by itself: " + untried[i]);
        }
    }
    const WholeRun whole = run_whole(options, found, file.preprocessed());
    was_too_long = whole.was_too_long;
    verdict.table.insert(verdict.table.end(), whole.table.begin(), whole.table.end());
    if (whole.differs) {
        verdict.difference = whole.reason;
        return verdict;
    }
    verdict.left = whole.reason;
    for (std::size_t i = 0; i < found.lifted.size(); ++i) {
        std::vector<std::string>& said = verdict.sentences[i];
        const std::string& left = untried[i].empty() ? whole.reason : untried[i];
        if (verdict.left.empty()) verdict.left = left;
        said.insert(said.end(), whole.remarks.begin(), whole.remarks.end());
        if (left.empty()) continue;
        const std::string verified = "Verified:";
        if (!said.empty()) said.front() = "By itself it was" + said.front().substr(verified.size());
        said.insert(said.begin(), fmt::format("Not verified: {}.", left));
    }
    return verdict;
}

}  // namespace

Verdict verify_function(const Options& options, const Nests& found) {
    return verify_function(options, found, ParsedFile(options.source));
}

Verdict verify_function(const Options& options, const Nests& found, const ParsedFile& file) {
    bool was_too_long = false;
    Verdict verdict;
    if (!is_large(found)) verdict = verify_as_it_is(options, found, file, was_too_long);
    if (!is_large(found) && !was_too_long) return verdict;
    Options small = options;
    std::map<std::string, int> macros;
    const ParsedFile& small_file = file.made_small(macros);
    small.source.text = small_file.request().text;
    const Nests copy = lift_nests(small, small_file);
    // Where no size can be made smaller, runs with the sizes as they are.
    if (macros.empty() || !are_alike(found, copy))
        return is_large(found) ? verify_as_it_is(options, found, file, was_too_long) : verdict;
    verdict = verify_as_it_is(small, copy, small_file, was_too_long);
    std::string sizes;
    for (const auto& [name, value] : macros)
        sizes += fmt::format("{}{} = {}", sizes.empty() ? "" : ", ", name, value);
    verdict.table.insert(verdict.table.begin(), "in a copy with " + sizes);
    for (std::vector<std::string>& each : verdict.sentences)
        each.push_back("It was run in a copy with small sizes: " + sizes + ".");
    return verdict;
}

}  // namespace halo::lift
