#include "compiler/sema/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/sema/chain_parts.h"
#include "compiler/sema/evaluator.h"
#include "compiler/sema/run_analyzer.h"

namespace halo::sema {

namespace {

// Reads the lines of a run that chain stencils.
class ChainReader {
public:
    ChainReader(const syntax::File& file, const syntax::Run& run, const ChainMember& first,
                const FindMember& find, DiagnosticSink& sink)
        : file_(file),
          run_(run),
          first_(first),
          find_(find),
          sink_(sink),
          settings_(file, *first.symbols, Place::setting, scratch_, ir::Scalar::f64, sink) {}

    bool read() {
        settings_.declare_params();
        settings_.declare_coefs();
        settings_.declare_axes();
        bool is_good = true;
        for (const syntax::RunStatement& statement : run_.statements) {
            const auto* chain = std::get_if<syntax::ChainStatement>(&statement);
            if (chain != nullptr && !read(*chain)) is_good = false;
        }
        // A phase ends where the next one begins; the last has no end.
        std::optional<std::int64_t> end;
        for (std::size_t i = links.size(); i-- > 0;) {
            links[i].steps.end = end;
            if (links[i].steps.is_phase) end = links[i].steps.begin;
        }
        return is_good;
    }

    std::vector<ChainLink> links;
    std::optional<std::int64_t> past_phases;  // all steps, where there are several phases

private:
    bool read(const syntax::ChainStatement& statement) {
        ChainLink link;
        link.where = statement.stencil.where;
        const bool has_steps =
            statement.every ? read_every(*statement.every, link.steps) : read_phase(statement, link.steps);
        const std::optional<ChainMember> member = find_(statement.stencil);
        if (!has_steps || !member) return false;
        link.member = *member;
        if (!can_be_chained(file_, link, sink_)) return false;
        if (link.steps.is_phase && !can_be_followed(first_, link, sink_)) return false;
        links.push_back(link);
        return true;
    }

    bool read_every(const syntax::Every& every, ChainSteps& steps) {
        const auto period = settings_.integer(every.steps, "the number of steps", 1, kMaxRunCount);
        steps.begin = phase_begin_;
        steps.every = steps.from = period.value_or(1);
        bool is_good = period.has_value();
        if (every.from) {
            const auto from = settings_.integer(*every.from, "the first step", 1, kMaxRunCount);
            steps.from = from.value_or(1);
            is_good = is_good && from;
        }
        if (every.to) {
            steps.to = settings_.integer(*every.to, "the last step", steps.from, kMaxRunCount);
            is_good = is_good && steps.to;
        }
        return is_good;
    }

    bool read_phase(const syntax::ChainStatement& statement, ChainSteps& steps) {
        const auto count = settings_.integer(*statement.count, "the number of steps", 1, kMaxRunCount);
        if (!past_phases && !read_first_phase(statement)) return false;
        steps.is_phase = true;
        steps.begin = phase_begin_ = *past_phases;
        if (!count) return false;
        past_phases = *past_phases + *count;
        return true;
    }

    // The steps that stand before the first `then`, or anywhere in the block.
    bool read_first_phase(const syntax::ChainStatement& statement) {
        for (const syntax::RunStatement& other : run_.statements) {
            const auto* steps = std::get_if<syntax::StepsStatement>(&other);
            if (steps == nullptr) continue;
            if (steps->until) {
                sink_
                    .report(DiagnosticKind::invalid_chain, settings_.where(*steps->until),
                            "a run with `then` does not end by a condition")
                    .label(statement.where, "which steps these are has to be known")
                    .note("say a number of steps alone, or leave `then` out");
                return false;
            }
            past_phases = settings_.integer(steps->count, "the number of steps", 1, kMaxRunCount);
            return past_phases.has_value();
        }
        sink_
            .report(DiagnosticKind::invalid_chain, statement.where,
                    fmt::format("`then` comes after a number of steps of `{}`", run_.name.text))
            .note("as in `steps 1000`");
        return false;
    }

    const syntax::File& file_;
    const syntax::Run& run_;
    const ChainMember& first_;
    const FindMember& find_;
    DiagnosticSink& sink_;
    ir::Program scratch_;
    Evaluator settings_;
    std::int64_t phase_begin_ = 0;
};

}  // namespace

bool has_chain(const syntax::Run& run) {
    for (const syntax::RunStatement& statement : run.statements)
        if (std::holds_alternative<syntax::ChainStatement>(statement)) return true;
    return false;
}

std::optional<Chain> make_chain(const syntax::File& file, const syntax::Run& run, const ChainMember& first,
                                const FindMember& find, bool is_sound, DiagnosticSink& sink) {
    ChainReader reader(file, run, first, find, sink);
    if (!reader.read() || !is_sound) return std::nullopt;
    std::optional<ir::Program> program = composed(first, reader.links, sink);
    if (!program) return std::nullopt;
    Chain chain;
    chain.stencil = *first.stencil;
    chain.stencil.program = *std::move(program);
    for (const ChainLink& link : reader.links)
        for (const std::string& name : link.member.stencil->without_boundary)
            if (std::ranges::find(chain.stencil.without_boundary, name) ==
                chain.stencil.without_boundary.end())
                chain.stencil.without_boundary.push_back(name);
    chain.tree = chained_tree(first, reader.links);
    chain.symbols = std::make_unique<Symbols>(file, *chain.tree, sink);
    chain.steps = reader.past_phases;
    return chain;
}

}  // namespace halo::sema
