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

// Whether a word such as `psi_{a}` may stand for the name.
bool may_make(std::string_view word, std::string_view name) {
    const std::size_t open = word.find('{');
    if (open == std::string_view::npos) return false;
    const std::string_view before = word.substr(0, open), after = word.substr(word.rfind('}') + 1);
    return name.size() > before.size() + after.size() && name.starts_with(before) && name.ends_with(after);
}

class UnusedNames {
public:
    UnusedNames(const SourceFile& source, const Uses& uses, const Uses& uses_in_runs,
                const syntax::Stencil& stencil, DiagnosticSink& sink)
        : source_(source), stencil_(stencil), sink_(sink), uses_(uses), uses_in_runs_(uses_in_runs) {
        for (const auto& [word, count] : uses)
            if (word.find('{') != std::string_view::npos) patterns_.emplace_back(word, count);
    }

    void run() {
        for (const syntax::StencilStatement& statement : stencil_.statements)
            std::visit([&](const auto& declaration) { read(declaration); }, statement);
        report();
    }

private:
    static constexpr std::size_t kMostPatterns = 100;
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
    void read(const syntax::SeriesDecl& declaration) {
        for (const syntax::Name& name : declaration.names)
            check(name, "no expression reads this series");
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
        if (count_of(uses_, name.text) > 1 || is_made(name)) return;
        if (name.text == "dt" && count_of(uses_, "time") > 0) return;  // time is step * dt
        if (name.text == "seed" && is_noisy()) return;
        unused_.push_back({&name, note});
    }

    // Whether loops over names use the name beside its declaration. What cannot be told at once is taken for
    // used.
    bool is_made(const syntax::Name& name) {
        const std::string_view written = source_.text(name.where);
        const bool has_index = written.find('{') != std::string_view::npos;
        if (patterns_.size() > kMostPatterns ||
            (written != name.text && !has_index && !is_of_iteration(name)))
            return true;
        if (patterns_.empty() && !is_of_iteration(name)) return false;
        int count = count_of(uses_, name.text);
        for (const auto& [word, uses] : patterns_)
            count += may_make(word, name.text) ? uses : 0;
        // A let of an iteration is `e.x`, and written `e`.
        return count > 1 || count_of(uses_, name.text.substr(0, name.text.find('.'))) > 1;
    }

    static bool is_of_iteration(const syntax::Name& let) { return let.text.find('.') != std::string::npos; }

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

    const SourceFile& source_;
    const syntax::Stencil& stencil_;
    DiagnosticSink& sink_;
    const Uses &uses_, &uses_in_runs_;
    std::vector<std::pair<std::string_view, int>> patterns_;  // words such as `psi_{a}`
    std::vector<Unused> unused_;
};

}  // namespace

void find_unused_names(const SourceFile& source, const syntax::File& file, DiagnosticSink& sink) {
    const WordsOfBlocks words(source, file);
    for (const syntax::Stencil& stencil : file.stencils)
        UnusedNames(source, words.of(stencil), words.of_runs(stencil.name.text), stencil, sink).run();
}

}  // namespace halo::lint
