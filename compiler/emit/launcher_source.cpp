#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compiler/emit/host_expression.h"
#include "compiler/emit/launcher_model.h"
#include "compiler/support/error.h"
#include "compiler/support/writer.h"

namespace halo::emit {

namespace {

constexpr std::int64_t kStaticSharedBytes = 49152;
constexpr int kAlignment = 32;  // elements; as in runtime/core/geometry.h
constexpr int kWidth = 110;

class SourceWriter {
public:
    explicit SourceWriter(const LauncherModel& model)
        : model_(model),
          plan_(model.plan),
          names_{[this](int index) { return "solver." + model_.param_member(index); },
                 [this](int axis) { return "solver." + model_.extents[axis]; }} {}

    std::string write(const std::string& kernel_text) {
        write_includes();
        out_.blank_line();
        out_.text(kernel_text);
        out_.blank_line();
        out_.line("// ---- the launcher: {}.h ----", model_.stem);
        write_solver();
        out_.blank_line();
        out_.line("namespace launcher {{");
        write_helpers();
        out_.blank_line();
        out_.line("}}  // namespace launcher");
        write_create();
        write_destroy();
        write_setters();
        write_fields();
        write_advance();
        write_reductions();
        out_.blank_line();
        out_.line("const char* {}(void) {{ return launcher::last_message; }}", model_.message);
        return out_.take();
    }

private:
    // ---- the top
    // --------------------------------------------------------------------------------------------

    void write_includes() {
        out_.line("// {}.cu: the kernels of the stencil {} and a launcher in plain C.", model_.stem,
                  plan_.name);
        out_.line("// Made by Halocline. To build it: nvcc -std=c++17 -arch=sm_90 -fmad=false -c {}.cu",
                  model_.stem);
        out_.line("#include \"{}.h\"", model_.stem);
        out_.blank_line();
        out_.line("#include <cuda_runtime.h>");
        out_.blank_line();
        for (const char* header : {"algorithm", "cmath", "cstdarg", "cstdio", "new"})
            out_.line("#include <{}>", header);
        if (!plan_.reductions.empty()) out_.line("#include <vector>");
    }

    void write_solver() {
        out_.blank_line();
        out_.line("struct {} {{", model_.solver);
        const auto body = out_.indent();
        for (const std::string& extent : model_.extents)
            out_.line("int {} = 0;", extent);
        out_.line("int pitch = 0;           // elements from one row to the next");
        out_.line("long long slice = 0;     // elements from one plane to the next");
        out_.line("long long origin = 0;    // elements before the first cell");
        out_.line("long long elements = 0;  // of an array");
        for (std::size_t index = 0; index < plan_.params.size(); ++index) {
            const auto& value = plan_.params[index].default_value;
            const int i = static_cast<int>(index);
            out_.line("double {} = {};", model_.param_member(i), number(value.value_or(0)));
            if (!value) out_.line("bool {} = false;", model_.given_member(i));
        }
        for (std::size_t index = 0; index < plan_.coefs.size(); ++index)
            write_weights(static_cast<int>(index));
        for (const FieldNames& field : model_.fields) {
            for (const LevelName& level : field.levels)
                out_.line("{}* {} = nullptr;", field.type, level.member);
        }
        for (std::size_t index = 0; index < plan_.reductions.size(); ++index) {
            out_.line("double* {} = nullptr;  // one of each block",
                      model_.partials_member(static_cast<int>(index)));
        }
        out_.line("bool halos_due = true;   // values were set since the halos were filled");
        out_.line("long long steps = 0;     // done so far");
        close_struct();
    }

    void close_struct() {
        out_.end_line_if_text();
        out_.unindented("};");
    }

    const LauncherModel& model_;
    const rt::LaunchPlan& plan_;
    HostNames names_;
    Writer out_;
};

}  // namespace

}  // namespace halo::emit
