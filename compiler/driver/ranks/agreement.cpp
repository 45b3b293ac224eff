#include "compiler/driver/ranks/agreement.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

namespace halo::driver {

Decision agree(rt::Ranks& ranks, const Decision& own) {
    if (ranks.count() == 1) return own;
    const std::vector<std::string> stops = ranks.gather(own.stop ? "1" : "0");
    const bool stop = std::ranges::find(stops, "1") != stops.end();
    std::array<std::int64_t, 3> words{own.steps, own.check ? 1 : 0, stop ? 1 : 0};
    const std::string agreed = ranks.broadcast({reinterpret_cast<const char*>(words.data()), sizeof words});
    std::memcpy(words.data(), agreed.data(), sizeof words);
    return {words[0], words[1] != 0, words[2] != 0};
}

PiecesPlan agree_on_pieces(rt::Ranks& ranks, const ir::Program& program, const Extent& extent,
                           const std::function<PiecesPlan()>& plan_here) {
    struct Words {
        rt::Lengths counts;
        int steps_at_once;
        std::int64_t interval, exchange_bytes, step_bytes;
        rt::ExchangeScheme scheme;
    } words{};
    std::optional<PiecesPlan> plan;
    if (ranks.is_first()) {
        plan = plan_here();
        words = {plan->cut.counts,     plan->steps_at_once, plan->interval,
                 plan->exchange_bytes, plan->step_bytes,    plan->scheme};
    }
    const std::string agreed = ranks.broadcast({reinterpret_cast<const char*>(&words), sizeof words});
    std::memcpy(&words, agreed.data(), sizeof words);
    const std::string why_synchronous = ranks.broadcast(plan ? plan->why_synchronous : "");
    if (plan) return std::move(*plan);
    PiecesPlan same = rebuild_plan(program, extent, words.counts, words.interval, words.steps_at_once);
    same.exchange_bytes = words.exchange_bytes;
    same.step_bytes = words.step_bytes;
    same.scheme = words.scheme;
    same.why_synchronous = why_synchronous;
    return same;
}

void require_same_run(rt::Ranks& ranks, const std::string& what) {
    if (ranks.broadcast(what) == what) return;
    throw rt::Error(rt::ErrorCode::bad_argument,
                    "its spec or its options are not those of rank 0; all ranks of a run must be started "
                    "alike");
}

}  // namespace halo::driver
