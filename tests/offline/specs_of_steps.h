// Specs of which several steps are done at once.
#pragma once

namespace halo::test {

// Faces that stand between two cells; five steps are some together and one by itself, which reads halos.
inline constexpr const char* kReflected = R"(
stencil reflected(x, y) {
    field u: f64 { boundary x antisymmetric; boundary y symmetric }
    u[t+1] = u + 0.2 * (u[x-1] + u[x+1] + u[y-1] + u[y+1] - 4*u)
}
)";

// A chain of two phases, the second of which begins after two steps.
inline constexpr const char* kPhases = R"(
stencil flows(x, y) {
    field u: f64 { boundary periodic }
    u[t+1] = (u[x-1] + u[x+1] + u[y-1] + u[y+1]) / 4
}
stencil settles(x, y) {
    param rate = 0.25
    field u: f64 { boundary periodic }
    u[t+1] = u + rate * (u[x-1] - u)
    reduce largest = max(u[t+1])
}
run flows {
    steps 2
    then settles for 10
}
)";

// Cells that are not equally far apart, by a formula and by a field: mirrored past the faces, positions,
// staggered points, weights of a neighbour.
inline constexpr const char* kStretched = R"(
stencil stretched(x, y) {
    param dt = 1e-3, first = 0.25
    spacing x = first * 1.1^idx(x), y = dy
    origin x = first
    field dy: f64 over y { boundary clamp }
    field u: f64 { boundary mirror }
    field v: f32 at x+1/2 { boundary mirror }
    let slope { boundary mirror } = d(u, y)
    u[t+1] = u + dt * (d2(u, x) / (1 + pos(x)) + d(slope, y) + d(v, x))
    v[t+1] = v + dt * d(u, x)
}
)";
inline constexpr const char* kStretchedRound = R"(
stencil round(x, y) {
    param dt = 1e-3
    spacing x = 1 + sin(idx(x)) / 4
    field u: f32 { boundary periodic }
    u[t+1] = u + dt * (laplacian(u) + pos(x))
}
)";

// Four cells in a word: counts, sums that bytes are too narrow for, a choice that keeps the old value, faces.
inline constexpr const char* kAging = R"(
stencil aging(x, y) {
    field alive: bool { boundary x periodic; boundary y clamp }
    field age: u8 { boundary x periodic; boundary y fixed 7 }
    let around = sum(i in -1..1, j in -1..1) (if alive[x+i, y+j] then 1 else 0)
    alive[t+1] = around == 3 or (alive and around == 4)
    where alive { age[t+1] = div(sum(i in -2..2, j in -1..1) age[x+i, y+j], 16) + 1 }
    reduce population = sum(if alive[t+1] then 1 else 0)
}
)";

}  // namespace halo::test
