// What a thread of a resident kernel has in registers: its own cells of each level, and around them those of
// other threads that it reads, which come from the lanes beside it or from shared memory.
#include <algorithm>

#include "compiler/lower/resident/block.h"

namespace halo::lower {

namespace {

// A loop over [begin, end) where that is more than one, else the body as it is.
kernel::Block loop_between(const char* var, const std::array<int, 2>& range, kernel::Block body) {
    if (range[1] - range[0] == 1) return body;
    return {kernel::For{var, range[0], range[1], 1, kernel::Unroll::full, std::move(body)}};
}

kernel::Expr in_loop(const char* var, const std::array<int, 2>& range) {
    return range[1] - range[0] == 1 ? kernel::Expr(range[0]) : kernel::variable(var, kernel::Type::i32);
}

}  // namespace

// is_first, is_last: the thread's neighbour along the first axis is not in the lane beside it.
void ResidentBlock::declare_lanes() {
    const int threads = schedule_.threads[0];
    const Expr x = kernel::thread_index(0);
    Expr first, last;
    if (has_whole_rows() || threads % kLanes == 0) {
        const Expr lane = threads < kLanes ? x : x % kLanes;
        first = lane == 0;
        last = lane == std::min(threads, kLanes) - 1;
    } else {
        const Expr lane = variable("thread") % kLanes;
        first = x == 0 || lane == 0;
        last = x == threads - 1 || lane == kLanes - 1;
    }
    // Threads past the grid's end have none of the cells there.
    if (!is_whole(0) && rest() == 0) last = last || inner(0) + cells(0) == size(0);
    declare(body(), "is_first", first, Type::boolean);
    declare(body(), "is_last", last, Type::boolean);
    if (has_whole_warps()) return;
    body().push_back(kernel::Comment{"The last warp has fewer lanes: none is looked for past them."});
    declare(body(), "lane_beside", variable("thread") % kLanes + kernel::select(truth("is_last"), 0, 1));
}

void ResidentBlock::declare_ends() {
    if (rest() > 0) {
        body().push_back(
            kernel::Comment{"The grid ends within a row's last thread: behind what it has of the "
                            "row lie the cells past the end."});
        declare(body(), "row_i", (size(0) + (cells(0) - 1)) / cells(0) * cells(0));
        declare(body(), "is_end", inner(0) == size(0) - rest(), Type::boolean);
    }
    Expr cut;
    for (int axis = 1; axis < rank(); ++axis)
        if (!is_whole(axis) && cells(axis) > 1) cut = cut || inner(axis) + cells(axis) > size(axis);
    if (!cut.has_value()) return;
    body().push_back(kernel::Comment{"The grid may end between the thread's rows."});
    declare(body(), "is_cut", cut, Type::boolean);
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
    made.beside = sides(made.read, cells(0), kernel::size_of(type_of(level.field)));
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
            if (has_own(box, -back)) body().push_back(window({box.field, -back}).array.declaration(true));
        }
    }
}

void ResidentBlock::declare_windows_of_step(Block& step) {
    for (const auto& [level, made] : windows_) {
        const bool stays = context_.program()[level.field].role == ir::Role::state && level.time <= 0 &&
                           has_own(shape_.box(level.field), level.time);
        if (!stays) step.push_back(window(level).array.declaration(false));
    }
}

ResidentBlock::Expr ResidentBlock::near(const Level& level, const Expr& z, const Expr& y,
                                        const Expr& x) const {
    const Window& made = windows_.at(level);
    return made.array.at({z - made.read.low[2], y - made.read.low[1], x + made.beside.left});
}

// Rows of whole vectors, the thread's own or others'.
void ResidentBlock::load_rows(const ResidentBox& box, const Level& level, const Expr& z,
                              const std::array<int, 2>& y, Block& step) const {
    if (y[0] >= y[1]) return;
    Block loads;
    load_row(box, level, z, in_loop("y", y), loads);
    append(step, loop_between("y", y, std::move(loads)));
}

void ResidentBlock::load_row(const ResidentBox& box, const Level& level, const Expr& z, const Expr& y,
                             Block& loads) const {
    const Expr to = near(level, z, y, 0), at = slot(box, level.time);
    if (cells(0) == 1) {
        loads.push_back(kernel::Assign{to, element_near(box, at, {0, y, z})});
    } else {
        loads.push_back(kernel::LoadVector{to, address_near(box, at, {0, y, z}), cells(0)});
    }
}

