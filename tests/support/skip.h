// Test programs that need a machine of a certain kind end as skipped elsewhere: ctest knows the exit code 77
// (SKIP_RETURN_CODE), and people read the reason. At namespace scope, before any test runs:
//     const SkipUnless nvrtc(Nvrtc::find() != nullptr, Nvrtc::why_missing());
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

class SkipUnless {
public:
    SkipUnless(bool present, const std::string& reason) {
        if (present) return;
        std::printf("skipped: %s\n", reason.c_str());
        std::fflush(stdout);
        std::_Exit(kSkipped);
    }
    static constexpr int kSkipped = 77;
};
