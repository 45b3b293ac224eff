// A time block whose code comes while steps are being done.
#include <stdexcept>
#include <vector>

#include "catch.h"
#include "runtime/core/background.h"
#include "runtime/core/error.h"
#include "runtime/core/session.h"
#include "sample_plans.h"

using namespace halo::rt;

namespace {

using State = AsyncBlock::State;

// A compiler that ends when it is told to.
class Compiler {
public:
    Compiler()
        : code(
              run_in_background([told = told_.get_future().share()] { return AsyncCode{told.get(), 1.5}; })) {
    }
    void finish() {
        told_.set_value("the code");
        code.wait();
    }
    void fail(const Error& why) {
        told_.set_exception(std::make_exception_ptr(why));
        code.wait();
    }

private:
    std::promise<std::string> told_;

public:
    std::shared_future<AsyncCode> code;
};

// A FakeDevice that loads the block's module, and remembers it.
class BlockDevice : public FakeDevice {
public:
    BlockDevice() {
        loader = [this](std::string_view code) {
            CHECK(code == "the code");
            auto module = wave_block_module();
            loaded = module.get();
            return module;
        };
    }
    FakeModule* loaded = nullptr;
};

Session open_wave(FakeDevice& device, std::int64_t cells, std::shared_future<AsyncCode> code = {}) {
    Sample sample = wave_with_block();
    if (!code.valid()) sample.plan.time_block.reset();  // single steps, to compare with
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(std::move(sample.module));
    SessionOptions options;
    options.poison = true;
    options.time_block_code = std::move(code);
    Session session(std::move(sample.plan), {cells, 1, 1}, device, std::move(modules), options);
    std::vector<double> now, past;
    for (std::int64_t x = 0; x < cells; ++x) {
        now.push_back(static_cast<double>((x * 37) % 64) / 16);
        past.push_back(static_cast<double>((x * 23) % 64) / 16);
    }
    session.upload("p", 0, now);
    session.upload("p", -1, past);
    return session;
}

void check_same(Session& got, Session& wanted) {
    CHECK(got.steps_done() == wanted.steps_done());
    CHECK((got.download("p") == wanted.download("p")));
    CHECK((got.download("p", -1) == wanted.download("p", -1)));
}

}  // namespace

TEST_CASE("a block that is compiled asynchronously is taken between any two steps, and no bit changes") {
    for (const bool recordable : {false, true}) {
        for (const std::int64_t before : {0, 1, 2, 3, 5, 64, 131}) {
            for (const std::int64_t after : {1, 3, 7, 64, 200}) {
                INFO("after " << before << " steps, then " << after << ", recorded: " << recordable);
                BlockDevice device;
                FakeDevice plain;
                device.recordable = recordable;
                Compiler compiler;
                Session session = open_wave(device, 19, compiler.code);
                Session singles = open_wave(plain, 19);
                session.step(before);
                CHECK(session.async_block().state == State::pending);
                CHECK_FALSE(session.time_block_info());
                compiler.finish();
                singles.step(before);
                for (int part = 0; part < 3; ++part) {
                    session.step(after);
                    singles.step(after);
                    check_same(session, singles);
                    session.set_param("rate", 0.125 * (part + 1));
                    singles.set_param("rate", 0.125 * (part + 1));
                }
                CHECK(session.async_block().state == State::active);
                CHECK(session.async_block().after_steps == before);
                CHECK(session.async_block().compile_seconds == 1.5);
                CHECK(session.time_block_info());
                CHECK(device.launches < before + 3 * after + (after < 3 ? 1 : 0));
            }
        }
    }
}

TEST_CASE("constants are set in code that is loaded later") {
    BlockDevice device;
    Compiler compiler;
    Session session = open_wave(device, 19, compiler.code);
    session.step(2);
    session.set_coef("w", std::vector<double>{3, 4});
    compiler.finish();
    session.step(1);
    REQUIRE(device.loaded != nullptr);
    const std::vector<char>& bytes = device.loaded->constants["w_constant"];
    REQUIRE(bytes.size() == 16);
    double weights[2];
    std::memcpy(weights, bytes.data(), sizeof weights);
    CHECK(weights[0] == 3);
    CHECK(weights[1] == 4);
}

TEST_CASE("where the block cannot be compiled or loaded, single steps go on") {
    for (const bool compiles : {false, true}) {
        BlockDevice device;
        FakeDevice plain;
        device.loader = [](std::string_view) -> std::unique_ptr<Module> {
            throw Error(ErrorCode::driver_too_old, "it does not load");
        };
        Compiler compiler;
        Session session = open_wave(device, 19, compiler.code);
        Session singles = open_wave(plain, 19);
        session.step(4);
        if (compiles) {
            compiler.finish();
        } else {
            compiler.fail(Error(ErrorCode::compile_failed, "it does not compile"));
        }
        session.step(50);
        singles.step(54);
        check_same(session, singles);
        CHECK(session.async_block().state == State::failed);
        CHECK(session.async_block().trouble == (compiles ? "it does not load" : "it does not compile"));
        CHECK(session.async_block().after_steps == 4);
        CHECK_FALSE(session.time_block_info());
    }
}

TEST_CASE("code without the block's kernel is a failure, a grid that is too small is not") {
    BlockDevice device;
    device.loader = [](std::string_view) { return std::make_unique<FakeModule>(); };
    Compiler compiler;
    Session session = open_wave(device, 19, compiler.code);
    compiler.finish();
    session.step(9);
    CHECK(session.async_block().state == State::failed);
    CHECK(session.async_block().trouble.find("'wave_3_steps'") != std::string::npos);

    BlockDevice other;
    FakeDevice plain;
    Compiler again;
    Session small = open_wave(other, 3, again.code);
    Session singles = open_wave(plain, 3);
    again.finish();
    small.step(9);
    singles.step(9);
    check_same(small, singles);
    CHECK(small.async_block().state == State::unfit);
}

TEST_CASE("a session may end before its block is there") {
    Compiler compiler;
    {
        BlockDevice device;
        Session session = open_wave(device, 19, compiler.code);
        session.step(5);
        CHECK(session.async_block().state == State::pending);
    }
    CHECK(background_is_busy());
    compiler.finish();
}

TEST_CASE("a session without asynchronous code says so") {
    FakeDevice device;
    Session session = open_wave(device, 19);
    session.step(5);
    CHECK(session.async_block().state == State::none);
}

TEST_CASE("a run that is watched goes over to the block, too") {
    BlockDevice device;
    FakeDevice plain;
    device.recordable = plain.recordable = true;
    Compiler compiler;
    Session session = open_wave(device, 19, compiler.code);
    Session singles = open_wave(plain, 19);
    RunOptions run;
    run.steps = 90;
    run.batch = 10;
    std::int64_t calls = 0;
    run.keep_going = [&](std::int64_t) {
        if (++calls == 3) compiler.finish();
        return true;
    };
    CHECK(session.run(run).steps == 90);
    singles.step(90);
    check_same(session, singles);
    CHECK(session.async_block().after_steps == 30);
}
