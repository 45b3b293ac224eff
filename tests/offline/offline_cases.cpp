#include "offline_files.h"
#include "specs_of_steps.h"

namespace halo::test {

namespace {

// Every boundary kind, a param without a default in a fixed value, a fused maximum.
const char* const kHeat = R"(
stencil heat3d(x, y, z) {
    param lambda, dt = 0.1, wall = 10
    field u: f32 {
        boundary x periodic, y.low fixed wall * 2, y.high mirror, z clamp
    }
    u[t+1] = u + lambda * dt * (u[x-1] + u[x+1] + u[y-1] + u[y+1] + u[z-1] + u[z+1] - 6*u)
    reduce change = max(abs(u[t+1] - u))
}
)";

// Two stages, so that a let has an array; f64; a norm; names that are words of C++ and of the launcher.
const char* const kStages = R"(
stencil register(x, y) {
    param default = 0.5, solver = 2
    field double: f64 { boundary periodic }
    field int: f64 { boundary periodic }
    let create = double * double - default * (double[x-1] + double[x+1])
    double[t+1] = double + solver * 0.01 * int * (create[x-1, y-1] + create[x+1, y+1])
    reduce size = norm2(double)
    reduce least = min(double)
}
)";

// A past level, launch-time weights, an output with free faces, two types.
const char* const kWave = R"(
stencil wave(x, y) {
    param coef c[1..2]: f32 = [0.25, -0.0625]
    param a = 0.5
    field p: f32 { boundary mirror }
    field v: f64
    field d: f32
    p[t+1] = 2*p - p[t-1] + a * sum(r in 1..2) c[r] * (p[x-r] + p[x+r] + p[y-r] + p[y+r])
    d = p[x+1] - p[x-1] + v
    reduce total = sum(v)
}
)";

// Four axes: all faces, a field over two of them, a maximum.
const char* const kFour = R"(
stencil phase(x, y, u, v) {
    param dt = 1/8, wall = 3
    field f: f32 { boundary x periodic, y.low fixed wall, y.high clamp, u mirror, v periodic }
    field g: f64 over y, v { boundary y clamp, v periodic }
    f[t+1] = f + dt * (f[x-1] + f[x+1] + f[y-1] + f[y+1] + f[u-1] + f[u+1] + f[v-1, x+1] + f[v+1] - 8*f + g[v+1])
    reduce change = max(abs(f[t+1] - f))
}
)";

const char* const kRelax = R"(
stencil relax(x, y) {
    field u: f64 { boundary periodic }
    u[t+1] = (u[x-1] + u[x+1] + u[y-1] + u[y+1]) / 4
}
)";

// What changes with the step: numbers of the host, and noise.
const char* const kDriven = R"(
stencil driven(x, y) {
    param dt = 1/8, seed = 7
    field u: f32 { boundary periodic }
    let g { boundary periodic } = u + normal()/8
    u[t+1] = (g[x-1] + g[x+1] + g[y-1] + g[y+1]) / 4 + dt * mod(step, 3) * u + time / 16
}
)";

const char* const kSettle = R"(
stencil settle(x, y) {
    field u: f64 { boundary periodic }
    u[t+1] = (u[x-1] + u[x+1] + u[y-1] + u[y+1]) / 4
    reduce largest = max(u[t+1])
    reduce size = norm2(u)
}
)";

const char* const kLine = R"(
stencil line(s) {
    const dt = 1/8
    field f: f64 { boundary clamp }
    f[t+1] = (f[s-1] + f[s+1]) / 2 + sin(time) * step
}
)";

// Components, one of which has a name like another field's.
const char* const kDrift = R"(
stencil drift(x, y) {
    field v: (x: f32, y: f64) { boundary x fixed [1, 0], y periodic }
    field v_x: f32 { boundary mirror }
    v[t+1] = v / 2 + [v.x[x-1] / 4, v.x[y+1] / 4]
    v_x[t+1] = v_x[x+1] / 2
}
)";

