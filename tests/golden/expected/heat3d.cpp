// heat3d: loops over a range of blocks.

extern "C" void heat3d_step(void* const* args, long begin, long end) {
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
        const int first_row = static_cast<int>(begin - before > 0 ? begin - before : 0);
        const int last_row = static_cast<int>(end - before < per_plane ? end - before : per_plane);
        for (int j = first_row; j < last_row - 3; j += 4) {
            float* u_next_row = u_next + k * slice + static_cast<long long>(j) * pitch;
            float* u_next_yp1_row = u_next + k * slice + static_cast<long long>(j + 1) * pitch;
            float* u_next_yp2_row = u_next + k * slice + static_cast<long long>(j + 2) * pitch;
            float* u_next_yp3_row = u_next + k * slice + static_cast<long long>(j + 3) * pitch;
            const float* u_row = u + k * slice + static_cast<long long>(j) * pitch;
            const float* u_ym1_row = u + k * slice + static_cast<long long>(j - 1) * pitch;
            const float* u_zm1_row = u + (k - 1) * slice + static_cast<long long>(j) * pitch;
            const float* u_zp1_row = u + (k + 1) * slice + static_cast<long long>(j) * pitch;
            const float* u_yp1_row = u + k * slice + static_cast<long long>(j + 1) * pitch;
            const float* u_yp1_zm1_row = u + (k - 1) * slice + static_cast<long long>(j + 1) * pitch;
            const float* u_yp1_zp1_row = u + (k + 1) * slice + static_cast<long long>(j + 1) * pitch;
            const float* u_yp2_row = u + k * slice + static_cast<long long>(j + 2) * pitch;
            const float* u_yp2_zm1_row = u + (k - 1) * slice + static_cast<long long>(j + 2) * pitch;
            const float* u_yp2_zp1_row = u + (k + 1) * slice + static_cast<long long>(j + 2) * pitch;
            const float* u_yp3_row = u + k * slice + static_cast<long long>(j + 3) * pitch;
            const float* u_yp3_zm1_row = u + (k - 1) * slice + static_cast<long long>(j + 3) * pitch;
            const float* u_yp3_zp1_row = u + (k + 1) * slice + static_cast<long long>(j + 3) * pitch;
            const float* u_yp4_row = u + k * slice + static_cast<long long>(j + 4) * pitch;
#pragma clang loop vectorize(assume_safety)
            for (int i = 0; i < nx; ++i) {
                float u_next_row0 = 0.0f;
                {
                    const float u_new = __builtin_fmaf(lambda_dt,
                                                       __builtin_fmaf(-6.0f, u_row[i],
                                                                      u_row[i - 1] + u_row[i + 1] +
                                                                      u_ym1_row[i] + u_yp1_row[i] +
                                                                      u_zm1_row[i] + u_zp1_row[i]),
                                                       u_row[i]);
                    u_next_row0 = u_new;
                }
                float u_next_row1 = 0.0f;
                {
                    const float u_new = __builtin_fmaf(lambda_dt,
                                                       __builtin_fmaf(-6.0f, u_yp1_row[i],
                                                                      u_yp1_row[i - 1] + u_yp1_row[i + 1] +
                                                                      u_row[i] + u_yp2_row[i] +
                                                                      u_yp1_zm1_row[i] + u_yp1_zp1_row[i]),
                                                       u_yp1_row[i]);
                    u_next_row1 = u_new;
                }
                float u_next_row2 = 0.0f;
                {
                    const float u_new = __builtin_fmaf(lambda_dt,
                                                       __builtin_fmaf(-6.0f, u_yp2_row[i],
                                                                      u_yp2_row[i - 1] + u_yp2_row[i + 1] +
                                                                      u_yp1_row[i] + u_yp3_row[i] +
                                                                      u_yp2_zm1_row[i] + u_yp2_zp1_row[i]),
                                                       u_yp2_row[i]);
                    u_next_row2 = u_new;
                }
                float u_next_row3 = 0.0f;
                {
                    const float u_new = __builtin_fmaf(lambda_dt,
                                                       __builtin_fmaf(-6.0f, u_yp3_row[i],
                                                                      u_yp3_row[i - 1] + u_yp3_row[i + 1] +
                                                                      u_yp2_row[i] + u_yp4_row[i] +
                                                                      u_yp3_zm1_row[i] + u_yp3_zp1_row[i]),
                                                       u_yp3_row[i]);
                    u_next_row3 = u_new;
                }
                u_next_row[i] = u_next_row0;
                u_next_yp1_row[i] = u_next_row1;
                u_next_yp2_row[i] = u_next_row2;
                u_next_yp3_row[i] = u_next_row3;
            }
        }
        for (int j = first_row + (last_row - first_row) / 4 * 4; j < last_row; ++j) {
            float* u_next_row = u_next + k * slice + static_cast<long long>(j) * pitch;
            const float* u_row = u + k * slice + static_cast<long long>(j) * pitch;
            const float* u_ym1_row = u + k * slice + static_cast<long long>(j - 1) * pitch;
            const float* u_zm1_row = u + (k - 1) * slice + static_cast<long long>(j) * pitch;
            const float* u_zp1_row = u + (k + 1) * slice + static_cast<long long>(j) * pitch;
            const float* u_yp1_row = u + k * slice + static_cast<long long>(j + 1) * pitch;
#pragma clang loop vectorize(assume_safety)
            for (int i = 0; i < nx; ++i) {
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
