// What can be said of a lifted function, from runs of its parts and of the whole.
#include <fmt/format.h>

#include "compiler/lift/verify.h"
#include "compiler/lift/whole_run.h"

namespace halo::lift {

namespace {

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

}  // namespace

Verdict verify_function(const Options& options, const Nests& found) {
    Verdict verdict;
    std::vector<std::string> untried(found.lifted.size());  // why a spec was not run by itself
    verdict.sentences.resize(found.lifted.size());
    for (std::size_t i = 0; i < found.lifted.size(); ++i) {
        const Lifted& each = found.lifted[i];
        const std::string name = each.outline ? each.spec.name + ": " : "";
        try {
            Verification run = verify(options, each);
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
    const WholeRun whole = run_whole(options, found);
    verdict.table.insert(verdict.table.end(), whole.table.begin(), whole.table.end());
    if (whole.differs) {
        verdict.difference = whole.reason;
        return verdict;
    }
    verdict.left = whole.reason;
    for (std::size_t i = 0; i < found.lifted.size(); ++i) {
        std::vector<std::string>& said = verdict.sentences[i];
        std::string left = whole.reason;
        if (!untried[i].empty()) left = untried[i];
        if (verdict.left.empty()) verdict.left = left;
        if (left.empty()) continue;
        const std::string by_itself = said.empty() ? "" : " By itself it was" + said.front().substr(9);
        said.insert(said.begin(), fmt::format("Not verified: {}.{}", left, by_itself));
        if (said.size() > 1) said.erase(said.begin() + 1);
    }
    return verdict;
}

}  // namespace halo::lift