// Ranges of cells: single ones at faces, such that small grids have none of, reductions over some; bytes,
// integers and truths.
const char* const kRepeated = R"(stencil repeated(x, y) {
    field f, p: f64 { boundary x clamp, y fixed 0.25 }
    field u: f32 { boundary x fixed 0.5, y gradient 0.25 }
    repeat k to 4 {
        p[k+1] = (p[k, x-1] + p[k, x+1] + p[k, y-1] + f) / 4
        reduce change = max(abs(p[k+1] - p[k]))
    }
    repeat 3 {
        where mod(idx(x) + idx(y), 2) == 0 { u[t+1] = (u[t+1, x-1] + u[t+1, y+1] + p[t+1]) / 4 }
        where mod(idx(x) + idx(y), 2) == 1 { u[t+1] = (u[t+1, x-1] + u[t+1, y+1]) / 4 + change / 64 }
        repeat j to 3 {
            f[j+1] = (f[j, x+1] + f[j, y-1] + u[t+1]) / 4
        }
    }
})";
// Ended by conditions, after other numbers of iterations in each step: with arrays that are exchanged and
// without, and within each other.
const char* const kUntil = R"(stencil until(x, y) {
    param tol = 0.01, scale = 2
    field f, p: f64 { boundary x clamp, y fixed 0.25 }
    field u: f32 { boundary x fixed 0.5, y gradient 0.25 }
    f[t+1] = f / 2
    repeat k until change < scale * tol and largest < 100, at most 40 {
        p[k+1] = (p[k, x-1] + p[k, x+1] + p[k, y-1] + f[t+1]) / 4
        reduce change = max(abs(p[k+1] - p[k]))
        reduce largest = max(p[k+1])
    }
    repeat until low > 1 or change > 1, at most 3 {
        where mod(idx(x) + idx(y), 2) == 0 { u[t+1] = (u[t+1, x-1] + u[t+1, y+1] + p[t+1]) / 4 }
        where mod(idx(x) + idx(y), 2) == 1 { u[t+1] = (u[t+1, x-1] + u[t+1, y+1]) / 4 + change / 64 }
        reduce low = min(u[t+1])
    }
    field q, w: f64 { boundary x fixed 1, y periodic }
    repeat j until moved < scale * tol, at most 9 {
        repeat i to 3 { q[i+1] = (q[i, x-1] + q[i, y+1] + w[j]) / 4 }
        repeat i until near < tol or change > 1, at most 7 {
            q[i+1] = (q[i, x+1] + q[i, y+1] + w[j]) / 4
            reduce near = max(abs(q[i+1] - q[i]))
        }
        w[j+1] = (w[j, x+1] + q[t+1]) / 4
        reduce moved = max(abs(w[j+1] - w[j]))
    }
})";
const char* const kTank = R"(
stencil tank(x, y, z) {
    param dt = 0.125
    field u: f64 { boundary x clamp, y periodic }
    field level: i32
    field wet: bool
    field n: i64
    field v: f32
    u[t+1] = u + dt * (u[x-1] + u[x+1] + u[y-1] + u[y+1] + u[z-1] + u[z+1] - 6*u)
    on x.low, y in 2..-3 { u[t+1] = 1 }
    on z.high { u[t+1] = u[t+1] / 2 }
    on x in 3..6, y in -4..-2, z in 2..-3 { u[t+1] = u[x+4, y-1] - u[z+1] }
    v = u[x+1] - u[z-1]
    on y in 5..8 { v = 2 * v }
    on x in -3..-1 { v = v - 1 }
    level[t+1] = if wet then level + 1 else level
    on y in 1..-2 { level[t+1] = level + 2 }
    wet[t+1] = level[x+1] > level[x-1]
    on z.low { wet[t+1] = not wet }
    n[t+1] = n + 3
    reduce outflow = sum(u[t+1]) on x.high
    reduce least = min(u) on z in 4..7
}
)";

// Sums over the rows of two tables, one with a column that is computed from a param.
const char* const kSources = R"(
stencil sources(x, y) {
    param strength = 0.25
    table source {
        px, py: f32
        charge: f32
        weight = strength * charge
    }
    table pair { a, b: f64 }
    field u: f32 { boundary clamp }
    field both: f64
    u[t+1] = u / 2 + sum(s in source) s.weight * (idx(x) - s.px) * (idx(y) - s.py)
    both = sum(p in pair) p.a * p.b
}
)";

