#include "examples.h"

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "compiler/passes/pipeline.h"
#include "compiler/schedule/defaults.h"
#include "compiler/sema/sema.h"
#include "compiler/syntax/parser.h"
#include "read_spec.h"

namespace halo::test {
namespace {

Example load(const std::filesystem::path& path) {
    const SourceFile source(path.filename().string(), read_spec(path));
    DiagnosticSink sink;
    const syntax::File file = syntax::parse(source, sink);
    sema::Analysis analysis = sema::analyze(file, sink);
    if (sink.has_errors()) throw std::runtime_error(render(sink.sorted(), source));
    Example example{path.stem().string(),
                    analysis.find_stencil(analysis.stencils.at(0).program.name)->program,
                    {1, 1, 1}};
    const sema::RunSpec& run = analysis.runs.at(0);
    for (int axis = 0; axis < example.program.rank(); ++axis)
        example.extent[axis] = run.grid.value()[axis];
    passes::optimize(example.program, passes::FloatingPoint{});
    return example;
}

}  // namespace

std::vector<Example> examples() {
    std::vector<Example> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(HALO_SOURCE_DIR "/dsl_examples")) {
        if (entry.path().extension() == ".halo") all.push_back(load(entry.path()));
    }
    std::sort(all.begin(), all.end(), [](const Example& a, const Example& b) { return a.name < b.name; });
    return all;
}

std::vector<schedule::Schedule> chosen(const Example& example, std::optional<schedule::Strategy> strategy) {
    const schedule::Target target;
    schedule::Pins pins;
    pins.strategy = strategy;
    std::vector<schedule::Schedule> schedules;
    for (const ir::Stage& stage : ir::form_stages(example.program)) {
        const schedule::Choice choice = choose(example.program, stage, target, example.extent, pins);
        if (!is_legal(check(example.program, stage, choice.schedule, target, example.extent))) return {};
        schedules.push_back(choice.schedule);
    }
    return schedules;
}

}  // namespace halo::test
