// XLA's foreign function interface, API version 0.x, as far as it is used here: what a handler is called with
// (xla/ffi/api/c_api.h of jaxlib). Binary compatible, so that neither XLA nor JAX is needed to build.
#pragma once

#include <cstddef>
#include <cstdint>

namespace halocline::python::xla {

struct Error;  // XLA's own

struct Extension {
    std::size_t struct_size;
    int type;
    Extension* next;
};
inline constexpr int kMetadata = 1;

struct ApiVersion {
    std::size_t struct_size;
    Extension* extensions;
    int major, minor;
};

// A handler is first asked for its version: by a call with this extension, in which it says it.
struct Metadata {
    std::size_t struct_size;
    ApiVersion version;
    std::uint32_t traits;
    std::int64_t state_type;  // since 0.3; 0: none
};
struct MetadataExtension {
    Extension base;
    Metadata* metadata;
};

struct ErrorArguments {
    std::size_t struct_size;
    Extension* extensions;
    const char* message;
    int code;
};
inline constexpr int kInvalidArgument = 3, kInternal = 13;

struct Context;  // of an execution; XLA's own

struct StreamArguments {
    std::size_t struct_size;
    Extension* extensions;
    Context* context;
    void* stream;  // the result: a CUstream
};

struct Api {
    std::size_t struct_size;
    Extension* extensions;
    ApiVersion version;
    const void* internal;
    Error* (*make_error)(ErrorArguments*);
    const void* others[3];
    Error* (*find_stream)(StreamArguments*);
    // More follow.
};

enum class DataType : int { s64 = 5, f32 = 11, f64 = 12 };  // of those that are looked at

struct Buffer {
    std::size_t struct_size;
    Extension* extensions;
    int type;
    void* data;
    std::int64_t rank;
    std::int64_t* dims;
};

struct Buffers {  // arguments, and results
    std::size_t struct_size;
    Extension* extensions;
    std::int64_t size;
    int* kinds;  // 1: a Buffer
    Buffer** buffers;
};

struct Text {
    const char* begin;
    std::size_t size;
};
struct Scalar {
    int type;
    void* value;
};
struct Array {
    int type;
    std::size_t size;
    void* data;
};
enum class AttributeKind : int { array = 1, scalar = 3, string = 4 };

struct Attributes {
    std::size_t struct_size;
    Extension* extensions;
    std::int64_t size;
    int* kinds;
    Text** names;
    void** values;  // Array, Scalar, Text
};

enum class Stage : int { execute = 3 };

struct CallFrame {
    std::size_t struct_size;
    Extension* extensions;
    const Api* api;
    Context* context;
    int stage;
    Buffers arguments, results;
    Attributes attributes;
    // More may follow.
};

}  // namespace halocline::python::xla