// Series: in statements, at a reduction, and past a face of an input, whose halo is filled in each step.
const char* const kBlown = R"(
stencil blown(x, y) {
    param dt = 0.25, hour = 0.6
    series wind, tide
    field bed: f64 { boundary x.low fixed tide[step], x.high clamp, y periodic }
    field u: f32 { boundary x fixed wind[step/2], y clamp }
    reduce most = max(abs(u)) start 0.5
    u[t+1] = (u[x-1] + u[x+1] + u[y-1] + bed[x-1, y+1]) / 4 + wind[time/hour] / 8 + tide[most] / 8
}
)";

// Narrow storage with values past faces that are rounded, an integer's too; a bool with one.
const char* const kNarrow = R"(
stencil narrow(x, y) {
    param wall = 0.3, count = 2.5
    field h: f16 { boundary x fixed wall, y.low fixed 0.1, y.high mirror }
    field b: bf16 { boundary x periodic, y fixed wall / 3 }
    field n: i32 { boundary fixed count * 3 }
    field on: bool { boundary fixed count > 2 }
    h[t+1] = h / 2 + 0.1 * (h[x-1] + h[x+1] + b[y-1] + b[y+1])
    b[t+1] = b[x+1] / 2 + h / 4
    n[t+1] = n[x-1] + n[y+1]
    on[t+1] = on[x-1] or not on[y+1]
}
)";

// Single bytes, which are computed four at a time: counts and sums of rows, minima, choices, comparisons.
const char* const kBytes = R"(
stencil bytes(x, y) {
    field alive: bool { boundary periodic }
    field grey: u8 { boundary x clamp, y fixed 200 }
    let around = sum(i in -1..1, j in -1..1) (if alive[x+i, y+j] then 1 else 0)
    let total = sum(i in -1..1, j in -1..1) grey[x+i, y+j]
    alive[t+1] = around == 3 or (alive and around == 4) or (grey[x-2] == 255 and total != 300)
    grey[t+1] = if grey < grey[x+1] then min(grey[x-1], grey[x+5]) else div(total, 8) - 2 * abs(grey[y-1] - grey[y+1])
    reduce population = sum(if alive[t+1] then 1 else 0)
}
)";

// Statements that read reductions: one of the step before, one of the same step.
const char* const kAdaptive = R"(
stencil adaptive(x) {
    field u: f64 { boundary periodic }
    field d: f32
    reduce fastest = max(abs(u)) start 0.5
    let dt = min(0.25, 0.5 / fastest)
    u[t+1] = u - dt * (u - u[x-1]) + 0.001 * least
    d = u[x+1] * fastest
    reduce least = min(u[t+1]) start 2
}
)";

// What lies past faces is computed: from the place, the time, the cells and a param; of a state with a past,
// an input, and one whose elements are narrow.
const char* const kComputed = R"(
stencil computed(x, y) {
    const dt = 1/8
    param wall = 0.2, tip = 1.5
    field u: f64 {
        boundary x.low fixed wall * (idx(y)/16)^2 + time, x.high extrapolate 1
        boundary y symmetric
    }
    field source: f32 { boundary x fixed time / 2, y clamp }
    field h: f16 { boundary x fixed idx(y) / 32, y.low extrapolate 1, y.high mirror }
    u[t+1] = (u[x-1] + u[x+1] + u[y-1] + u[y+1] + u[t-1, x-1]) / 5 + source[x+1, y-1] + source[x-1, y+1]
    on x.low { u[t+1] = wall * tip }
    h[t+1] = (h[x-1] + h[y-1] + h[x+1] + h[y+1]) / 4 + u / 16
}
)";

