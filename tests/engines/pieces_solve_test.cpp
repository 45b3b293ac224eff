// Random equations, solved in pieces of a grid: the bits of one device, and of any other cut.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzed.h"
#include "catch.h"
#include "compare_engines.h"
#include "compiler/driver/planning/pieces_plan.h"
#include "compiler/lower/lower.h"
#include "emulated_device.h"
#include "load_cpp.h"
#include "random_pieces.h"
#include "random_schedule.h"
#include "runtime/core/error.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/pieces/messages.h"
#include "thread_ranks.h"

using namespace halo;
using namespace halo::test;

namespace {

constexpr int kStepsOfEquations = 2;

// What all fields have past the ends of an axis: cells of the other end, or each its own.
struct FacesOfEquation {
    std::string of_unknown, of_others;
};

FacesOfEquation faces_of_equation(Random& random, int rank, bool is_symmetric, int eliminated) {
    FacesOfEquation faces;
    const auto add = [](std::string& to, const std::string& face) { to += (to.empty() ? "" : ", ") + face; };
    for (int axis = 0; axis < rank; ++axis) {
        const char name = "xyz"[axis];
        const bool is_periodic = axis != eliminated && random.chance(25);
        add(faces.of_others, fmt::format("{} {}", name, is_periodic ? "periodic" : "clamp"));
        if (is_periodic) {
            add(faces.of_unknown, fmt::format("{} periodic", name));
            continue;
        }
        for (const char* side : {"low", "high"}) {
            std::vector<std::string> kinds{"fixed 0.5", "symmetric", "antisymmetric", "clamp"};
            if (!is_symmetric) kinds.insert(kinds.end(), {"mirror", "gradient 0.25"});
            add(faces.of_unknown, fmt::format("{}.{} {}", name, side, random.pick(kinds)));
        }
    }
    return faces;
}

// Implicit steps of heat by any method, some within a repeat that takes the factors of the last iteration.
std::string random_equation(Random& random, int rank) {
    const auto method = random.pick<std::string>({"cg", "cg", "bicgstab", "bicgstab", "tridiagonal"});
    const bool is_eliminated = method == "tridiagonal";
    const int along = is_eliminated ? random.between(0, rank - 2) : -1;
    const FacesOfEquation faces = faces_of_equation(random, rank, method == "cg", along);
    const std::string how = is_eliminated ? fmt::format("tridiagonal along {}", "xyz"[along])
                                          : fmt::format("{} tol {}, at most {}", method,
                                                        random.pick<std::string>({"1e-1", "1e-3", "1e-12"}),
                                                        random.between(1, 7));
    const std::string terms = is_eliminated ? fmt::format("flow(c, u[t+1], {})", "xyz"[along])
                                            : "sum(b in axes) flow(c, u[t+1], b)";
    const std::string drift = method == "bicgstab" ? " + 1/8 * (u[t+1, y+1] - u[t+1, y-1])" : "";
    const std::string equation =
        fmt::format("solve u[t+1]: u[t+1] - 1/8 * ({}){} = u + rhs[y-1] using {}\n", terms, drift, how);
    const auto type = random.pick<std::string>({"f64", "f64", "f32"});
    std::string text = fmt::format(R"(stencil s({}) {{
    field k, f, v: {} {{ boundary {} }}
    field u: {} {{ boundary {} }}
    def flow(c, w, b) = (c + c[b+1]) * (w[b+1] - w) - (c + c[b-1]) * (w - w[b-1])
    let rhs {{ boundary {} }} = f / 4 + f[y+1] / 8
)",
                                   rank == 2 ? "x, y" : "x, y, z", type, faces.of_others, type,
                                   faces.of_unknown, faces.of_others);
    switch (random.between(0, 3)) {
        case 0:
        case 1:
            text +=
                fmt::format("    let c {{ boundary {} }} = 1 + k^2 / 4\n    {}", faces.of_others, equation);
            break;
        case 2:
            text += fmt::format(
                "    repeat {} {{\n        let c {{ boundary {} }} = 1 + u[t+1]^2 / 4\n        "
                "{}    }}\n",
                random.between(1, 3), faces.of_others, equation);
            break;
        default:
            text += fmt::format(R"(    repeat until change < {}, at most {} {{
        let before = u[t+1]
        let c {{ boundary {} }} = 1 + before^2 / 4
        {}        reduce change = max(abs(u[t+1] - before))
    }}
)",
                                random.pick<std::string>({"1e-1", "1e-9"}), random.between(1, 4),
                                faces.of_others, equation);
    }
    text += "    v[t+1] = v / 2 + u[t+1, y+2] / 4 - u[t+1, x-1] / 8\n";
    if (!is_eliminated || random.chance(50)) text += "    reduce total = sum(u[t+1] + v[t+1])\n";
    return text + "}\n";
}

// The bytes of all levels, and the reductions' values.
struct Found {
    std::map<std::string, std::vector<char>> levels;
    std::map<std::string, double> reductions;
    friend bool operator==(const Found&, const Found&) = default;
};

// Gives a session or pieces the reference's data, and does its steps. Of ranks all add to `found`, what each
// has.
template <class Subject>
void solve_steps(const Reference& reference, Subject& subject, Found& found) {
    difference(reference, subject, [&] { subject.step(reference.steps); }, 1);
    for (auto& [name, bytes] : found.levels)
        subject.download_elements(name, 0, bytes.data(), static_cast<std::int64_t>(bytes.size()));
    std::map<std::string, double> reductions;
    for (const rt::ReductionPlan& reduction : subject.plan().reductions)
        reductions[reduction.name] = subject.reduction(reduction.name);
    if constexpr (requires { subject.is_given_values(); })
        if (!subject.is_given_values()) return;
    found.reductions = std::move(reductions);
}

