#include "random_time_loop.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "compiler/ir/analysis.h"
#include "compiler/support/error.h"
#include "random_program.h"

namespace halo::test {
namespace {

constexpr const char* kAxes[] = {"x", "y", "z"};

class Writer {
public:
    explicit Writer(std::uint64_t seed)
        : random_(seed),
          of_fewer_(seed * 6151 + 17),
          of_step_(seed * 7919 + 5),
          of_faces_(seed * 9311 + 29) {}

    RandomTimeLoop write() {
        RandomTimeLoop loop;
        rank_ = random_.chance(55) ? 2 : 3;
        const bool wide = random_.chance(25);  // f64
        type_ = wide ? "f64" : "f32";
        for (int axis = 0; axis < rank_; ++axis)
            periodic_[axis] = random_.chance(25);
        boxes_ = random_.chance(45);
        by_plane_ = boxes_ && random_.chance(70);
        most_ = boxes_ && rank_ == 3 ? 1 : random_.pick<int>({1, 1, 1, 2, 3});
        has_input_ = random_.chance(45);
        has_second_ = random_.chance(40);
        has_let_ = random_.chance(35);
        draw_schedule(loop);
        limit_radius(loop.temporal);
        limit_steps(loop.temporal);
        std::string body = "stencil loop(" + std::string(rank_ == 2 ? "x, y" : "x, y, z") + ") {\n";
        body += "    param p = 0.125\n";
        body += field("a");
        if (has_second_) body += field("b");
        if (has_input_) body += field("c");
        if (of_fewer_.chance(40)) body += field_over_fewer_axes();
        has_series_ = of_step_.chance(20);
        if (has_series_) body += "    series drive\n";
        body += statements();
        body += reductions(loop.temporal);
        loop.text = body + "}\n";
        return loop;
    }

private:
    void draw_schedule(RandomTimeLoop& loop) {
        schedule::TemporalSchedule& schedule = loop.temporal;
        schedule.steps = random_.pick<int>({1, 2, 2, 3, 4});
        const int cells = random_.pick<int>({1, 2, 4});
        schedule.cells = {cells, rank_ == 3 ? random_.pick<int>({1, 2, 4}) : 1};
        schedule.warps = rank_ == 3 ? random_.pick<int>({2, 4, 8}) : random_.pick<int>({1, 2, 4});
        schedule.ahead = random_.between(1, 4);
        // With many, shares are a few planes, and begin wherever a face's images are within reach.
        schedule.blocks = random_.pick<int>({1, 2, 3, 7, 7, 61});
        schedule.unroll = random_.pick<int>({1, 1, 2, 3});
        loop.grid = {32 * cells + random_.pick<int>({0, 1, 3, 17, 32}), random_.between(40, 60), 1};
        if (rank_ == 3) {
            const int rows = schedule.warps * schedule.cells[1];
            loop.grid = {32 * cells + random_.pick<int>({0, 2, 7}), rows + random_.pick<int>({0, 1, 5}),
                         random_.between(36, 44)};
        }
        loop.steps = schedule.steps * random_.between(1, 2) + random_.between(0, 2);
    }

    // Neighbours come from the next lane or warp, and a mirror from a thread's own cells.
    void limit_radius(const schedule::TemporalSchedule& schedule) {
        for (int axis = 0; axis < rank_; ++axis) {
            const int cells = axis == rank_ - 1 ? most_ + 1 : schedule.cells[static_cast<std::size_t>(axis)];
            limit_[axis] = std::min(most_, cells);
            mirrors_[axis] = limit_[axis] < cells;
        }
    }

    // Rows are left of a block's once each stage of each step has taken its neighbours'.
    void limit_steps(schedule::TemporalSchedule& schedule) const {
        if (rank_ < 3) return;
        const int of_step = 2 * limit_[1] * (1 + (has_let_ ? 1 : 0) + (has_second_ ? 1 : 0));
        const int rows = schedule.warps * schedule.cells[1];
        schedule.steps = std::clamp((rows - 1) / of_step, 1, schedule.steps);
    }

