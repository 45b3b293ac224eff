// How a run is divided among several devices: how its grid is cut, and how often pieces exchange their
// ghosts. Decided by a model (pieces_model.h), before any device is opened.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compiler/driver/planning/compile.h"
#include "compiler/driver/planning/pieces_model.h"
#include "compiler/ir/program.h"
#include "compiler/ir/reach.h"
#include "runtime/pieces/decomposition.h"
#include "runtime/pieces/pieces.h"

namespace halo::driver {

// What a program says of how its grid can be cut.
struct CutRules {
    rt::Grid grid;
    std::array<bool, rt::kMaxRank> may{};  // axes that can be cut
    std::vector<std::string> why_not;      // "x: …", of the others
    ir::StepReach reach;
    struct Carried {
        std::string name;
        std::int64_t element = 0;  // bytes of a cell, of one level
        std::int64_t levels = 1;   // that a step reads
        int factor = 1;            // of its grid
    };
    std::vector<Carried> carried;  // fields that are exchanged
    // What is exchanged of a grid after each iteration of a repeat.
    struct Iterated {
        std::int64_t times = 1;  // in a step, at most
        int factor = 1;          // of the grid
        std::int64_t bytes = 0;  // of a cell, of all levels
        int levels = 0;
    };
    std::vector<Iterated> iterated;
    std::vector<std::string> carried_names() const;
    // For so many steps between exchanges.
    rt::Depths ghosts(std::int64_t interval) const;
};
CutRules cut_rules(const ir::Program& program, const Extent& extent);
// For a cut that is that of the others, too; what is exchanged stays the program's own.
CutRules cut_rules(const ir::Program& program, const std::vector<const ir::Program*>& cut_with,
                   const Extent& extent);

struct PiecesRequest {
    int count = 1;
    std::optional<std::int64_t> interval;        // steps from one exchange to the next; none: chosen
    bool on_gpu = true;                          // false: CPUs, which have no schedules
    std::optional<rt::ExchangeScheme> scheme;    // none: chosen
    bool is_one_process = true;                  // whose devices may write to each other's memory
    std::vector<const ir::Program*> cut_with{};  // as CodeOptions has it
    // Of one device with this program, in rising order of cells; empty: what the schedules' own model says.
    std::vector<MeasuredTime> measured{};
    std::optional<Network> network{};  // none: two H200 of one machine, or this machine's processor
};

struct PiecesPlan {
    rt::Decomposition cut;
    std::int64_t interval = 1;
    int steps_at_once = 1;                    // of the kernel that does several, 1: there is none
    std::vector<std::string> carried;         // fields that are exchanged
    std::array<std::int64_t, 2> reach{0, 0};  // as PiecesOptions has it
    std::vector<std::string> uncut;           // "x: …": why not along that axis
    rt::ExchangeScheme scheme = rt::ExchangeScheme::direct;  // as PiecesOptions has it
    std::string why_synchronous;      // what keeps others out that may be chosen; empty: nothing
    std::int64_t exchange_bytes = 0;  // to the piece that receives most
    std::int64_t step_bytes = 0;      // the same, at most, of all exchanges within a step
    // Predicted, of the busiest piece: a step's work, what of it are ghosts, and its share of the exchange.
    double step_seconds = 0, ghost_seconds = 0, exchange_seconds = 0;
    bool is_exchanged() const { return exchange_bytes > 0 || step_bytes > 0; }
    double seconds() const { return step_seconds + ghost_seconds + exchange_seconds; }  // of a step
    double efficiency() const;  // of that many devices against one: 1 is that many times as fast
};

rt::PiecesOptions pieces_options(const PiecesPlan& plan);

// As on the command line; empty: none.
std::optional<rt::ExchangeScheme> parse_scheme(const std::string& word);
std::string scheme_word(rt::ExchangeScheme scheme);

// Throws UnsupportedError where no grid of this program can be cut, rt::Error (bad_argument) where this grid
// cannot be cut into so many pieces.
PiecesPlan plan_pieces(const ir::Program& program, const Extent& extent, const PiecesRequest& request,
                       const CodeOptions& options);

// Both throw CommandError (usage): the scheme that was asked for cannot be; the second where the plan has
// another.
[[noreturn]] void refuse_scheme(rt::ExchangeScheme wanted, const std::string& why);
void check_scheme(const PiecesRequest& request, const PiecesPlan& plan);

// As it was planned by another process of the same run.
PiecesPlan rebuild_plan(const ir::Program& program, const Extent& extent, const rt::Lengths& counts,
                        std::int64_t interval, int steps_at_once);

// The program of one piece.
ir::Program program_of_piece(const ir::Program& program, const rt::Decomposition& cut, std::size_t piece);

// What CodeOptions must say for all pieces to have one way to do several steps.
CodeOptions options_of_pieces(CodeOptions options, const PiecesPlan& plan);

// For people. One line: "4 pieces, 4 along z, of 256 cells and 4 ghosts a side; 33.6 MB exchanged every 4
// steps".
std::string describe_pieces(const PiecesPlan& plan, const std::vector<std::string>& axes);
// And what the model expects of it, and why axes are not cut.
std::string explain_pieces(const PiecesPlan& plan, const std::vector<std::string>& axes);
nlohmann::ordered_json pieces_json(const PiecesPlan& plan);

}  // namespace halo::driver