// Components side by side: of a state with a past, one of whose faces is computed, an input and narrow ones.
const char* const kInterleaved = R"(
stencil interleaved(x, y) {
    param wall = 0.5
    field v: (a: f32, b: f32, c: f32) {
        layout aos
        boundary v.a x fixed wall, y clamp
        boundary v.b periodic
        boundary v.c mirror
    }
    field w: f64[2] { layout aos; boundary x extrapolate 1, y periodic }
    field h: (p: f16, q: f16) { layout aos; boundary x clamp, y fixed [wall / 3, 0.1] }
    field s: f32 { boundary clamp }
    v.a[t+1] = (v.a[x-1] + v.a[y+1] + v.b[x+1]) / 4 + s[x+1]
    v.b[t+1] = (v.b[x-1] + v.b[y-1] + v.c[t-1, y+1]) / 4 + h.p[y+1]
    v.c[t+1] = v.c[x+1, y-1] / 2 + h.q[x-1] / 4
    w[t+1] = (w[x-1] + w[y+1]) / 2
    reduce size = norm2(v.b)
}
)";
const char* const kInterleavedCube = R"(
stencil cube(x, y, z) {
    field v: (a: f64, b: f64) { layout aos; boundary v.a periodic; boundary v.b x mirror, y periodic, z clamp }
    v[t+1] = [v.a[x-1] / 2 + v.b[z+1] / 4, v.b[y+1] / 2 + v.a[z-1] / 4]
}
)";

// A filter in each second step, and a push in others: in between, several steps at once.
const char* const kFiltered = R"(
stencil filtered(x, y) {
    param push = 0.25, pushed = 3
    field u: f32 { boundary periodic }
    u[t+1] = u + 0.2 * laplacian(u)
    let f { boundary periodic } = u[t+1] / 2 + (u[t+1, x-1] + u[t+1, x+1] + u[t+1, y-1] + u[t+1, y+1]) / 8
    where mod(step, 2) == 1 { u[t+1] = f }
    on x in 3..6 { where step == pushed { u[t+1] = u[t+1] + push } }
    reduce largest = max(u[t+1])
}
)";

// Points off the grid: sincs and linear weights, columns, traces both ways, a spacing by a param; one with
// the name of another's trace.
const char* const kPoints = R"(
stencil shot(x, y) {
    param h = 0.5, gain = 2
    spacing x = h, y = 2
    origin y = -3
    field p: f32 { boundary fixed 0 }
    field q: f64
    points source, far: sinc 3
    points ear
    p[t+1] = 0.25 * (p[x-1] + p[x+1] + p[y-1] + p[y+1])
    inject p[t+1] at source += gain * source.strength * source.wavelet[t]
    inject p[t+1] at far += far.wavelet[t] / 2
    q[t+1] = q / 2 + p
    sample p at ear into ear.trace[t]
    sample q[t+1] at source into source.echo[t]
}
)";
const char* const kPointsOfCube = R"(
stencil shot(x, y, z) {
    field u: f64 { boundary x periodic, y clamp }
    points source: sinc 2
    u[t+1] = (u[x-1] + u[x+1] + u[y-1] + u[y+1]) / 4
    inject u[t+1] at source += source.wavelet[t]
    sample u at source into source.trace[t]
}
)";
const char* const kPointsOfLine = R"(
stencil shot(x) {
    spacing x = 1/4
    field u: f32
    points ear
    u[t+1] = u / 2
    sample u at ear into ear.trace[t]
}
)";

// Fields over every choice of axes, with halos: of all kinds, past a fixed face with a param's value.
const char* const kFewerAxes = R"(
stencil layers(x, y, z) {
    param dt = 0.25, wall = 0.5
    field u: f32 { boundary clamp }
    field along: f32 over x { boundary periodic }
    field across: f64 over y { boundary mirror }
    field profile: f32 over z { boundary z.low fixed wall * 2, z.high clamp }
    field depth: f32 over x, y { boundary x periodic, y.low fixed wall, y.high clamp }
    field cut: f64 over x, z { boundary clamp }
    field wall_of: f32 over y, z { boundary y mirror, z periodic }
    u[t+1] = u + dt * (profile[z-2] - profile[z+1]) * (u[x-1] - u) + dt * (depth[x-1, y+1] - depth[y-1])
           + dt * along[x+2] * across[y-1] + dt * (cut[x+1, z-1] - cut) * wall_of[y-1, z+1]
    reduce most = max(u * depth)
}
)";

const char* const kFewerAxesOfPlane = R"(
stencil shore(x, y) {
    param dt = 0.25
    field u: f64 { boundary periodic }
    field slope: f32 over x { boundary clamp }
    field tide: f64 over y { boundary y.low fixed dt, y.high mirror }
    u[t+1] = u + dt * (slope[x+1] - slope[x-1]) * tide[y-1] * (u[y+1] - u)
}
)";

