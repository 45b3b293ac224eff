#include "compiler/lift/replace.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/lift/replace_regions.h"

namespace halo::lift {

namespace {

constexpr char kLoopsRun[] = "; these loops run where it cannot */",
               kTextRuns[] = "; the text below runs where it cannot */";
constexpr char kEnd[] = "/* end of haloc lift */", kThread[] = "HALO_LIFT_THREAD ";

std::string_view trimmed(std::string_view line) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return {};
    return line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
}

class Replacer {
public:
    Replacer(const Nests& found, const std::vector<std::string>& specs, const std::string& support)
        : found_(found), specs_(specs), support_(support) {}

    Replaced make() {
        const c::Unit& unit = found_.lifted.front().unit;
        const c::Function& function = unit.functions[static_cast<std::size_t>(unit.function)];
        if (unit.source.part_begin(function.where.begin) != 0)
            throw SourceError("`" + function.name + "` is in an included file, which is not replaced");
        // The main file is the first part; the next one begins after it.
        text_ = std::string(unit.source.text());
        std::size_t end = text_.size();
        for (std::size_t at = 0; at < text_.size(); ++at) {
            if (unit.source.part_begin(static_cast<std::uint32_t>(at)) != 0) {
                end = at;
                break;
            }
        }
        text_.resize(end);
        std::string definitions;
        std::size_t function_begin = text_.size();
        for (std::size_t i = 0; i < found_.lifted.size(); ++i) {
            const Lifted& each = found_.lifted[i];
            try {
                if (support_.empty()) check_access(each);
                const StencilCall made = write_call(each, specs_[i]);
                if (each.outline)
                    replace_nest(each, made);
                else
                    replace_whole(each, made);
                definitions +=
                    fmt::format("\n/* The loops in line {}: 1 where the stencil has done what they do. */\n",
                                each.first_line) +
                    made.definition;
                function_begin = std::min<std::size_t>(function_begin, begin_of(each));
                result_.calls.push_back(each.spec.name);
            } catch (const Refusal& refusal) {
                Refusal placed = refusal;
                if (placed.where == SourceRange{}) placed.where = head_of(each);
                result_.left.emplace_back(refusal.what(), each.unit.source, placed);
            }
        }
        // A source in which a function has been replaced before has what all calls need.
        const std::size_t end_of_support = text_.find(kEnd);
        // In a text whose headers are written out, which one thread runs, these are declarations.
        const bool has_declarations = text_.find("} halo_lifted;") != std::string::npos;
        if (end_of_support != std::string::npos)
            edits_.push_back(
                {end_of_support, definitions.substr(std::min<std::size_t>(1, definitions.size())) + "\n"});
        else if (has_declarations && !result_.calls.empty()) {
            for (std::size_t at = 0; (at = definitions.find(kThread)) != std::string::npos;)
                definitions.erase(at, sizeof kThread - 1);
            edits_.push_back({function_begin, definitions + "\n"});
        } else if (!result_.calls.empty())
            edits_.push_back(
                {place_for_support(function_begin),
                 "\n" + (support_.empty() ? call_support() : support_) + definitions + "\n" + kEnd + "\n\n"});
        std::stable_sort(edits_.begin(), edits_.end(),
                         [](const Insertion& a, const Insertion& b) { return a.at > b.at; });
        for (const Insertion& each : edits_)
            text_.insert(each.at, each.text);
        result_.text = std::move(text_);
        return std::move(result_);
    }

private:
    static SourceRange head_of(const Lifted& each) {
        return each.unit.functions[static_cast<std::size_t>(each.unit.function)].where;
    }
    // The call is written where the loops stand, and names what they reach.
    static void check_access(const Lifted& each) {
        const auto refuse = [&](const std::string& name, int variable) {
            throw Refusal(each.unit.variables[static_cast<std::size_t>(variable)].where,
                          "`" + name + "` is private where these loops stand, and the call would name it",
                          {"make the loops a member function of that class, or the member public"});
        };
        for (const Scalar& scalar : each.model.scalars)
            if (scalar.is_hidden) refuse(scalar.access, scalar.variable);
        for (const Object& object : each.model.objects)
            if (object.is_hidden)
                refuse(access_text(each.unit, object.variable, object.members), object.variable);
    }
    static std::size_t begin_of(const Lifted& each) {
        return each.unit.functions[static_cast<std::size_t>(each.unit.function)].outer_begin;
    }

