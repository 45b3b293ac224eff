// Programs whose terms are computed again by each reader: the bits of those that store them, by the
// interpreter and on emulated CUDA.
#include <fmt/format.h>

#include <algorithm>

#include "catch.h"
#include "compare_engines.h"
#include "compiler/ir/analysis.h"
#include "compiler/ir/verify.h"
#include "compiler/passes/recompute_terms.h"
#include "compiler/schedule/footprint.h"
#include "compiler/schedule/legality.h"
#include "compiler/schedule/parse.h"
#include "emulated_device.h"
#include "emulator.h"
#include "random_schedule.h"

using namespace halo;
using namespace halo::test;

namespace {

struct Spec {
    std::string fields, term, reads;
    std::string text() const {
        return fmt::format("stencil s(x, y, z) {{\nparam dt = 0.4\n{}\nlet c {}\n{}\n}}", fields, term,
                           reads);
    }
};

const std::string kStar = "laplacian(c, order=4)";

// What can be computed again: with faces past which the term is 0, shows the other end, or has no value.
const std::vector<Spec> kTerms{
    {"field v: f32\nfield u: f32\nfield g: f32", "{ boundary fixed 0 } = (v * dt)^2 * u",
     "u[t+1] = 2*u - u[t-1] + 0.1 * " + kStar + "\ng[t+1] = g + u * c"},
    {"field v: f32 { boundary clamp }\nfield u: f32 { boundary fixed 0 }", "{ boundary fixed 0 } = v * u",
     "u[t+1] = u + 0.1 * " + kStar + " + v[x-1] * u[z+2]"},
    {"field v: f64\nfield u: f64 { boundary periodic }", "{ boundary periodic } = v * (u[t-1] + dt)",
     "u[t+1] = u + 0.1 * " + kStar},
    {"field v: f32\nfield u: f32", "{ boundary x fixed 0, y periodic, z fixed 0 } = v * u + dt * u",
     "u[t+1] = u + 0.1 * (c[x-2,y+1] + c[x+1,y-1,z+1] + " + kStar + ")\nreduce most = max(abs(c[z-1]))"},
    {"field v: f32\nfield u: f32", "= v * u", "u[t+1] = u + 0.1 * " + kStar},
    {"field v: f16\nfield u: f32", "{ boundary fixed 0 } = dt * v * u - u",
     "u[t+1] = u + 0.1 * (c[x-1] + c[x+1])\nlet w { boundary fixed 0 } = v * v\n"
     "field r: f32\nr = w[y-1] + c[z+1]"}};

// And what cannot, each for another reason.
const std::vector<Spec> kOthers{
    {"field v: f32\nfield u: f32", "{ boundary fixed 1 } = v * u", "u[t+1] = u + 0.1 * " + kStar},
    {"field v: f32\nfield u: f32", "{ boundary fixed 0 } = v * u + 1", "u[t+1] = u + 0.1 * " + kStar},
    {"field v: f32\nfield u: f32", "{ boundary clamp } = v * u", "u[t+1] = u + 0.1 * " + kStar},
    {"field v: f32\nfield u: f32", "{ boundary fixed 0 } = u / v", "u[t+1] = u + 0.1 * " + kStar},
    {"field v: f32\nfield u: f32", "{ boundary fixed 0 } = v * sin(u)", "u[t+1] = u + 0.1 * " + kStar},
    {"field v: f32\nfield u: f32", "{ boundary fixed 0 } = v * u * idx(x)", "u[t+1] = u + 0.1 * " + kStar},
    {"field v: f32\nfield u: f32", "{ boundary fixed 0 } = v * u", "u[t+1] = u + 0.1 * c"},
    {"field v: f32 { boundary clamp }\nfield u: f32", "{ boundary periodic } = v * u",
     "u[t+1] = u + 0.1 * " + kStar},
    {"field v: f32\nfield u: f32 { boundary clamp }", "{ boundary fixed 0 } = dt * u",
     "u[t+1] = u + 0.1 * " + kStar},
    {"field v: f32\nfield u: f32 { boundary x fixed 0, y fixed 2, z fixed 0 }",
     "{ boundary x fixed 0, y.low fixed 0, z fixed 0 } = dt * u", "u[t+1] = u + 0.1 * (c[x-1] + v)"},
    {"field v: f32\nfield u: f32 { boundary fixed 0 }", "{ boundary fixed 0 } = v * u[x-1]",
     "u[t+1] = u + 0.1 * " + kStar},
    {"field v: f32 { boundary x.high clamp }\nfield u: f32", "{ boundary periodic } = v * u",
     "u[t+1] = u + 0.1 * " + kStar},
    {"field v: f32 { boundary y clamp, z clamp }\nfield u: f32", "{ boundary fixed 0 } = v * u",
     "u[t+1] = u + 0.1 * " + kStar + " + v[x-1]"}};

const std::vector<Extent> kGrids{{1, 1, 1}, {2, 3, 1}, {7, 5, 4}, {33, 6, 9}, {37, 18, 5}};

}  // namespace

