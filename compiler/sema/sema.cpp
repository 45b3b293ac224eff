#include "compiler/sema/sema.h"

#include <fmt/format.h>

#include <memory>
#include <unordered_map>

#include "compiler/sema/chain.h"
#include "compiler/sema/evaluator.h"
#include "compiler/sema/run.h"
#include "compiler/sema/stencil.h"
#include "compiler/sema/symbols.h"

namespace halo::sema {

const AnalyzedStencil* Analysis::find_stencil(const std::string& name) const {
    for (const AnalyzedStencil& chain : chains) {
        if (chain.program.name == name) return &chain;
    }
    for (const AnalyzedStencil& stencil : stencils) {
        if (stencil.program.name == name) return &stencil;
    }
    return nullptr;
}

const RunSpec* Analysis::find_run(const std::string& stencil) const {
    for (const RunSpec& run : runs) {
        if (run.stencil == stencil) return &run;
    }
    return nullptr;
}

namespace {

class FileAnalyzer {
public:
    FileAnalyzer(const syntax::File& file, DiagnosticSink& sink) : file_(file), sink_(sink) {}

    Analysis run() {
        for (const syntax::Stencil& stencil : file_.stencils)
            read(stencil);
        is_sound_ = !sink_.has_errors();
        for (const syntax::Run& block : file_.runs)
            read(block);
        if (file_.stencils.empty() && !file_.shared.empty()) check_shared();
        return std::move(result_);
    }

private:
    void read(const syntax::Stencil& stencil) {
        const std::string& name = stencil.name.text;
        const auto found = by_name_.find(name);
        if (found != by_name_.end() && !name.empty()) {
            sink_
                .report(DiagnosticKind::duplicate_name, stencil.name.where,
                        fmt::format("there are two stencils called `{}`", name))
                .label(file_.stencils[found->second].name.where, "the first is here");
        }
        by_name_.emplace(name, symbols_.size());
        names_.push_back(name);
        symbols_.push_back(std::make_unique<Symbols>(file_, stencil, sink_));
        result_.stencils.push_back(analyze_stencil(file_, *symbols_.back(), sink_));
    }

    // What a module by itself can be told: its numbers. Its defs are read where they are called.
    void check_shared() {
        const syntax::Stencil none;
        const Symbols symbols(file_, none, sink_);
        ir::Program scratch;
        Evaluator evaluator(file_, symbols, Place::setting, scratch, ir::Scalar::f64, sink_);
        evaluator.check_consts();
        evaluator.declare_coefs();
    }

    void read(const syntax::Run& block) {
        const std::string& name = block.name.text;
        const auto found = by_name_.find(name);
        if (found == by_name_.end()) {
            if (name.empty() || !file_.is_complete) return;
            Diagnostic& diagnostic = sink_.report(DiagnosticKind::unknown_name, block.name.where,
                                                  fmt::format("there is no stencil `{}` to run", name));
            if (std::optional<std::string> likely = closest_name(name, names_))
                diagnostic.mend(block.name.where, *likely);
            return;
        }
        const auto [first, is_new] = runs_.emplace(found->second, block.name.where);
        if (!is_new) {
            sink_
                .report(DiagnosticKind::duplicate_setting, block.name.where,
                        fmt::format("`{}` has two run blocks", name))
                .label(first->second, "the first is here");
        }
        if (has_chain(block)) return read_chain(block, member(found->second));
        result_.runs.push_back(analyze_run(file_, block, *symbols_[found->second],
                                           result_.stencils[found->second].program, sink_));
    }

    ChainMember member(std::size_t index) const { return {&result_.stencils[index], symbols_[index].get()}; }

    // What follows from mistakes of the chain is not reported again: its run is read without them alone.
    void read_chain(const syntax::Run& block, const ChainMember& first) {
        const FindMember find = [&](const syntax::Name& name) -> std::optional<ChainMember> {
            const auto found = by_name_.find(name.text);
            if (found != by_name_.end()) return member(found->second);
            if (name.text.empty() || !file_.is_complete) return std::nullopt;
            Diagnostic& diagnostic = sink_.report(DiagnosticKind::unknown_name, name.where,
                                                  fmt::format("there is no stencil `{}` to do", name.text));
            if (std::optional<std::string> likely = closest_name(name.text, names_))
                diagnostic.mend(name.where, *likely);
            return std::nullopt;
        };
        std::optional<Chain> chain = make_chain(file_, block, first, find, is_sound_, sink_);
        if (!chain) return;
        RunSpec run = analyze_run(file_, block, *chain->symbols, chain->stencil.program, sink_);
        if (chain->steps) run.steps = chain->steps;
        result_.runs.push_back(std::move(run));
        result_.chains.push_back(std::move(chain->stencil));
    }

    const syntax::File& file_;
    DiagnosticSink& sink_;
    Analysis result_;
    bool is_sound_ = true;                           // no mistakes in the stencils
    std::vector<std::unique_ptr<Symbols>> symbols_;  // by stencil
    std::vector<std::string> names_;
    std::unordered_map<std::string, std::size_t> by_name_;
    std::unordered_map<std::size_t, SourceRange> runs_;
};

}  // namespace

Analysis analyze(const syntax::File& file, DiagnosticSink& sink) {
    return FileAnalyzer(file, sink).run();
}

}  // namespace halo::sema
