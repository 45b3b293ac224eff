#include "compiler/syntax/keywords.h"

#include <utility>

namespace halo::syntax {

const std::vector<std::string>& stencil_words() {
    static const std::vector<std::string> words{
        "param", "const",  "spacing", "origin", "coef",     "field",    "table", "series",
        "fast",  "def",    "let",     "reduce", "accuracy", "schedule", "for",   "on",
        "where", "points", "inject",  "sample", "sweep",    "repeat",   "solve"};
    return words;
}

const std::vector<std::string>& run_words() {
    static const std::vector<std::string> words{"grid", "steps", "rows",  "init", "load",
                                                "save", "plot",  "movie", "every"};
    return words;
}

const std::vector<std::string>& field_words() {
    static const std::vector<std::string> words{"halo", "boundary", "layout", "unit"};
    return words;
}

const std::vector<std::string>& shared_words() {
    static const std::vector<std::string> words{"use", "stencil", "run", "def", "const", "coef"};
    return words;
}

const std::vector<std::string>& clause_words() {
    static const std::vector<std::string> words{
        "along", "arrows", "as",    "at",   "axes",     "coarse", "contours", "do",   "down",
        "every", "flip",   "fps",   "from", "in",       "into",   "log",      "most", "over",
        "parts", "range",  "start", "to",   "together", "tol",    "until",    "up",   "using"};
    return words;
}

const std::vector<std::string>& boundary_kinds() {
    static const std::vector<std::string> words{"periodic",    "fixed",      "clamp",     "mirror",
                                                "free",        "antimirror", "symmetric", "antisymmetric",
                                                "extrapolate", "gradient",   "robin"};
    return words;
}

const std::vector<std::string>& operator_words() {
    static const std::vector<std::string> words{"if", "then", "else", "and", "or", "not"};
    return words;
}

const std::vector<std::string>& future_words() {
    static const std::vector<std::string> words{"state"};
    return words;
}

std::optional<std::string_view> latin_name(std::string_view greek_letter) {
    static constexpr std::pair<std::string_view, std::string_view> kLetters[] = {
        {"α", "alpha"}, {"β", "beta"},  {"γ", "gamma"}, {"δ", "delta"},  {"ε", "epsilon"}, {"ζ", "zeta"},
        {"η", "eta"},   {"θ", "theta"}, {"κ", "kappa"}, {"λ", "lambda"}, {"μ", "mu"},      {"ν", "nu"},
        {"ξ", "xi"},    {"π", "pi"},    {"ρ", "rho"},   {"σ", "sigma"},  {"τ", "tau"},     {"φ", "phi"},
        {"χ", "chi"},   {"ψ", "psi"},   {"ω", "omega"}, {"Δ", "Delta"},  {"Ω", "Omega"}};
    for (const auto& [letter, name] : kLetters) {
        if (letter == greek_letter) return name;
    }
    return std::nullopt;
}

}  // namespace halo::syntax
