// One process at a time compiles a kernel.
#include "runtime/core/kernel_lock.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "catch.h"
#include "temporary_folder.h"

using namespace halo::rt;

namespace {

const std::string kKey = hash_key({"a kernel"}), kOther = hash_key({"another"});

}  // namespace

TEST_CASE("a lock is one's own until it goes, and leaves nothing") {
    const TemporaryFolder folder;
    const DiskCache cache(folder.path() / "cache");
    CHECK_FALSE(KernelLock::is_held(cache, kKey));
    {
        const std::optional<KernelLock> lock = KernelLock::take(cache, kKey);
        REQUIRE(lock);
        CHECK(KernelLock::is_held(cache, kKey));
        CHECK_FALSE(KernelLock::take(cache, kKey));
        CHECK_FALSE(KernelLock::is_held(cache, kOther));
        CHECK(KernelLock::take(cache, kOther));
        std::ifstream file(cache.folder() / ("writing-lock-" + kKey));
        int process = 0;
        CHECK(file >> process);
        CHECK(process == ::getpid());
    }
    CHECK_FALSE(KernelLock::is_held(cache, kKey));
    CHECK(std::filesystem::is_empty(cache.folder()));
}

TEST_CASE("what a process left that died is no lock") {
    const TemporaryFolder folder;
    const DiskCache cache(folder.path() / "cache");
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const std::optional<KernelLock> lock = KernelLock::take(cache, kKey);
        ::kill(::getpid(), SIGKILL);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK(std::filesystem::exists(cache.folder() / ("writing-lock-" + kKey)));
    CHECK_FALSE(KernelLock::is_held(cache, kKey));
    CHECK(KernelLock::take(cache, kKey));
    CHECK(std::filesystem::is_empty(cache.folder()));
}

TEST_CASE("who waits for a lock has it when the other process is done, and not for ever") {
    const TemporaryFolder folder;
    const DiskCache cache(folder.path() / "cache");
    int ready[2], go[2];
    REQUIRE((::pipe(ready) == 0 && ::pipe(go) == 0));
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    char byte = 0;
    if (child == 0) {
        const std::optional<KernelLock> lock = KernelLock::take(cache, kKey);
        static_cast<void>(!::write(ready[1], &byte, 1));
        static_cast<void>(!::read(go[0], &byte, 1));
        cache.put(kKey, "code");
        ::_exit(0);  // with the lock
    }
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    CHECK_FALSE(KernelLock::wait(cache, kKey, std::chrono::seconds(0)));
    CHECK(KernelLock::wait(cache, kOther, std::chrono::seconds(0)));
    REQUIRE(::write(go[1], &byte, 1) == 1);
    CHECK(KernelLock::wait(cache, kKey, std::chrono::seconds(60)));
    CHECK(cache.get(kKey) == "code");
    int status = 0;
    CHECK(::waitpid(child, &status, 0) == child);
    for (const int end : {ready[0], ready[1], go[0], go[1]})
        ::close(end);
}

TEST_CASE("where nothing can be kept there is no lock") {
    const DiskCache none("");
    CHECK_FALSE(KernelLock::take(none, kKey));
    CHECK_FALSE(KernelLock::is_held(none, kKey));
    CHECK_FALSE(KernelLock::wait(none, kKey, std::chrono::seconds(60)));
}