    std::string_view line_before(std::size_t line_begin) const {
        if (line_begin == 0) return {};
        const std::size_t end = line_begin - 1;
        const std::size_t begin = end == 0 ? 0 : text_.rfind('\n', end - 1) + 1;
        return std::string_view(text_).substr(begin, end - begin);
    }
    std::size_t line_begin(std::size_t at) const { return at == 0 ? 0 : text_.rfind('\n', at - 1) + 1; }
    // The pragma in front of a statement, where there is one, as text; from: where it begins. It may stand
    // in an `#if` with others for other compilers.
    std::string pragma_before(std::size_t at, std::size_t& from) const {
        from = line_begin(at);
        const std::string_view own = trimmed(std::string_view(text_).substr(from, at - from));
        if (own.find("_Pragma") != std::string_view::npos) return std::string(own);
        if (!own.empty()) return "";
        std::string all, passed;
        int depth = 0;  // of `#endif` whose `#if` is further up
        for (std::size_t begin = from; begin > 0;) {
            const std::string_view line = line_before(begin);
            const std::string_view words = trimmed(line);
            const std::string_view above = trimmed(line_before(begin - line.size() - 1));
            const bool goes_on = !above.empty() && above.back() == '\\';  // a directive in several lines
            const std::string_view directive =
                words.rfind("#", 0) == 0 ? trimmed(words.substr(1)) : std::string_view();
            const bool is_if = directive.rfind("if", 0) == 0, is_else = directive.rfind("el", 0) == 0;
            const bool is_end = directive.rfind("endif", 0) == 0;
            const bool is_pragma =
                directive.rfind("pragma", 0) == 0 || words.find("_Pragma") != std::string_view::npos;
            if ((is_if || is_else) && depth == 0) break;  // the statement is in it
            if (!is_if && !is_else && !is_end && !is_pragma && !goes_on && !words.empty()) break;
            depth += is_end ? 1 : is_if ? -1 : 0;
            begin -= line.size() + 1;
            if (words.empty()) continue;
            passed = std::string(words) + "\n" + passed;
            if (depth > 0 || passed.find("ragma") == std::string::npos) continue;
            all = passed + all;
            passed.clear();
            from = begin;
        }
        return all;
    }

    // Whether the text begins with the loop, or with the call of a function that has it.
    bool begins_as_written(const Lifted& each) const {
        const std::size_t begin = each.outline->where.begin;
        const c::Statement& nest = each.unit.statements[static_cast<std::size_t>(each.outline->nest)];
        if (nest.kind != c::Statement::Kind::expression) return text_.compare(begin, 3, "for") == 0;
        const c::Expr& call = each.unit.exprs[static_cast<std::size_t>(nest.expr)];
        const std::string name = each.unit.functions[static_cast<std::size_t>(call.function)].name;
        return trimmed(std::string_view(text_).substr(begin, text_.find('(', begin) - begin)).ends_with(name);
    }

