// libsegyio, opened at run time: the functions that are called. Not for other rooms.
#pragma once

#include <cstdint>
#include <string>

namespace halo::rt::segy {

// Bytes of the parts of a file.
inline constexpr std::int64_t kTextBytes = 3200, kBinaryBytes = 400, kTraceHeaderBytes = 240;

// The places in headers of the fields that are used, counted as the standard does.
enum TraceField : int {
    trace_in_line = 1,
    trace_in_file = 5,
    field_record = 9,
    number_in_record = 13,
    trace_kind = 29,
    receiver_elevation = 41,
    source_depth = 49,
    elevation_scalar = 69,
    coordinate_scalar = 71,
    source_x = 73,
    source_y = 77,
    receiver_x = 81,
    receiver_y = 85,
    coordinate_units = 89,
    trace_samples = 115,
    trace_interval = 117,
    inline_number = 189,
    crossline_number = 193
};
enum BinaryField : int {
    traces_in_record = 3213,
    interval = 3217,
    samples = 3221,
    format = 3225,
    revision = 3501,
    fixed_length = 3503
};
inline constexpr int kIbmFloat = 1, kIeeeFloat = 5;

struct Library {
    std::string file;
    int (*get_field)(const char* header, int field, std::int32_t* value) = nullptr;
    int (*set_field)(char* header, int field, std::int32_t value) = nullptr;
    int (*set_binary_field)(char* header, int field, std::int32_t value) = nullptr;
    int (*samples)(const char* header) = nullptr;
    int (*format)(const char* header) = nullptr;
    long (*trace0)(const char* header) = nullptr;  // the byte of the first trace
    int (*to_native)(int format, long long count, void* samples) = nullptr;
    int (*from_native)(int format, long long count, void* samples) = nullptr;
    void (*to_ebcdic)(const char* ascii, char* ebcdic) = nullptr;

    // Opened once; nullptr with the reason where it cannot be.
    static const Library* find(std::string& why);
    // Throws Error (io) where it cannot be.
    static const Library& require(const std::string& path);
};

}  // namespace halo::rt::segy
