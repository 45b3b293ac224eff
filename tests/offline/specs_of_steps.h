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
