#include "compiler/driver/command/error_exit.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <new>

#include "compiler/support/error.h"

namespace halo::driver {

namespace {

constexpr const char* kReport =
    "this is a mistake in haloc, not in your spec: please report it with the spec";

rt::Failure failure(ExitCode code, const std::string& text, const std::string& hint = {}) {
    const bool is_ours = code == ExitCode::internal && hint.empty();
    return {text, is_ours ? kReport : hint, static_cast<int>(code), -1};
}

}  // namespace

ExitCode exit_code(rt::ErrorCode code) {
    switch (code) {
        case rt::ErrorCode::bad_argument:
            return ExitCode::usage;
        case rt::ErrorCode::io:
            return ExitCode::file;
        case rt::ErrorCode::interrupted:
            return ExitCode::interrupted;
        case rt::ErrorCode::compile_failed:
        case rt::ErrorCode::internal:
            return ExitCode::internal;
        case rt::ErrorCode::no_device:
        case rt::ErrorCode::driver_too_old:
        case rt::ErrorCode::out_of_memory:
        case rt::ErrorCode::launch_failed:
        case rt::ErrorCode::peer_lost:
            return ExitCode::device;
    }
    return ExitCode::internal;
}

ExitCode exit_code(halocline::ErrorCode code) {
    switch (code) {
        case halocline::ErrorCode::spec:
            return ExitCode::spec;
        case halocline::ErrorCode::bad_argument:
        case halocline::ErrorCode::unsupported:
            return ExitCode::usage;
        case halocline::ErrorCode::io:
            return ExitCode::file;
        case halocline::ErrorCode::no_device:
        case halocline::ErrorCode::driver_too_old:
        case halocline::ErrorCode::out_of_memory:
        case halocline::ErrorCode::launch_failed:
            return ExitCode::device;
        case halocline::ErrorCode::compile_failed:
        case halocline::ErrorCode::internal:
            break;
    }
    return ExitCode::internal;
}

rt::Failure failure_of(const std::exception_ptr& trouble) {
    try {
        std::rethrow_exception(trouble);
    } catch (const CommandError& error) {
        return failure(error.code(), error.what(), error.hint());
    } catch (const UnsupportedError& error) {
        return failure(ExitCode::usage, error.what());
    } catch (const rt::RankFailed& error) {
        return error.failure();
    } catch (const rt::PeerLost& error) {
        rt::Failure lost = failure(exit_code(error.code()), error.what(), error.hint());
        lost.lost = error.rank();
        return lost;
    } catch (const halocline::Error& error) {
        return failure(exit_code(error.code()), error.what());
    } catch (const std::bad_alloc&) {
        return failure(ExitCode::device, "this machine has not enough memory for that", "try a smaller grid");
    } catch (const std::exception& exception) {
        const rt::Error error = rt::as_error(exception);
        return failure(exit_code(error.code()), error.what());
    }
}

ExitCode end_all(rt::Failure failure, rt::Ranks& ranks, Console& console) {
    const bool is_own = failure.lost < 0 && !ranks.is_first();
    if (is_own && failure.text.empty()) failure.text = "the spec has mistakes there: is it another file?";
    if (is_own)
        failure.text = fmt::format("rank {} on {}: {}", ranks.rank(), ranks.host(ranks.rank()), failure.text);
    ranks.end_all(failure, [&](const rt::Failure& told) {
        if (ranks.count() > 1) console.set_silent(false);
        if (!told.text.empty()) console.error(told.text, told.hint);
    });
    return static_cast<ExitCode>(failure.exit_code);
}

void end_without_memory() {
    try {
        if (std::current_exception()) std::rethrow_exception(std::current_exception());
    } catch (const std::bad_alloc&) {
        std::fputs(kNoMemory, stderr);
        std::_Exit(static_cast<int>(ExitCode::device));
    } catch (...) {
        std::abort();
    }
    std::abort();
}

}  // namespace halo::driver
