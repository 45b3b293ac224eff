// Every example is differentiated, or refused for a reason that is said here.
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include "check_transposed.h"
#include "compiler/driver/spec/spec.h"

using namespace halo;

namespace {

// What is in the way, by example.
const std::map<std::string, std::string> kRefused{
    {"burgers2d", "a statement that reads a reduction is not differentiated yet"},
    {"cahn_hilliard_cook", "noise is not differentiated yet: it would be drawn again on the way back"},
    {"cavity3d", "an inner iteration is not differentiated yet"},
    {"column_diffusion", "a sweep along an axis is not differentiated yet"},
    {"coulomb", "sums over tables are not differentiated yet"},
    {"eikonal2d", "an inner iteration that ends by a condition is not differentiated yet"},
    {"groundwater2d", "an equation that `solve` solves is not differentiated yet"},
    {"heat2d_adi", "a sweep along an axis is not differentiated yet"},
    {"implicit_heat2d", "an equation that `solve` solves is not differentiated yet"},
    {"multigrid_fcycle2d", "a statement for a coarser grid is not differentiated yet"},
    {"multigrid_poisson2d", "an inner iteration is not differentiated yet"},
    {"multigrid_poisson3d", "an inner iteration is not differentiated yet"},
    {"mri_fhd", "sums over tables are not differentiated yet"},
    {"storm_surge", "`wind_x` is a series, which is not differentiated yet"},
    {"valley_plume", "a field over fewer axes is not differentiated yet"},
    {"schroedinger_cn", "a sweep along an axis is not differentiated yet"},
};

bool is_named(const ir::Field& field, bool as_result) {
    if (!ir::is_real(field.type)) return false;
    using ir::Role;
    return field.role == Role::state || field.role == (as_result ? Role::output : Role::input);
}

adjoint::Request everything(const ir::Program& program) {
    adjoint::Request request;
    for (const ir::Field& field : program.fields) {
        if (is_named(field, true)) request.of.push_back(field.name);
        if (is_named(field, false)) request.with.push_back(field.name);
    }
    for (const ir::Statement& statement : program.statements)
        if (const auto* reduce = std::get_if<ir::Reduce>(&statement))
            if (reduce->op == ir::ReduceOp::sum && ir::is_real(program[reduce->value].type))
                request.of.push_back(reduce->name);
    return request;
}

// Names of which nothing that is asked for makes use go.
void leave_out_unneeded(const ir::Program& program, adjoint::Request& request) {
    for (bool is_left = true; is_left;) {
        is_left = false;
        try {
            adjoint::make_adjoint(program, request);
        } catch (const adjoint::RefusedError& refused) {
            const std::string message = refused.what(), start = "nothing that is asked for depends on `";
            if (!message.starts_with(start)) throw;
            const std::string name = message.substr(start.size(), message.size() - start.size() - 1);
            is_left = std::erase(request.with, name) > 0;
        }
    }
}

}  // namespace

TEST_CASE("examples are transposed") {
    for (const auto& entry :
         std::filesystem::directory_iterator(std::string(HALO_SOURCE_DIR) + "/dsl_examples")) {
        if (entry.path().extension() != ".halo") continue;
        const std::string name = entry.path().stem();
        const driver::CheckedSpec spec = driver::check_spec(entry.path());
        REQUIRE(spec.ok);
        const ir::Program& program =
            spec.analysis.find_stencil(spec.analysis.stencils.front().program.name)->program;
        INFO(name);
        adjoint::Request request = everything(program);
        std::string why;
        try {
            leave_out_unneeded(program, request);
            if (request.of.empty() || request.with.empty()) continue;  // of conditions and whole numbers
            const std::int64_t cells = program.rank() == 3 ? 9 : 11;
            test::Start start;
            start.middle = 1;
            start.spread = 0.1;
            test::check_transposed(
                program, request,
                {{cells, program.rank() > 1 ? cells - 1 : 1, program.rank() > 2 ? cells - 2 : 1}}, 2, start);
        } catch (const adjoint::RefusedError& refused) {
            why = refused.what();
        }
        const auto expected = kRefused.find(name);
        CHECK(why == (expected == kRefused.end() ? "" : expected->second));
    }
}
