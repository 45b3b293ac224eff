#include "compiler/driver/error_exit.h"

namespace halo::driver {

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

}  // namespace halo::driver
