// Sums of neighbours in each row of a thread's window of packed cells, which its rows of cells share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/lower/shared/packed_stage.h"

namespace halo::lower {

class RowSums {
public:
    // The sum at `place`, a row and a word of it, of `counts` rows and words. The sources give the cells
    // of the row y and, where it has several words, of its word x.
    Lanes shared(Context& context, const RowSum& sum, const PackedSources& sources,
                 const std::array<kernel::Expr, 2>& counts, const std::array<kernel::Expr, 2>& place);
    // What computes all of them.
    kernel::Block take() { return std::move(body_); }

private:
    std::vector<std::pair<RowSum, std::string>> known_;
    kernel::Block body_;
};

}  // namespace halo::lower