Found nothing_found(const rt::LaunchPlan& plan, const Extent& extent) {
    Found found;
    for (const rt::FieldPlan& field : plan.fields)
        if (field.role == rt::Role::state)
            found.levels[field.name].resize(
                static_cast<std::size_t>(extent.cells() * rt::size_of(field.type)));
    return found;
}

Found of_one_device(const Reference& reference, rt::Device& device) {
    const lower::Lowered lowered = lower::lower_cpu(reference.program);
    rt::Session session(lowered.plan, reference.extent, device, load_cpp_unoptimized(lowered, device),
                        {.poison = true});
    Found found = nothing_found(lowered.plan, reference.extent);
    solve_steps(reference, session, found);
    return found;
}

// None where pieces are too thin.
std::optional<Found> in_pieces(const Reference& reference, const rt::Lengths& counts, bool in_ranks,
                               const std::vector<rt::Device*>& devices, const LowerPiece& lower,
                               const Load& load) {
    const driver::CutRules rules = driver::cut_rules(reference.program, reference.extent);
    rt::Decomposition cut;
    std::vector<rt::Session> sessions;
    try {
        cut = rt::decompose(rules.grid, counts, rules.ghosts(1), ir::axis_names(reference.program));
        for (std::size_t i = 0; i < cut.pieces.size(); ++i) {
            const lower::Lowered lowered = lower(driver::program_of_piece(reference.program, cut, i));
            rt::Device& device = *devices[i % devices.size()];
            sessions.emplace_back(lowered.plan, cut.pieces[i].extent(), device, load(lowered, device),
                                  rt::SessionOptions{.poison = true});
        }
    } catch (const rt::Error& error) {
        if (error.code() != rt::ErrorCode::bad_argument) throw;
        return std::nullopt;
    }
    const rt::PiecesOptions options{1, rules.carried_names()};
    Found found = nothing_found(sessions.front().plan(), reference.extent);
    if (in_ranks) {
        ThreadRanks(cut.count()).run([&](rt::Ranks& ranks) {
            rt::Pieces pieces(cut, sessions[static_cast<std::size_t>(ranks.rank())], options, ranks,
                              rt::make_host_messages(ranks));
            solve_steps(reference, pieces, found);
            ranks.barrier();  // when the first is done nobody waits for the others
        });
        return found;
    }
    std::vector<rt::Session*> pointers;
    for (rt::Session& session : sessions)
        pointers.push_back(&session);
    rt::Pieces pieces(cut, pointers, options);
    solve_steps(reference, pieces, found);
    return found;
}

rt::Lengths random_counts(const ir::Program& program, const Extent& extent, Random& random) {
    const driver::CutRules rules = driver::cut_rules(program, extent);
    rt::Lengths counts{};
    const int last = program.rank() - 1;
    for (int axis = 0; axis <= last; ++axis)
        if (rules.may[static_cast<std::size_t>(axis)])
            counts[static_cast<std::size_t>(axis)] = random.between(axis == last ? 2 : 1, 3);
    return counts;
}

Extent random_extent(Random& random, int rank) {
    Extent extent{random.between(3, 12), random.between(3, 12), rank == 3 ? random.between(6, 10) : 1};
    extent[static_cast<std::size_t>(rank - 1)] = random.between(7, 24);
    return extent;
}

bool has_numbers(const Found& found) {
    return std::ranges::all_of(found.reductions, [](const auto& each) { return std::isfinite(each.second); });
}

}  // namespace

TEST_CASE("random equations in pieces on the CPU have the bits of one device") {
    const std::unique_ptr<rt::Device> one = rt::make_cpu_device(2), other = rt::make_cpu_device(1);
    const Seeds seeds = seeds_from_environment(15001, 60);
    std::uint64_t compared = 0;
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        Random random(seed);
        const int rank = random.between(2, 3);
        const std::string text = random_equation(random, rank);
        INFO("seed " << seed << "\n" << text);
        const ir::Program program = load_program(text);
        const Reference reference(program, random_extent(random, rank), kStepsOfEquations, seed);
        const rt::Lengths counts = random_counts(program, reference.extent, random);
        INFO(
            fmt::format("{} cells, {} pieces", fmt::join(reference.extent, " x "), fmt::join(counts, " x ")));
        const std::optional<Found> found =
            in_pieces(reference, counts, random.chance(40), {one.get(), other.get()}, lower::lower_cpu,
                      load_cpp_unoptimized);
        if (!found) continue;
        ++compared;
        const Found whole = of_one_device(reference, *one);
        CHECK(has_numbers(whole));
        CHECK((*found == whole));
    }
    CHECK(compared * 2 >= seeds.count);
}

TEST_CASE("random equations in pieces on emulated CUDA have the bits of any other cut") {
    const Seeds seeds = seeds_from_environment(16001, 10);
    const auto lower = [](const ir::Program& piece) {
        return lower::lower_cuda(piece, {schedules_by_plane(piece)});
    };
    std::uint64_t compared = 0;
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        Random random(seed);
        const std::string text = random_equation(random, 2);
        INFO("seed " << seed << "\n" << text);
        const ir::Program program = load_program(text);
        const Reference reference(program, random_extent(random, 2), kStepsOfEquations, seed);
        emulator::EmulatedDevice one, other;
        const auto cut_into = [&](int count) {
            return in_pieces(reference, {1, count, 1}, false, {&one, &other}, lower, load_cuda);
        };
        const std::optional<Found> two = cut_into(2), three = cut_into(3);
        if (!two || !three) continue;
        ++compared;
        CHECK(has_numbers(*two));
        CHECK((*two == *three));
    }
    CHECK(compared * 2 >= seeds.count);
}
