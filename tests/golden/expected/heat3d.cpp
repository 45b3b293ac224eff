// heat3d: loops over a range of blocks.

// A line of cells, past the caches where nothing reads it before it would have left them.
template <int kCells, class T>
static inline void store_line(T* to, const T* line, bool passes_caches) {
    typedef char Line __attribute__((vector_size(kCells * sizeof(T)), may_alias));
#ifdef __clang__
    // One condition that changes with `to`: a loop with one that does not would be compiled twice.
    const unsigned long kept = passes_caches - 1UL;  // all bits, or none
    if ((reinterpret_cast<unsigned long>(to) & (kept | (sizeof(Line) - 1))) == 0) {
        __builtin_nontemporal_store(*reinterpret_cast<const Line*>(line), reinterpret_cast<Line*>(to));
        return;
    }
#endif
    __builtin_memcpy(to, line, sizeof(Line));
}

extern "C" void heat3d_step(void* const* args, long begin, long end, long planes, bool streams) {
    const float* const __restrict u = *static_cast<const float* const*>(args[0]);
    float* const __restrict u_next = *static_cast<float* const*>(args[1]);
    const int nx = *static_cast<const int*>(args[2]);
    const int ny = *static_cast<const int*>(args[3]);
    const int pitch = *static_cast<const int*>(args[4]);
    const long long slice = *static_cast<const long long*>(args[5]);
    const float lambda_dt = *static_cast<const float*>(args[6]);

    const long long per_plane = static_cast<long long>(ny);
    const int first_plane = static_cast<int>(begin / per_plane);
    const int last_plane = static_cast<int>(begin / per_plane + planes);
    const int first_row = static_cast<int>(begin % per_plane);
    const int last_row = static_cast<int>(begin % per_plane + end - begin);
    for (int k = first_plane; k < last_plane - 1; k += 2)
        for (int j = first_row; j < last_row; ++j) {
            float* u_next_row = u_next + k * slice + static_cast<long long>(j) * pitch;
            float* u_next_zp1_row = u_next + (k + 1) * slice + static_cast<long long>(j) * pitch;
            const float* u_row = u + k * slice + static_cast<long long>(j) * pitch;
            const float* u_ym1_row = u + k * slice + static_cast<long long>(j - 1) * pitch;
            const float* u_zm1_row = u + (k - 1) * slice + static_cast<long long>(j) * pitch;
            const float* u_zp1_row = u + (k + 1) * slice + static_cast<long long>(j) * pitch;
            const float* u_yp1_row = u + k * slice + static_cast<long long>(j + 1) * pitch;
            const float* u_ym1_zp1_row = u + (k + 1) * slice + static_cast<long long>(j - 1) * pitch;
            const float* u_zp2_row = u + (k + 2) * slice + static_cast<long long>(j) * pitch;
            const float* u_yp1_zp1_row = u + (k + 1) * slice + static_cast<long long>(j + 1) * pitch;
            for (int line = 0; line < nx - 15; line += 16) {
                __builtin_prefetch(u_zp1_row + line + 640);
                __builtin_prefetch(u_zp2_row + line + 640);
                alignas(64) float u_next_line[16];
                alignas(64) float u_next_line1[16];
#pragma clang loop vectorize(assume_safety)
                for (int cell = 0; cell < 16; ++cell) {
                    const int i = line + cell;
                    float u_next_plane0 = 0.0f;
                    {
                        const float u_new = __builtin_fmaf(lambda_dt,
                                                           __builtin_fmaf(-6.0f, u_row[i],
                                                                          u_row[i - 1] + u_row[i + 1] +
                                                                          u_ym1_row[i] + u_yp1_row[i] +
                                                                          u_zm1_row[i] + u_zp1_row[i]),
                                                           u_row[i]);
                        u_next_plane0 = u_new;
                    }
                    float u_next_plane1 = 0.0f;
                    {
                        const float u_new = __builtin_fmaf(lambda_dt,
                                                           __builtin_fmaf(-6.0f, u_zp1_row[i],
                                                                          u_zp1_row[i - 1] +
                                                                          u_zp1_row[i + 1] +
                                                                          u_ym1_zp1_row[i] +
                                                                          u_yp1_zp1_row[i] + u_row[i] +
                                                                          u_zp2_row[i]),
                                                           u_zp1_row[i]);
                        u_next_plane1 = u_new;
                    }
                    u_next_line[cell] = u_next_plane0;
                    u_next_line1[cell] = u_next_plane1;
                }
                store_line<16>(u_next_row + line, u_next_line, streams);
                store_line<16>(u_next_zp1_row + line, u_next_line1, streams);
            }
#pragma clang loop vectorize(disable) unroll(disable)
            for (int i = nx / 16 * 16; i < nx; ++i) {
                float u_next_plane0 = 0.0f;
                {
                    const float u_new = __builtin_fmaf(lambda_dt,
                                                       __builtin_fmaf(-6.0f, u_row[i],
                                                                      u_row[i - 1] + u_row[i + 1] +
                                                                      u_ym1_row[i] + u_yp1_row[i] +
                                                                      u_zm1_row[i] + u_zp1_row[i]),
                                                       u_row[i]);
                    u_next_plane0 = u_new;
                }
                float u_next_plane1 = 0.0f;
                {
                    const float u_new = __builtin_fmaf(lambda_dt,
                                                       __builtin_fmaf(-6.0f, u_zp1_row[i],
                                                                      u_zp1_row[i - 1] + u_zp1_row[i + 1] +
                                                                      u_ym1_zp1_row[i] + u_yp1_zp1_row[i] +
                                                                      u_row[i] + u_zp2_row[i]),
                                                       u_zp1_row[i]);
                    u_next_plane1 = u_new;
                }
                u_next_row[i] = u_next_plane0;
                u_next_zp1_row[i] = u_next_plane1;
            }
        }
    for (int k = first_plane + (last_plane - first_plane) / 2 * 2; k < last_plane; ++k)
        for (int j = first_row; j < last_row; ++j) {
            float* u_next_row = u_next + k * slice + static_cast<long long>(j) * pitch;
            const float* u_row = u + k * slice + static_cast<long long>(j) * pitch;
            const float* u_ym1_row = u + k * slice + static_cast<long long>(j - 1) * pitch;
            const float* u_zm1_row = u + (k - 1) * slice + static_cast<long long>(j) * pitch;
            const float* u_zp1_row = u + (k + 1) * slice + static_cast<long long>(j) * pitch;
            const float* u_yp1_row = u + k * slice + static_cast<long long>(j + 1) * pitch;
            for (int line = 0; line < nx - 15; line += 16) {
                __builtin_prefetch(u_zp1_row + line + 640);
                alignas(64) float u_next_line[16];
#pragma clang loop vectorize(assume_safety)
                for (int cell = 0; cell < 16; ++cell) {
                    const int i = line + cell;
                    const float u_new = __builtin_fmaf(lambda_dt,
                                                       __builtin_fmaf(-6.0f, u_row[i],
                                                                      u_row[i - 1] + u_row[i + 1] +
                                                                      u_ym1_row[i] + u_yp1_row[i] +
                                                                      u_zm1_row[i] + u_zp1_row[i]),
                                                       u_row[i]);
                    u_next_line[cell] = u_new;
                }
                store_line<16>(u_next_row + line, u_next_line, streams);
            }
#pragma clang loop vectorize(disable) unroll(disable)
            for (int i = nx / 16 * 16; i < nx; ++i) {
                const float u_new = __builtin_fmaf(lambda_dt,
                                                   __builtin_fmaf(-6.0f, u_row[i],
                                                                  u_row[i - 1] + u_row[i + 1] + u_ym1_row[i] +
                                                                  u_yp1_row[i] + u_zm1_row[i] + u_zp1_row[i]),
                                                   u_row[i]);
                u_next_row[i] = u_new;
            }
        }
}
