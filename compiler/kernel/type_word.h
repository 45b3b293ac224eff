// Types as they stand in messages.
#pragma once

#include "compiler/kernel/program.h"

namespace halo::kernel {

inline const char* word(Type type) {
    switch (type) {
        case Type::boolean:
            return "boolean";
        case Type::i32:
            return "i32";
        case Type::i64:
            return "i64";
        case Type::f32:
            return "f32";
        case Type::f64:
            return "f64";
        case Type::u8:
            return "u8";
        case Type::f16:
            return "f16";
        case Type::bf16:
            return "bf16";
        case Type::u32:
            return "u32";
    }
    return "";
}

}  // namespace halo::kernel
