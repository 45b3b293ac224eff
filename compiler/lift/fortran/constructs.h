// Flang keeps DO and IF as they are unless something in them leaves them early; of these, and of SELECT CASE,
// it makes blocks that go on in one another. Here the constructs are found again, from which blocks come
// before which alone.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "compiler/lift/fortran/mlir_text.h"

namespace halo::lift::fortran {

struct Construct {
    enum class Kind {
        operations,    // the first `count` ones of `block`
        branch,        // from: cf.cond_br; parts: then, otherwise
        choice,        // from: fir.select_case; parts: one for each block; ways: which, of each case
        counted_loop,  // from: what goes on in it; parts: the body; loop
        other_loop,    // from: as above; parts: the body, in which anything ends it
        next,          // CYCLE, of the loop around; from: what goes on there, as in those that follow
        leave,         // EXIT, of the loop around
        end,           // RETURN; block: what is done then, up to func.return; nullptr: nothing more
        jump           // to where no construct leads
    };
    Kind kind = Kind::operations;
    const mlir::Block* block = nullptr;
    std::size_t count = 0;
    const mlir::Operation* from = nullptr;
    std::vector<std::vector<Construct>> parts;
    std::vector<std::size_t> ways;
    struct Counted {
        int counter = -1, lower = -1, upper = -1, step = -1;  // values
        const mlir::Operation* last = nullptr;                // that counts
    } loop;
};

// Nothing where the blocks are in no such order.
std::optional<std::vector<Construct>> find_constructs(const mlir::Module& module,
                                                      const std::vector<mlir::Block>& blocks);

}  // namespace halo::lift::fortran
