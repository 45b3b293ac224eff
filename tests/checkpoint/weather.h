// A spec in which all is carried from step to step that can be: levels of the past, cells that keep what they
// held, noise, the time, a reduction that the next step reads, and what is sampled at points.
#pragma once

namespace halo::test {

inline constexpr const char* kWeather = R"(stencil weather(x, y) {
    param k = 0.2
    param dt = 0.1
    field u: f32 { boundary x clamp, y periodic }
    field p: f64 { boundary x fixed 0, y periodic }
    field drift: f32
    field hot: f16
    points phones: linear
    u[t+1] = u + k * laplacian(u) + drift * (u[y+1] - u[y-1]) + 0.1 * random() + 0.01 * sin(time)
    p[t+1] = 1.5 * p - 0.5 * p[t-1] + 0.1 * laplacian(p) + u / (100 + total)
    reduce total = sum(u[t+1]) start 0
    where u[t+1] > 1 { hot = u[t+1] }
    sample p at phones into phones.trace[t]
}

run weather {
    grid 40, 50
    steps 20
    init u = idx(x) / len(x) + pos(y) / 100
    init drift = 0.1 * random()
    phones at [3.2 + i, 0.9 * i + 1] for i in 0..9
}
)";

}  // namespace halo::test
