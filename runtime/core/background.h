// Detached background work: what cannot be stopped, such as a compilation. A process that
// ends by exit() waits for it, as it may use libraries that are taken down then; one that must not wait asks
// background_is_busy() and ends by std::_Exit().
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <utility>

namespace halo::rt {

// Runs `work`, which must not throw, in a thread of its own. All that it uses must be its own, or live until
// the process ends. Throws std::system_error where no thread can be started.
void start_in_background(std::function<void()> work);

bool background_is_busy();  // some work is not done yet

// The same with a result. Unlike that of std::async the future may be dropped at any time, and does not wait.
template <class Work>
auto run_in_background(Work work) {
    using Result = decltype(work());
    const auto task = std::make_shared<std::packaged_task<Result()>>(std::move(work));
    std::shared_future<Result> result = task->get_future().share();
    start_in_background([task] { (*task)(); });
    return result;
}

}  // namespace halo::rt
