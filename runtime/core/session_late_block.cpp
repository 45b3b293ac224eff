// A time block whose code is still being compiled when the session starts (SessionOptions::time_block_code).
//
// All arrays are laid out for it from the start, and blocks begin wherever single steps ended; so it is taken
// between any two steps, and what comes out is the same.
#include <chrono>
#include <exception>

#include "runtime/core/session_state.h"

namespace halo::rt {

void Session::State::look_for_late_block() {
    using Clock = std::chrono::steady_clock;
    if (late.state != LateBlock::State::awaited) return;
    if (options.time_block_code.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
    late.after_steps = steps_done;
    const Clock::time_point start = Clock::now();
    try {
        const LateCode& code = options.time_block_code.get();
        late.compile_seconds = code.seconds;
        modules.push_back(device->load(code.bytes, plan.name));
        for (std::size_t coef = 0; coef < coefs.size(); ++coef)
            send_coef(static_cast<int>(coef));
        find_time_block();
        prepare_blocks(param_values());
        late.state = block_kernel != nullptr ? LateBlock::State::taken : LateBlock::State::unfit;
    } catch (const std::exception& trouble) {  // single steps can do without
        block_kernel = nullptr;
        late.state = LateBlock::State::failed;
        late.trouble = trouble.what();
    }
    late.load_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    options.time_block_code = {};
}

const LateBlock& Session::late_block() const {
    return state_->late;
}

}  // namespace halo::rt