// Iterations that are done several at once: halos to fill after them, a reduction that leaves the last one to
// be done by itself, levels from outside, and a let.
const char* const kProjected = R"(
stencil projected(x, y) {
    param rate = 0.1
    field u: f64 { boundary x periodic; boundary y clamp }
    field p, source: f64 { boundary x periodic; boundary y clamp }
    source = u[x+1] - u[y-1]
    repeat k to 9 {
        let flux { boundary x periodic; boundary y clamp } = p[k, x-1] - rate * p[t]
        p[k+1] = (flux + flux[x+1] + p[k, y-1] + p[k, y+1] - source) / 4
        reduce change = max(abs(p[k+1] - p[k]))
    }
    u[t+1] = u - rate * p[t+1, x-1]
}
)";
const char* const kIterated = R"(
stencil iterated(x, y, z) {
    field u: f32 { boundary fixed 0.5 }
    repeat 2 {
        repeat k to 4 { u[k+1] = (u[k, x-1] + u[k, x+1] + u[k, y-1] + u[k, y+1] + u[k, z-1] + u[k, z+1]) / 6 }
        u[t+1] = u[t+1] + 0.25 * u
    }
}
)";

}  // namespace

const std::vector<OfflineCase>& offline_cases() {
    static const std::vector<OfflineCase> cases{
        {kHeat, "", {37, 13, 11}},
        {kHeat, "stream threads=32x4 cells=4x1 planes=4", {70, 9, 23}},
        {kHeat, "tile threads=32x8x1 cells=2x4x16", {65, 33, 17}},
        {kStages, "", {50, 21, 1}},
        {kFour, "", {37, 6, 5, 4}},
        {kFour, "direct threads=8x4x2 cells=4x1x2", {18, 5, 3, 2}, true},
        {kWave, "", {41, 19, 1}},
        {kLine, "", {1000, 1, 1}},
        {kDrift, "", {33, 9, 1}},
        {kTank, "", {37, 13, 11}},
        {kRepeated, "direct threads=32x2 fuse=128", {37, 13, 1}},
        {kUntil, "", {37, 13, 1}},
        {kUntil, "direct threads=32x2x1 cells=1x1x1 fuse=128", {64, 16, 1}, true},
        {kTank, "direct threads=16x2x2 cells=1x1x1 fuse=128", {2, 1, 3}},  // many ranges have no cell
        {kSources, "", {35, 17, 1}},
        {kSources, "", {64, 16, 1}, true},
        {kBlown, "", {37, 13, 1}},
        {kBlown, "", {64, 16, 1}, true},
        {kNarrow, "", {37, 13, 1}},
        {kBytes, "direct threads=32x2 cells=4x2", {37, 13, 1}},
        {kBytes, "direct threads=32x2 cells=4x2", {64, 16, 1}, true},
        {kAdaptive, "", {1000, 1, 1}},
        {kInterleaved, "", {37, 13, 1}},
        {kInterleaved, "", {64, 16, 1}, true},
        {kInterleavedCube, "", {37, 13, 11}},
        {kComputed, "", {37, 13, 1}},
        {kComputed, "", {64, 16, 1}, true},
        {kNarrow, "", {64, 16, 1}, true},
        {kHeat, "stream threads=32x4 cells=4x1 planes=4", {128, 8, 16}, true},
        {kStages, "", {50, 21, 1}, true},
        {kWave, "", {64, 16, 1}, true},
        {kLine, "", {1000, 1, 1}, true},
        {kTank, "", {37, 13, 11}, true},
        {kTank, "direct threads=16x2x2 cells=1x1x1", {2, 1, 3}, true},
        {kPoints, "", {37, 13, 1}},
        {kPoints, "", {64, 16, 1}, true},
        {kPointsOfCube, "", {17, 13, 11}},
        {kPointsOfLine, "", {100, 1, 1}},
        {kFewerAxes, "", {37, 13, 11}},
        {kFewerAxes, "", {64, 16, 8}, true},
        {kFewerAxes, "stream threads=32x4 cells=1x1 planes=4", {35, 9, 4}},
        {kFewerAxesOfPlane, "direct fuse=512", {37, 13, 1}},
        {kFiltered, "", {37, 13, 1}},
        {kFiltered, "", {64, 16, 1}, true},
        {kPhases, "", {37, 13, 1}},
        {kStretched, "", {37, 13, 1}},
        {kStretched, "", {64, 16, 1}, true},
        {kStretchedRound, "", {9, 5, 1}},
    };
    return cases;
}

