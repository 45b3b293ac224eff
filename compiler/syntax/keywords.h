// The words that begin statements. They are names like any other elsewhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halo::syntax {

const std::vector<std::string>& stencil_words();  // param, field, let, …
const std::vector<std::string>& run_words();      // grid, steps, …
const std::vector<std::string>& field_words();    // halo, boundary, …
const std::vector<std::string>& shared_words();   // that begin what stands outside of blocks: use, stencil, …
const std::vector<std::string>& clause_words();   // that stand within statements: at, until, every, …
const std::vector<std::string>& boundary_kinds();  // periodic, fixed, …
const std::vector<std::string>& operator_words();  // if, then, else, and, or, not
const std::vector<std::string>& future_words();    // of the language to come; refused as not built yet

std::optional<std::string_view> latin_name(std::string_view greek_letter);  // λ: lambda

}  // namespace halo::syntax
