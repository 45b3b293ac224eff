#include "compiler/lift/fortran/source_text.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

namespace halo::lift::fortran {

namespace {

// As gfortran and flang read it; those in capitals are preprocessed.
std::string lower_extension(const std::string& file) {
    std::string made = std::filesystem::path(file).extension().string();
    std::transform(made.begin(), made.end(), made.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return made;
}

bool is_fixed_form(const std::string& extension) {
    static const std::set<std::string> names{".f", ".for", ".ftn", ".fpp"};
    return names.count(extension) > 0;
}

}  // namespace

bool is_fortran(const std::string& file) {
    static const std::set<std::string> names{".f90", ".f95", ".f03", ".f08"};
    const std::string extension = lower_extension(file);
    return names.count(extension) > 0 || is_fixed_form(extension);
}

SourceText::SourceText(const std::string& file, std::string text)
    : text_(std::move(text)), is_fixed_(is_fixed_form(lower_extension(file))) {}

std::uint32_t SourceText::offset(std::uint32_t line, std::uint32_t column) const {
    std::uint32_t at = 0;
    for (std::uint32_t i = 1; i < line && at < text_.size(); ++i)
        at = next_line(at);
    // Where a macro was expanded the column may be one that the line does not have.
    const std::size_t end = std::min(text_.find('\n', at), text_.size());
    if (at + column - 1 < end) return at + column - 1;
    return static_cast<std::uint32_t>(std::min(text_.find_first_not_of(" \t", at), end));
}

std::uint32_t SourceText::next_line(std::uint32_t at) const {
    const std::size_t end = text_.find('\n', at);
    return static_cast<std::uint32_t>(end == std::string::npos ? text_.size() : end + 1);
}

std::uint32_t SourceText::line_begin(std::uint32_t at) const {
    const std::size_t before = at == 0 ? std::string::npos : text_.rfind('\n', at - 1);
    return static_cast<std::uint32_t>(before == std::string::npos ? 0 : before + 1);
}

bool SourceText::is_comment(std::uint32_t line) const {
    const std::size_t first = text_.find_first_not_of(" \t\r", line);
    if (first == std::string::npos || text_[first] == '\n' || text_[first] == '!') return true;
    const char head = text_[line];
    return head == '#' || (is_fixed_ && (head == 'c' || head == 'C' || head == '*'));
}

bool SourceText::goes_on(std::uint32_t line) const {
    if (text_.size() < line + 6 || text_.substr(line, 5) != "     ") return false;
    const char mark = text_[line + 5];
    return mark != ' ' && mark != '0' && mark != '\n' && mark != '\r';
}

std::uint32_t SourceText::statement_end(std::uint32_t begin) const {
    std::uint32_t end = begin;  // behind the last character of it
    char quote = '\0';
    for (std::uint32_t at = begin; at < text_.size(); ++at) {
        const char c = text_[at];
        const bool is_done = quote == '\0' && (c == '!' || c == ';');
        if (c == ';' && is_done) return end;
        if (c != '\n' && !is_done) {
            if (quote != '\0')
                quote = c == quote ? '\0' : quote;
            else if (c == '\'' || c == '"')
                quote = c;
            if (c != ' ' && c != '\t' && c != '\r') end = at + 1;
            continue;
        }
        std::uint32_t next = next_line(at);
        while (next < text_.size() && is_comment(next))
            next = next_line(next);
        const bool continues =
            next < text_.size() && (is_fixed_ ? goes_on(next) : end > begin && text_[end - 1] == '&');
        if (!continues) return end;
        at = is_fixed_ ? next + 5 : next - 1;
    }
    return end;
}

// Where the statement after the one that ends there begins, behind its label.
std::uint32_t SourceText::next_statement(std::uint32_t end) const {
    std::uint32_t at = end;
    const std::size_t more = text_.find_first_not_of(" \t", end);
    if (more == std::string::npos || text_[more] != ';') {
        at = next_line(end);
        while (at < text_.size() && is_comment(at))
            at = next_line(at);
    }
    const std::size_t first = text_.find_first_not_of(" \t;0123456789", at);
    return static_cast<std::uint32_t>(std::min(first, text_.size()));
}

// In small letters and without blanks.
std::string SourceText::first_letters(std::uint32_t begin, std::size_t count) const {
    std::string made;
    for (std::size_t at = begin; at < text_.size() && made.size() < count && text_[at] != '\n'; ++at) {
        if (text_[at] != ' ') made += static_cast<char>(std::tolower(static_cast<unsigned char>(text_[at])));
    }
    return made;
}

// Constructs in it may end in between, and their last part may be empty.
std::uint32_t SourceText::construct_end(std::uint32_t last, const std::string& word) const {
    std::uint32_t next = next_statement(last);
    const auto is = [&](const std::string& wanted) { return first_letters(next, 9).rfind(wanted, 0) == 0; };
    while (!is(word) && (is("endif") || is("endselect") || is("endwhere") || is("else") || is("case")))
        next = next_statement(statement_end(next));
    return is(word) ? statement_end(next) : last;
}

std::uint32_t SourceText::loop_end(std::uint32_t begin, std::uint32_t last) const {
    const std::string head = first_letters(begin, 12);  // `do10i=1,n`
    std::string label;
    for (std::size_t i = 2; head.rfind("do", 0) == 0 && i < head.size() && std::isdigit(head[i]); ++i)
        label += head[i];
    if (label.empty()) {
        return construct_end(last, "enddo");
    }
    for (std::uint32_t line = next_line(begin); line < text_.size(); line = next_line(line)) {
        const std::size_t digits = text_.find_first_not_of(" \t0", line);
        const bool is_it = digits != std::string::npos && text_.compare(digits, label.size(), label) == 0 &&
                           !std::isdigit(text_[digits + label.size()]) && !is_comment(line);
        if (is_it) return statement_end(static_cast<std::uint32_t>(digits));
    }
    return last;
}

std::string in_both_forms(const std::string& statements) {
    constexpr std::size_t kFirst = 6, kWidth = 72;
    std::string made;
    for (std::size_t begin = 0; begin < statements.size();) {
        const std::size_t end = std::min(statements.find('\n', begin), statements.size());
        std::string line = std::string(kFirst, ' ') + statements.substr(begin, end - begin);
        // An `&` in column 73 is a comment of fixed form, and one in column 6 goes on in both.
        for (; line.size() > kWidth; line = "     &" + line.substr(kWidth))
            made += line.substr(0, kWidth) + "&\n";
        made += line + "\n";
        begin = end + 1;
    }
    return made;
}

}  // namespace halo::lift::fortran
