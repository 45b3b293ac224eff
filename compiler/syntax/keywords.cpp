#include "compiler/syntax/keywords.h"

namespace halo::syntax {

const std::vector<std::string>& stencil_words() {
    static const std::vector<std::string> words{"param", "const", "spacing", "origin",   "coef",    "field",
                                                "def",   "let",   "reduce",  "accuracy", "schedule"};
    return words;
}

const std::vector<std::string>& run_words() {
    static const std::vector<std::string> words{"grid", "steps", "init", "load", "save", "plot"};
    return words;
}

const std::vector<std::string>& field_words() {
    static const std::vector<std::string> words{"halo", "boundary"};
    return words;
}

const std::vector<std::string>& future_words() {
    static const std::vector<std::string> words{"table", "points", "inject", "sample",
                                                "where", "on",     "for",    "state"};
    return words;
}

}  // namespace halo::syntax