    std::string field(const std::string& name) {
        std::string faces;
        for (int axis = 0; axis < rank_; ++axis) {
            const std::string start = faces.empty() ? "" : ", ";
            if (periodic_[axis]) {
                faces += fmt::format("{}{} periodic", start, kAxes[axis]);
                continue;
            }
            for (const char* side : {"low", "high"})
                faces += fmt::format(
                    "{}{}.{} {}", side == std::string("low") ? start : ", ", kAxes[axis], side,
                    face_or_symmetry(random_.pick<std::string>({"fixed p", "fixed 0.5", "clamp", "free",
                                                                mirrors_[axis] ? "mirror" : "clamp",
                                                                mirrors_[axis] ? "mirror" : "fixed p"})));
        }
        return fmt::format("    field {}: {} {{ boundary {} }}\n", name, type_, faces);
    }

    // In some programs faces that stand between two cells are in the place of fixed ones, as no store fills
    // what lies past one of each.
    std::string face_or_symmetry(std::string face) {
        if (!has_symmetries_ || !face.starts_with("fixed")) return face;
        return of_faces_.pick<std::string>({"symmetric", "antisymmetric"});
    }

    // An input over some of the axes, with faces of its own.
    std::string field_over_fewer_axes() {
        over_ = of_fewer_.between(1, (1 << rank_) - 2);
        std::string axes, faces;
        for (int axis = 0; axis < rank_; ++axis) {
            if ((over_ >> axis & 1) == 0) continue;
            axes += (axes.empty() ? "" : ", ") + std::string(kAxes[axis]);
            faces += fmt::format("{}{} {}", faces.empty() ? "" : ", ", kAxes[axis],
                                 of_fewer_.pick<std::string>({"periodic", "clamp", "mirror", "fixed p"}));
        }
        return fmt::format("    field d: {} over {} {{ boundary {} }}\n", type_, axes, faces);
    }

    // `value`, to which some of the time something is added that is another in each step.
    std::string with_step(const std::string& value) {
        if (!of_step_.chance(20)) return value;
        if (has_series_ && of_step_.chance(50)) return "(" + value + ") + drive[step]*a/8";
        return "(" + value + ") + " +
               of_step_.pick<std::string>({"mod(step, 5)/32", "p*mod(step*step, 7)/8", "(random() - 1/2)/4",
                                           "step/64 + random()/8", "(if mod(step, 2) == 1 then p else a/8)"});
    }

    // `value`, which some of the time has a factor from that field: at the cell or at a neighbour.
    std::string scaled(const std::string& plain) {
        const std::string value = with_step(plain);
        if (over_ == 0 || !of_fewer_.chance(70)) return value;
        std::string places;
        for (int axis = 0; axis < rank_; ++axis)
            if (const int offset = of_fewer_.between(-2, 2); (over_ >> axis & 1) != 0 && offset != 0)
                places += fmt::format("{}{}{:+}", places.empty() ? "" : ", ", kAxes[axis], offset);
        return "(" + value + ")*(1/2 + 1/4*d" + (places.empty() ? "" : "[" + places + "]") + ")";
    }

    std::string number() { return fmt::format("{}/64", random_.between(1, 9)); }

    // A sum of reads of a level around the cell.
    std::string around(const std::string& name, const std::string& time, int radius) {
        const auto read = [&](const std::array<int, 3>& offset) {
            std::string places = time.empty() ? "" : "t" + time;
            for (int axis = 0; axis < rank_; ++axis)
                if (offset[axis] != 0)
                    places += fmt::format("{}{}{:+}", places.empty() ? "" : ", ", kAxes[axis], offset[axis]);
            return name + (places.empty() ? "" : "[" + places + "]");
        };
        const auto drawn = [&](int axis) {
            const int most = std::min(radius, limit_[axis]);
            return random_.between(-most, most);
        };
        std::vector<std::array<int, 3>> offsets{{0, 0, 0}};
        const int terms = random_.between(1, 6);
        for (int term = 0; term < terms; ++term) {
            std::array<int, 3> offset{};
            if (along_walk_) {
                offset[rank_ - 1] = drawn(rank_ - 1);
            } else if (boxes_) {
                for (int axis = 0; axis < rank_; ++axis)
                    offset[axis] = drawn(axis);
            } else {
                const int axis = random_.between(0, rank_ - 1);
                offset[axis] = drawn(axis);
            }
            offsets.push_back(offset);
        }
        // Sums in the order of their planes can grow as planes arrive.
        if (by_plane_)
            std::ranges::stable_sort(offsets, {}, [&](const auto& offset) { return offset[rank_ - 1]; });
        std::string sum;
        for (const std::array<int, 3>& offset : offsets) {
            const std::string sign = random_.chance(70) ? "+" : "-";
            sum += fmt::format("{}{}*{}", sum.empty() ? "" : " " + sign + " ", number(), read(offset));
        }
        return sum;
    }

