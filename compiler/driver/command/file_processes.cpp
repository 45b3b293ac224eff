#include "compiler/driver/command/file_processes.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "compiler/driver/console/interrupt.h"
#include "runtime/core/error.h"

namespace halo::driver {

namespace {

struct Started {
    std::size_t item = 0;
    int file = -1;  // in memory, for what it gives
};

void write_all(int file, const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
        const ssize_t written = ::write(file, text.data() + at, text.size() - at);
        if (written < 0 && errno != EINTR) ::_exit(1);
        at += written < 0 ? 0 : static_cast<std::size_t>(written);
    }
}

std::string read_all(int file) {
    std::string text(static_cast<std::size_t>(std::max<off_t>(0, ::lseek(file, 0, SEEK_END))), '\0');
    for (std::size_t at = 0; at < text.size();) {
        const ssize_t count = ::pread(file, text.data() + at, text.size() - at, static_cast<off_t>(at));
        if (count == 0 || (count < 0 && errno != EINTR)) return "";
        at += count < 0 ? 0 : static_cast<std::size_t>(count);
    }
    return text;
}

std::string end_of(int status) {
    if (WIFSIGNALED(status))
        return fmt::format("the process for it ended with signal {} ({})", WTERMSIG(status),
                           ::strsignal(WTERMSIG(status)));
    return "the process for it ended without a result";
}

class Pool {
public:
    explicit Pool(const std::function<std::string(std::size_t)>& work) : work_(work) {}
    ~Pool() {
        for (const auto& [process, started] : running_)
            ::kill(-process, SIGKILL);
        for (const auto& [process, started] : running_) {
            while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
            }
            ::close(started.file);
        }
    }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    std::size_t running() const { return running_.size(); }
    void start(std::size_t item) {
        const int file = ::memfd_create("result", MFD_CLOEXEC);
        const pid_t process = file < 0 ? -1 : ::fork();
        if (process == 0) {
            ::setpgid(0, 0);  // with the processes that it starts it is ended as one
            try {
                write_all(file, work_(item));
            } catch (...) {
                ::_exit(1);
            }
            ::_exit(0);
        }
        if (process < 0) {
            if (file >= 0) ::close(file);
            throw rt::Error(rt::ErrorCode::io,
                            fmt::format("a process cannot be made: {}", std::strerror(errno)));
        }
        ::setpgid(process, process);  // whichever of the two is first
        running_[process] = {item, file};
    }
    // Of a process that has ended; none where all are at work.
    std::optional<std::pair<std::size_t, ProcessText>> next() {
        for (auto each = running_.begin(); each != running_.end(); ++each) {
            int status = 0;
            const pid_t ended = ::waitpid(each->first, &status, WNOHANG);
            if (ended == 0 || (ended < 0 && errno == EINTR)) continue;
            const Started started = each->second;
            running_.erase(each);
            ProcessText result;
            if (ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
                result.text = read_all(started.file);
            else
                result.trouble = end_of(status);
            ::close(started.file);
            return std::pair(started.item, std::move(result));
        }
        return std::nullopt;
    }

private:
    const std::function<std::string(std::size_t)>& work_;
    std::map<pid_t, Started> running_;
};

}  // namespace

bool in_processes(std::size_t count, const std::function<std::string(std::size_t)>& work,
                  const std::function<void(std::size_t, const ProcessText&)>& done) {
    const std::size_t most = std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::optional<ProcessText>> results(count);
    std::size_t started = 0, told = 0;
    Pool pool(work);
    while (told < count) {
        if (InterruptGuard::requested()) return false;
        while (started < count && pool.running() < most)
            pool.start(started++);
        if (auto ended = pool.next())
            results[ended->first] = std::move(ended->second);
        else
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        for (; told < count && results[told]; ++told)
            done(told, *results[told]);
    }
    return true;
}

}  // namespace halo::driver
