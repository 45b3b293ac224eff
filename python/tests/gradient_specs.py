"""Programs that are differentiated as functions: each with its parameters that are, by name."""

SPECS = {
    "heat with a coefficient in each cell": (
        """stencil heat(x, y) {
    param dt = 0.1, kappa = 1
    field c: f64 { boundary clamp }
    field u: f64 { boundary x.low fixed 1, x.high clamp, y mirror }
    u[t+1] = u + kappa * dt * d(c * d(u, x), x) + dt * c * d2(u, y) - dt * u^3
}
""",
        {"dt": 0.1, "kappa": 0.7},
    ),
    "a wave with a past": (
        """stencil wave(x, y) {
    param dt = 0.3
    field v: f64
    field p: f64 { boundary fixed 0 }
    field energy: f64
    p[t+1] = 2 * p - p[t-1] + (v * dt)^2 * laplacian(p)
    energy = p * p * v
}
""",
        {"dt": 0.3},
    ),
    "vectors side by side": (
        """stencil shallow(x, y) {
    param dt = 0.1, depth = 1
    field v: (x: f64, y: f64) {
        layout aos
        boundary periodic
    }
    field h: f64 { boundary periodic }
    v.x[t+1] = v.x - dt * (h[x+1] - h[x-1]) / 2 - dt * v.x * v.y
    v.y[t+1] = v.y - dt * (h[y+1] - h[y-1]) / 2
    h[t+1] = h - dt * depth * (v.x[t+1][x+1] - v.x[t+1][x-1] + v.y[t+1][y+1] - v.y[t+1][y-1]) / 2
}
""",
        {"dt": 0.1, "depth": 1.5},
    ),
    "complex numbers": (
        """stencil schroedinger(x) {
    param dt = 0.1
    field w: f64
    field psi: c128 { boundary periodic }
    psi[t+1] = psi + 1i * dt * (psi[x-1] - 2 * psi + psi[x+1] - w * psi)
}
""",
        {"dt": 0.1},
    ),
    "staggered points": (
        """stencil acoustics(x, y) {
    param dt = 0.2
    field b: f64 { boundary clamp }
    field p: f64 { boundary fixed 0 }
    field vx: f64 at x+1/2 { boundary fixed 0 }
    field vy: f64 at y+1/2 { boundary fixed 0 }
    vx[t+1] = vx - dt * interpolate(b, x) * d(p, x)
    vy[t+1] = vy - dt * interpolate(b, y) * d(p, y)
    p[t+1] = p - dt * (d(vx[t+1], x) + d(vy[t+1], y))
}
""",
        {"dt": 0.2},
    ),
    "two stages, and time": (
        """stencil burgers(x) {
    param dt = 0.1, nu = 0.2
    field u, force: f64 { boundary periodic }
    let half { boundary periodic } = u - dt / 2 * u * (u[x+1] - u[x-1]) / 2 + force * sin(time)
    u[t+1] = u + dt * nu * d2(half, x) - dt * half * (half[x+1] - half[x-1]) / 2
}
""",
        {"nu": 0.2},
    ),
}
