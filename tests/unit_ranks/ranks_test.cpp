// What ranks do together.
#include "runtime/ranks/ranks.h"

#include "catch.h"
#include "thread_ranks.h"

using namespace halo::rt;

TEST_CASE("what ranks do together") {
    constexpr int kCount = 5;
    std::vector<std::vector<std::string>> gathered(kCount), all(kCount);
    std::vector<std::string> said(kCount);
    std::vector<int> any(kCount), none(kCount), local(kCount), beside(kCount);
    halo::test::ThreadRanks(kCount).run([&](Ranks& ranks) {
        const int rank = ranks.rank();
        const auto at = static_cast<std::size_t>(rank);
        const std::string part(static_cast<std::size_t>(3 * rank), static_cast<char>('a' + rank));
        local[at] = ranks.local_rank();
        beside[at] = ranks.local_count();
        gathered[at] = ranks.gather(part);
        all[at] = ranks.all_gather(part);
        said[at] = ranks.broadcast(rank == 0 ? "from the first" : "from another");
        any[at] = ranks.any(rank == 3) ? 1 : 0;
        none[at] = ranks.any(false) ? 1 : 0;
        ranks.barrier();
    });
    const std::vector<std::string> parts{"", "bbb", "cccccc", "ddddddddd", "eeeeeeeeeeee"};
    CHECK(gathered.front() == parts);
    CHECK(gathered.back().empty());
    CHECK(all == std::vector<std::vector<std::string>>(kCount, parts));
    CHECK(said == std::vector<std::string>(kCount, "from the first"));
    CHECK(any == std::vector<int>(kCount, 1));
    CHECK(none == std::vector<int>(kCount, 0));
    CHECK(local == std::vector<int>{0, 0, 1, 1, 2});
    CHECK(beside == std::vector<int>{3, 2, 3, 2, 3});
}

TEST_CASE("one process by itself has all parts") {
    const std::unique_ptr<Ranks> alone = single_rank();
    CHECK(alone->all_gather("part") == std::vector<std::string>{"part"});
    CHECK(alone->gather("part") == std::vector<std::string>{"part"});
    CHECK(alone->broadcast("said") == "said");
    CHECK(alone->any(true));
    CHECK_FALSE(alone->any(false));
    CHECK(alone->local_count() == 1);
}
