#include "runtime/core/disk_cache.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "catch.h"
#include "temporary_folder.h"

using namespace halo::rt;
namespace fs = std::filesystem;

namespace {

std::string key_of(int number) {
    return hash_key({"test", std::to_string(number)});
}

// The bytes that go with a key: every byte tells which entry it is of.
std::string bytes_of(int number, std::size_t size) {
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<char>((static_cast<std::size_t>(number) * 31 + i * 7) & 0xff);
    return bytes;
}

fs::path entry_path(const DiskCache& cache, int number) {
    return cache.folder() / (key_of(number) + ".bin");
}

std::string read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

void make_older(const fs::path& path, int minutes) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::minutes(minutes));
}

// Sets an environment variable, or unsets it, until the end of the scope.
class Environment {
public:
    Environment(const char* name, const char* value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        if (value != nullptr)
            ::setenv(name, value, 1);
        else
            ::unsetenv(name);
    }
    ~Environment() {
        if (before_)
            ::setenv(name_, before_->c_str(), 1);
        else
            ::unsetenv(name_);
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

private:
    const char* name_;
    std::optional<std::string> before_;
};

}  // namespace

TEST_CASE("keys are SHA-256 over parts and their lengths") {
    CHECK(hash_key({}) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(hash_key({"ab", "c"}) != hash_key({"a", "bc"}));
    CHECK(hash_key({"ab"}) != hash_key({"ab", ""}));
    CHECK(hash_key({"x"}).size() == 64);
}

TEST_CASE("what was put is got, byte by byte") {
    const TemporaryFolder folder;
    const DiskCache cache(folder.path() / "cache");
    REQUIRE(cache.usable());
    CHECK_FALSE(cache.get(key_of(1)));
    for (const std::size_t size : {0u, 1u, 100000u}) {
        CHECK(cache.put(key_of(1), bytes_of(1, size)));
        CHECK(cache.get(key_of(1)) == bytes_of(1, size));
    }
    CHECK(DiskCache(folder.path() / "cache").get(key_of(1)) == bytes_of(1, 100000));

    struct stat status{};
    REQUIRE(::stat(cache.folder().c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0700);
    REQUIRE(::stat(entry_path(cache, 1).c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("keys that are no hash reach no file") {
    const TemporaryFolder folder;
    const DiskCache cache(folder.path() / "cache");
    CHECK_FALSE(cache.put("../" + std::string(61, 'a'), "bytes"));
    CHECK_FALSE(cache.put("short", "bytes"));
    CHECK_FALSE(cache.get(std::string(64, 'G')));
    CHECK(fs::is_empty(cache.folder()));
}

TEST_CASE("damaged entries are found, removed and can be put again") {
    const TemporaryFolder folder;
    const DiskCache cache(folder.path() / "cache");
    REQUIRE(cache.put(key_of(1), bytes_of(1, 500)));
    const std::string whole = read_file(entry_path(cache, 1));
    std::vector<std::string> damaged = {"", "x", whole.substr(0, whole.size() - 1), whole + "x",
                                        whole.substr(0, 40)};
    for (std::size_t at = 0; at < whole.size(); at += 13) {
        damaged.push_back(whole);
        damaged.back()[at] = static_cast<char>(damaged.back()[at] ^ 4);
    }
    for (const std::string& bytes : damaged) {
        write_file(entry_path(cache, 1), bytes);
        CHECK_FALSE(cache.get(key_of(1)));
        CHECK_FALSE(fs::exists(entry_path(cache, 1)));
        REQUIRE(cache.put(key_of(1), bytes_of(1, 500)));
        CHECK(cache.get(key_of(1)) == bytes_of(1, 500));
    }
}

TEST_CASE("an entry under another key is none") {
    const TemporaryFolder folder;
    const DiskCache cache(folder.path() / "cache");
    REQUIRE(cache.put(key_of(1), bytes_of(1, 500)));
    REQUIRE(cache.put(key_of(2), bytes_of(2, 500)));
    fs::copy_file(entry_path(cache, 1), entry_path(cache, 2), fs::copy_options::overwrite_existing);
    CHECK_FALSE(cache.get(key_of(2)));
    CHECK_FALSE(fs::exists(entry_path(cache, 2)));
    CHECK(cache.get(key_of(1)) == bytes_of(1, 500));
    CHECK(cache.put(key_of(2), bytes_of(2, 500)));
    CHECK(cache.get(key_of(2)) == bytes_of(2, 500));
}

TEST_CASE("the entries that were not used for longest go first") {
    const TemporaryFolder folder;
    const DiskCache cache(folder.path() / "cache", 10000);
    for (int number = 0; number < 8; ++number) {
        REQUIRE(cache.put(key_of(number), bytes_of(number, 1000)));
        make_older(entry_path(cache, number), 60 - number);
    }
    CHECK(cache.get(key_of(0)));  // young again
    CHECK(cache.put(key_of(100), bytes_of(100, 3000)));
    CHECK(cache.get(key_of(0)));
    CHECK(cache.get(key_of(100)));
    CHECK_FALSE(cache.get(key_of(1)));
    CHECK_FALSE(cache.get(key_of(2)));
    CHECK(cache.get(key_of(7)));
    CHECK_FALSE(cache.put(key_of(101), bytes_of(101, 20000)));  // more than the whole
    CHECK(cache.get(key_of(7)));
}

TEST_CASE("files that are not entries are left alone, remains of dead writers are not") {
    const TemporaryFolder folder;
    const DiskCache cache(folder.path() / "cache", 2000);
    write_file(cache.folder() / "notes.txt", std::string(5000, 'n'));
    write_file(cache.folder() / "writing-1-0", "old");
    make_older(cache.folder() / "writing-1-0", 120);
    write_file(cache.folder() / "writing-1-1", "being written");
    for (int number = 0; number < 5; ++number)
        CHECK(cache.put(key_of(number), bytes_of(number, 800)));
    CHECK(fs::exists(cache.folder() / "notes.txt"));
    CHECK_FALSE(fs::exists(cache.folder() / "writing-1-0"));
    CHECK(fs::exists(cache.folder() / "writing-1-1"));
}

TEST_CASE("processes may share a cache") {
    const TemporaryFolder folder;
    const fs::path path = folder.path() / "cache";
    // Small enough that entries are thrown away under each other's hands all the time.
    const auto work = [&](int seed) {
        const DiskCache cache(path, 20000);
        for (int round = 0; round < 150; ++round) {
            const int number = (round * 7 + seed * 3) % 10;
            const auto found = cache.get(key_of(number));
            if (found && *found != bytes_of(number, 3000)) return 1;
            if (!found && !cache.put(key_of(number), bytes_of(number, 3000))) return 2;
        }
        return 0;
    };
    pid_t children[2];
    for (int child = 0; child < 2; ++child) {
        children[child] = ::fork();
        REQUIRE(children[child] >= 0);
        if (children[child] == 0) ::_exit(work(child));
    }
    CHECK(work(2) == 0);
    for (const pid_t child : children) {
        int status = -1;
        REQUIRE(::waitpid(child, &status, 0) == child);
        CHECK(status == 0);
    }
    for (const auto& entry : fs::directory_iterator(path))
        CHECK_FALSE(entry.path().filename().string().starts_with("writing-"));
}

TEST_CASE("folders that cannot be used turn the cache off with a reason") {
    const TemporaryFolder folder;
    write_file(folder.path() / "file", "");
    const DiskCache no_folder(folder.path() / "file" / "cache");
    CHECK_FALSE(no_folder.usable());
    CHECK(no_folder.why().find("cannot be made") != std::string::npos);
    CHECK_FALSE(no_folder.put(key_of(1), "bytes"));
    CHECK_FALSE(no_folder.get(key_of(1)));
    CHECK_FALSE(DiskCache(folder.path() / "file").usable());

    fs::create_directory(folder.path() / "open");
    fs::permissions(folder.path() / "open", fs::perms::all);
    const DiskCache open(folder.path() / "open");
    CHECK(open.why().find("others may write") != std::string::npos);
    CHECK_FALSE(open.put(key_of(1), "bytes"));
}

TEST_CASE("a read-only cache is read and not written") {
    if (::geteuid() == 0) return;  // nothing is read-only for root
    const TemporaryFolder folder;
    {
        const DiskCache cache(folder.path() / "cache");
        REQUIRE(cache.put(key_of(1), "bytes"));
    }
    fs::permissions(folder.path() / "cache", fs::perms::owner_read | fs::perms::owner_exec);
    const DiskCache cache(folder.path() / "cache");
    CHECK(cache.why().find("read-only") != std::string::npos);
    CHECK(cache.get(key_of(1)) == "bytes");
    CHECK_FALSE(cache.put(key_of(2), "bytes"));
    fs::permissions(folder.path() / "cache", fs::perms::owner_all);
}

TEST_CASE("the user's folder comes from the environment") {
    const TemporaryFolder folder;
    const std::string home = folder.path().string();
    const Environment at_home("HOME", home.c_str());
    {
        const Environment no_xdg("XDG_CACHE_HOME", nullptr);
        const Environment no_own("HALOCLINE_CACHE", nullptr);
        CHECK(DiskCache::in_user_folder().folder() == folder.path() / ".cache" / "halocline");
        CHECK(DiskCache::in_user_folder().usable());
        const Environment homeless("HOME", nullptr);
        const DiskCache none = DiskCache::in_user_folder();
        CHECK_FALSE(none.usable());
        CHECK(none.why().find("HOME") != std::string::npos);
        CHECK_FALSE(none.put(key_of(1), "bytes"));
    }
    const Environment xdg("XDG_CACHE_HOME", (home + "/xdg").c_str());
    {
        const Environment no_own("HALOCLINE_CACHE", nullptr);
        CHECK(DiskCache::in_user_folder().folder() == folder.path() / "xdg" / "halocline");
    }
    {
        const Environment own("HALOCLINE_CACHE", (home + "/own").c_str());
        CHECK(DiskCache::in_user_folder().folder() == folder.path() / "own");
    }
    const Environment off("HALOCLINE_CACHE", "off");
    CHECK_FALSE(DiskCache::in_user_folder().usable());
}
