// Runs that chain stencils against their stencils one after the other, by hand.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "analyzed.h"
#include "catch.h"
#include "compiler/ir/verify.h"
#include "compiler/sema/sema.h"
#include "compiler/syntax/parser.h"
#include "random_program.h"

using namespace halo;
using namespace halo::test;

namespace {

using Levels = std::vector<std::vector<double>>;  // now, and the past

struct Link {
    std::string stencil;
    std::int64_t every = 0, from = 0;  // 0: a phase of its own
    std::int64_t begin = 0;            // of its phase
};

// What is written in the run block, read anew.
struct Written {
    sema::Analysis analysis;
    std::vector<Link> links;
    std::vector<std::pair<std::int64_t, std::string>> phases;  // their first steps, and what is done then

    explicit Written(const std::string& text) {
        const SourceFile source("chain.halo", text);
        DiagnosticSink sink;
        const syntax::File file = syntax::parse(source, sink);
        analysis = sema::analyze(file, sink);
        INFO(render(sink.sorted(), source));
        REQUIRE_FALSE(sink.has_errors());
        const auto number = [&](syntax::ExprId id) {
            return *std::get<syntax::Number>(file[id].node).value.as_int64();
        };
        std::int64_t end = 0;
        const syntax::Run& run = file.runs.at(0);
        phases.emplace_back(0, run.name.text);
        for (const syntax::RunStatement& statement : run.statements) {
            if (const auto* steps = std::get_if<syntax::StepsStatement>(&statement))
                end = number(steps->count);
            const auto* chain = std::get_if<syntax::ChainStatement>(&statement);
            if (chain == nullptr) continue;
            if (chain->count) {
                phases.emplace_back(end, chain->stencil.text);
                end += number(*chain->count);
                continue;
            }
            Link link{chain->stencil.text, number(chain->every->steps), 0, phases.back().first};
            link.from = chain->every->from ? number(*chain->every->from) : link.every;
            links.push_back(std::move(link));
        }
    }

    const ir::Program& plain(const std::string& name) const {
        for (const sema::AnalyzedStencil& stencil : analysis.stencils)
            if (stencil.program.name == name) return stencil.program;
        throw std::out_of_range(name);
    }
};

// Does the stencils in turn, each by an interpreter of its own, and carries their fields.
class ByHand {
public:
    // is_later: chained stencils have the clock of the level that they read.
    ByHand(const Written& written, const RandomProgram& source, const ir::Program& whole, bool is_later)
        : written_(written), is_later_(is_later), extent_(source.grid) {
        ir::Interpreter sizes(whole, extent_, ir::Arithmetic::declared);
        for (const ir::Field& field : whole.fields) {
            if (field.role == ir::Role::intermediate) continue;
            Levels& levels = fields_[field.name];
            for (int time = 0; time >= -field.history; --time) {
                const std::size_t count = sizes.field(field.name, time).size();
                levels.push_back(field.role == ir::Role::output
                                     ? std::vector<double>(count)
                                     : initial_cells(source.seed, field.name, time, count));
            }
            levels.emplace_back(levels.front());  // a chained stencil's past begins one later
            is_state_[field.name] = field.role == ir::Role::state;
        }
    }

    void step(std::int64_t number) {
        for (auto& [name, value] : outcome.reductions)
            value = std::numeric_limits<double>::quiet_NaN();
        std::string phase;
        std::int64_t begin = 0;
        for (const auto& [first, stencil] : written_.phases)
            if (first <= number) std::tie(begin, phase) = std::pair(first, stencil);
        const std::map<std::string, Levels> before = fields_;
        run(phase, number);
        for (auto& [name, levels] : fields_)
            for (std::size_t k = 1; k < levels.size() && is_state_.at(name); ++k)
                levels[k] = before.at(name)[k - 1];
        for (const Link& link : written_.links) {
            const std::int64_t done = number + 1 - begin;
            if (link.begin == begin && done >= link.from && (done - link.from) % link.every == 0)
                run(link.stencil, number + (is_later_ ? 1 : 0));
        }
        for (const auto& [name, levels] : fields_)
            outcome.fields[name] = levels.front();
    }

    Outcome outcome;

private:
    void run(const std::string& stencil, std::int64_t number) {
        const ir::Program& program = written_.plain(stencil);
        ir::Interpreter interpreter(program, extent_, ir::Arithmetic::declared);
        interpreter.continue_from(number, last_);
        for (const ir::Field& field : program.fields) {
            if (field.role == ir::Role::intermediate) continue;
            for (int time = 0; time >= -field.history; --time)
                interpreter.field(field.name, time) =
                    fields_.at(field.name).at(static_cast<std::size_t>(-time));
        }
        interpreter.step();
        for (const ir::Field& field : program.fields)
            if (field.role == ir::Role::state || field.role == ir::Role::output)
                fields_.at(field.name).front() = interpreter.field(field.name);
        for (const ir::Statement& statement : program.statements)
            if (const auto* reduce = std::get_if<ir::Reduce>(&statement))
                last_[reduce->name] = outcome.reductions[reduce->name] = interpreter.reduction(reduce->name);
    }

