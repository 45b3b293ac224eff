// Values on the host that are not finite are found in every type.
#include <limits>

#include "catch.h"
#include "compiler/driver/running/engine.h"
#include "runtime/core/element.h"

using namespace halo;
using driver::FieldValues;

TEST_CASE("numbers that are not finite are counted, and the first is known") {
    const double infinity = std::numeric_limits<double>::infinity(),
                 nan = std::numeric_limits<double>::quiet_NaN();
    for (const rt::ElementType type :
         {rt::ElementType::f16, rt::ElementType::bf16, rt::ElementType::f32, rt::ElementType::f64}) {
        INFO(rt::name_of(type));
        const std::vector<double> good{0, -1, 60000, -0.0, 1e-6};
        CHECK(FieldValues::rounded(type, good).not_finite().count == 0);
        CHECK(FieldValues::rounded(type, good).not_finite().first == -1);
        const FieldValues::NotFinite found =
            FieldValues::rounded(type, {1, 2, -infinity, 3, nan, infinity, 4}).not_finite();
        CHECK(found.count == 3);
        CHECK(found.first == 2);
    }
    for (const rt::ElementType type : {rt::ElementType::u8, rt::ElementType::i32, rt::ElementType::i64}) {
        INFO(rt::name_of(type));
        CHECK(FieldValues::rounded(type, {0, 255, 127, 1e9}).not_finite().count == 0);
    }
}
