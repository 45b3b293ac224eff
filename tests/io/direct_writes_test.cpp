// Large pieces of a file go past the cache of the system; what the file holds is the same.
#include "runtime/io/direct_writes.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "catch.h"
#include "runtime/io/atomic_file.h"
#include "temporary_folder.h"

using namespace halo::rt;

TEST_CASE("large pieces have whole pages in their middle") {
    const std::size_t large = 5'000'003;
    CHECK(DirectWrites::parts_of(0, 1000).before == 1000);
    CHECK(DirectWrites::parts_of(0, 1000).direct == 0);
    CHECK(DirectWrites::parts_of(0, large).before == 0);
    CHECK(DirectWrites::parts_of(4096, large).before == 0);
    for (const std::int64_t offset :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{128}, std::int64_t{4097}}) {
        const DirectWrites::Parts parts = DirectWrites::parts_of(offset, large);
        CHECK((offset + static_cast<std::int64_t>(parts.before)) % 4096 == 0);
        CHECK(parts.direct % 4096 == 0);
        CHECK(large - parts.before - parts.direct < 4096);
    }
}

TEST_CASE("a file has the bytes of all its pieces, whichever way they went") {
    TemporaryFolder folder;
    const auto byte_at = [](std::size_t at) { return static_cast<char>(at * 31 + at / 4099); };
    std::string whole(21'000'001, '\0');
    for (std::size_t i = 0; i < whole.size(); ++i)
        whole[i] = byte_at(i);
    // On the disk, and where the system has no such writes at all.
    for (const std::string& place : {folder / "a", std::string("/dev/shm/halocline-direct-writes-test")}) {
        if (!std::filesystem::is_directory(std::filesystem::path(place).parent_path())) continue;
        {
            AtomicFile file(place);
            const std::size_t cuts[] = {0, 128, 9'000'000, 9'000'100, whole.size()};
            for (const std::size_t part : {3, 1, 0, 2})  // in any order
                file.write_at(static_cast<std::int64_t>(cuts[part]), whole.data() + cuts[part],
                              cuts[part + 1] - cuts[part]);
            file.commit();
        }
        std::ifstream file(place, std::ios::binary);
        const std::string read{std::istreambuf_iterator<char>(file), {}};
        CHECK((read == whole));
        std::filesystem::remove(place);
    }
}
