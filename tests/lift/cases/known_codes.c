// The shapes of well-known codes: a 3D diffusion step on one block of memory by macros, and derivatives of eighth order.
#define LEVEL(x, y, z) (before[sizeX * sizeY * (z) + sizeX * (y) + (x)])
#define CHANGE(x, y, z)                                                                                    \
    (1.f * (-conductivity) *                                                                               \
     (-(LEVEL(x + 1, y, z) + LEVEL(x - 1, y, z)) - (LEVEL(x, y + 1, z) + LEVEL(x, y - 1, z)) -             \
      (LEVEL(x, y, z + 1) + LEVEL(x, y, z - 1)) + 6 * LEVEL(x, y, z)) *                                    \
     dt)

// case diffusion --no-alias: diffusion by macros with strides of parameters; unused parameters
float diffusion(float *after, float *before, float *heat_capacity, int sizeX, int sizeY, int sizeZ, float dx, float dy,
                float dz, float dt, float conductivity) {
    float variation = 0.f;
    for (int k = 1; k < sizeZ - 1; ++k) {
        for (int j = 1; j < sizeY - 1; ++j) {
            for (int i = 1; i < sizeX - 1; ++i) {
                after[sizeX * sizeY * (k) + sizeX * (j) + (i)] = LEVEL(i, j, k) + CHANGE(i, j, k);
            }
        }
    }
    return variation;
}

// case diffusion_steps --no-alias: two calls a step, there and back
void diffusion_steps(float *a, float *b, float *heat_capacity, int nx, int ny, int nz, float dt, float conductivity,
                     int pairs) {
    for (int i = 0; i < pairs; ++i) {
        diffusion(b, a, heat_capacity, nx, ny, nz, 1, 1, 1, dt, conductivity);
        diffusion(a, b, heat_capacity, nx, ny, nz, 1, 1, 1, dt, conductivity);
    }
}

static float weight_a, weight_b, weight_c, weight_d;

// case derivative_x: the derivative of eighth order, with weights in global variables
void derivative_x(const float *restrict f, float *restrict df, int mx, int my, int mz) {
    for (int k = 0; k < mz; k++)
        for (int j = 0; j < my; j++)
            for (int i = 4; i < mx - 4; i++) {
                int at = k * mx * my + j * mx + i;
                df[at] = weight_a * (f[at + 1] - f[at - 1]) + weight_b * (f[at + 2] - f[at - 2]) +
                         weight_c * (f[at + 3] - f[at - 3]) + weight_d * (f[at + 4] - f[at - 4]);
            }
}

// case derivative_z: along the slowest axis
void derivative_z(const float *restrict f, float *restrict df, int mx, int my, int mz, float spacing) {
    const float inverse = 1.0f / spacing;
    for (int k = 4; k < mz - 4; k++)
        for (int j = 0; j < my; j++)
            for (int i = 0; i < mx; i++) {
                float sum = 0;
                for (int r = 1; r <= 4; r++) {
                    static const float weight[5] = {0, 4.f / 5.f, -1.f / 5.f, 4.f / 105.f, -1.f / 280.f};
                    sum += weight[r] * (f[(k + r) * mx * my + j * mx + i] - f[(k - r) * mx * my + j * mx + i]);
                }
                df[k * mx * my + j * mx + i] = sum * inverse;
            }
}

// case derivative_wrapped: the same derivative with neighbours around the edges
void derivative_wrapped(const float *restrict f, float *restrict df, int mx, int my) {
    for (int j = 0; j < my; j++)
        for (int i = 0; i < mx; i++)
            df[j * mx + i] = weight_a * (f[j * mx + (i + 1) % mx] - f[j * mx + (i + mx - 1) % mx]);
}
