#include "compiler/driver/live/mailbox.h"

#include <atomic>
#include <stdexcept>
#include <thread>

#include "catch.h"

using namespace std::chrono_literals;
using halo::driver::live::Mailbox;

namespace {

// Asks in a thread of its own, as a page does.
struct Asker {
    Asker(Mailbox& mailbox, Mailbox::Task task, std::chrono::milliseconds patience = 1h)
        : thread(
              [this, &mailbox, patience, work = std::move(task)] { answer = mailbox.ask(work, patience); }) {}
    std::atomic<Mailbox::Answer> answer = Mailbox::Answer::late;
    std::thread thread;
};

}  // namespace

TEST_CASE("tasks are done in the thread that serves") {
    Mailbox mailbox;
    std::thread::id served;
    Asker asker(mailbox, [&] { served = std::this_thread::get_id(); });
    mailbox.wait(1h);
    mailbox.serve();
    asker.thread.join();
    CHECK(asker.answer.load() == Mailbox::Answer::done);
    CHECK(served == std::this_thread::get_id());
}

TEST_CASE("what a task throws is its asker's, and the run goes on") {
    Mailbox mailbox;
    std::atomic<bool> was_thrown = false;
    std::thread asker([&] {
        try {
            mailbox.ask([] { throw std::runtime_error("no such field"); }, 1h);
        } catch (const std::runtime_error&) {
            was_thrown = true;
        }
    });
    mailbox.wait(1h);
    mailbox.serve();
    asker.join();
    CHECK(was_thrown);
}

TEST_CASE("a task that nobody does in time is never done") {
    Mailbox mailbox;
    bool is_done = false;
    CHECK(mailbox.ask([&] { is_done = true; }, 0ms) == Mailbox::Answer::late);
    mailbox.serve();
    CHECK(!is_done);
    mailbox.wait(0ms);  // nothing waits: it gives up at once
}

TEST_CASE("a mailbox that is closed leaves nobody waiting") {
    Mailbox mailbox;
    Asker asker(mailbox, [] {});
    mailbox.wait(1h);
    mailbox.close();
    asker.thread.join();
    CHECK(asker.answer.load() == Mailbox::Answer::over);
    CHECK(mailbox.ask([] {}, 1h) == Mailbox::Answer::over);
}
