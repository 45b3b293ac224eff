// What the command line says of itself, in other forms: a manual page, a page of the documents, and
// completions for shells. Made from its options, so that they never fall behind.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace halo::driver {

std::string manual_page(const CLI::App& app);         // in roff, for section 1
std::string markdown_reference(const CLI::App& app);  // docs/commands.md

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

// Of these the one that is asked for: "man", "markdown", "bash", "zsh" or "fish".
std::string about_text(const std::string& what, const CLI::App& app);

}  // namespace halo::driver
