// Boundaries of random programs.
#include <fmt/format.h>

#include <algorithm>

#include "random_generator.h"

namespace halo::test {

bool ProgramGenerator::has_free_faces() const {
    const auto is_free = [&](const Faces& faces) {
        if (!faces.written) return true;
        for (int axis = 0; axis < program_.rank; ++axis)
            for (const std::string& kind : faces.kind[axis])
                if (kind == "free") return true;
        return false;
    };
    return std::any_of(program_.fields.begin(), program_.fields.end(),
                       [&](const FieldSpec& field) { return is_free(field.faces); }) ||
           std::any_of(
               program_.statements.begin(), program_.statements.end(), [&](const StatementSpec& each) {
                   return each.kind == StatementSpec::Kind::let && !all_periodic_ && is_free(each.faces);
               });
}

std::string ProgramGenerator::boundary_kind() {
    const std::string kind =
        random_.pick<std::string>({"fixed", "fixed", "clamp", "mirror", "free", "periodic", "periodic"});
    if (random_.chance(20)) {
        // What differs from place to place is said for each component alone.
        const std::string formula = formula_kind();
        if (!shares_faces() || formula.find('(') == std::string::npos) return formula;
    }
    if (kind != "fixed") return kind;
    return random_.pick<std::string>({"fixed 0", "fixed 1/2", "fixed -3/4", "fixed p/2", "fixed 1 - abs(q)"});
}

std::string ProgramGenerator::formula_kind() {
    if (options_.series && random_.chance(20))
        return random_.pick<std::string>({"fixed series_[step]", "gradient series_[step/2] / 4"});
    const int axis = random_.between(0, program_.rank - 1);
    const std::string name(1, "xyzg"[axis]);
    return random_.pick<std::string>(
        {"antimirror", "symmetric", "antisymmetric", "extrapolate 0", "extrapolate 1", "extrapolate 2",
         fmt::format("fixed idx({0}) / len({0})", name), fmt::format("fixed p / (2 + abs(pos({})))", name),
         "gradient q/4", fmt::format("gradient idx({0}) / (8 * len({0}))", name), "robin 1/8, 2, p",
         "robin p/8, 1, q/4"});
}

Faces ProgramGenerator::make_faces() {
    Faces faces;
    faces.written = true;
    for (int axis = 0; axis < program_.rank; ++axis) {
        auto& [low, high] = faces.kind[axis];
        low = all_periodic_ ? "periodic" : boundary_kind();
        high = low;
        if (low == "periodic" || random_.chance(50)) continue;
        do {
            high = boundary_kind();
        } while (high == "periodic");
    }
    return faces;
}

bool ProgramGenerator::shares_faces() const {
    return options_.interleaved && program_.seed % 2 == 0;
}

void ProgramGenerator::share_faces(FieldSpec& field) const {
    if (shares_faces() && !program_.fields.empty()) field.faces = program_.fields.front().faces;
}

bool ProgramGenerator::is_formula(const std::string& kind) {
    const auto is = [&](const char* plain) { return kind.starts_with(plain); };
    if (is("fixed"))
        return kind.find("idx(") != std::string::npos || kind.find("pos(") != std::string::npos ||
               kind.find("series_") != std::string::npos;
    return !kind.empty() && !is("periodic") && !is("clamp") && !is("mirror") && !is("free");
}

Faces ProgramGenerator::fitting_faces() {
    Faces faces = make_faces();
    for (int axis = 0; axis < program_.rank; ++axis)
        for (std::string& kind : faces.kind[static_cast<std::size_t>(axis)])
            if (is_formula(kind) && program_.grid[axis] <= 2 * options_.max_radius) kind = "clamp";
    return faces;
}

}  // namespace halo::test
