#include "compiler/bench/cases.h"

#include <fmt/format.h>

#include <cctype>

#include "compiler/support/error.h"

namespace halo::bench {

namespace {

struct Stencil {
    const char* spec;
    const char* title;
    std::vector<std::int64_t> sides;  // of full measurements
};

const std::vector<Stencil>& stencils() {
    static const std::vector<Stencil> all{
        {"bench/star2d1", "2D 5-point", {16384}},
        {"bench/star2d2", "2D 9-point star", {16384}},
        {"bench/star2d4", "2D 17-point star", {16384}},
        {"bench/box2d1", "2D 9-point box", {16384}},
        {"bench/box2d2", "2D 25-point box", {16384}},
        {"bench/star3d1", "3D 7-point", {512, 1024}},
        {"bench/star3d1_periodic", "3D 7-point, periodic", {512}},
        {"bench/star3d2", "3D 13-point star", {512, 1024}},
        {"bench/star3d4", "3D 25-point star", {512, 1024}},
        {"bench/box3d1", "3D 27-point", {512, 1024}},
        {"bench/box3d1_symmetric", "3D 27-point, 4 weights", {512, 1024}},
    };
    return all;
}

bool is_2d(const Stencil& stencil) {
    return stencil.title[0] == '2';
}

Extent cube(std::int64_t side) {
    return {side, side, side};
}

std::vector<std::int64_t> sides(const Stencil& stencil, Scale scale) {
    switch (scale) {
        case Scale::full:
            return stencil.sides;
        case Scale::quick:
            return {is_2d(stencil) ? 8192 : 512};
        case Scale::small:
            return {is_2d(stencil) ? 1024 : 96};
    }
    return {};
}

void add_sweeps(std::vector<Case>& all, Scale scale) {
    for (const Stencil& stencil : stencils()) {
        for (const std::int64_t side : sides(stencil, scale)) {
            for (const char* type : {"f32", "f64"}) {
                const Extent extent = is_2d(stencil) ? Extent{side, side, 1} : cube(side);
                all.push_back({stencil.spec, stencil.title, type, extent});
            }
        }
    }
}

void add_derivatives(std::vector<Case>& all, Scale scale) {
    const std::vector<std::int64_t> sizes =
        scale == Scale::small ? std::vector<std::int64_t>{64} : std::vector<std::int64_t>{64, 256};
    for (const std::int64_t side : sizes) {
        for (const char* axis : {"x", "y", "z"}) {
            Case one{fmt::format("derivative_{}", axis), fmt::format("8th-order d/d{}", axis), "f32",
                     cube(side), Section::derivatives};
            one.published =
                side == 64
                    ? Published{84, "84: NVIDIA's kernels from its posts on finite differences, on an H200"}
                    : Published{265, "260–265: the same kernels, on an H200"};
            if (scale == Scale::small) one.published = {};
            all.push_back(one);
        }
    }
}

void add_runs(std::vector<Case>& all, Scale scale) {
    Case heat{"heat3d", "heat", "f32", cube(128), Section::runs, 5000};
    heat.published = {0.370, "370 ms: CUDA tuned step by step, on a Titan X"};
    Case small{"heat3d", "heat", "f32", cube(64), Section::runs, 5000};
    if (scale == Scale::small) {
        heat.steps = 50;
        small.steps = 100;
        heat.published = {};
    }
    all.push_back(heat);
    all.push_back(small);
}

// Adds sums over tables, with flops a term as case studies of CUDA count them.
void add_sums(std::vector<Case>& all, Scale scale) {
    const std::int64_t rows = scale == Scale::small ? 200 : 20000;
    Case mri{"mri_fhd", "MRI F^H d", "f32", cube(128), Section::sums, 1, rows, 13, 2};
    Case coulomb{"coulomb", "Coulomb potential", "f32", {512, 512, 64}, Section::sums, 1, rows, 9, 1};
    mri.published = {144.5, "144.5: a published case study of CUDA, after its last optimisation"};
    if (scale == Scale::small) {
        mri.extent = coulomb.extent = cube(32);
        mri.published = {};
    }
    all.push_back(mri);
    all.push_back(coulomb);
}

// The text with each `f32` that is a word of its own replaced.
std::string with_type(const std::string& text, const std::string& type) {
    const std::string from = "f32";
    const auto is_letter = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const bool starts = at == 0 || !is_letter(text[at - 1]);
        const bool ends = at + from.size() >= text.size() || !is_letter(text[at + from.size()]);
        if (starts && ends && text.compare(at, from.size(), from) == 0) {
            result += type;
            at += from.size();
        } else {
            result += text[at++];
        }
    }
    return result;
}

}  // namespace

std::string grid_words(const Extent& extent) {
    const bool flat = extent[2] == 1;
    if (flat && extent[0] == extent[1]) return fmt::format("{}²", extent[0]);
    if (!flat && extent[0] == extent[1] && extent[1] == extent[2]) return fmt::format("{}³", extent[0]);
    if (flat) return fmt::format("{} × {}", extent[0], extent[1]);
    return fmt::format("{} × {} × {}", extent[0], extent[1], extent[2]);
}

std::string Case::name() const {
    std::string text = fmt::format("{} {} {}", title, type, grid());
    if (section == Section::runs) text += fmt::format(", {} steps", steps);
    if (section == Section::sums) text += fmt::format(", {} rows", rows);
    return text;
}

std::vector<Case> cases(Scale scale) {
    std::vector<Case> all;
    add_sweeps(all, scale);
    add_derivatives(all, scale);
    add_runs(all, scale);
    add_sums(all, scale);
    return all;
}

const std::string& spec_text(const std::string& name) {
    const auto found = spec_texts().find(name);
    if (found == spec_texts().end()) throw InternalError("no spec of this name is embedded: " + name);
    return found->second;
}

std::string spec_text(const Case& which) {
    const std::string& text = spec_text(which.spec);
    return which.type == "f32" ? text : with_type(text, which.type);
}

}  // namespace halo::bench
