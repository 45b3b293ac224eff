#include "runtime/ranks/together.h"

#include <exception>

#include "runtime/core/error.h"

namespace halo::rt {

void together(Ranks& ranks, const std::function<void()>& work) {
    std::string trouble;  // a letter for the code, then the text
    const auto note = [&](ErrorCode code, const char* text) {
        trouble = static_cast<char>('a' + static_cast<int>(code)) + std::string(text);
    };
    std::exception_ptr own;
    try {
        work();
    } catch (const RankFailed&) {
        throw;  // the others know
    } catch (const PeerLost&) {
        throw;  // and will never answer
    } catch (const std::exception& exception) {
        own = std::current_exception();
        const Error error = as_error(exception);
        note(error.code(), error.what());
    }
    const std::vector<std::string> all = ranks.all_gather(trouble);
    if (own) std::rethrow_exception(own);
    for (std::size_t rank = 0; rank < all.size(); ++rank)
        if (!all[rank].empty())
            throw Error(static_cast<ErrorCode>(all[rank].front() - 'a'),
                        "rank " + std::to_string(rank) + " on " + ranks.host(static_cast<int>(rank)) + ": " +
                            all[rank].substr(1));
}

}  // namespace halo::rt
