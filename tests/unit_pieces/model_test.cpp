// What the model says that a run in pieces takes, term by term.
#include "compiler/driver/planning/pieces_model.h"

#include "analyzed.h"
#include "catch.h"
#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/planning/pieces_plan.h"

using namespace halo;
using namespace halo::driver;

namespace {

constexpr double kCell = 1e-12;

const std::vector<std::string> kAxisNames{"x", "y", "z"};

// 64 x 64 x 64 cells in so many pieces, with two ghosts a side.
rt::Decomposition cut_into(const rt::Lengths& counts) {
    rt::Depths ghosts{};
    for (auto& of_axis : ghosts)
        of_axis = {2, 2};
    return rt::decompose({3, {64, 64, 64}, {}}, counts, ghosts, kAxisNames);
}

// Two levels of four bytes each, exchanged every other step.
constexpr ExchangePlan kExchange{2, 8, 2};

}  // namespace

TEST_CASE("one piece has nothing to wait for") {
    const Prediction one = predict(cut_into({1, 1, 1}), {4, kCell, 1e-6}, kExchange, built_in_link(true));
    CHECK(one.own == Approx(64 * 64 * 64 * kCell + 1e-6));
    CHECK(one.ghosts == 0);
    CHECK(one.exchange == 0);
    CHECK(one.exchange_bytes == 0);
}

TEST_CASE("an exchange is a copy of each level from each side, and waits once for each axis") {
    const Link link{10e-6, 3e-6, 1e9};
    const double face = 2 * 64 * 64 * 8;  // bytes
    const Prediction two = predict(cut_into({1, 1, 2}), {1, kCell}, kExchange, link);
    CHECK(two.own == Approx(64 * 64 * 32 * kCell));
    CHECK(two.ghosts == Approx(64 * 64 * 2 * kCell));
    CHECK(static_cast<double>(two.exchange_bytes) == face);
    CHECK(two.exchange == Approx((10e-6 + 2 * 3e-6 + face / 1e9) / 2));
    // Of four in a row those between have two neighbours.
    const Prediction four = predict(cut_into({1, 1, 4}), {1, kCell}, kExchange, link);
    CHECK(four.exchange == Approx((10e-6 + 2 * (2 * 3e-6 + face / 1e9)) / 2));
    // Along two axes each is waited for, and a face goes through the other axis' ghosts.
    const Prediction square = predict(cut_into({1, 2, 2}), {1, kCell}, kExchange, link);
    const double side = 2 * 64 * (32 + 2) * 8;
    CHECK(square.exchange == Approx((2 * 10e-6 + 2 * (2 * 3e-6 + side / 1e9)) / 2));
    CHECK(static_cast<double>(square.exchange_bytes) == 2 * side);
}

TEST_CASE("between nodes the slower link counts, for the pieces at their ends") {
    const Link within{1e-6, 1e-6, 1e12}, between{1e-6, 5e-6, 1e9};
    const double face = 2 * 64 * 64 * 8;
    const rt::Decomposition cut = cut_into({1, 1, 4});
    const auto exchange = [&](int node) {
        return predict(cut, {1, kCell}, kExchange, Network{within, between, node}).exchange;
    };
    CHECK(exchange(0) == exchange(4));
    CHECK(exchange(2) == Approx((1e-6 + 2 * (1e-6 + 5e-6) + face / 1e9 + face / 1e12) / 2));
    CHECK(exchange(1) == Approx((1e-6 + 2 * 2 * 5e-6 + 2 * face / 1e9) / 2));
}

