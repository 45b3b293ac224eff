#include "compiler/passes/pipeline.h"

#include <string>
#include <vector>

#include "compiler/ir/verify.h"
#include "compiler/passes/factor_sums.h"
#include "compiler/passes/fold_constants.h"
#include "compiler/passes/form_fma.h"
#include "compiler/passes/form_recurrences.h"
#include "compiler/passes/group_coefficients.h"
#include "compiler/passes/limit_steps.h"
#include "compiler/passes/merge_writes.h"
#include "compiler/passes/skip_copies.h"
#include "compiler/support/error.h"

namespace halo::passes {

namespace {

void check([[maybe_unused]] const ir::Program& program, [[maybe_unused]] const char* after) {
#ifdef HALO_VERIFY
    const std::vector<std::string> broken = ir::verify(program);
    if (!broken.empty()) throw InternalError(std::string("after ") + after + ": " + broken.front());
#endif
}

}  // namespace

void optimize(ir::Program& program, FloatingPoint floating_point) {
    check(program, "building the program");
    const FoldConstants folding{.ignore_zero_signs = floating_point.reassociate,
                                .ignore_zero_factors = floating_point.reassociate};

    // Copies go first: what is left is what a step computes.
    skip_copies(program);
    check(program, "skip_copies");

    // Conditions of steps go before they become part of what is computed.
    limit_steps(program);
    check(program, "limit_steps");

    // Writes are merged before any of what they compute has changed, so that equal parts are seen as equal.
    merge_writes(program);
    check(program, "merge_writes");

    // Folding comes before all arithmetic, so that the passes below see plain sums and products, and dead
    // branches cost them nothing.
    fold_constants(program, folding);
    check(program, "fold_constants");

    if (floating_point.reassociate) {
        // Grouping comes before fma, as it needs to see products and sums apart.
        group_coefficients(program);
        check(program, "group_coefficients");

        // This folds coefficients that became known, or became one.
        fold_constants(program, folding);
        check(program, "fold_constants, again");

        // Factoring comes after grouping, which shows which cells have equal weights, and before fma for the
        // same reason as grouping.
        factor_sums(program);
        check(program, "factor_sums");
    }

    if (floating_point.contract) {
        // Fusing comes last: no other rule can look into an fma.
        form_fma(program);
        check(program, "form_fma");
    }

    if (floating_point.reassociate) {
        // Recurrences are formed of what the statements are by now.
        form_recurrences(program);
        check(program, "form_recurrences");
    }
}

}  // namespace halo::passes