    const Written& written_;
    bool is_later_;
    halo::rt::Extent extent_;
    std::map<std::string, Levels> fields_;
    std::map<std::string, bool> is_state_;
    std::map<std::string, double> last_;
};

std::string chain_complaint(const std::string& text, const RandomProgram& source, int steps,
                            bool is_later = false) {
    const ir::Program whole = analyze_text(text);
    if (const auto broken = ir::verify(whole); !broken.empty()) return broken.front();
    const Written written(text);
    ByHand by_hand(written, source, whole, is_later);
    for (int step = 0; step < steps; ++step) {
        by_hand.step(step);
        const Outcome chained = interpret(whole, source, ir::Arithmetic::declared, step + 1);
        if (const auto wrong = disagreement(by_hand.outcome, chained, 0))
            return fmt::format("after step {}: {}", step + 1, *wrong);
        // A value where there is none would be as wrong; what is of no cells has the value of that.
        for (const auto& [name, value] : by_hand.outcome.reductions) {
            const double given = chained.reductions.at(name);
            const bool is_of_no_cells = given == 0 || std::isinf(given);
            if (std::isnan(value) != std::isnan(given) && !is_of_no_cells)
                return fmt::format("after step {}: {} is {}", step + 1, name, given);
        }
    }
    return "";
}

}  // namespace

TEST_CASE("random chains do what their stencils do one after the other") {
    GeneratorOptions options;
    options.chains = true;
    options.fewer_axes = true;
    options.max_cells = 300;
    const Seeds seeds = seeds_from_environment(300001, 160);
    int every = 0, phases = 0;
    for (std::uint64_t seed = seeds.first; seed < seeds.first + seeds.count; ++seed) {
        const RandomProgram source = random_program(seed, options);
        // Each stencil's own noise is another in a chain.
        if (source.chained.empty() || source.text().find("random()") != std::string::npos) continue;
        every += source.chained.find("every ") != std::string::npos ? 1 : 0;
        phases += source.chained.find("then link") != std::string::npos ? 1 : 0;
        INFO(source.describe());
        CHECK(chain_complaint(source.text(), source, 5) == "");
    }
    if (seeds.count >= 100) {
        CHECK(every >= 30);
        CHECK(phases >= 5);
    }
}

// What the generator does not make: boundaries that change with time, complex numbers, narrow storage.
TEST_CASE("chains of all kinds of fields do what their stencils do one after the other") {
    const std::string moving =
        "{ boundary x.low fixed sin(time), x.high gradient time / 4, y.low robin 1, 2, time, y.high "
        "symmetric }";
    const std::string swaying = "{ boundary x periodic, y.low antimirror, y.high fixed idx(x) / 8 }";
    struct Case {
        std::string text;
        bool is_later = false;
    };
    const Case cases[] = {
        {"stencil main(x, y) { param dt = 0.3; field u: f64 " + moving +
             "; u[t+1] = u + laplacian(u) / 8 }\n"
             "stencil wide(x, y) { param dt = 0.3; field u: f64 " +
             moving + "; field before: f64 " + moving +
             "; u[t+1] = (u[x-2] + u[x+2] + u[y-2] + u[y+2]) / 4 + before / 8; before[t+1] = u }\n"
             "run main { steps 4; every 2 from 1 do wide }",
         true},
        {"stencil main(x, y) { field a: c64 { boundary periodic }; field f: f16 { boundary clamp }\n"
         "    a[t+1] = a + 0.1i * laplacian(a); f[t+1] = f - d2(f, x) / 8; reduce most = max(abs(a)) }\n"
         "stencil turn(x, y) { field a: c64 { boundary periodic }; field f: f16 { boundary clamp }\n"
         "    let e { boundary clamp } = re(a) + f; a[t+1] = 0.9 * a + 0.1 * e[x+1] * conj(a[y+1])\n"
         "    on x in 1..3 { f[t+1] = e[y-1] / 4 }; reduce least = min(f[t+1]) on x.low }\n"
         "run main { steps 3; every 2 do turn; every 3 do turn_back }\n"
         "stencil turn_back(x, y) { field a: c64 { boundary periodic }; a[t+1] = a[t-1] }"},
        {"stencil main(x, y) { field v: (x: f64 at x+1/2, y: f64 at y+1/2) { boundary x periodic, y clamp }\n"
         "    field p: f64 " +
         swaying +
         "; v[t+1] = v - grad(p) / 4; p[t+1] = p - div(v[t+1]) / 4 }\n"
         "stencil limit(x, y) { field v: (x: f64 at x+1/2, y: f64 at y+1/2) { boundary x periodic, y clamp "
         "}\n"
         "    field kept: f64 { boundary clamp }; field p: f64 " +
         swaying +
         "\n"
         "    def mean(a) = (a[x-1] + a[x+1]) / 2; v[t+1] = mean(v); where mod(idx(x), 2) == 0 {\n"
         "    p[t+1] = mean(p) }; where mod(idx(x), 2) == 1 { p[t+1] = mean(p[t+1]) }; kept = p[t+1] - p }\n"
         "stencil rest(x, y) { field p: f64 " +
         swaying +
         "; field kept: f64 { boundary clamp }\n"
         "    p[t+1] = p / 2 + kept[x+1] / 4 }\n"
         "run main { steps 4; every 2 from 1 to 3 do limit; then rest for 3; every 2 do limit }"},
    };
    for (const auto& [text, is_later] : cases) {
        RandomProgram source;
        source.seed = 5;
        source.rank = 2;
        source.grid[0] = 7;
        source.grid[1] = 6;
        INFO(text);
        CHECK(chain_complaint(text, source, 7, is_later) == "");
    }
}
