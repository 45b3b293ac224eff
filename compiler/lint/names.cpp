#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/lint/parts.h"
#include "compiler/support/work.h"
#include "compiler/syntax/lexer.h"

namespace halo::lint {

namespace {

bool lies_within(SourceRange inner, SourceRange outer) {
    return inner.begin >= outer.begin && inner.end <= outer.end;
}

using Uses = std::unordered_map<std::string_view, int>;  // of a word

// How often each word stands in each block of a file: words, whatever they stand for where they are. A name
// that is hidden by an index somewhere is taken for used, which is the error to make.
class WordsOfBlocks {
public:
    WordsOfBlocks(const SourceFile& source, const syntax::File& file) {
        for (const syntax::Stencil& stencil : file.stencils)
            add(stencil.where, stencils_[stencil.where.begin], false);
        for (const syntax::Run& run : file.runs)
            add(run.where, runs_[run.name.text], true);
        std::ranges::sort(blocks_, {}, [](const Block& block) { return block.where.begin; });
        count(source, syntax::lex(source).tokens);
    }

    const Uses& of(const syntax::Stencil& stencil) const { return stencils_.at(stencil.where.begin); }
    // A run reads params and consts, as in `until`; giving a param a value is no use of it.
    const Uses& of_runs(const std::string& stencil) const {
        static const Uses kNone;
        const auto found = runs_.find(stencil);
        return found == runs_.end() ? kNone : found->second;
    }

private:
    struct Block {
        SourceRange where;
        Uses* uses = nullptr;
        bool is_run = false;
    };

    void add(SourceRange where, Uses& uses, bool is_run) { blocks_.push_back({where, &uses, is_run}); }

    // Blocks do not overlap, and come in the order of the text, as tokens do.
    void count(const SourceFile& source, const std::vector<syntax::Token>& tokens) {
        auto block = blocks_.begin();
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            Work::count();
            while (block != blocks_.end() && tokens[i].where.begin >= block->where.end)
                ++block;
            if (block == blocks_.end()) return;
            if (tokens[i].kind != syntax::TokenKind::identifier ||
                !lies_within(tokens[i].where, block->where))
                continue;
            if (block->is_run && tokens[i + 1].kind == syntax::TokenKind::assign) continue;
            ++(*block->uses)[source.text(tokens[i].where)];
        }
    }

    std::vector<Block> blocks_;
    std::unordered_map<std::uint32_t, Uses> stencils_;  // by where they begin
    std::unordered_map<std::string, Uses> runs_;        // by their stencil's name
};

int count_of(const Uses& uses, std::string_view word) {
    const auto found = uses.find(word);
    return found == uses.end() ? 0 : found->second;
}

class UnusedNames {
public:
    UnusedNames(const Uses& uses, const Uses& uses_in_runs, const syntax::Stencil& stencil,
                DiagnosticSink& sink)
        : stencil_(stencil), sink_(sink), uses_(uses), uses_in_runs_(uses_in_runs) {}

    void run() {
        for (const syntax::StencilStatement& statement : stencil_.statements)
            std::visit([&](const auto& declaration) { read(declaration); }, statement);
        report();
    }

private:
    static constexpr std::size_t kMostAlone = 3;   // messages of their own
    static constexpr std::size_t kMostNamed = 20;  // in one message

    void read(const syntax::ParamDecl& declaration) {
        for (const syntax::Definition& each : declaration.params)
            if (count_of(uses_in_runs_, each.name.text) == 0)
                check(each.name, "no expression reads this param");
    }
    void read(const syntax::ConstDecl& declaration) {
        for (const syntax::Definition& each : declaration.consts)
            if (count_of(uses_in_runs_, each.name.text) == 0)
                check(each.name, "no expression reads this const");
    }
    void read(const syntax::CoefDecl& declaration) {
        check(declaration.name, "no expression reads these weights");
    }
    void read(const syntax::DefDecl& declaration) {
        if (count_of(uses_in_runs_, declaration.name.text) == 0) check(declaration.name, "nothing calls it");
    }
    void read(const syntax::PointsDecl& declaration) {
        for (const syntax::Name& name : declaration.names)
            check(name, "no statement injects or samples at them");
    }
    void read(const syntax::LetDecl& declaration) {
        check(declaration.name,
              "a `let` is for later statements; to see its values after a run, make it a field");
    }
    void read(const syntax::FieldDecl& declaration) {
        for (const syntax::Name& name : declaration.names)
            check(name, "no statement reads it or gives it a value");
    }
    template <class Other>
    void read(const Other&) {}  // declares nothing that could be left unused

    bool is_noisy() {
        return count_of(uses_, "random") + count_of(uses_, "normal") + count_of(uses_in_runs_, "random") +
                   count_of(uses_in_runs_, "normal") >
               0;
    }

    void check(const syntax::Name& name, const char* note) {
        if (name.text.empty() || !lies_within(name.where, stencil_.where)) return;  // of another file
        if (count_of(uses_, name.text) > 1) return;
        if (name.text == "dt" && count_of(uses_, "time") > 0) return;  // time is step * dt
        if (name.text == "seed" && is_noisy()) return;
        unused_.push_back({&name, note});
    }

    void report() {
        if (unused_.empty()) return;
        if (unused_.size() <= kMostAlone) {
            for (const Unused& each : unused_)
                sink_
                    .report(DiagnosticKind::unused_name, each.name->where,
                            fmt::format("`{}` is not used", each.name->text))
                    .note(each.note);
            return;
        }
        std::vector<std::string> names;
        for (std::size_t i = 0; i < std::min(unused_.size(), kMostNamed); ++i)
            names.push_back(fmt::format("`{}`", unused_[i].name->text));
        std::string rest;
        if (unused_.size() > kMostNamed) rest = fmt::format(" and {} more", unused_.size() - kMostNamed);
        sink_
            .report(DiagnosticKind::unused_name, unused_.front().name->where,
                    fmt::format("{} names of this stencil are not used", unused_.size()))
            .note(fmt::format("{}{}", fmt::join(names, ", "), rest));
    }

    struct Unused {
        const syntax::Name* name;
        const char* note;
    };

    const syntax::Stencil& stencil_;
    DiagnosticSink& sink_;
    const Uses &uses_, &uses_in_runs_;
    std::vector<Unused> unused_;
};

}  // namespace

void find_unused_names(const SourceFile& source, const syntax::File& file, DiagnosticSink& sink) {
    const WordsOfBlocks words(source, file);
    for (const syntax::Stencil& stencil : file.stencils)
        UnusedNames(words.of(stencil), words.of_runs(stencil.name.text), stencil, sink).run();
}

}  // namespace halo::lint