TEST_CASE("hosts that have as many pieces each are nodes, and other pieces are by themselves") {
    const auto node = [](const std::vector<std::string>& hosts) { return network_of(hosts, true).node; };
    CHECK(node({"a"}) == 0);
    CHECK(node({"a", "a", "a"}) == 0);
    CHECK(node({"a", "a", "b", "b", "a", "a"}) == 2);
    CHECK(node({"a", "b", "a", "b"}) == 1);
    CHECK(node({"a", "a", "b"}) == 1);
    CHECK(node({"a", "a", "b", "c"}) == 1);
    CHECK(node({"a", "a", "a", "b", "b", "b"}) == 3);
    const Network two = network_of({"a", "a", "b", "b"}, true);
    CHECK(two.link(0, 1).bytes_per_second > 5 * two.link(1, 2).bytes_per_second);
    // The dearer an exchange is, the more steps lie between two.
    const ir::Program heat = test::analyze_text(R"(stencil heat(x, y) {
        field u: f32 { boundary periodic }
        u[t+1] = u + 0.1 * laplacian(u)
    }
    )");
    PiecesRequest request;
    request.count = 4;
    request.on_gpu = false;
    request.network = network_of({"a", "a", "a", "a"}, false);
    const PiecesPlan within = plan_pieces(heat, {512, 512, 1}, request, {});
    request.network = network_of({"a", "b", "c", "d"}, false);
    const PiecesPlan between = plan_pieces(heat, {512, 512, 1}, request, {});
    CHECK(between.interval > within.interval);
    CHECK(between.exchange_seconds > within.exchange_seconds);
}

TEST_CASE("what is computed meanwhile hides an exchange as far as it lasts") {
    const Link link{10e-6, 3e-6, 1e9, 7e-6};
    ExchangePlan exchange = kExchange;
    exchange.scheme = rt::ExchangeScheme::asynchronous;
    const rt::Decomposition cut = cut_into({1, 1, 2});
    const Prediction apart = predict(cut, {2, kCell}, kExchange, link);
    const Prediction overlapped = predict(cut, {2, kCell}, exchange, link);
    CHECK(overlapped.exchange == Approx(apart.exchange - overlapped.own));
    CHECK(overlapped.ghosts == apart.ghosts);
    const rt::Decomposition rows =
        rt::decompose({2, {64, 64, 1}, {}}, {1, 2, 1}, {{{2, 2}, {2, 2}}}, kAxisNames);
    CHECK(predict(rows, {2, kCell}, exchange, link).ghosts ==
          Approx(3 * predict(rows, {2, kCell}, kExchange, link).ghosts));  // borders are separate traversals
    CHECK(predict(cut, {2, 1000 * kCell}, exchange, link).exchange == Approx(10e-6 / 2));
    exchange.scheme = rt::ExchangeScheme::direct;
    const double stored = 2 * 64 * 64 * 8 / 1e9;
    CHECK(predict(cut, {1, kCell}, exchange, link).exchange == Approx((7e-6 + stored) / 2));
}

TEST_CASE("a host asks for one piece's exchange after the other, however small they are") {
    Link link{10e-6, 3e-6, 1e12, 7e-6};
    link.host_seconds = 100e-6;
    ExchangePlan exchange = kExchange;
    const rt::Decomposition cut = cut_into({1, 1, 4});
    const auto seconds = [&](rt::ExchangeScheme scheme, int pieces, double cell) {
        exchange.scheme = scheme;
        exchange.pieces_of_host = pieces;
        return predict(cut, {2, cell}, exchange, link).seconds();
    };
    using enum rt::ExchangeScheme;
    CHECK(seconds(asynchronous, 4, 1e-15) == Approx(400e-6 / 2));
    CHECK(seconds(asynchronous, 1, 1e-15) == Approx(100e-6 / 2));
    CHECK(seconds(synchronous, 4, 1e-15) < 100e-6 / 2);
    CHECK(seconds(asynchronous, 4, 1e-6) == Approx(seconds(asynchronous, 1, 1e-6)));  // devices are slower
}

TEST_CASE("of several blocks of steps the first alone has borders, and the last computes no ghosts") {
    const auto ghosts = [](const rt::Decomposition& cut, int blocks) {
        const ExchangePlan exchange{2 * blocks, 8, 2, rt::ExchangeScheme::asynchronous};
        return predict(cut, {2, kCell}, exchange, built_in_link(true)).ghosts;
    };
    const rt::Decomposition rows =
        rt::decompose({2, {64, 64, 1}, {}}, {1, 2, 1}, {{{2, 2}, {2, 2}}}, kAxisNames);
    const double two_rows = 64 * 2 * kCell;
    CHECK(ghosts(rows, 2) ==
          Approx((0.5 + 3. / 2) / 2 * two_rows));  // half of them, and borders half as deep
    CHECK(ghosts(rows, 3) == Approx((1. / 3 + 2. / 3 + 3. / 3) / 3 * two_rows));
    // Borders keep a device busy while long traversals end, so launches without them take longer.
    const rt::Decomposition planes = cut_into({1, 1, 2});
    const double two_planes = 64 * 64 * 2 * kCell, own = 64 * 64 * 32 * kCell;
    CHECK(ghosts(planes, 2) == Approx((0.5 + 1. / 2) / 2 * two_planes + 0.02 / 2 * own));
}