// Loads the cells beside the thread's own: from neighbouring lanes, or from shared memory where those end.
void ResidentBlock::load_sides(const ResidentBox& box, const Level& level, const Expr& z, const Rows& rows,
                               Block& step) const {
    const Sides& beside = windows_.at(level).beside;
    const Expr at_y = in_loop("y", rows.y);
    const Expr at = slot(box, level.time);
    const bool by_lanes = has_lanes();
    Block loads, first, last;
    load_past_end(box, level, z, rows, {rest(), std::min(cells(0), rest() + rows.right)}, loads);
    const auto cell = [&](int x) { return near(level, z, at_y, x); };
    const auto from_box = [&](int x) { return kernel::Assign{cell(x), element_near(box, at, {x, at_y, z})}; };
    const auto vector_from_box = [&](int x) {
        return kernel::LoadVector{cell(x), address_near(box, at, {x, at_y, z}), cells(0)};
    };
    using From = kernel::Shuffle::From;
    const auto from_lane = [&](int x, From from, int of_lane) {
        const Expr lane = from == From::lane ? variable("lane_beside") : Expr(1);
        return kernel::Assign{cell(x), kernel::shuffle(from, cell(of_lane), lane)};
    };
    const From after = has_whole_warps() ? From::after : From::lane;
    for (int x = beside.left_vectors ? cells(0) : 1; rows.left > 0 && x <= beside.left;
         x += beside.left_vectors ? cells(0) : 1) {
        if (beside.left_vectors) {
            loads.push_back(vector_from_box(-x));
        } else if (by_lanes && x <= rows.left) {
            loads.push_back(from_lane(-x, From::before, cells(0) - x));
            first.push_back(from_box(-x));
        } else if (x <= rows.left) {
            loads.push_back(from_box(-x));
        }
    }
    for (int x = 0; rows.right > 0 && x < beside.right; x += beside.right_vectors ? cells(0) : 1) {
        if (beside.right_vectors) {
            loads.push_back(vector_from_box(cells(0) + x));
        } else if (by_lanes && x < rows.right) {
            loads.push_back(from_lane(cells(0) + x, after, x));
            last.push_back(from_box(cells(0) + x));
        } else if (x < rows.right) {
            loads.push_back(from_box(cells(0) + x));
        }
    }
    if (!first.empty()) loads.push_back(kernel::If{truth("is_first"), std::move(first), {}});
    if (!last.empty()) loads.push_back(kernel::If{truth("is_last"), std::move(last), {}});
    load_past_end(box, level, z, rows, {cells(0), cells(0) + rows.right}, loads);
    append(step, loop_between("y", rows.y, std::move(loads)));
}

// Of the cells x of rows that are there: those past the end of a grid that ends within a row's last thread.
// They lie behind what that thread has of the row.
void ResidentBlock::load_past_end(const ResidentBox& box, const Level& level, const Expr& z, const Rows& rows,
                                  const std::array<int, 2>& x, Block& loads) const {
    if (rest() == 0 || rows.right == 0) return;
    const Expr at_y = in_loop("y", rows.y);
    // The last thread reads so many past its cells of the grid; those before it past their own.
    for (int before = 0; before * cells(0) + rest() < x[1]; ++before) {
        const int first = before * cells(0) + rest();
        const int end = before == 0 ? first + rows.right : cells(0) + rows.right;
        Block past;
        for (int at = std::max(first, x[0]); at < std::min(end, x[1]); ++at)
            past.push_back(
                kernel::Assign{near(level, z, at_y, at),
                               element_near(box, slot(box, level.time), {at + cells(0) - rest(), at_y, z})});
        if (past.empty()) continue;
        const Expr is_it = before == 0 ? truth("is_end") : inner(0) == size(0) - (rest() + before * cells(0));
        loads.push_back(kernel::If{is_it, std::move(past), {}});
    }
}

// Rows of planes below the thread's own (-1), of its own (0) or above (1), and which cells beside them are
// read.
std::vector<ResidentBlock::Rows> ResidentBlock::rows_of(const Read& read, int planes) const {
    std::map<int, std::array<int, 2>> needs;
    for (const ir::Offset& offset : read.offsets) {
        for (int z = 0; z < cells(2); ++z) {
            const int at = z + offset[2];
            if ((at < 0 ? -1 : at >= cells(2) ? 1 : 0) != planes) continue;
            for (int y = 0; y < cells(1); ++y) {
                std::array<int, 2>& need = needs[y + offset[1]];
                need = {std::max(need[0], -offset[0]), std::max(need[1], offset[0])};
            }
        }
    }
    std::vector<Rows> list;
    for (const auto& [y, need] : needs) {
        Rows* last = list.empty() ? nullptr : &list.back();
        if (last != nullptr && last->y[1] == y && last->left == need[0] && last->right == need[1]) {
            ++last->y[1];
        } else {
            list.push_back({{y, y + 1}, need[0], need[1]});
        }
    }
    return list;
}

// Loads from shared memory what a stage reads of a plane and the thread does not have.
void ResidentBlock::gather_plane(const Read& read, int planes, const Expr& z, Block& step) const {
    const ResidentBox& box = shape_.box(read.level.field);
    const bool has_own = this->has_own(box, read.level.time) && planes == 0;
    const std::vector<Rows> all = rows_of(read, planes);
    for (const Rows& rows : all) {
        if (!has_own) {
            load_rows(box, read.level, z, rows.y, step);
            continue;
        }
        load_rows(box, read.level, z, {rows.y[0], std::min(rows.y[1], 0)}, step);
        load_rows(box, read.level, z, {std::max(rows.y[0], cells(1)), rows.y[1]}, step);
    }
    for (const Rows& rows : all)
        if (rows.left > 0 || rows.right > 0) load_sides(box, read.level, z, rows, step);
}

