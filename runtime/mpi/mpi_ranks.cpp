#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include "runtime/mpi/mpi_ranks.h"

#include <fmt/format.h>
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <list>
#include <optional>
#include <thread>

#include "runtime/mpi/processes.h"

namespace halo::rt {

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr Seconds kCheckInterval{0.1};  // between checks of the ranks that are waited for
constexpr Seconds kOwnFailure{0.5};     // an error of all ranks is better reported by the first
constexpr Seconds kGrace{10};           // for the first rank to tell of a failure and end all
constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;  // of one message: MPI counts in int

// Messages between ranks besides their data: that a rank is alive, why one fails, or that the failure has
// been reported and the run is about to end.
struct Note {
    enum class Kind : std::int32_t { ask, answer, failed, told };
    Kind kind = Kind::ask;
    std::int32_t exit_code = 0, lost = -1;
    std::array<char, 1500> text{}, hint{};
};
constexpr int kShortNote = 16;  // bytes of one without words

void copy_words(std::array<char, 1500>& to, const std::string& from) {
    std::memcpy(to.data(), from.data(), std::min(from.size(), to.size() - 1));
}

// Waiting yields the processor, with growing pauses: ranks may share one.
class Backoff {
public:
    void pause() {
        ++pauses_;
        if (pauses_ < 1000)
            ::sched_yield();
        else
            std::this_thread::sleep_for(std::chrono::microseconds(pauses_ < 2000 ? 20 : 200));
    }

private:
    int pauses_ = 0;
};

std::string host_name() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "an unknown host";
}

class MpiRanks final : public Ranks {
public:
    explicit MpiRanks(const Launch& launch);
    ~MpiRanks() override;

    int rank() const override { return rank_; }
    int count() const override { return count_; }
    const std::string& host(int rank) const override { return hosts_[static_cast<std::size_t>(rank)]; }
    void exchange(std::span<const Message> receives, std::span<const Message> sends) override;
    void wait(const std::function<bool()>& done, std::span<const int> peers) override;
    void end_all(const Failure& failure, const std::function<void(const Failure&)>& tell) override;

private:
    struct Open {  // a message that is under way
        MPI_Request request = MPI_REQUEST_NULL;
        int peer = 0;
        bool is_receive = false;
    };
    void check(int result) const;
    void begin(std::vector<Open>& open, const Message& message, bool is_receive);
    bool test(std::vector<Open>& open) const;
    // pending: the ranks still waited for.
    void poll(const std::function<bool()>& done, const std::function<std::vector<int>()>& pending);
    void look_after(const std::vector<int>& peers, Clock::time_point since);
    void expect_note();
    void send_note(const Note& note, int peer);
    void take_notes();
    void tell_others(int exit_code);
    [[noreturn]] void await_end(int exit_code);
    std::string when() const;

    int rank_ = 0, count_ = 1;
    MPI_Comm work_ = MPI_COMM_NULL, notes_ = MPI_COMM_NULL;
    std::vector<std::string> hosts_{host_name()};
    std::vector<std::string> processes_;    // by rank; empty until they are known
    std::vector<Clock::time_point> heard_;  // by rank: when it was last known to be there
    std::vector<Clock::time_point> asked_;  // by rank: when it was last asked
    Note received_;
    MPI_Request receiving_ = MPI_REQUEST_NULL;
    struct Sent {
        Note note;
        MPI_Request request = MPI_REQUEST_NULL;
    };
    std::list<Sent> sent_;
    std::optional<Failure> failure_;  // that another rank has told of
    bool ended_ = false;
};

