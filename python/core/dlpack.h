// DLPack 1.1, the part that exporting needs: https://dmlc.github.io/dlpack/latest/c_api.html. Its names are
// the standard's. Debian's header is of version 0.6, which knows no versions and no read-only arrays.
#pragma once

#include <cstdint>

constexpr std::uint32_t DLPACK_MAJOR_VERSION = 1, DLPACK_MINOR_VERSION = 1;
constexpr std::uint64_t DLPACK_FLAG_BITMASK_READ_ONLY = 1;

enum DLDeviceType : std::int32_t { kDLCPU = 1, kDLCUDA = 2 };
enum DLDataTypeCode : std::uint8_t { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLBool = 6 };

struct DLPackVersion {
    std::uint32_t major, minor;
};
struct DLDevice {
    std::int32_t device_type;
    std::int32_t device_id;
};
struct DLDataType {
    std::uint8_t code, bits;
    std::uint16_t lanes;
};
struct DLTensor {
    void* data;
    DLDevice device;
    std::int32_t ndim;
    DLDataType dtype;
    std::int64_t* shape;
    std::int64_t* strides;  // in elements
    std::uint64_t byte_offset;
};
struct DLManagedTensor {
    DLTensor dl_tensor;
    void* manager_ctx;
    void (*deleter)(DLManagedTensor* self);
};
struct DLManagedTensorVersioned {
    DLPackVersion version;
    void* manager_ctx;
    void (*deleter)(DLManagedTensorVersioned* self);
    std::uint64_t flags;
    DLTensor dl_tensor;
};
