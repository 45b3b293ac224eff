// Access to the fake driver, and what errors say.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "catch.h"
#include "fake_libcuda.h"
#include "runtime/core/error.h"

// Makes it the driver of this process and gives its state.
inline FakeLibcuda& fake() {
    static FakeLibcuda* const state = [] {
        ::setenv("HALOCLINE_LIBCUDA", HALO_FAKE_LIBCUDA, 1);
        void* library = ::dlopen(HALO_FAKE_LIBCUDA, RTLD_NOW);
        REQUIRE(library != nullptr);
        return reinterpret_cast<FakeLibcudaAccess>(::dlsym(library, "fake_libcuda"))();
    }();
    return *state;
}

// The text of the error that a call throws.
inline std::string message(halo::rt::ErrorCode code, const std::function<void()>& call) {
    try {
        call();
    } catch (const halo::rt::Error& error) {
        INFO(error.what());
        CHECK(error.code() == code);
        return error.what();
    }
    FAIL("nothing was thrown");
    return {};
}

inline bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}
