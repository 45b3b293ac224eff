#include "compiler/lift/lift.h"

#include <fmt/format.h>

#include "compiler/lift/precision.h"
#include "compiler/sema/sema.h"
#include "compiler/support/error.h"
#include "compiler/syntax/format.h"
#include "compiler/syntax/parser.h"

namespace halo::lift {

namespace {

// What a spec of that text would be refused for; empty: nothing.
std::string first_mistake(const std::string& text) {
    SourceFile source("lifted.halo", text);
    DiagnosticSink sink;
    const syntax::File tree = syntax::parse(source, sink);
    sema::analyze(tree, sink);
    for (const Diagnostic& each : sink.sorted()) {
        if (severity_of(each.kind) == Severity::error)
            return each.message + " (" + std::string(source.line_at(each.where.begin)) + ")";
    }
    return "";
}

void append_wrapped(std::string& text, const std::string& sentence) {
    constexpr std::size_t kWidth = 110;
    std::string line = "#";
    std::size_t begin = 0;
    while (begin < sentence.size()) {
        const std::size_t end = std::min(sentence.find(' ', begin), sentence.size());
        const std::string word = sentence.substr(begin, end - begin);
        if (line.size() + 1 + word.size() > kWidth) {
            text += line + "\n";
            line = "#";
        }
        line += " " + word;
        begin = end + 1;
    }
    text += line + "\n";
}

}  // namespace

Lifted lift(const Options& options) {
    Lifted result;
    result.equal_rims = options.form.equal_rims;
    result.unit = read_function(options.source);
    const c::Function& function = result.unit.functions[static_cast<std::size_t>(result.unit.function)];
    result.first_line = static_cast<int>(result.unit.source.line_column(function.where.begin).line);
    try {
        if (result.unit.fast_math)
            throw Refusal(
                function.where,
                "the file is compiled with -ffast-math: what it computes is not said by its text",
                {"leave the flag out of the arguments behind --; the spec is then what the text says"});
        result.model = execute(result.unit);
        result.form = find_form(result.model, options.form);
        const Precision precision = find_precision(result.model, result.form);
        result.spec = write_spec(result.model, result.form, precision, options.form,
                                 options.name.empty() ? function.name : options.name);
        const std::string mistake = first_mistake(result.spec.body);
        if (!mistake.empty()) throw Refusal(function.where, "a spec cannot say this: " + mistake);
    } catch (const Refusal& refusal) {
        Refusal placed = refusal;
        if (placed.where == SourceRange{}) placed.where = function.where;
        throw LiftError(refusal.what(), result.unit.source, placed);
    }
    return result;
}

std::string file_text(const Lifted& lifted, const std::vector<std::string>& verdict) {
    const c::Function& function = lifted.unit.functions[static_cast<std::size_t>(lifted.unit.function)];
    const Model& model = lifted.model;
    std::string text;
    append_wrapped(text, fmt::format("{}: lifted from {}:{}, function {}.", lifted.spec.name,
                                     lifted.unit.source.name(), lifted.first_line, function.name));
    std::string grid;
    for (std::size_t a = 0; a < lifted.form.axes.size(); ++a)
        grid += fmt::format("{}{} = {}", a ? ", " : "", lifted.form.axes[a], model.text(lifted.form.grid[a]));
    std::string steps = "A step is one call.";
    if (model.time_loop >= 0) {
        const Loop& time = model.loop(model.time_loop);
        steps = fmt::format("A call is {} steps.", model.text(time.upper - time.lower));
    }
    append_wrapped(text, fmt::format("Grid: {}. {}", grid, steps));
    for (const std::string& each : lifted.form.assumptions)
        append_wrapped(text, "Assumes that " + each + ".");
    for (const auto& [id, name] : lifted.spec.fields) {
        const Field& field = lifted.form.fields[static_cast<std::size_t>(id)];
        for (std::size_t a = 0; a < field.extents.size(); ++a) {
            if (!(field.extents[a] == lifted.form.grid[a]))
                append_wrapped(text, fmt::format("Of `{}` the function has {} cells along {}.", name,
                                                 model.text(field.extents[a]), lifted.form.axes[a]));
        }
    }
    for (const std::string& each : model.remarks)
        append_wrapped(text, each);
    for (const std::string& each : lifted.spec.remarks)
        append_wrapped(text, each);
    for (const std::string& each : verdict)
        append_wrapped(text, each);
    SourceFile source("lifted.halo", text + lifted.spec.body);
    DiagnosticSink sink;
    std::optional<std::string> formatted = syntax::format(source, sink);
    if (!formatted) throw InternalError("a lifted spec cannot be formatted");
    return *formatted;
}

}  // namespace halo::lift