TEST_CASE("terms that are computed again have the bits of those that are stored") {
    for (const Spec& spec : kTerms) {
        INFO(spec.text());
        const ir::Program stored = load_program(spec.text());
        const std::optional<ir::Program> again = passes::recompute_terms(stored);
        REQUIRE(again.has_value());
        CHECK(ir::verify(*again).empty());
        CHECK(ir::form_stages(*again).size() < ir::form_stages(stored).size());
        CHECK(!passes::recompute_terms(*again));
        for (const Extent& grid : kGrids) {
            const Reference meant(stored, grid, 3, 5), found(*again, grid, 3, 5);
            REQUIRE(meant.levels().size() == found.levels().size());
            for (std::size_t i = 0; i < meant.levels().size(); ++i)
                CHECK(meant.levels()[i].end == found.levels()[i].end);
        }
    }
}

TEST_CASE("terms that cannot be computed again stay") {
    for (const Spec& spec : kOthers) {
        INFO(spec.text());
        CHECK(!passes::recompute_terms(load_program(spec.text())));
    }
}

TEST_CASE("terms are computed again by emulated CUDA") {
    for (const Spec& spec : kTerms) {
        INFO(spec.text());
        const ir::Program again = *passes::recompute_terms(load_program(spec.text()));
        for (const char* text :
             {"stream threads=8x4 cells=4x1 planes=3 ahead=2", "stream threads=4x4 cells=2x2",
              "direct threads=8x2x2 cells=4x2x1", "tile threads=8x4x2 cells=1x1x1"}) {
            INFO(text);
            const schedule::Schedule schedule =
                schedule::apply(schedule::parse(text, 3).pins, schedule::Schedule{});
            const std::vector<ir::Stage> stages = ir::form_stages(again);
            const std::vector<schedule::Schedule> all(stages.size(), schedule);
            if (std::ranges::any_of(stages, [&](const ir::Stage& stage) {  // such as a ring of half floats
                    return !schedule::is_legal(
                        schedule::check(schedule::footprint(again, stage), schedule, schedule::Target()));
                }))
                continue;
            for (const Extent& grid : kGrids) {
                emulator::EmulatedDevice device;
                const Reference reference(again, grid, 2, 7);
                CHECK(difference(reference, lower::lower_cuda(again, {all}), device, load_cuda).empty());
            }
        }
    }
}

TEST_CASE("random terms that are computed again have the bits of those that are stored") {
    Random random(71001);
    const auto faces = [&](const std::vector<std::string>& kinds) {
        std::string text;
        for (const char* axis : {"x", "y", "z"}) {
            const std::string kind = random.pick<std::string>(kinds);
            if (!kind.empty())
                text += fmt::format("{}{} {}", text.empty() ? "{ boundary " : ", ", axis, kind);
        }
        return text.empty() ? "" : text + " }";
    };
    const auto place = [&] {
        return fmt::format("[x{:+},y{:+},z{:+}]", random.between(-2, 2), random.between(-1, 1),
                           random.between(-2, 2));
    };
    int found = 0;
    for (int i = 0; i < 600; ++i) {
        const std::string fields = fmt::format("field v: f32 {}\nfield u: f64 {}\nfield g: f64",
                                               faces({"", "", "clamp", "mirror", "periodic"}),
                                               faces({"", "", "fixed 0", "fixed 0", "periodic", "fixed 2"}));
        const std::string value =
            random.pick<std::string>({"dt * u", "v * u", "(v + dt) * u[t-1]", "u * u + v * u - dt * u"});
        const Spec spec{
            fields, faces({"", "fixed 0", "fixed 0", "periodic"}) + " = " + value,
            fmt::format("u[t+1] = 0.2 * (c{} - c{} + c + u)\ng[t+1] = g + c{}{}", place(), place(), place(),
                        random.pick<std::string>({"", " + v[x-1]", " * u[z+1]"}))};
        INFO(spec.text());
        std::optional<ir::Program> stored;
        try {
            stored = load_program(spec.text());
        } catch (const std::exception&) {
            continue;  // a face that needs a boundary
        }
        const std::optional<ir::Program> again = passes::recompute_terms(*stored);
        if (!again) continue;
        ++found;
        CHECK(ir::verify(*again).empty());
        const Extent grid{4 + i % 5, 3 + i % 3, 4 + i % 2};
        const Reference reference(*stored, grid, 3, static_cast<std::uint64_t>(i));
        const std::vector<schedule::Schedule> schedules =
            random_schedules(*again, schedule::Direct{}, random);
        emulator::EmulatedDevice device;
        const bool is_emulated = found % 8 == 0;
        if (is_emulated)
            CHECK(difference(reference, lower::lower_cuda(*again, {schedules}), device, load_cuda, 1e-300)
                      .empty());
        const Reference meant(*again, grid, 3, static_cast<std::uint64_t>(i));
        for (std::size_t level = 0; level < meant.levels().size(); ++level)
            CHECK(meant.levels()[level].end == reference.levels()[level].end);
    }
    CHECK(found > 40);
}
