// Ranks that have several ways to exchange: whether they keep the fastest, and all the same one.
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

#include "catch.h"
#include "compiler/driver/planning/pieces_plan.h"
#include "load_cpp.h"
#include "property.h"
#include "random_pieces.h"
#include "runtime/cpu/cpu_device.h"
#include "runtime/pieces/messages.h"
#include "thread_ranks.h"

using namespace halo;
using namespace halo::test;

namespace {

constexpr std::chrono::milliseconds kSlowness(100);

// Messages that take their time at one rank.
class SlowMessages : public rt::Transport {
public:
    SlowMessages(rt::Ranks& ranks, int& exchanges)
        : ranks_(ranks), exchanges_(exchanges), messages_(rt::make_host_messages(ranks)) {}
    std::string name() const override { return "slow"; }
    void exchange(const std::vector<rt::Transfer>& along,
                  const std::vector<rt::PieceArrays>& pieces) override {
        ++exchanges_;
        if (ranks_.rank() == 1) std::this_thread::sleep_for(kSlowness);
        messages_->exchange(along, pieces);
    }
    void wait() override { messages_->wait(); }

private:
    rt::Ranks& ranks_;
    int& exchanges_;
    std::unique_ptr<rt::Transport> messages_;
};

void check(bool holds, const char* what) {
    if (!holds) throw std::runtime_error(what);
}

}  // namespace

TEST_CASE("ranks keep the transport that takes the slowest of them least") {
    const ir::Program program = load_program(R"(stencil heat(x, y) {
        field u: f32 { boundary clamp }
        u[t+1] = 1/2*u + 1/8*u[x-1] + 1/8*u[x+1] + 1/8*u[y-1] + 1/8*u[y+1]
    }
    )");
    const Reference reference(program, {20, 13, 1}, 7, 5);
    const driver::CutRules rules = driver::cut_rules(program, reference.extent);
    const rt::Decomposition cut = rt::decompose(rules.grid, {1, 3, 1}, rules.ghosts(2), {"x", "y"});
    for (const bool slow_first : {true, false}) {
        INFO((slow_first ? "the slow one first" : "the slow one last"));
        const auto said = as_ranks(3, [&](rt::Ranks& ranks) {
            const auto number = static_cast<std::size_t>(ranks.rank());
            const std::unique_ptr<rt::Device> device = rt::make_cpu_device(1);
            const lower::Lowered code = lower::lower_cpu(driver::program_of_piece(program, cut, number));
            rt::Session session(code.plan, cut.pieces[number].extent(), *device, load_cpp(code, *device),
                                {.poison = true});
            int slow_exchanges = 0;
            std::unique_ptr<rt::Transport> slow = std::make_unique<SlowMessages>(ranks, slow_exchanges),
                                           quick = rt::make_host_messages(ranks);
            const std::string wanted = quick->name();
            if (!slow_first) std::swap(slow, quick);
            rt::Pieces pieces(cut, session, {2, rules.carried_names()}, ranks, std::move(slow));
            check(pieces.transports().size() == 1 && pieces.transports().front().seconds == 0,
                  "measured without a choice");
            pieces.consider(std::move(quick));
            const std::vector<rt::TransportTime>& found = pieces.transports();
            check(found.size() == 2 && found[0].name == wanted && found[1].name == "slow",
                  "the slow one is kept");
            check(found[1].seconds >= std::chrono::duration<double>(kSlowness).count(),
                  "not what the slowest rank takes");
            const int measured = slow_exchanges;
            const std::string wrong = difference(reference, pieces, [&] { pieces.step(reference.steps); }, 0);
            check(wrong.empty(), wrong.c_str());
            check(measured > 0 && slow_exchanges == measured, "the slow one moves the cells");
        });
        for (const std::string& of_rank : said)
            CHECK(of_rank == "");
    }
}
