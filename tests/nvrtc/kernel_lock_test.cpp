// One process at a time compiles a kernel that nobody waits for.
#include "runtime/nvrtc/kernel_lock.h"

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

TEST_CASE("where nothing can be kept there is no lock") {
    const DiskCache none("");
    CHECK_FALSE(KernelLock::take(none, kKey));
    CHECK_FALSE(KernelLock::is_held(none, kKey));
}
