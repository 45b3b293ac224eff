// Words that pages are made of.
#pragma once

#include <string>
#include <vector>

namespace halo::bench {

std::string percent(double part);   // "12.3 %"
std::string gstencil(double rate);  // of cells a second, in thousands of millions: "1192", "0.037"
// Of a Markdown table; the head with the line below it.
std::string table_row(const std::vector<std::string>& cells);
std::string table_head(const std::vector<std::string>& titles);

// "docs/performance.md", "-roofline.png" → "docs/performance-roofline.png"
std::string beside(const std::string& page, const std::string& ending);
std::string file_name(const std::string& path);

// Checks before minutes of measuring what would fail after them: missing folders, and a page written by hand.
// Throws CommandError (file).
void require_writable(const std::string& page, const std::string& json);
// `page` put into the file (page.h) under this title, where there is none yet.
void write_into(const std::string& file, const std::string& page, const std::string& title);

}  // namespace halo::bench
