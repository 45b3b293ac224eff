// Sizes to run a function on; for verify.cpp.
#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "compiler/lift/form.h"
#include "compiler/lift/verify.h"

namespace halo::lift {

// Numbers for the sizes that the function is given, so that there are cells and no array is too short.
class SizeChooser {
public:
    // draws: values that a symbol is given most of the time.
    SizeChooser(const Model& model, const Form& form, SymbolDraws draws = {})
        : model_(model), form_(form), draws_(std::move(draws)), random_(20) {}
    bool has_choice() const;
    std::vector<std::int64_t> next();  // by symbol. Throws SourceError

private:
    bool has_boundary() const;
    bool counts_steps(int symbol) const;
    void lengthen(std::vector<std::int64_t>& values);
    bool counts_cells(int symbol) const;
    bool is_far_stride(int symbol) const;
    bool is_first_cell(int symbol) const;
    bool fits(const std::vector<std::int64_t>& values) const;

    const Model& model_;
    const Form& form_;
    SymbolDraws draws_;
    std::mt19937 random_;
};

// Whether a kernel asks where a thread is along this axis.
bool names_threads(const Model& model, std::size_t axis);

// Of a kernel on a grid: the threads of a block and the blocks of the launch, along each axis. values: by
// symbol.
std::array<int, 6> launch_sizes(const Model& model, const std::vector<std::int64_t>& grid,
                                const std::vector<std::int64_t>& values);

}  // namespace halo::lift