    std::string statements() {
        std::string text;
        std::string source = "a";
        if (has_let_) {
            std::string faces;
            for (int axis = 0; axis < rank_; ++axis)
                faces += fmt::format("{}{} {}", faces.empty() ? "" : ", ", kAxes[axis],
                                     periodic_[axis]
                                         ? "periodic"
                                         : face_or_symmetry(random_.pick<std::string>(
                                               {"clamp", mirrors_[axis] ? "mirror" : "clamp", "fixed p"})));
            std::string value = around("a", "", most_);
            if (has_input_ && random_.chance(50)) value += " + " + around("c", "", 1);
            text += fmt::format("    let g {{ boundary {} }} = {}\n", faces, scaled(value));
            source = "g";
        }
        std::string value = around(source, "", most_);
        if (has_input_) {
            const bool near = random_.chance(40);
            value = near ? "(" + value + ")*" + number() + " + " + around("c", "", random_.between(1, most_))
                         : coefficient() + "*(" + value + ")";
        }
        if (random_.chance(30)) value += fmt::format(" - {}*a[t-1]", number());
        if (random_.chance(20))
            value += fmt::format(" + {}*idx({})/len({})", number(), kAxes[rank_ - 1], kAxes[0]);
        if (random_.chance(20)) value = fmt::format("if a > 1/4 then {} else {}", value, around("a", "", 0));
        text += "    a[t+1] = " + scaled(value) + "\n";
        if (has_second_) {
            // A plane is exchanged once, so most read the new level's neighbours along the walk alone.
            const std::string time = random_.chance(60) ? "+1" : "";
            along_walk_ = !time.empty() && random_.chance(85);
            const std::string factor = has_input_ && random_.chance(40) ? coefficient() + "*" : "";
            text += "    b[t+1] = " + number() + "*b + " + factor + "(" + scaled(around("a", time, most_)) +
                    ")\n";
            along_walk_ = false;
        }
        return text;
    }

    // Of the input at the cell itself; a kernel for several steps computes all but the first once for all.
    std::string coefficient() {
        return random_.pick<std::string>({"c", "(1 / (1 + c^2))", "(p*c)^2", "(c*c - p)",
                                          "(if c > 0 then c else p*c)", "sqrt(1/2 + c^2)"});
    }

    // Some of them are found at every step, if they can be.
    std::string reductions(schedule::TemporalSchedule& schedule) {
        std::string text;
        const auto add = [&](int percent, const std::string& name, const std::string& value) {
            if (!random_.chance(percent)) return;
            text += "    reduce " + name + " = " + value + "\n";
            if (random_.chance(75)) schedule.reductions.push_back(name);
        };
        const std::string walked = kAxes[rank_ - 1];
        add(40, "most", "max(abs(" + scaled("a") + "))");
        add(40, "change", random_.chance(50) ? "norm2(a[t+1] - a)" : "norm1(a[t+1] - a)");
        add(20, "total",
            fmt::format("{}(a[t+1] + {}) on {} in 2..-3", random_.chance(50) ? "sum" : "mean", number(),
                        walked));
        add(15, "slope", "sum((" + around("a", "", most_) + ")^2)");
        if (has_second_) add(20, "least", "min(b[t+1]) where a > 1/4");
        if (has_second_ && random_.chance(50)) add(20, "ahead", "max(" + around("b", "+1", most_) + ")");
        if (has_input_) add(15, "given", fmt::format("min(c*a + {}*idx(x)/len(x))", number()));
        return text;
    }