Read ResidentBlock::read_of(const schedule::Pipeline::Use& use) {
    Read read{{use.field, use.time}, use.offsets, {}, {}};
    for (const ir::Offset& offset : use.offsets) {
        for (int axis = 0; axis < 3; ++axis) {
            read.low[axis] = std::min(read.low[axis], offset[axis]);
            read.high[axis] = std::max(read.high[axis], offset[axis]);
        }
    }
    return read;
}

void ResidentBlock::gather_past_end(const ResidentBox& box, const Level& level, Block& step) {
    Expr is_past;
    for (int axis = 1; axis < rank(); ++axis)
        if (!is_whole(axis) && cells(axis) > 1) is_past = is_past || in_box(axis) >= size(axis);
    if (!is_past.has_value()) return;
    Block row;
    load_row(box, level, loop(2), loop(1), row);
    Block again = over_cells(1, if_so(is_past, std::move(row)));
    step.push_back(kernel::If{truth("is_cut"), over_cells(2, std::move(again)), {}});
}

// Without a loop over planes all that a stage reads.
void ResidentBlock::gather(const schedule::Pipeline::Use& use, Block& step) {
    const ResidentBox& box = shape_.box(use.field);
    const Read read = read_of(use);
    if (has_own(box, use.time) && read.at_offsets()) gather_past_end(box, read.level, step);
    if (cells(2) > 1) return;
    const auto gather_planes = [&](int planes, const std::array<int, 2>& z) {
        if (z[0] >= z[1]) return;
        Block loads;
        gather_plane(read, planes, in_loop("z", z), loads);
        append(step, loop_between("z", z, std::move(loads)));
    };
    gather_planes(-1, {read.low[2], 0});
    gather_planes(0, {0, 1});
    gather_planes(1, {1, read.high[2] + 1});
}

// How many planes before its own one the loop over planes gathers what a use reads highest; 0 where it
// gathers nothing.
int ResidentBlock::planes_ahead(const schedule::Pipeline::Use& use) const {
    if (cells(2) == 1) return 0;
    const Read read = read_of(use);
    Block loads;
    for (const int planes : {-1, 0, 1})
        gather_plane(read, planes, 0, loads);
    return loads.empty() ? 0 : read.high[2] + 1;
}

// How many iterations before the first one that computes the loop over planes begins, to gather the lowest
// plane that a use reads.
int ResidentBlock::planes_early(const schedule::Pipeline::Use& use) const {
    const int ahead = planes_ahead(use);
    return ahead == 0 ? 0 : ahead - read_of(use).low[2];
}

// Loads a plane ahead of its use, to overlap its latency with arithmetic: one of the thread's own, or one
// below them or above. The loop begins `early` iterations before the first one that computes.
void ResidentBlock::gather_ahead(const schedule::Pipeline::Use& use, int early, Block& plane) {
    const int ahead = planes_ahead(use);
    if (ahead == 0) return;
    const Read read = read_of(use);
    const Expr z = loop(2), end = constants_.cells[2];
    Block own, below, above;
    gather_plane(read, 0, z + ahead, own);
    gather_plane(read, -1, z + ahead, below);
    gather_plane(read, 1, z + ahead, above);
    const Expr is_begun = planes_early(use) < early ? z >= -planes_early(use) : Expr();
    const bool is_alike = rows_of(read, -1) == rows_of(read, 1);
    Block choice;
    if (is_alike && !below.empty()) {
        const Expr is_other = own.empty() ? z < -ahead || z >= end - ahead : Expr();
        choice = {kernel::If{is_begun && is_other && z < end - 1, std::move(below), {}}};
    } else {
        if (!above.empty()) choice = {kernel::If{z >= end - ahead && z < end - 1, std::move(above), {}}};
        if (!below.empty())
            choice = {kernel::If{is_begun && z < -ahead, std::move(below), std::move(choice)}};
    }
    const Expr is_own =
        (planes_early(use) > ahead || is_begun.has_value() ? z >= -ahead : Expr()) && z < end - ahead;
    if (!own.empty()) choice = {kernel::If{is_own, std::move(own), std::move(choice)}};
    append(plane, std::move(choice));
}

void ResidentBlock::rotate(Block& step) {
    for (const ResidentBox& box : shape_.boxes) {
        if (box.role != ir::Role::state) continue;
        Block moves;
        for (int time = -history(box); time <= 0 && has_own(box, time); ++time)
            moves.push_back(kernel::Assign{near({box.field, time}, loop(2), loop(1), loop(0)),
                                           near({box.field, time + 1}, loop(2), loop(1), loop(0))});
        if (!moves.empty()) append(step, over_cells(std::move(moves)));
    }
}

}  // namespace halo::lower
