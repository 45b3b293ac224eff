// What a thread of a resident kernel has in registers: its own cells of each level, and around them those of
// other threads that it reads, which come from the lanes beside it or from shared memory.
#include <algorithm>

#include "compiler/lower/resident_block.h"

namespace halo::lower {

namespace {

constexpr int kLanes = 32;

// A loop over [begin, end) where that is more than one, else the body as it is.
kernel::Block loop_between(const char* var, const std::array<int, 2>& range, kernel::Block body) {
    if (range[1] - range[0] == 1) return body;
    return {kernel::For{var, range[0], range[1], 1, kernel::Unroll::full, std::move(body)}};
}

kernel::Expr in_loop(const char* var, const std::array<int, 2>& range) {
    return range[1] - range[0] == 1 ? kernel::Expr(range[0]) : kernel::variable(var, kernel::Type::i32);
}

// The parts of a range below, within and above [0, cells).
std::vector<std::array<int, 2>> parts(std::pair<int, int> range, int cells) {
    std::vector<std::array<int, 2>> list;
    for (const auto& [begin, end] : {std::array{range.first, std::min(range.second, 0)},
                                     std::array{std::max(range.first, 0), std::min(range.second, cells)},
                                     std::array{std::max(range.first, cells), range.second}})
        if (begin < end) list.push_back({begin, end});
    return list;
}

}  // namespace

bool ResidentBlock::has_lanes() const {
    const int threads = schedule_.threads[0];
    return threads > 1 && (kLanes % threads == 0 || threads % kLanes == 0) &&
           schedule_.all_threads() % kLanes == 0;
}

void ResidentBlock::add_window(const Level& level, const std::vector<ir::Offset>& offsets) {
    Read& read = windows_[level].read;
    read.level = level;
    for (const ir::Offset& offset : offsets) {
        if (!std::ranges::count(read.offsets, offset)) read.offsets.push_back(offset);
        for (int axis = 0; axis < 3; ++axis) {
            read.low[axis] = std::min(read.low[axis], offset[axis]);
            read.high[axis] = std::max(read.high[axis], offset[axis]);
        }
    }
}

ResidentBlock::Window& ResidentBlock::window(const Level& level) {
    Window& made = windows_.at(level);
    if (!made.array.name().empty()) return made;
    made.beside = sides(made.read, cells(0));
    std::vector<int> dims;
    for (const int axis : {2, 1})
        dims.push_back(cells(axis) + made.read.high[axis] - made.read.low[axis]);
    dims.push_back(cells(0) + made.beside.left + made.beside.right);
    const std::string suffix = level.time == 0 ? "" : time_word(level.time);
    made.array = RegisterArray(context_.local(word(level.field) + suffix + "_cells"), type_of(level.field),
                               std::move(dims));
    return made;
}

void ResidentBlock::declare_windows() {
    for (const schedule::Pipeline::Stage& stage : pipeline_.stages)
        for (const schedule::Pipeline::Use& use : stage.uses)
            add_window({use.field, use.time}, use.offsets);
    body().push_back(kernel::BlankLine{});
    body().push_back(kernel::Comment{"The thread's own cells, and those around them that it reads."});
    for (const ResidentBox& box : shape_.boxes) {
        if (box.role == ir::Role::input) continue;
        add_window({box.field, written_time(box)}, {});
        if (box.role != ir::Role::state) continue;
        for (int back = 0; back <= history(box); ++back) {
            add_window({box.field, -back}, {});
            body().push_back(window({box.field, -back}).array.declaration(true));
        }
    }
}

void ResidentBlock::declare_windows_of_step(Block& step) {
    for (const auto& [level, made] : windows_) {
        const bool stays = context_.program()[level.field].role == ir::Role::state && level.time <= 0;
        if (!stays) step.push_back(window(level).array.declaration(false));
    }
}

ResidentBlock::Expr ResidentBlock::near(const Level& level, const Expr& z, const Expr& y,
                                        const Expr& x) const {
    const Window& made = windows_.at(level);
    return made.array.at({z - made.read.low[2], y - made.read.low[1], x + made.beside.left});
}

// Rows of whole vectors, the thread's own or others'.
void ResidentBlock::load_rows(const ResidentBox& box, const Level& level, const std::array<int, 2>& z,
                              const std::array<int, 2>& y, Block& step) {
    const Expr at_z = in_loop("z", z), at_y = in_loop("y", y);
    const Expr place = place_near(box, {0, at_y, at_z});
    const Expr to = near(level, at_z, at_y, 0);
    Block loads;
    if (cells(0) == 1) {
        loads.push_back(kernel::Assign{to, element(box, slot(box, level.time), place)});
    } else {
        loads.push_back(kernel::LoadVector{to, address(box, slot(box, level.time), place), cells(0)});
    }
    append(step, loop_between("z", z, loop_between("y", y, std::move(loads))));
}

// Cells beside the thread's, in rows that are there.
void ResidentBlock::load_sides(const ResidentBox& box, const Level& level, const RowBlock& rows,
                               Block& step) {
    const Sides& beside = windows_.at(level).beside;
    const std::array<int, 2> z{rows.z.first, rows.z.second}, y{rows.y.first, rows.y.second};
    const Expr at_z = in_loop("z", z), at_y = in_loop("y", y);
    const Expr at = slot(box, level.time);
    const bool is_wide = type_of(box.field) == Type::f64;
    const bool by_lanes = has_lanes() && cells(0) > 1;
    Block loads, first, last;
    const auto cell = [&](int x) { return near(level, at_z, at_y, x); };
    const auto from_box = [&](int x) {
        return kernel::Assign{cell(x), element(box, at, place_near(box, {x, at_y, at_z}))};
    };
    const auto vector_from_box = [&](int x) {
        return kernel::LoadVector{cell(x), address(box, at, place_near(box, {x, at_y, at_z})), cells(0)};
    };
    for (int x = beside.left_vectors ? cells(0) : 1; rows.left > 0 && x <= beside.left;
         x += beside.left_vectors ? cells(0) : 1) {
        if (beside.left_vectors) {
            loads.push_back(vector_from_box(-x));
        } else if (by_lanes && x <= rows.left) {
            loads.push_back(kernel::Assign{
                cell(-x), kernel::call_helper(is_wide ? "lane_before_f64" : "lane_before_f32",
                                              {cell(cells(0) - x)}, type_of(box.field))});
            first.push_back(from_box(-x));
        } else if (x <= rows.left) {
            loads.push_back(from_box(-x));
        }
    }
    const int step_right = beside.right_vectors ? cells(0) : 1;
    for (int x = 0; rows.right > 0 && x < beside.right; x += step_right) {
        if (beside.right_vectors) {
            loads.push_back(vector_from_box(cells(0) + x));
        } else if (by_lanes && x < rows.right) {
            loads.push_back(kernel::Assign{
                cell(cells(0) + x), kernel::call_helper(is_wide ? "lane_after_f64" : "lane_after_f32",
                                                        {cell(x)}, type_of(box.field))});
            last.push_back(from_box(cells(0) + x));
        } else if (x < rows.right) {
            loads.push_back(from_box(cells(0) + x));
        }
    }
    if (!first.empty()) loads.push_back(kernel::If{truth("is_first"), std::move(first), {}});
    if (!last.empty()) loads.push_back(kernel::If{truth("is_last"), std::move(last), {}});
    append(step, loop_between("z", z, loop_between("y", y, std::move(loads))));
}

void ResidentBlock::gather(const schedule::Pipeline::Use& use, Block& step) {
    const ResidentBox& box = shape_.box(use.field);
    const Level level{use.field, use.time};
    const bool has_own = box.role != ir::Role::input;
    Read read{level, use.offsets, {}, {}};
    for (const ir::Offset& offset : use.offsets) {
        for (int axis = 0; axis < 3; ++axis) {
            read.low[axis] = std::min(read.low[axis], offset[axis]);
            read.high[axis] = std::max(read.high[axis], offset[axis]);
        }
    }
    // Where the grid ends within a block, cells past its end are among a thread's own.
    if (has_own && read.at_offsets()) {
        Block again;
        load_rows(box, level, {0, cells(2)}, {0, cells(1)}, again);
        step.push_back(kernel::If{truth("is_ragged"), std::move(again), {}});
    }
    std::vector<RowBlock> all = row_blocks(read, {cells(0), cells(1), cells(2)});
    for (RowBlock& rows : all) {
        rows.z = {rows.z.first + read.low[2], rows.z.second + read.low[2]};
        rows.y = {rows.y.first + read.low[1], rows.y.second + read.low[1]};
        for (const auto& z : parts(rows.z, cells(2)))
            for (const auto& y : parts(rows.y, cells(1))) {
                const bool is_own = z[0] >= 0 && z[1] <= cells(2) && y[0] >= 0 && y[1] <= cells(1);
                if (!is_own || !has_own) load_rows(box, level, z, y, step);
            }
    }
    for (const RowBlock& rows : all)
        if (rows.left > 0 || rows.right > 0) load_sides(box, level, rows, step);
}

void ResidentBlock::rotate(Block& step) {
    for (const ResidentBox& box : shape_.boxes) {
        if (box.role != ir::Role::state) continue;
        Block moves;
        for (int time = -history(box); time <= 0; ++time)
            moves.push_back(kernel::Assign{near({box.field, time}, loop(2), loop(1), loop(0)),
                                           near({box.field, time + 1}, loop(2), loop(1), loop(0))});
        append(step, over_cells(std::move(moves)));
    }
}

}  // namespace halo::lower
