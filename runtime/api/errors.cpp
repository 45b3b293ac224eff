#include "runtime/api/errors.h"

namespace halocline::detail {

namespace {

ErrorCode code_of(halo::rt::ErrorCode code) {
    switch (code) {
        case halo::rt::ErrorCode::no_device:
            return ErrorCode::no_device;
        case halo::rt::ErrorCode::driver_too_old:
            return ErrorCode::driver_too_old;
        case halo::rt::ErrorCode::out_of_memory:
            return ErrorCode::out_of_memory;
        case halo::rt::ErrorCode::bad_argument:
            return ErrorCode::bad_argument;
        case halo::rt::ErrorCode::compile_failed:
            return ErrorCode::compile_failed;
        case halo::rt::ErrorCode::launch_failed:
            return ErrorCode::launch_failed;
        case halo::rt::ErrorCode::io:
            return ErrorCode::io;
        case halo::rt::ErrorCode::interrupted:
        case halo::rt::ErrorCode::peer_lost:
        case halo::rt::ErrorCode::internal:
            break;
    }
    return ErrorCode::internal;
}

}  // namespace

void refuse(const std::string& why) {
    throw Error(ErrorCode::bad_argument, why);
}

void rethrow_translated() {
    try {
        throw;
    } catch (const Error&) {
        throw;
    } catch (const std::exception& exception) {
        const halo::rt::Error error = halo::rt::as_error(exception);
        throw Error(code_of(error.code()), error.what());
    }
}

}  // namespace halocline::detail