TEST_CASE("between two grids that were measured the rate is on the line through them") {
    const std::vector<MeasuredTime> measured{{1e3, 8e-9}, {1e5, 2e-9}, {1e6, 1e-9}};
    CHECK(seconds_per_cell(measured, 1e3) == Approx(8e-9));
    CHECK(seconds_per_cell(measured, 1e4) == Approx(4e-9));
    CHECK(seconds_per_cell(measured, 1e9) == Approx(1e-9));
    CHECK(seconds_per_cell(measured, 10) == Approx(8e-7));  // the step takes no less than the smallest's
}

TEST_CASE("a plan takes what was measured, and single steps where an interval parts several at once") {
    const ir::Program heat = test::analyze_text(R"(stencil heat(x, y, z) {
        field u: f32 { boundary fixed 0 }
        u[t+1] = u + 0.1 * laplacian(u)
    }
    )");
    PiecesRequest request;
    request.count = 2;
    const PiecesPlan built_in = plan_pieces(heat, {1024, 1024, 1024}, request, {});
    request.interval = built_in.steps_at_once + 1;
    const PiecesPlan parted = plan_pieces(heat, {1024, 1024, 1024}, request, {});
    CHECK(parted.steps_at_once == 1);
    CHECK(parted.step_seconds > 1.2 * built_in.step_seconds);
    request.measured = {{1e9, kCell}};
    const PiecesPlan fed = plan_pieces(heat, {1024, 1024, 1024}, request, {});
    const auto deep = static_cast<double>(*request.interval);
    CHECK(fed.step_seconds == Approx(1e9 * kCell * 512 / (512 + deep)));  // its ghosts are the rest
    CHECK(fed.interval == *request.interval);
}

TEST_CASE("a kernel in the way of several steps that does one at a time has all schemes, too") {
    const ir::Program heat = test::analyze_text(R"(stencil heat(x, y) {
        field u: f32 { boundary periodic }
        u[t+1] = u + 0.1 * laplacian(u)
    }
    )");
    CodeOptions options;
    options.schedules = {"temporal steps=1"};
    PiecesRequest request;
    request.count = 2;
    for (const rt::ExchangeScheme scheme :
         {rt::ExchangeScheme::synchronous, rt::ExchangeScheme::asynchronous, rt::ExchangeScheme::direct}) {
        request.scheme = scheme;
        const PiecesPlan plan = plan_pieces(heat, {2048, 2048, 1}, request, options);
        CHECK(plan.scheme == scheme);
        const CodeOptions of_pieces = options_of_pieces(options, plan);
        CHECK(of_pieces.blocks_of_pieces == (scheme != rt::ExchangeScheme::synchronous));
        CHECK(of_pieces.blocks_store_ghosts == (scheme == rt::ExchangeScheme::direct));
    }
    // What cannot be is refused, with the reason.
    const auto reason = [&] {
        const PiecesPlan plan = plan_pieces(heat, {2048, 2048, 1}, request, options);
        CHECK(plan.scheme == rt::ExchangeScheme::synchronous);
        CHECK_THROWS_AS(check_scheme(request, plan), CommandError);
        return plan.why_synchronous;
    };
    request.interval = 3;
    CHECK(reason() == "pieces exchange every 3 steps, and the kernel does 1 at once");
    request.scheme = rt::ExchangeScheme::asynchronous;  // by three blocks
    CHECK(plan_pieces(heat, {2048, 2048, 1}, request, options).scheme == request.scheme);
    options.schedules = {"temporal steps=2"};
    CHECK(reason() == "pieces exchange every 3 steps, and the kernel does 2 at once");
    request.interval.reset();
    options.schedules = {"direct"};
    CHECK(reason() == "no kernel does several steps at once");
    request.on_gpu = false;
    CHECK(reason() == "CPUs have no kernels that do several steps at once");
    request.scheme.reset();
    CHECK_NOTHROW(check_scheme(request, plan_pieces(heat, {2048, 2048, 1}, request, options)));
}