    void replace_nest(const Lifted& each, const StencilCall& made) {
        const SourceRange where = each.outline->where;
        if (!begins_as_written(each))
            throw Refusal(where, "this loop comes from a macro, which is not replaced");
        for (const SourceRange& around : each.outline->around) {
            std::size_t unused = 0;
            const std::string pragma = pragma_before(around.begin, unused);
            if (!support_.empty() || split_.count(around.begin) > 0) continue;
            if (pragma.find("omp") == std::string::npos && pragma.find("acc") == std::string::npos) continue;
            const SplitRegion region = split_region(each.unit, text_, around);
            if (!region.why_not.empty())
                throw Refusal(where,
                              "this loop is in a part that several threads run, by `" +
                                  pragma.substr(0, pragma.find('\n')) +
                                  "`: each of them would run the stencil",
                              {"it is not made into parallel loops: " + region.why_not});
            split_.insert(around.begin);
            edits_.insert(edits_.end(), region.insertions.begin(), region.insertions.end());
        }
        std::size_t from = where.begin;
        const std::string pragma = pragma_before(where.begin, from);
        if (pragma.find("_Pragma") != std::string::npos)
            throw Refusal(where, "a `_Pragma` stands in front of this loop, which is not replaced");
        if (pragma.empty()) from = where.begin;
        call_follows(from);
        const std::size_t line = line_begin(where.begin);
        const std::size_t first = text_.find_first_not_of(" \t", line);
        const std::string indent = text_.substr(line, std::min<std::size_t>(first, where.begin) - line);
        const bool is_alone =
            !each.outline->in_block;  // the one statement of an `if`, which may have an `else`
        const std::string head = std::string(is_alone ? "{ " : "") + "if (!" + made.call + ") { /* stencil " +
                                 each.spec.name + kLoopsRun + "\n";
        // After a pragma's line the indentation is there already.
        edits_.push_back({from, pragma.empty() ? head + indent : indent + head});
        edits_.push_back({where.end, "\n" + indent + (is_alone ? "}}" : "}")});
    }

    // The call that the loops stand behind, where there is one, is no longer the last.
    void call_follows(std::size_t at) {
        const std::string_view mark = kLoopsRun,
                               before = std::string_view(text_).substr(
                                   0, at == 0 ? 0 : text_.find_last_not_of(" \t\r\n", at - 1) + 1);
        if (before.size() < mark.size() || before.substr(before.size() - mark.size()) != mark) return;
        const std::size_t last = text_.rfind(" 1)) { /* stencil ", before.size());
        if (last != std::string::npos && last >= line_begin(before.size())) text_[last + 1] = '0';
    }

    void replace_whole(const Lifted& each, const StencilCall& made) {
        const c::Function& function = each.unit.functions[static_cast<std::size_t>(each.unit.function)];
        if (function.is_kernel)
            throw Refusal(function.where, "kernels are not replaced: the stencil is run by host code",
                          {"lift it without --replace, and run the spec in place of the launch"});
        if (!function.is_plain)
            throw Refusal(function.where, "templates and functions of theirs are not replaced");
        const std::size_t at = each.unit.statements[static_cast<std::size_t>(function.body)].where.begin;
        if (text_[at] != '{') throw Refusal(function.where, "this function's body comes from a macro");
        std::string call = made.call;
        const std::size_t end = each.unit.statements[static_cast<std::size_t>(function.body)].where.end;
        if (const std::size_t other = text_.find(kTextRuns, at); other < end) call[call.size() - 2] = '0';
        edits_.push_back(
            {at + 1, "\n    /* stencil " + each.spec.name + kTextRuns + "\n    if (" + call + ") return;"});
    }

    // After the last #include above the function that no #if encloses.
    std::size_t place_for_support(std::size_t before) const {
        std::size_t place = 0;
        int depth = 0;
        for (std::size_t at = 0; at < before;) {
            std::size_t end = text_.find('\n', at);
            if (end == std::string::npos) end = text_.size();
            const std::string_view line = trimmed(std::string_view(text_).substr(at, end - at));
            std::string_view word =
                line.empty() || line[0] != '#' ? std::string_view() : trimmed(line.substr(1));
            if (word.rfind("if", 0) == 0) ++depth;
            if (word.rfind("endif", 0) == 0) --depth;
            if (word.rfind("include", 0) == 0 && depth == 0) place = end + 1;
            at = end + 1;
        }
        return std::min(place, text_.size());
    }

    const Nests& found_;
    const std::vector<std::string>& specs_;
    const std::string& support_;
    std::string text_;
    std::vector<Insertion> edits_;
    std::set<std::size_t> split_;  // regions of several threads, by where they begin
    Replaced result_;
};

}  // namespace

Replaced replace_loops(const Nests& found, const std::vector<std::string>& specs,
                       const std::string& support) {
    return Replacer(found, specs, support).make();
}

}  // namespace halo::lift
