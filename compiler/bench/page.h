// The page of a measurement: Markdown, all of it made from results.
#pragma once

#include <string>

#include "compiler/bench/results.h"

namespace halo::bench {

struct PageFiles {  // relative to the page; empty: no such picture
    std::string roofline, growth;
};

// The machine's clocks, and what its copies and arithmetic reach.
std::string machine_words(const MachineFacts& machine);

std::string page(const Results& results, const PageFiles& files);

// The part of a page that is about growth; empty where nothing of it was measured.
std::string growth_section(const Results& results, const PageFiles& files);

// `text` with what lies between the lines kBegin and kEnd replaced by the page, these lines kept; a whole
// file, under that title, where the text is empty. Throws CommandError (file) where a text has not both lines
// in this order, so that a page written by hand is not overwritten; `path` is for that message.
inline constexpr const char* kBegin = "<!-- haloc bench: begin -->";
inline constexpr const char* kEnd = "<!-- haloc bench: end -->";
std::string put_into(const std::string& text, const std::string& page, const std::string& path,
                     const std::string& title = "Performance");

}  // namespace halo::bench
