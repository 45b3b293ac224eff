#include "compiler/kernel/helpers.h"

namespace halo::kernel {

const std::map<std::string, HelperShape>& prelude_helpers() {
    const std::vector<Type> cell{Type::i32, Type::i32, Type::i32, Type::i32, Type::f64, Type::f64};
    static const std::map<std::string, HelperShape> helpers{
        {"random_f32", {cell, Type::f32}},
        {"random_f64", {cell, Type::f64}},
        {"random_radius_f32", {cell, Type::f32}},
        {"random_radius_f64", {cell, Type::f64}},
        {"random_turn_f32", {cell, Type::f32}},
        {"random_turn_f64", {cell, Type::f64}},
        {"first_image", {{Type::i32, Type::i32, Type::i32}, Type::i32}},
        {"face_source", {{Type::i32, Type::i32, Type::i32, Type::i32}, Type::i32}},
        {"keep_min", {{Type::f64, Type::f64}, Type::f64}},
        {"keep_max", {{Type::f64, Type::f64}, Type::f64}},
        {"keep_min_f32", {{Type::f32, Type::f32}, Type::f32}},
        {"keep_max_f32", {{Type::f32, Type::f32}, Type::f32}},
        {"block_sum", {{Type::f64}, Type::f64, true}},
        {"block_min", {{Type::f64}, Type::f64, true}},
        {"block_max", {{Type::f64}, Type::f64, true}},
        {"same_in_warp", {{Type::i32}, Type::i32}},
        {"meet_in_warp", {{}, std::nullopt}},
        {"with_bit", {{Type::i32, Type::i32}, Type::i32}},
        {"has_bit", {{Type::i32, Type::i32}, Type::boolean}},
        {"send_f32", {{Type::i64, Type::f32, Type::i32, Type::boolean}, std::nullopt}},
        {"send2_f32", {{Type::i64, Type::f32, Type::f32, Type::i32, Type::boolean}, std::nullopt}},
        {"send3_f32", {{Type::i64, Type::f32, Type::f32, Type::f32, Type::i32, Type::boolean}, std::nullopt}},
        {"send_f64", {{Type::i64, Type::f64, Type::i32, Type::boolean}, std::nullopt}},
        {"await_words", {{Type::i64, Type::i32, Type::i32, Type::i32, Type::i64, Type::i32}, std::nullopt}},
        {"low_f32", {{Type::i64}, Type::f32}},
        {"high_f32", {{Type::i64}, Type::f32}},
        {"value_f64", {{Type::i64}, Type::f64}},
        {"lane_before_f32", {{Type::f32}, Type::f32}},
        {"lane_after_f32", {{Type::f32}, Type::f32}},
        {"of_lane_f32", {{Type::f32, Type::i32}, Type::f32}},
        {"of_lane_f64", {{Type::f64, Type::i32}, Type::f64}},
        {"lane_before_f64", {{Type::f64}, Type::f64}},
        {"lane_after_f64", {{Type::f64}, Type::f64}},
        {"f16_to_float", {{Type::f16}, Type::f32}},
        {"bf16_to_float", {{Type::bf16}, Type::f32}},
        {"float_to_f16", {{Type::f32}, Type::f16}},
        {"float_to_bf16", {{Type::f32}, Type::bf16}},
        {"int_to_u8", {{Type::i32}, Type::u8}},
        {"long_to_int", {{Type::i64}, Type::i32}},
        {"float_to_int", {{Type::f32}, Type::i32}},
        {"float_to_long", {{Type::f32}, Type::i64}},
        {"double_to_int", {{Type::f64}, Type::i32}},
        {"double_to_long", {{Type::f64}, Type::i64}},
        {"wrap_add", {{Type::i32, Type::i32}, Type::i32}},
        {"wrap_sub", {{Type::i32, Type::i32}, Type::i32}},
        {"wrap_mul", {{Type::i32, Type::i32}, Type::i32}},
        {"floor_div", {{Type::i32, Type::i32}, Type::i32}},
        {"floor_mod", {{Type::i32, Type::i32}, Type::i32}},
        {"wrap_add_long", {{Type::i64, Type::i64}, Type::i64}},
        {"wrap_sub_long", {{Type::i64, Type::i64}, Type::i64}},
        {"wrap_mul_long", {{Type::i64, Type::i64}, Type::i64}},
        {"floor_div_long", {{Type::i64, Type::i64}, Type::i64}},
        {"floor_mod_long", {{Type::i64, Type::i64}, Type::i64}}};
    return helpers;
}

}  // namespace halo::kernel
