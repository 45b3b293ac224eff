#include "compiler/driver/running/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <string_view>
#include <thread>
#include <vector>

#include "runtime/core/disk_cache.h"
#include "runtime/core/kernel_lock.h"

namespace halo::driver {

namespace {

// What the child is started with; freed in any case.
class SpawnSettings {
public:
    SpawnSettings() {
        is_good_ = ::posix_spawn_file_actions_init(&files_) == 0;
        if (!is_good_) return;
        if (::posix_spawnattr_init(&attributes_) != 0) {
            ::posix_spawn_file_actions_destroy(&files_);
            is_good_ = false;
            return;
        }
        sigset_t none, all;
        ::sigemptyset(&none);
        ::sigfillset(&all);
        is_good_ = ::posix_spawn_file_actions_addopen(&files_, 0, "/dev/null", O_RDWR, 0) == 0 &&
                   ::posix_spawn_file_actions_adddup2(&files_, 0, 1) == 0 &&
                   ::posix_spawn_file_actions_adddup2(&files_, 0, 2) == 0 &&
                   // The child closes inherited files: else a process that waits for the end of one of this
                   // run's pipes would wait for the child.
                   ::posix_spawn_file_actions_addclosefrom_np(&files_, 3) == 0 &&
                   ::posix_spawnattr_setsigmask(&attributes_, &none) == 0 &&
                   ::posix_spawnattr_setsigdefault(&attributes_, &all) == 0 &&
                   ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
                                                                POSIX_SPAWN_SETSIGDEF) == 0;
        is_made_ = true;
    }
    ~SpawnSettings() {
        if (!is_made_) return;
        ::posix_spawn_file_actions_destroy(&files_);
        ::posix_spawnattr_destroy(&attributes_);
    }
    SpawnSettings(const SpawnSettings&) = delete;
    SpawnSettings& operator=(const SpawnSettings&) = delete;

    bool start(pid_t& child, char** words) const {
        return is_good_ &&
               ::posix_spawn(&child, "/proc/self/exe", &files_, &attributes_, words, environ) == 0;
    }

private:
    posix_spawn_file_actions_t files_{};
    posix_spawnattr_t attributes_{};
    bool is_good_ = false, is_made_ = false;
};

bool may_leave_child(const RunArguments& arguments) {
    const char* const wanted = std::getenv("HALOCLINE_BACKGROUND");
    return !arguments.no_background && (wanted == nullptr || std::string_view(wanted) != "off");
}

std::vector<std::string> words_of_child(const RunArguments& arguments, const std::string& device) {
    std::vector<std::string> words{"haloc", "compile", "--background", "--device", device};
    const auto add = [&](const char* option, const std::vector<std::string>& values) {
        for (const std::string& value : values) {
            words.emplace_back(option);
            words.push_back(value);
        }
    };
    add("-I", arguments.include);
    if (!arguments.grid.empty()) add("--grid", {arguments.grid});
    add("--set", arguments.set);
    add("--load", arguments.load);
    if (arguments.strict_fp) words.emplace_back("--strict-fp");
    if (arguments.no_tuned) words.emplace_back("--no-tuned");
    if (!arguments.store.empty()) add("--store", {arguments.store});
    words.emplace_back("--");
    words.push_back(arguments.file);
    if (!arguments.run_name.empty()) words.push_back(arguments.run_name);
    return words;
}

// Starts this program with these words, in a session of its own, so that no signal of this one's terminal
// reaches it, and without a place to print to.
void leave_child(const std::vector<std::string>& words) noexcept {
    try {
        std::vector<char*> raw;
        for (const std::string& word : words)
            raw.push_back(const_cast<char*>(word.c_str()));
        raw.push_back(nullptr);
        pid_t child = 0;
        if (!SpawnSettings().start(child, raw.data())) return;
        // Reaps the child, which would else remain as a zombie until the end of a long run.
        std::thread([child] { ::waitpid(child, nullptr, 0); }).detach();
    } catch (const std::exception&) {
        // The run does without.
    }
}

}  // namespace

void leave_kernel(const RunArguments& arguments, const std::string& device, const std::string& key) {
    if (key.empty() || arguments.file == "-" || !may_leave_child(arguments)) return;
    const rt::DiskCache cache = rt::DiskCache::in_user_folder();
    if (cache.usable() && !rt::KernelLock::is_held(cache, key))
        leave_child(words_of_child(arguments, device));
}

}  // namespace halo::driver