const std::vector<OfflineCase>& cases_of_several_steps() {
    static const std::vector<OfflineCase> cases{
        {kHeat, "temporal steps=2 warps=4 cells=4x4", {150, 37, 41}},
        {kHeat, "temporal steps=2 warps=4 cells=4x4", {37, 13, 11}},  // no room for its tiles
        {kWave, "temporal steps=2 warps=2 cells=4", {301, 90, 1}},    // two levels at a time
        {kRelax, "temporal steps=2 warps=2 cells=2", {200, 77, 1}},   // nothing is left for single steps
        {kHeat, "temporal steps=2 warps=4 cells=4x4", {150, 37, 41}, true},
        // Reductions are those of the last step, which the same launch does as the steps before or a single
        // one.
        {kSettle, "temporal steps=2 warps=2 cells=2 blocks=4", {200, 77, 1}, false, {}, {"largest", "size"}},
        {kSettle, "temporal steps=3 warps=2 cells=2 blocks=4", {200, 77, 1}, false, {}, {"largest", "size"}},
        {kSettle, "temporal steps=2 warps=2 cells=2", {20, 7, 1}, false, {}, {"largest", "size"}},
        {kFewerAxesOfPlane, "temporal steps=2 warps=2 cells=2", {200, 77, 1}},
        {kFiltered, "temporal steps=1 warps=2 cells=2", {200, 77, 1}},
        {kPhases, "temporal steps=2 warps=2 cells=2", {200, 77, 1}},
        {kDriven, "temporal steps=3 warps=2 cells=2", {200, 77, 1}},
        {kReflected, "temporal steps=2 warps=2 cells=2", {200, 77, 1}},
        {kAging, "temporal steps=3 warps=2 cells=8", {512, 77, 1}},
        {kAging, "temporal steps=2 warps=2 cells=4", {203, 77, 1}},  // within a word
        {kAging, "temporal steps=2 warps=2 cells=16", {1024, 60, 1}, true},
        {kProjected, "temporal steps=3 warps=2 cells=2 blocks=2", {70, 21, 1}},
        {kProjected, "temporal steps=2 warps=2 cells=2", {128, 64, 1}, true},
        {kProjected, "temporal steps=3 warps=2 cells=2", {20, 7, 1}},  // no room for its tiles
        {kIterated, "temporal steps=2 warps=4 cells=2x4", {150, 37, 21}},
    };
    return cases;
}

const std::vector<OfflineCase>& cases_on_the_chip() {
    static const std::vector<OfflineCase> cases{
        {kHeat, "resident threads=32x2x4 cells=2x2x2", {64, 8, 16}},  // the last step has a maximum
        // Ends otherwise.
        {kHeat, "resident threads=32x2x4 cells=2x2x2", {66, 8, 16}, false, halo::rt::Extent{64, 8, 16}},
        {kWave, "resident threads=32x4 cells=4x2", {100, 30, 1}},  // two levels at a time, weights
        {kHeat, "resident threads=32x4x1 cells=2x2x3 keep=shared", {64, 8, 18}},
        {kStages, "resident threads=16x4 cells=2x2 keep=in_place", {64, 16, 1}},
        {kRelax, "resident threads=16x4 cells=2x2", {64, 24, 1}},  // nothing is left for single steps
        {kRelax, "resident threads=16x4 cells=2x2", {64, 24, 1}, true},
        {kStages, "resident threads=16x4 cells=2x2", {64, 16, 1}},  // two stages, two exchanges
        {kFewerAxesOfPlane, "resident threads=16x4 cells=2x2", {64, 16, 1}},
    };
    return cases;
}

std::vector<OfflineCase> all_offline_cases() {
    std::vector<OfflineCase> cases = offline_cases();
    for (const auto* more : {&cases_of_several_steps(), &cases_on_the_chip()})
        cases.insert(cases.end(), more->begin(), more->end());
    return cases;
}

}  // namespace halo::test
