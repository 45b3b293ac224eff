// Specs that several tests run.
#pragma once

namespace halo::test {

// Two axes, a state, params, a reduction; numbers that a test can work out.
inline constexpr const char* kHeat = R"(stencil heat(x, y) {
    param kappa = 1
    param dt = 0.1
    field u: f64 { boundary clamp }
    u[t+1] = u + kappa * dt * laplacian(u)
    reduce total = sum(u[t+1])
}

run heat {
    grid 8, 6
    steps 10
    init u = if idx(x) == 2 and idx(y) == 3 then 1 else 0
    save u to "u.npy"
    plot u to "u.png"
}
)";

// Grows by one each step: what `until`, `every` and Ctrl-C do can be read off its values.
inline constexpr const char* kCounter = R"(stencil counter(x) {
    field u: f64 { boundary periodic }
    u[t+1] = u + 1
    reduce highest = max(u[t+1])
}

run counter {
    grid 4
    steps 20 until highest >= 7
    init u = 0
    save u to "count.npy" every 5
}
)";

}  // namespace halo::test
