// A run that is shown by a page on the loopback address while it is done: docs/live.md.
//
// The page asks; threads of the server read what it asks for and leave it in the mailbox; the run's thread
// does it between two steps. So all that changes is changed in one thread, and needs no lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/driver/live/access.h"
#include "compiler/driver/live/history.h"
#include "compiler/driver/live/http.h"
#include "compiler/driver/live/http_server.h"
#include "compiler/driver/live/mailbox.h"
#include "compiler/driver/live/pace.h"
#include "compiler/driver/live/snapshot.h"
#include "compiler/driver/running/machine.h"
#include "compiler/driver/running/onlooker.h"
#include "compiler/driver/running/request.h"
#include "runtime/ranks/ranks.h"

namespace halo::driver::live {

class LiveRun : public Onlooker {
public:
    // What is to be said of the params as they are; empty: nothing.
    using Remarks = std::function<std::string(Engine& engine)>;

    // All must outlive it. params_are_fixed: why the page cannot change params; empty: it can. remarks: asked
    // for after each change. Throws CommandError (usage) where the port cannot be had.
    LiveRun(const LiveArguments& arguments, RunRequest& request, const ir::Program& program,
            const sema::RunSpec* run, const std::string& device, std::string params_are_fixed,
            Remarks remarks, rt::Ranks& ranks, const Console& console);
    ~LiveRun() override;

    std::string url() const;
    std::int64_t look(Engine& engine, std::int64_t steps, double seconds) override;
    // After the last step. how: why it was the last, for people. Where the page stays, until Ctrl-C; else
    // until a page that is open has seen the end, at most two seconds.
    void end(Engine& engine, std::int64_t steps, double seconds, const std::string& how);

private:
    using Clock = std::chrono::steady_clock;

    struct Probe {
        std::int64_t number = 0;
        std::string field;
        std::array<std::int64_t, rt::kMaxRank> cell{};
        History values;
    };

    // ---- in threads of the server
    HttpResponse answer(HttpRequest& request);
    HttpResponse show(const HttpRequest& request);
    HttpResponse change(const HttpRequest& request);
    Snapshot snapshot(const std::map<std::string, std::string>& query);
    void in_run(const Mailbox::Task& task);  // throws where the run does not come by

    // ---- in the run's thread
    void note(Engine& engine, std::int64_t steps, double seconds);
    void sample(Probe& probe);
    Snapshot take(const AskedView& asked);
    rt::json::Value state() const;
    rt::json::Value curves() const;
    void change_param(const std::string& name, const std::string& text);
    void add_probe(const rt::json::Value& asked);
    const Output& output_of(const std::string& field) const;
    rt::json::Value facts(const sema::RunSpec* run, const std::string& device) const;

    const bool stays_;
    RunRequest& request_;
    const ir::Program& program_;
    const std::string params_are_fixed_;
    const Remarks remarks_;
    rt::Ranks& ranks_;
    std::map<std::string, Output> outputs_;  // by field, as the run block's plots show them

    Engine* engine_ = nullptr;
    std::int64_t steps_ = 0, first_steps_ = -1;
    double rate_ = 0;  // cells a second
    std::int64_t rate_steps_ = 0;
    double rate_seconds_ = 0;
    Pace pace_;
    std::string how_;     // it ended
    std::string remark_;  // the latest
    Clock::time_point last_look_, last_asked_;
    bool end_is_seen_ = false;
    std::map<std::string, History> reductions_;
    std::vector<Probe> probes_;
    std::int64_t probes_made_ = 0;

    std::string facts_;
    Access access_{random_token()};
    Mailbox mailbox_;
    std::unique_ptr<HttpServer> server_;
};

}  // namespace halo::driver::live
