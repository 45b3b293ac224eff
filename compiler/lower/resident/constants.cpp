// The constants of a resident kernel, which its text names: the shape of blocks, of boxes in shared memory
// and of what blocks send.
#include <algorithm>

#include "compiler/kernel/walk.h"
#include "compiler/lower/resident/block.h"

namespace halo::lower {

// `name`, or one with the field's name where another box has a constant of this name and of another value.
ResidentBlock::Expr ResidentBlock::constant(const std::string& name, std::int64_t value,
                                            const ResidentBox* box, const std::string& comment) {
    if (value == 1) return 1;
    std::string given = name;
    for (const kernel::NamedConstant& known : result_.kernel.function.constants) {
        if (known.name != name) continue;
        if (known.value == value) return variable(name);
        given = context_.local(name + "_" + word(box->field));
    }
    result_.kernel.function.constants.push_back({given, value, comment});
    return variable(given);
}

void ResidentBlock::declare_constants() {
    static constexpr const char* kThreadNames[] = {"kThreadsX", "kThreadsY", "kThreadsZ"};
    static constexpr const char* kCellNames[] = {"kCellsX", "kCellsY", "kCellsZ"};
    static constexpr const char* kTileNames[] = {"kTileX", "kTileY", "kTileZ"};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank()); ++axis)
        constants_.threads_along[axis] = constant(kThreadNames[axis], schedule_.threads[axis]);
    constants_.threads = constant("kThreads", schedule_.all_threads());
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank()); ++axis)
        constants_.cells[axis] = constant(kCellNames[axis], schedule_.cells[axis]);
    for (int axis = 0; axis < rank(); ++axis) {
        const auto index = static_cast<std::size_t>(axis);
        constants_.tile[index] = constant(kTileNames[axis], schedule_.tile(axis));
    }
}

void ResidentBlock::declare_box_constants(const ResidentBox& box) {
    BoxNames& names = names_[box.field];
    static constexpr const char* kBoxNames[] = {"kBoxX", "kBoxY", "kBoxZ"};
    for (int axis = 0; axis < rank(); ++axis) {
        const auto index = static_cast<std::size_t>(axis);
        const char* comment = axis + 1 == rank() ? "in shared memory, with cells around" : "";
        names.size[index] = constant(kBoxNames[axis], box.padded[index], &box, comment);
    }
    names.slot = names.size[2] * names.size[1] * names.size[0];
    if (!box.is_exchanged) return;
    const int rows = message_layout(box, false).in_block, columns = message_layout(box, true).in_block;
    names.rows_in_block = 0;
    if (rows > 0 && columns > 0)
        names.rows_in_block = constant("kRows", rows, &box, "of threads, which a block may send");
    names.messages_in_block =
        constant("kMessages", rows + columns, &box,
                 rows > 0 && columns > 0 ? "those rows, and columns of threads" : "that a block may send");
}

void ResidentBlock::remove_unused() {
    const auto is_read = [&](const std::string& name) {
        bool found = false;
        kernel::for_each_expr(body(), [&](const Expr& expr) {
            const auto* read = std::get_if<kernel::Variable>(&expr->kind);
            found = found || (read != nullptr && read->name == name);
        });
        return found;
    };
    for (const std::string name : {"lane_beside", "is_last", "is_first"}) {
        const auto declares = [&](const kernel::Statement& each) {
            const auto* declare = std::get_if<kernel::Declare>(&each.kind);
            return declare != nullptr && declare->name == name && !is_read(name);
        };
        const auto found = std::ranges::find_if(body(), declares);
        if (found == body().end()) continue;
        const auto before = found - 1;
        const bool has_comment = std::holds_alternative<kernel::Comment>(before->kind);
        body().erase(has_comment ? before : found, found + 1);
    }
    std::erase_if(result_.kernel.function.constants,
                  [&](const kernel::NamedConstant& constant) { return !is_read(constant.name); });
}

}  // namespace halo::lower