MpiRanks::MpiRanks(const Launch& launch) {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
    if (count_ != launch.count) {
        MPI_Finalize();
        throw Error(ErrorCode::bad_argument,
                    fmt::format("{} has started {} processes, and MPI sees {} of them: haloc was built with "
                                "another MPI than that launcher's; with Slurm, try srun --mpi=pmix or "
                                "--mpi=pmi2, or mpirun",
                                launch.by, launch.count, count_));
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &work_);
    MPI_Comm_dup(MPI_COMM_WORLD, &notes_);
    MPI_Comm_set_errhandler(work_, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(notes_, MPI_ERRORS_RETURN);
    hosts_.resize(static_cast<std::size_t>(count_), "a host that is not known yet");
    heard_.resize(hosts_.size());
    asked_.resize(hosts_.size());
    expect_note();
    hosts_ = all_gather(host_name());
    processes_ = all_gather(process_name());
}

MpiRanks::~MpiRanks() {
    if (ended_) return;
    try {
        barrier();
    } catch (...) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Cancel(&receiving_);
    MPI_Request_free(&receiving_);
    for (Sent& sent : sent_)
        if (sent.request != MPI_REQUEST_NULL) MPI_Request_free(&sent.request);
    MPI_Comm_free(&work_);
    MPI_Comm_free(&notes_);
    MPI_Finalize();
}

void MpiRanks::check(int result) const {
    if (result == MPI_SUCCESS) return;
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    MPI_Error_string(result, text.data(), &length);
    throw Error(ErrorCode::peer_lost,
                fmt::format("rank {} on {} cannot reach the others{}: {}", rank_, host(rank_), when(),
                            std::string(text.data(), static_cast<std::size_t>(length))));
}

std::string MpiRanks::when() const {
    return step() < 0 ? ", before the first step" : fmt::format(", at step {}", step());
}

void MpiRanks::begin(std::vector<Open>& open, const Message& message, bool is_receive) {
    for (std::int64_t at = 0; at < message.count; at += kMostBytes) {
        const auto bytes = static_cast<int>(std::min(kMostBytes, message.count - at));
        char* const first = static_cast<char*>(message.bytes) + at;
        open.push_back({MPI_REQUEST_NULL, message.peer, is_receive});
        MPI_Request* const request = &open.back().request;
        check(is_receive ? MPI_Irecv(first, bytes, MPI_BYTE, message.peer, 0, work_, request)
                         : MPI_Isend(first, bytes, MPI_BYTE, message.peer, 0, work_, request));
    }
}

bool MpiRanks::test(std::vector<Open>& open) const {
    bool all = true;
    for (Open& each : open) {
        if (each.request == MPI_REQUEST_NULL) continue;
        int done = 0;
        check(MPI_Test(&each.request, &done, MPI_STATUS_IGNORE));
        all = all && done != 0;
    }
    return all;
}

void MpiRanks::exchange(std::span<const Message> receives, std::span<const Message> sends) {
    std::vector<Open> open;
    try {
        for (const Message& message : receives)
            begin(open, message, true);
        for (const Message& message : sends)
            begin(open, message, false);
        poll([&] { return test(open); },
             [&] {
                 std::vector<int> peers;
                 for (const Open& each : open)
                     if (each.request != MPI_REQUEST_NULL) peers.push_back(each.peer);
                 return peers;
             });
    } catch (...) {
        // The memory is released; no message may arrive in it any more.
        for (Open& each : open)
            if (each.is_receive && each.request != MPI_REQUEST_NULL) MPI_Cancel(&each.request);
        throw;
    }
}

void MpiRanks::wait(const std::function<bool()>& done, std::span<const int> peers) {
    poll(done, [&] { return std::vector<int>(peers.begin(), peers.end()); });
}

void MpiRanks::poll(const std::function<bool()>& done, const std::function<std::vector<int>()>& pending) {
    Backoff backoff;
    const Clock::time_point begun = Clock::now();
    Clock::time_point since = begun, checked = begun;
    while (!done()) {
        take_notes();
        const Clock::time_point now = Clock::now();
        if (failure_ && now - begun > kOwnFailure) throw RankFailed(*failure_);
        if (now - checked > kCheckInterval) {
            // A process that was itself stopped for a while (kill -STOP, a suspended job) received nothing
            // then.
            if (now - checked > Seconds(timeout()) / 2) since = now;
            checked = now;
            look_after(pending(), since);
        }
        backoff.pause();
    }
}

// A rank that waits answers. One that computes for long does not, so it is asked several times before it
// counts as lost.
void MpiRanks::look_after(const std::vector<int>& peers, Clock::time_point since) {
    const Clock::time_point now = Clock::now();
    for (const int peer : peers) {
        const auto index = static_cast<std::size_t>(peer);
        if (peer == rank_) continue;
        const bool has_ended = !processes_.empty() && process_has_ended(processes_[index]);
        if (has_ended) take_notes();  // it may have said so
        if (has_ended)
            throw PeerLost(
                peer, fmt::format("rank {} on {} has ended{}", peer, hosts_[index], when()),
                "the system's log or the launcher may say why: there may have been too little memory");
        if (now - std::max(since, heard_[index]) > Seconds(timeout()))
            throw PeerLost(peer,
                           fmt::format("rank {} on {} has not answered for {:g} s{}", peer, hosts_[index],
                                       timeout(), when()),
                           "it hangs, or its host cannot be reached; --timeout gives it longer");
        if (now - std::max(since, asked_[index]) < Seconds(timeout()) / 5) continue;
        asked_[index] = now;
        send_note({}, peer);
    }
}

void MpiRanks::expect_note() {
    received_ = {};
    check(MPI_Irecv(&received_, sizeof received_, MPI_BYTE, MPI_ANY_SOURCE, 0, notes_, &receiving_));
}

void MpiRanks::send_note(const Note& note, int peer) {
    Sent& sent = sent_.emplace_back();
    sent.note = note;
    const int bytes = note.kind == Note::Kind::failed ? static_cast<int>(sizeof note) : kShortNote;
    check(MPI_Isend(&sent.note, bytes, MPI_BYTE, peer, 0, notes_, &sent.request));
}

void MpiRanks::take_notes() {
    int done = 1;
    MPI_Status status{};
    while (true) {
        check(MPI_Test(&receiving_, &done, &status));
        if (done == 0) break;
        const Note note = received_;
        heard_[static_cast<std::size_t>(status.MPI_SOURCE)] = Clock::now();
        expect_note();
        if (note.kind == Note::Kind::ask) {
            Note answer;
            answer.kind = Note::Kind::answer;
            send_note(answer, status.MPI_SOURCE);
        } else if (note.kind == Note::Kind::failed && !failure_) {
            failure_ = Failure{note.text.data(), note.hint.data(), note.exit_code, note.lost};
        } else if (note.kind == Note::Kind::told) {
            await_end(note.exit_code);
        }
    }
    sent_.remove_if([](Sent& sent) {
        int sent_off = 0;
        return MPI_Test(&sent.request, &sent_off, MPI_STATUS_IGNORE) == MPI_SUCCESS && sent_off != 0;
    });
}

// The launcher ends this process, which has nothing more to report.
void MpiRanks::await_end(int exit_code) {
    std::this_thread::sleep_for(kGrace);
    ::_exit(exit_code);
}

void MpiRanks::tell_others(int exit_code) {
    Note note;
    note.kind = Note::Kind::told;
    note.exit_code = exit_code;
    for (int peer = 0; peer < count_; ++peer)
        if (peer != rank_) send_note(note, peer);
    const Clock::time_point since = Clock::now();
    while (!sent_.empty() && Clock::now() - since < kOwnFailure)
        take_notes();
}

void MpiRanks::end_all(const Failure& failure, const std::function<void(const Failure&)>& tell) {
    ended_ = true;
    const int teller = failure.lost == 0 ? 1 : 0;
    if (rank_ != teller) {
        try {
            Note note;
            note.kind = Note::Kind::failed;
            note.exit_code = failure.exit_code;
            note.lost = failure.lost;
            copy_words(note.text, failure.text);
            copy_words(note.hint, failure.hint);
            send_note(note, teller);
            Backoff backoff;
            const Clock::time_point since = Clock::now();
            while (Clock::now() - since < kGrace &&
                   (processes_.empty() || !process_has_ended(processes_[static_cast<std::size_t>(teller)]))) {
                take_notes();
                backoff.pause();
            }
            take_notes();
        } catch (const std::exception&) {
            // it is told here
        }
    }
    tell(failure);
    try {
        tell_others(failure.exit_code);
    } catch (const std::exception&) {
        // they are ended all the same
    }
    MPI_Abort(MPI_COMM_WORLD, failure.exit_code);
}

}  // namespace

std::unique_ptr<Ranks> open_mpi(const Launch& launch) {
    return std::make_unique<MpiRanks>(launch);
}

}  // namespace halo::rt
