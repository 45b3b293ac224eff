// Which cells a statement is for: the `on` and `where` around it, resolved; and in which order, where
// sweeps.cpp says one.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "compiler/sema/evaluator.h"

namespace halo::sema {

struct Cells {
    ir::Region region;
    std::optional<ir::ExprId> condition;
    std::optional<ir::LineSweep> sweep;
    bool are_all() const { return region.is_whole() && !condition; }
};

class Guards {
public:
    explicit Guards(Evaluator& evaluator) : evaluator_(evaluator) {}

    // For a statement whose points lie at `place`. nullopt where a mistake has been reported.
    std::optional<Cells> cells_of(const std::vector<syntax::GuardId>& guards, Halves place);

private:
    struct Resolved {
        bool is_valid = false;
        ir::Region region;
        std::vector<int> axes;  // that it names
        Value condition;        // poison where there is none
    };
    const Resolved& resolve(syntax::GuardId id, Halves place);
    bool resolve_entry(const syntax::RegionEntry& entry, Resolved& result);
    std::optional<ir::Region::Range> range_of(const syntax::RegionEntry& entry);

    Evaluator& evaluator_;
    std::map<std::tuple<std::uint32_t, Halves, int>, Resolved> resolved_;  // by guard, place and grid
};

}  // namespace halo::sema
