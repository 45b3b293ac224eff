#include "compiler/lift/fortran/mlir_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace halo::lift::mlir {

namespace {

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '.' || c == '-';
}

class Reader {
public:
    Reader(std::string_view text, Module& into) : text_(text), module_(into) {}

    void read() {
        read_aliases();
        while (!at_end()) {
            if (peek() == '#')
                skip_line();
            else
                module_.operations.push_back(operation());
        }
    }

private:
    // ---- characters

    bool at_end() {
        skip_space();
        return at_ >= text_.size();
    }
    void skip_space() {
        while (at_ < text_.size()) {
            if (text_.substr(at_, 2) == "//")
                skip_line();
            else if (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')
                ++at_;
            else
                return;
        }
    }
    char peek() {
        skip_space();
        return at_ < text_.size() ? text_[at_] : '\0';
    }
    bool take(std::string_view word) {
        skip_space();
        if (text_.substr(at_, word.size()) != word) return false;
        at_ += word.size();
        return true;
    }
    void expect(std::string_view word) {
        if (!take(word)) fail(fmt::format("`{}` is expected", word));
    }
    [[noreturn]] void fail(const std::string& what) const {
        const auto line =
            1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
        throw TextError(fmt::format("{} in line {} of the operations", what, line));
    }
    std::string_view word() {
        skip_space();
        const std::size_t begin = at_;
        while (at_ < text_.size() && is_word(text_[at_]))
            ++at_;
        if (begin == at_) fail("a name is expected");
        return text_.substr(begin, at_ - begin);
    }
    std::string string() {
        expect("\"");
        std::string made;
        for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
            if (text_[at_] == '\\') ++at_;
            if (at_ < text_.size()) made += text_[at_];
        }
        if (at_ >= text_.size()) fail("a string does not end");
        ++at_;
        return made;
    }
    std::uint32_t number() {
        skip_space();
        std::uint32_t made = 0;
        const auto [stop, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), made);
        if (error != std::errc()) fail("a number is expected");
        at_ = static_cast<std::size_t>(stop - text_.data());
        return made;
    }
    void skip_line() { at_ = std::min(text_.find('\n', at_), text_.size()); }
    // A type or an attribute: up to a comma, the end of what it is in, or a word that follows types.
    std::string balanced() {
        skip_space();
        const std::size_t begin = at_;
        int depth = 0;
        for (; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (c == '"') {
                string();
                --at_;
                continue;
            }
            if (text_.substr(at_, 2) == "->") {  // of a type of functions
                ++at_;
                continue;
            }
            if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
            if (depth == 0 && (c == ',' || c == ')' || c == ']' || c == '}' || c == '>' || c == '\n')) break;
            if (depth == 0 && text_.substr(at_, 5) == " loc(") break;
            if (c == ')' || c == ']' || c == '}' || c == '>') --depth;
        }
        std::string_view made = text_.substr(begin, at_ - begin);
        while (!made.empty() && made.back() == ' ')
            made.remove_suffix(1);
        if (made.empty()) fail("a type or an attribute is expected");
        return std::string(made);
    }

    // ---- places

    // `#loc7 = loc(…)`: each on a line of its own, before or after the operations.
    void read_aliases() {
        for (std::size_t begin = 0; begin < text_.size();) {
            const std::size_t end = std::min(text_.find('\n', begin), text_.size());
            const std::string_view line = text_.substr(begin, end - begin);
            const std::size_t equals = line.find(" = loc(");
            if (line.starts_with('#') && equals != std::string_view::npos) {
                at_ = begin + equals + 3;
                aliases_[std::string(line.substr(0, equals))] = location();
            }
            begin = end + 1;
        }
        at_ = 0;
    }
    // Of several places that are fused the first one counts; names are no places.
    Location location() {
        expect("loc(");
        Location made = place();
        int depth = 0;  // what else is said
        for (; at_ < text_.size() && (text_[at_] != ')' || depth > 0); ++at_) {
            if (text_[at_] == '"') {
                string();
                --at_;
                continue;
            }
            if (text_[at_] == '(') ++depth;
            if (text_[at_] == ')') --depth;
        }
        expect(")");
        return made;
    }
    Location place() {
        Location made;
        if (peek() == '"') {
            made.file = string();
            if (!take(":")) return {};
            made.line = number();
            expect(":");
            made.column = number();
        } else if (peek() == '#') {
            ++at_;
            const auto found = aliases_.find("#" + std::string(word()));
            if (found != aliases_.end()) made = found->second;
        }
        return made;
    }

    // ---- values

    int new_value(std::string name, Value made) {
        const int id = static_cast<int>(module_.values.size());
        names_[std::move(name)] = id;
        module_.values.push_back(std::move(made));
        return id;
    }
    // `%3`, or `%3#1` of several results.
    int operand() {
        expect("%");
        std::string name(word());
        if (at_ < text_.size() && text_[at_] == '#') {
            ++at_;
            name += "#" + std::to_string(number());
        } else {
            name += "#0";
        }
        // Of several blocks an earlier one may use what a later one makes.
        const auto found = names_.find(name);
        return found == names_.end() ? new_value(name, {}) : found->second;
    }
    std::vector<std::string> types() {
        std::vector<std::string> made;
        if (!take("(")) return {balanced()};
        if (take(")")) return made;
        do {
            made.push_back(balanced());
        } while (take(","));
        expect(")");
        return made;
    }

    // ---- operations

    std::unique_ptr<Operation> operation() {
        auto made = std::make_unique<Operation>();
        std::vector<std::string> results;
        if (peek() == '%') results = result_names();
        made->name = string();
        expect("(");
        while (!take(")")) {
            made->operands.push_back(operand());
            take(",");
        }
        if (take("[")) {
            do {
                expect("^");
                made->successors.emplace_back(word());
            } while (take(","));
            expect("]");
        }
        if (take("<{")) {
            dictionary(*made);
            expect(">");
        }
        if (peek() == '(') regions(*made);
        if (take("{")) dictionary(*made);
        expect(":");
        made->operand_types = types();
        expect("->");
        const std::vector<std::string> result_types = types();
        if (result_types.size() < results.size()) fail("an operation has more results than types");
        for (std::size_t i = 0; i < results.size(); ++i)
            made->results.push_back(
                new_value(results[i], {result_types[i], made.get(), static_cast<int>(i)}));
        if (take("loc(")) {
            at_ -= 4;
            made->where = location();
        }
        return made;
    }
    std::vector<std::string> result_names() {
        std::vector<std::string> made;
        do {
            expect("%");
            const std::string name(word());
            const std::uint32_t count = take(":") ? number() : 1;
            for (std::uint32_t i = 0; i < count; ++i)
                made.push_back(name + "#" + std::to_string(i));
        } while (take(","));
        expect("=");
        return made;
    }
    void dictionary(Operation& made) {
        while (!take("}")) {
            const std::string key = peek() == '"' ? string() : std::string(word());
            made.attributes[key] = take("=") ? balanced() : "unit";
            take(",");
        }
    }
    void regions(Operation& made) {
        expect("(");
        do {
            expect("{");
            made.regions.push_back(blocks());
        } while (take(","));
        expect(")");
    }
    std::vector<Block> blocks() {
        std::vector<Block> made;
        while (!take("}")) {
            if (take("^")) {
                made.push_back(head());
                continue;
            }
            if (made.empty()) made.emplace_back();
            made.back().operations.push_back(operation());
        }
        return made;
    }
    Block head() {
        Block made;
        made.name = word();
        if (take("(")) {
            while (!take(")")) {
                expect("%");
                const std::string name(word());
                expect(":");
                Value argument;
                argument.type = balanced();
                argument.number = static_cast<int>(made.arguments.size());
                if (take("loc(")) {
                    at_ -= 4;
                    location();
                }
                made.arguments.push_back(new_value(name + "#0", std::move(argument)));
                take(",");
            }
        }
        expect(":");
        return made;
    }

    std::string_view text_;
    std::size_t at_ = 0;
    Module& module_;
    std::map<std::string, Location> aliases_;
    std::map<std::string, int> names_;
};

}  // namespace

std::string without(const std::string& text, const std::string& characters) {
    const std::size_t begin = text.find_first_not_of(characters), end = text.find_last_not_of(characters);
    return begin == std::string::npos ? "" : text.substr(begin, end + 1 - begin);
}

Module read_module(std::string_view text) {
    Module made;
    Reader(text, made).read();
    return made;
}

}  // namespace halo::lift::mlir
