#include "compiler/driver/planning/pieces_model.h"

#include <algorithm>
#include <cmath>

namespace halo::driver {

namespace {

// Cells that a piece receives from one side, with the ghosts of the other axes, so that corners arrive.
double cells_of_side(const rt::Piece& piece, std::size_t axis, std::size_t side) {
    auto cells = static_cast<double>(piece.ghosts[axis][side]);
    for (std::size_t other = 0; other < rt::kMaxRank; ++other)
        if (other != axis) cells *= static_cast<double>(piece.cells(static_cast<int>(other)));
    return cells;
}

struct ExchangeCost {
    double waiting = 0, barriers = 0, copying = 0, storing = 0;  // seconds
    double host = 0;                                             // of the host, for all its pieces
    double bytes = 0;
};

// Sums over the axes, which are exchanged one after the other, as are a piece's copies.
ExchangeCost exchange_cost(const rt::Decomposition& cut, int number, const ExchangePlan& exchange,
                           const Network& network) {
    ExchangeCost cost;
    cost.host = exchange.pieces_of_host * network.within.host_seconds;
    const rt::Piece& piece = cut.pieces[static_cast<std::size_t>(number)];
    for (int axis = 0; axis < cut.grid.rank; ++axis) {
        double waiting = 0, barriers = 0;
        for (int side = 0; side < 2; ++side) {
            const double cells =
                cells_of_side(piece, static_cast<std::size_t>(axis), static_cast<std::size_t>(side));
            if (cells == 0) continue;
            const Link& link = network.link(number, cut.beside(number, axis, side));
            const double bytes = cells * static_cast<double>(exchange.bytes_of_cell);
            cost.bytes += bytes;
            const double moving = bytes / link.bytes_per_second;
            cost.copying += exchange.copies * link.copy_seconds + moving;
            cost.storing += moving;
            waiting = std::max(waiting, link.wait_seconds);
            barriers = std::max(barriers, link.barrier_seconds);
        }
        cost.waiting += waiting;
        cost.barriers += barriers;
    }
    return cost;
}

// The cost of separate borders relative to that of ghosts, in three and in two dimensions. In three
// dimensions borders replace traversals that exist in any case.
constexpr double kBorderCost3d = 1, kBorderCost2d = 3;
// The share of its time by which a launch without borders takes longer: in three dimensions traversals are
// long, and short borders keep a device busy while the last of them end.
constexpr double kImbalance3d = 0.02, kImbalance2d = 0;

// Seconds of redundant computation under asynchronous exchange every `blocks` blocks of steps: the first
// block has separate borders, and the last computes no ghosts. own: seconds for a piece's own cells; ghosts:
// for all its ghosts.
double seconds_of_ghosts(double blocks, int rank, double own, double ghosts) {
    const bool has_planes = rank == 3;
    const double computed = (blocks - 1) / (2 * blocks);
    const double borders = (has_planes ? kBorderCost3d : kBorderCost2d) / (blocks * blocks);
    const double imbalance = (has_planes ? kImbalance3d : kImbalance2d) * (blocks - 1) / blocks;
    return (computed + borders) * ghosts + imbalance * own;
}

Prediction of_piece(const rt::Decomposition& cut, int number, const StepTime& time,
                    const ExchangePlan& exchange, const ExchangeCost& cost) {
    const auto interval = static_cast<double>(exchange.interval);
    const double blocks = interval / time.steps_at_once;
    const rt::Piece& piece = cut.pieces[static_cast<std::size_t>(number)];
    Prediction result;
    result.own = static_cast<double>(piece.own_cells()) * time.seconds_per_cell + time.seconds_per_step;
    result.ghosts = static_cast<double>(piece.ghost_cells()) * time.seconds_per_cell;
    switch (exchange.scheme) {
        case rt::ExchangeScheme::synchronous:
            result.exchange = (cost.waiting + cost.copying) / interval;
            break;
        case rt::ExchangeScheme::asynchronous:  // overlaps the interior
            result.exchange = (cost.waiting + std::max(0.0, cost.copying - interval * result.own)) / interval;
            result.ghosts = seconds_of_ghosts(blocks, cut.grid.rank, result.own, result.ghosts);
            // Small pieces are bound by the host, which issues their work.
            result.exchange = std::max(result.exchange, cost.host / interval - result.own - result.ghosts);
            break;
        case rt::ExchangeScheme::direct:
            result.exchange = (cost.barriers + cost.storing) / interval;
            break;
    }
    return result;
}

}  // namespace

Link built_in_link(bool on_gpu) {
    return on_gpu ? Link{11e-6, 9e-6, 3.9e11, 4e-6, 24e-6} : Link{1e-6, 1e-6, 5e9, 2e-6};
}

Link between_nodes(const Link& within, const BetweenNodes& assumed) {
    Link between = within;
    between.copy_seconds += assumed.longer_seconds;
    between.bytes_per_second = std::min(within.bytes_per_second, assumed.bytes_per_second);
    return between;
}

Network network_of(const std::vector<std::string>& hosts, bool on_gpu) {
    const auto end_of_first = std::ranges::find_if(hosts, [&](const auto& host) { return host != hosts[0]; });
    const Link within = built_in_link(on_gpu);
    if (end_of_first == hosts.end()) return within;
    const auto row = static_cast<std::size_t>(end_of_first - hosts.begin());
    bool is_in_rows = hosts.size() % row == 0;
    for (std::size_t i = row; i < hosts.size() && is_in_rows; ++i)
        is_in_rows = (hosts[i] == hosts[i - 1]) == (i % row != 0);
    return {within, between_nodes(within), is_in_rows ? static_cast<int>(row) : 1};
}

double seconds_per_cell(const std::vector<MeasuredTime>& measured, double cells) {
    const auto above = std::find_if(measured.begin(), measured.end(),
                                    [&](const MeasuredTime& time) { return time.cells >= cells; });
    if (above == measured.end()) return measured.back().seconds_per_cell;
    if (above == measured.begin()) return above->seconds_per_cell * above->cells / cells;
    const MeasuredTime& below = *std::prev(above);
    const double part = std::log(cells / below.cells) / std::log(above->cells / below.cells);
    return std::exp(std::lerp(std::log(below.seconds_per_cell), std::log(above->seconds_per_cell), part));
}

Prediction predict(const rt::Decomposition& cut, const StepTime& time, const ExchangePlan& exchange,
                   const Network& network) {
    Prediction busiest;
    double most_bytes = 0;
    for (int i = 0; i < cut.count(); ++i) {
        const ExchangeCost cost = exchange_cost(cut, i, exchange, network);
        const Prediction predicted = of_piece(cut, i, time, exchange, cost);
        most_bytes = std::max(most_bytes, cost.bytes);
        if (i == 0 || predicted.seconds() > busiest.seconds()) busiest = predicted;
    }
    busiest.exchange_bytes = static_cast<std::int64_t>(most_bytes);
    return busiest;
}

}  // namespace halo::driver
