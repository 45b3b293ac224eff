// Lowers the arithmetic of a stage for several neighbouring cells of a row at once, in the lanes of words,
// where all of it is arithmetic of small whole numbers and truths that lie in memory as single bytes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/program.h"
#include "compiler/kernel/program.h"
#include "compiler/lower/packed/lanes.h"
#include "compiler/support/source.h"

namespace halo::lower {

using ir::Level;

// The statements of a stage, and the levels that it leaves in memory, or to other stages.
struct PackedStage {
    const ir::Program* program = nullptr;
    std::vector<const ir::Assign*> assigns;
    std::vector<const ir::Reduce*> reductions;
    std::vector<Level> stored;
    std::vector<ir::ExprId> roots() const;  // all values and conditions
};

// The two words, one behind the other, that hold the bytes which a level has at the cells, shifted by the
// offset, and how many bytes of the first come before those; where none do, the second is not looked at.
struct PackedSource {
    kernel::Expr first, second;
    int before = 0;
};

// Some cells of a row that are added up: those at these shifts along the first axis. Cells below each other
// share the sums of rows, `low` to `high` along the second axis.
struct RowSum {
    Level level;
    std::vector<int> shifts;
    int plane = 0;  // the shift along the third axis
    int low = 0, high = 0;
    friend bool operator==(const RowSum&, const RowSum&) = default;
};

struct PackedSources {
    std::function<PackedSource(const Level&, const ir::Offset&)> load;
    // The sum of the row at that shift along the second axis; none where cells share nothing.
    std::function<Lanes(const RowSum&, int)> row_sum;
};

// What the level's bytes hold there.
Lanes load_bytes(const ir::Field& field, const PackedSource& source);
// That row's sum, of loaded cells.
Lanes sum_in_row(const ir::Program& program, const RowSum& sum, int row, const PackedSources& sources);

// Of how many words it is: two where bytes are too narrow for it.
int words_of_sum(const ir::Program& program, const RowSum& sum);

struct PackedValues {
    std::vector<kernel::Expr> assigned;  // for each PackedStage::assigns: a word of bytes, as they are stored
    std::vector<kernel::Expr> reduced;   // for each reduction, a sum: a word of bytes
};

// The words of a kernel's text: names that are unique there, the word for a value that the spec does not
// name, and the comment on a place in the spec.
struct PackedText {
    std::function<std::string(const std::string& wanted)> name;
    std::function<std::string(const ir::Expr&)> word;
    std::function<void(SourceRange, kernel::Block&)> note;
};

// Appends the statements to `body`, in a scope of their own; empty where one of the stage's expressions is
// none that lanes can hold, or a statement is not for all cells.
std::optional<PackedValues> lower_packed(const PackedStage& stage, const PackedSources& sources,
                                         const PackedText& text, kernel::Block& body);

// What that takes, where row sums are shared; empty where it gives nothing.
struct PackedWork {
    struct Read {
        Level level;
        ir::Offset offset{};
    };
    std::vector<Read> reads;  // but for those of the sums
    std::vector<RowSum> row_sums;
    int instructions = 0;  // of a word, with those of its reads, and of one of the rows of each sum
};
std::optional<PackedWork> packed_work(const PackedStage& stage);

}  // namespace halo::lower
