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

extern "C" void heat3d_step(void* const* args, long begin, long end, bool streams) {
    const float* const __restrict u = *static_cast<const float* const*>(args[0]);
    float* const __restrict u_next = *static_cast<float* const*>(args[1]);
    const int nx = *static_cast<const int*>(args[2]);
    const int ny = *static_cast<const int*>(args[3]);
    const int pitch = *static_cast<const int*>(args[4]);
    const long long slice = *static_cast<const long long*>(args[5]);
    const float lambda_dt = *static_cast<const float*>(args[6]);

    const long long per_plane = static_cast<long long>(ny);
    for (int k = static_cast<int>(begin / per_plane); k < static_cast<int>((end - 1) / per_plane) + 1; ++k) {
        const long long before = static_cast<long long>(k) * per_plane;
        for (int j = static_cast<int>(begin - before > 0 ? begin - before : 0);
             j < static_cast<int>(end - before < per_plane ? end - before : per_plane); ++j) {
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
}
