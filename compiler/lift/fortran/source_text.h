// The lines of a Fortran file: where its statements end. Which statements they are is for flang to say.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace halo::lift::fortran {

// Whether the name of a file says that it is Fortran.
bool is_fortran(const std::string& file);

// The files beside `file` with the modules that it uses, and those that these use, each behind what it needs.
std::vector<std::string> module_files(const std::string& file);

class SourceText {
public:
    SourceText(const std::string& file, std::string text);

    const std::string& text() const { return text_; }
    bool is_fixed() const { return is_fixed_; }  // statements from column 7 on
    // Of the first byte of the place; nothing of it: the text's end.
    std::uint32_t offset(std::uint32_t line, std::uint32_t column) const;
    // Behind the last character of the statement that begins there, which may go on in further lines.
    std::uint32_t statement_end(std::uint32_t begin) const;
    // Behind the end of a DO, given where it begins and where the last statement in it ends: behind END DO,
    // or the statement with the label that the DO names. Where neither is found, the latter.
    std::uint32_t loop_end(std::uint32_t begin, std::uint32_t last) const;
    // The same of a construct that ends with that word: `endwhere`.
    std::uint32_t construct_end(std::uint32_t last, const std::string& word) const;
    std::uint32_t next_line(std::uint32_t at) const;  // where it begins
    std::uint32_t line_begin(std::uint32_t at) const;

private:
    bool goes_on(std::uint32_t line) const;  // of fixed form: the statement of the line before
    bool is_comment(std::uint32_t line) const;
    std::uint32_t next_statement(std::uint32_t end) const;
    std::string first_letters(std::uint32_t begin, std::size_t count) const;

    std::string text_;
    bool is_fixed_;
};

// Statements for both forms: each line from column 7 on, no longer than 72 characters, and what is longer
// goes on in the next one.
std::string in_both_forms(const std::string& statements);

}  // namespace halo::lift::fortran