    Random random_;
    Random of_fewer_;  // of what fields over fewer axes are drawn
    Random of_step_;   // of what changes with the step
    Random of_faces_;  // of faces that stand between two cells
    bool has_symmetries_ = of_faces_.chance(30);
    bool has_series_ = false;
    int over_ = 0;  // axes of such a field, a bit each; none: there is no such field
    int rank_ = 2, most_ = 1;
    std::array<int, 3> limit_{1, 1, 1};  // of the radius along each axis
    std::array<bool, 3> mirrors_{};
    bool along_walk_ = false;  // reads are along the last axis alone
    bool boxes_ = false, by_plane_ = false, has_input_ = false, has_second_ = false, has_let_ = false;
    std::string type_;
    std::array<bool, 3> periodic_{};
};

}  // namespace

std::string RandomTimeLoop::describe() const {
    return fmt::format("{}grid {} x {} x {}, {} steps, {}, with {}", text, grid[0], grid[1], grid[2], steps,
                       schedule::print(temporal, 3), fmt::join(temporal.reductions, ", "));
}

std::optional<lower::Lowered> lower_temporal(const ir::Program& program, const RandomTimeLoop& loop) {
    std::vector<schedule::Schedule> singles(ir::form_stages(program).size());
    for (schedule::Schedule& single : singles)
        single.threads = {32, 4, 1};
    try {
        schedule::TemporalSchedule temporal = loop.temporal;
        temporal.reductions = schedule::temporal_core(program, temporal.reductions).reductions;
        lower::Lowered lowered = lower::lower_cuda(program, {singles, temporal});
        for (std::size_t axis = 0; axis < 3; ++axis)
            if (loop.grid[axis] < lowered.plan.time_block->least_extent[axis]) return std::nullopt;
        return lowered;
    } catch (const UnsupportedError&) {
        return std::nullopt;
    }
}

RandomResident random_resident(std::uint64_t seed, int rank) {
    Random random(seed * 7919 + 5);
    RandomResident drawn;
    // Rows that are whole warps, fill them with others, or that warps end within.
    drawn.schedule.threads = {random.pick<int>({3, 4, 8, 11, 16, 17, 32, 33, 35}),
                              random.pick<int>({1, 2, 3, 4}), 1};
    drawn.schedule.cells = {random.pick<int>({1, 2, 4}), random.pick<int>({1, 2, 3, 4}), 1};
    if (rank == 3) {
        drawn.schedule.threads[2] = random.pick<int>({1, 2, 3});
        drawn.schedule.cells[2] = random.pick<int>({1, 2, 3});
    }
    using schedule::Keep;
    drawn.schedule.keep =
        rank == 3 ? random.pick<Keep>({Keep::registers, Keep::in_place, Keep::shared, Keep::shared})
                  : random.pick<Keep>({Keep::registers, Keep::in_place});
    if (drawn.schedule.keep == Keep::shared) {  // is refused for other shapes
        drawn.schedule.threads[2] = 1;
        drawn.schedule.cells[2] = random.pick<int>({2, 3, 5});
    }
    const bool is_ragged = random.between(0, 2) > 0;
    for (int axis = 0; axis < rank; ++axis) {
        const int tile = drawn.schedule.tile(axis);
        std::int64_t& extent = drawn.grid[static_cast<std::size_t>(axis)];
        extent = tile * random.between(1, 3) - (is_ragged ? random.between(0, tile - 1) : 0);
        if (extent < 4) extent = is_ragged ? 4 : (4 + tile - 1) / tile * tile;
    }
    drawn.steps = random.between(1, 9);
    return drawn;
}

std::optional<lower::Lowered> lower_resident(const ir::Program& program, const RandomResident& drawn) {
    std::vector<schedule::Schedule> singles(ir::form_stages(program).size());
    for (schedule::Schedule& single : singles)
        single.threads = {32, 4, 1};
    try {
        return lower::lower_cuda(program, {singles, schedule::fitted(drawn.schedule, drawn.grid)});
    } catch (const UnsupportedError&) {
        return std::nullopt;
    }
}

RandomTimeLoop random_time_loop(std::uint64_t seed) {
    return Writer(seed).write();
}

}  // namespace halo::test
