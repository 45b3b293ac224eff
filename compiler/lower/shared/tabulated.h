// Functions of a small whole number, as tables in shared memory: `exp(-(a - b)^2 / 1800)` of two bytes has
// 511 values, each of which a block computes once, with the same bits.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/lower/shared/context.h"
#include "compiler/lower/shared/ranges.h"
#include "compiler/schedule/schedule.h"

namespace halo::lower {

class TabulatedFunctions {
public:
    // Those of the context's stage; none where too few of its values are worth it, or their tables too large.
    // `threads` of a block.
    TabulatedFunctions(Context& context, const schedule::Schedule& schedule);

    bool empty() const { return uses_.empty(); }
    // Declares the tables, and fills them by all threads of a block, which meet then.
    void declare(kernel::Block& body) const;

    // A value that a table has. Of an even function of a difference, the number may be that of the other way
    // round, so that two cells which have the same neighbours in common look the same number up.
    struct Use {
        std::size_t table = 0;
        ir::ExprId number{};
        bool is_reversed = false;
    };
    const Use* find(ir::ExprId value) const;
    // Of the number `first`, or of `first` - `second` where there is one.
    kernel::Expr look_up(const Use& use, const kernel::Expr& first, const kernel::Expr& second) const;

private:
    struct Table {
        std::string key;           // what is alike of the values that share it
        ir::ExprId value, number;  // one of these
        Range range;               // of the number
        std::string name;
        int entries() const { return static_cast<int>(range.high - range.low) + 1; }
    };
    void find_uses();
    std::size_t table_of(ir::ExprId value, ir::ExprId number, const Range& range);
    std::string key_of(ir::ExprId value, ir::ExprId number) const;
    bool choose_copies();

    Context& context_;
    const ir::Program& program_;
    const schedule::Schedule& schedule_;
    std::vector<Table> tables_;
    std::map<std::uint32_t, Use> uses_;
    int copies_ = 1;  // of each entry, side by side: lanes of a warp read different ones
};

}  // namespace halo::lower
