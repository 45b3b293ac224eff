// Tables of a session: their rows, the kernels over them, and when those run.
#include <vector>

#include "catch.h"
#include "runtime/core/plan_json.h"
#include "runtime/core/session.h"
#include "sample_plans.h"

using namespace halo::rt;

namespace {

// table pairs { a, b; product = scale * a * b }, out[x] = x + the sum of its products: f32, one axis.
Sample table_sample(int& columns_computed) {
    LaunchPlan plan;
    plan.name = "pairs";
    plan.rank = 1;
    plan.axes = {"x"};
    plan.spacing = {constant_scalar(1)};
    plan.origin = {constant_scalar(0)};
    plan.params = {{"scale", 1.0}};
    plan.tables = {{"pairs", ElementType::f32, {"a", "b", "product"}, 2, 4, 1}};
    FieldPlan out;
    out.name = "out";
    out.role = Role::output;
    plan.fields = {out};
    const auto argument = [](Argument::Kind kind) {
        Argument made;
        made.kind = kind;
        return made;
    };
    Argument scale = argument(Argument::Kind::scalar);
    scale.scalar = param_scalar(0);
    KernelPlan columns;
    columns.name = "columns";
    columns.tile = {8, 1, 1};
    columns.domain.kind = Domain::Kind::rows;
    columns.arguments = {argument(Argument::Kind::table), argument(Argument::Kind::rows), scale};
    KernelPlan step;
    step.name = "step";
    step.tile = {16, 1, 1};
    step.arguments = {argument(Argument::Kind::field), argument(Argument::Kind::table),
                      argument(Argument::Kind::rows), argument(Argument::Kind::extent)};
    for (KernelPlan* kernel : {&columns, &step})
        kernel->arguments.resize(10, argument(Argument::Kind::extent));  // as many as the fake device takes
    plan.kernels = {columns, step};
    auto module = std::make_unique<FakeModule>();
    module->functions["columns"] = [&](const auto& block, std::int64_t, void* const* arguments) {
        float* const rows = *static_cast<float* const*>(arguments[0]);
        const int count = *static_cast<const int*>(arguments[1]);
        const float factor = *static_cast<const float*>(arguments[2]);
        for (std::int64_t row = 8 * block[0]; row < std::min<std::int64_t>(8 * block[0] + 8, count); ++row) {
            rows[4 * row + 2] = factor * rows[4 * row] * rows[4 * row + 1];
            ++columns_computed;
        }
    };
    module->functions["step"] = [](const auto& block, std::int64_t, void* const* arguments) {
        float* const cells = *static_cast<float* const*>(arguments[0]);
        const float* const rows = *static_cast<const float* const*>(arguments[1]);
        const int count = *static_cast<const int*>(arguments[2]);
        const int extent = *static_cast<const int*>(arguments[3]);
        for (std::int64_t x = 16 * block[0]; x < std::min<std::int64_t>(16 * block[0] + 16, extent); ++x) {
            cells[x] = static_cast<float>(x);
            for (int row = 0; row < count; ++row)
                cells[x] += rows[4 * row + 2] + rows[4 * row + 3];  // the padding is 0
        }
    };
    return {std::move(plan), std::move(module)};
}

Session open_tables(Sample sample, FakeDevice& device) {
    std::vector<std::unique_ptr<Module>> modules;
    modules.push_back(std::move(sample.module));
    return Session(std::move(sample.plan), {20, 1, 1}, device, std::move(modules));
}

}  // namespace

TEST_CASE("a table's rows may change in number and value, and its columns follow") {
    for (const bool recordable : {false, true}) {
        FakeDevice device;
        device.recordable = recordable;
        int computed = 0;
        Session session = open_tables(table_sample(computed), device);
        CHECK_THROWS_AS(session.step(), Error);  // no rows were given
        session.set_table("pairs", std::vector<double>{1, 2, 3, 4});
        session.step(3);
        CHECK(session.download("out")[5] == 5 + 2 + 12);
        CHECK(computed == 2);  // once, not in every step
        session.set_table("pairs", std::vector<double>{1, 2, 5, 4});
        session.step(200);
        CHECK(session.download("out")[5] == 5 + 2 + 20);
        CHECK(computed == 4);
        session.set_param("scale", 2);
        session.step(200);
        CHECK(session.download("out")[5] == 5 + 4 + 40);
        CHECK(computed == 6);
        session.set_table("pairs", std::vector<double>(2 * 9, 1));
        session.step(200);
        CHECK(session.download("out")[19] == 19 + 18);
        CHECK(computed == 15);
        session.set_table("pairs", {});
        session.step(200);
        CHECK(session.download("out")[19] == 19);
        CHECK(computed == 15);
    }
}

TEST_CASE("rows that are not whole, and tables that are not there, are refused") {
    FakeDevice device;
    int computed = 0;
    Session session = open_tables(table_sample(computed), device);
    CHECK_THROWS_AS(session.set_table("pairs", std::vector<double>{1, 2, 3}), Error);
    CHECK_THROWS_AS(session.set_table("triples", {}), Error);
}

TEST_CASE("tables and kernels over their rows survive JSON") {
    int computed = 0;
    const LaunchPlan plan = table_sample(computed).plan;
    const LaunchPlan copy = plan_from_json(plan_to_json(plan));
    REQUIRE(copy.tables.size() == 1);
    CHECK(copy.tables[0].columns == plan.tables[0].columns);
    CHECK(copy.tables[0].given == 2);
    CHECK(copy.tables[0].width == 4);
    CHECK(copy.kernels[0].domain.kind == Domain::Kind::rows);
    CHECK(copy.kernels[1].arguments[2].kind == Argument::Kind::rows);
    LaunchPlan damaged = plan;
    damaged.tables[0].width = 2;
    CHECK_THROWS_AS(plan_from_json(plan_to_json(damaged)), Error);
    damaged = plan;
    damaged.kernels[0].domain.index = 1;
    CHECK_THROWS_AS(plan_from_json(plan_to_json(damaged)), Error);
}
