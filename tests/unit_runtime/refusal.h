// What a call that the runtime refuses says; empty where it is not refused.
#pragma once

#include <functional>
#include <string>

#include "catch.h"
#include "runtime/core/error.h"

inline std::string refusal(const std::function<void()>& call) {
    try {
        call();
    } catch (const halo::rt::Error& error) {
        CHECK(error.code() == halo::rt::ErrorCode::bad_argument);
        return error.what();
    }
    return {};
}
