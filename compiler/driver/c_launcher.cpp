#include "compiler/driver/c_launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/driver/c_launcher_text.h"
#include "compiler/lower/names.h"

namespace halo::driver {

namespace {

using Words = std::vector<std::pair<std::string, std::string>>;

// The text with each $WORD$ replaced.
std::string fill(std::string text, const Words& words) {
    for (const auto& [word, replacement] : words) {
        std::string mark = "$" + word + "$";
        for (std::size_t at = text.find(mark); at != std::string::npos;
             at = text.find(mark, at + replacement.size())) {
            text.replace(at, mark.size(), replacement);
        }
    }
    return text;
}

const char* c_type(rt::ElementType type) {
    return type == rt::ElementType::f32 ? "float" : "double";
}
int latest_time(const rt::FieldPlan& field) {
    return field.role == rt::Role::state ? 1 : 0;
}
int level_count(const rt::FieldPlan& field) {
    return latest_time(field) + 1 + field.history;
}
bool is_public(const rt::FieldPlan& field) {
    return field.role != rt::Role::intermediate;
}
std::int64_t element_count(const rt::CoefPlan& coef) {
    std::int64_t count = 1;
    for (std::size_t i = 0; i < coef.low.size(); ++i)
        count *= coef.high[i] - coef.low[i] + 1;
    return count;
}

class Maker {
public:
    Maker(const rt::LaunchPlan& plan, std::string stem)
        : plan_(plan), stem_(std::move(stem)), names_(make_c_names(plan)) {}

    std::string header() const {
        std::string guard;
        for (char c : names_.stencil)
            guard += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        std::string extents;
        for (int axis = 0; axis < plan_.rank; ++axis)
            extents += fmt::format(", int64_t {}", names_.axes[axis]);
        std::string index = names_.axes[0].substr(1);  // "x + nx * (y + ny * z)"
        if (plan_.rank == 2)
            index = fmt::format("{} + {} * {}", index, names_.axes[0], names_.axes[1].substr(1));
        if (plan_.rank == 3) {
            index = fmt::format("{} + {} * ({} + {} * {})", index, names_.axes[0], names_.axes[1].substr(1),
                                names_.axes[1], names_.axes[2].substr(1));
        }
        return fill(kHeaderText, {{"PARAMS", params_members()},
                                  {"FUNCTIONS", header_functions()},
                                  {"EXTENTS", extents},
                                  {"INDEX", index},
                                  {"GUARD", guard},
                                  {"FILE", stem_},
                                  {"NAME", names_.stencil}});
    }

    std::string source() const {
        return fill(kSourceText, {{"MEMBERS", run_members()},
                                  {"DEFAULTS", defaults()},
                                  {"FACES", face_values()},
                                  {"GEOMETRY", geometry()},
                                  {"ALLOCATE", allocations()},
                                  {"RELEASE", releases()},
                                  {"REFILL", refills()},
                                  {"BEFORE", rotations(false)},
                                  {"LAUNCHES", launches()},
                                  {"AFTER", rotations(true)},
                                  {"ACCESSORS", accessors()},
                                  {"EXTENTS", create_parameters()},
                                  {"RANK", std::to_string(plan_.rank)},
                                  {"FILE", stem_},
                                  {"NAME", names_.stencil}});
    }

private:
    std::string params_members() const {
        std::string text;
        for (std::size_t i = 0; i < plan_.params.size(); ++i) {
            const auto& value = plan_.params[i].default_value;
            text += fmt::format("    double {}; /* {} */\n", names_.params[i],
                                value ? fmt::format("default {}", *value) : "no default: must be set");
        }
        // C has no empty structures.
        return text.empty() ? "    char none; /* the stencil has no parameters */\n" : text;
    }
    std::string header_functions() const {
        std::string text;
        for (std::size_t i = 0; i < plan_.fields.size(); ++i) {
            const rt::FieldPlan& field = plan_.fields[i];
            if (!is_public(field)) continue;
            text += fmt::format(
                "int $NAME$_set_{0}($NAME$_run* run, int time, const {1}* values);\n"
                "int $NAME$_get_{0}($NAME$_run* run, int time, {1}* values);\n",
                names_.fields[i], c_type(field.type));
        }
        for (std::size_t i = 0; i < plan_.coefs.size(); ++i) {
            text += fmt::format(
                "int $NAME$_set_{}($NAME$_run* run, const double* weights); /* {} of them, row-major */\n",
                names_.coefs[i], element_count(plan_.coefs[i]));
        }
        for (const std::string& name : names_.reductions) {
            text += fmt::format("int $NAME$_get_{}($NAME$_run* run, double* value); /* of the last step */\n",
                                name);
        }
        return text;
    }

    std::string create_parameters() const {
        std::string text;
        for (int axis = 0; axis < plan_.rank; ++axis)
            text += fmt::format(", int64_t {}", names_.axes[axis]);
        return text;
    }
    std::string run_members() const {
        std::string text;
        for (std::size_t i = 0; i < plan_.fields.size(); ++i) {
            const rt::FieldPlan& field = plan_.fields[i];
            std::string levels;
            for (int time = latest_time(field); time >= -field.history; --time) {
                levels += levels.empty() ? "" : ", ";
                levels += time == 0 ? "t" : fmt::format("t{:+}", time);
            }
            text += fmt::format("    {}* {}[{}];  // levels {}\n", c_type(field.type), names_.fields[i],
                                level_count(field), levels);
        }
        for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
            text += fmt::format("    double* {}_partials;  // one a block\n", names_.reductions[i]);
        }
        return text;
    }
    std::string defaults() const {
        std::string text;
        for (std::size_t i = 0; i < plan_.params.size(); ++i) {
            const auto& value = plan_.params[i].default_value;
            text += fmt::format("    params.{} = {};\n", names_.params[i],
                                value ? fmt::format("{}", *value) : "NAN");
        }
        return text;
    }
    // What lies past each face of each field: a table, and the values of fixed faces.
    std::string face_values() const {
        static constexpr const char* kKinds[] = {"kPeriodic", "kFixed", "kClamp", "kMirror", "kFree"};
        std::string text;
        for (std::size_t i = 0; i < plan_.fields.size(); ++i) {
            const rt::FieldPlan& field = plan_.fields[i];
            text += fmt::format(
                "\nHalo {}_halo(const $NAME$_run* run) {{\n"
                "    [[maybe_unused]] const $NAME$_params& params = run->params;\n    Halo halo;\n",
                names_.fields[i]);
            for (int axis = 0; axis < plan_.rank; ++axis) {
                for (int side = 0; side < 2; ++side) {
                    const rt::FacePlan& face = field.boundary[axis][side];
                    text += fmt::format(
                        "    halo.faces[{}][{}] = {{{}, {}, {}}};\n", axis, side, field.halo[axis][side],
                        kKinds[static_cast<int>(face.kind)],
                        face.kind == rt::BoundaryKind::fixed ? c_expression(face.value, names_) : "0.0");
                }
            }
            text += "    return halo;\n}\n";
        }
        return text;
    }
    std::string geometry() const {
        std::string text;
        for (int axis = 0; axis < rt::kMaxRank; ++axis) {
            text += fmt::format("    run->n[{}] = {};\n", axis, axis < plan_.rank ? names_.axes[axis] : "1");
        }
        auto round_up = [](int cells) { return (cells + 31) / 32 * 32; };
        int pad = round_up(plan_.halo[0][0]);
        text +=
            fmt::format("    run->pitch = {} + (run->n[0] + {} + 31) / 32 * 32;\n", pad, plan_.halo[0][1]);
        auto padded = [&](int axis) {
            return fmt::format("(run->n[{}] + {})", axis, plan_.halo[axis][0] + plan_.halo[axis][1]);
        };
        text += fmt::format("    run->slice = run->pitch * {};\n", padded(1));
        text += fmt::format("    run->elements = run->slice * {};\n", padded(2));
        text += fmt::format("    run->origin = {} + {} * run->pitch + {} * run->slice;\n", pad,
                            plan_.halo[1][0], plan_.halo[2][0]);
        return text;
    }
    std::string allocations() const {
        std::string text;
        for (std::size_t i = 0; i < plan_.fields.size(); ++i) {
            text += fmt::format(
                "    for ({0}*& level : run->{1}) {{\n"
                "        if (!failed) failed = allocate(&level, run->elements);\n    }}\n",
                c_type(plan_.fields[i].type), names_.fields[i]);
        }
        for (std::size_t i = 0; i < plan_.reductions.size(); ++i) {
            const rt::KernelPlan& kernel =
                plan_.kernels[static_cast<std::size_t>(plan_.reductions[i].kernel)];
            text += fmt::format("    if (!failed) failed = allocate(&run->{}_partials, block_count({}));\n",
                                names_.reductions[i], grid_of(kernel));
        }
        for (std::size_t i = 0; i < plan_.coefs.size(); ++i) {
            std::string values;
            for (double value : plan_.coefs[i].defaults)
                values += fmt::format("{}{}", values.empty() ? "" : ", ", value);
            text += fmt::format(
                "    const double {0}[] = {{{1}}};\n"
                "    if (!failed) failed = $NAME$_set_{0}(run, {0});\n",
                names_.coefs[i], values);
        }
        for (const rt::KernelPlan& kernel : plan_.kernels) {
            if (kernel.dynamic_shared_bytes == 0) continue;
            text += fmt::format(
                "    if (!failed) {{\n        failed = cudaFuncSetAttribute({}, "
                "cudaFuncAttributeMaxDynamicSharedMemorySize,\n"
                "                                      {});\n    }}\n",
                kernel.name, kernel.dynamic_shared_bytes);
        }
        return text;
    }
    std::string releases() const {
        std::string text;
        for (std::size_t i = 0; i < plan_.fields.size(); ++i) {
            text += fmt::format("    for ({}* level : run->{}) cudaFree(level);\n",
                                c_type(plan_.fields[i].type), names_.fields[i]);
        }
        for (const std::string& name : names_.reductions)
            text += fmt::format("    cudaFree(run->{}_partials);\n", name);
        return text;
    }
    std::string refills() const {
        std::string text;
        for (std::size_t i = 0; i < plan_.fields.size(); ++i) {
            text += fmt::format(
                "    for ({}* level : run->{}) {{\n        if (!failed) failed = refill(run, {}_halo(run), "
                "level);\n    }}\n",
                c_type(plan_.fields[i].type), names_.fields[i], names_.fields[i]);
        }
        return text;
    }
    // A state's t+1 becomes its t after the step; what is written within a step moves on before it.
    std::string rotations(bool states) const {
        std::string text;
        for (std::size_t i = 0; i < plan_.fields.size(); ++i) {
            const rt::FieldPlan& field = plan_.fields[i];
            if (level_count(field) == 1 || (field.role == rt::Role::state) != states) continue;
            text += fmt::format("        rotate(run->{});\n", names_.fields[i]);
        }
        return text;
    }

    std::string grid_of(const rt::KernelPlan& kernel) const {
        return fmt::format("blocks(run, {}, {}, {})", kernel.tile[0], kernel.tile[1], kernel.tile[2]);
    }
    std::string argument(const rt::Argument& argument) const {
        auto index = static_cast<std::size_t>(argument.index);
        switch (argument.kind) {
            case rt::Argument::Kind::field: {
                auto field = static_cast<std::size_t>(argument.field);
                return fmt::format("run->{}[{}] + run->origin", names_.fields[field],
                                   latest_time(plan_.fields[field]) - argument.time);
            }
            case rt::Argument::Kind::scalar:
                return fmt::format("static_cast<{}>({})", c_type(argument.type),
                                   c_expression(argument.scalar, names_));
            case rt::Argument::Kind::extent:
                return fmt::format("static_cast<int>(run->n[{}])", index);
            case rt::Argument::Kind::pitch:
                return "static_cast<int>(run->pitch)";
            case rt::Argument::Kind::slice:
                return "run->slice";
            case rt::Argument::Kind::partials:
                return fmt::format("run->{}_partials", names_.reductions[index]);
            case rt::Argument::Kind::coefs:
                return names_.coefs[index];
        }
        return {};
    }
    std::string launches() const {
        std::string text;
        for (const rt::KernelPlan& kernel : plan_.kernels) {
            std::string arguments;
            for (const rt::Argument& each : kernel.arguments) {
                arguments += arguments.empty() ? "" : ",\n            ";
                arguments += argument(each);
            }
            text += fmt::format("        {}<<<{}, dim3({}, {}, {}), {}>>>(\n            {});\n", kernel.name,
                                grid_of(kernel), kernel.threads[0], kernel.threads[1], kernel.threads[2],
                                kernel.dynamic_shared_bytes, arguments);
        }
        return text;
    }
    std::string accessors() const {
        std::string text;
        for (std::size_t i = 0; i < plan_.fields.size(); ++i) {
            const rt::FieldPlan& field = plan_.fields[i];
            if (!is_public(field)) continue;
            text += fill(kFieldText, {{"FIELD", names_.fields[i]},
                                      {"TYPE", c_type(field.type)},
                                      {"HISTORY", std::to_string(field.history)},
                                      {"LATEST", std::to_string(latest_time(field))}});
        }
        for (std::size_t i = 0; i < plan_.coefs.size(); ++i) {
            text += fill(kCoefText, {{"COEF", names_.coefs[i]},
                                     {"TYPE", c_type(plan_.coefs[i].type)},
                                     {"COUNT", std::to_string(element_count(plan_.coefs[i]))},
                                     {"SYMBOL", plan_.coefs[i].symbol}});
        }
        for (std::size_t i = 0; i < plan_.reductions.size(); ++i)
            text += reduction(i);
        return text;
    }
    std::string reduction(std::size_t index) const {
        using Op = rt::ReductionPlan::Op;
        const rt::ReductionPlan& plan = plan_.reductions[index];
        const rt::KernelPlan& kernel = plan_.kernels[static_cast<std::size_t>(plan.kernel)];
        std::string start = plan.op == Op::sum ? "0.0" : plan.op == Op::min ? "INFINITY" : "-INFINITY";
        std::string combine = "result + partial";
        if (plan.op == Op::min) combine = "std::isnan(partial) || partial < result ? partial : result";
        if (plan.op == Op::max) combine = "std::isnan(partial) || partial > result ? partial : result";
        return fill(kReductionText, {{"REDUCTION", names_.reductions[index]},
                                     {"GRID", grid_of(kernel)},
                                     {"START", start},
                                     {"COMBINE", combine},
                                     {"RESULT", plan.square_root ? "std::sqrt(result)" : "result"}});
    }

    const rt::LaunchPlan& plan_;
    std::string stem_;
    CNames names_;
};

}  // namespace

CNames make_c_names(const rt::LaunchPlan& plan) {
    // Members of the run and names at file scope share one scope, so that nothing shadows anything.
    lower::Names all;
    for (const char* word :
         {"run", "params", "failed", "level", "halo", "values", "steps", "pitch", "slice", "origin",
          "elements", "blocks", "refill", "rotate", "allocate", "block_count", "copy_in", "copy_out"}) {
        all.take(word);
    }
    for (const rt::KernelPlan& kernel : plan.kernels)
        all.take(kernel.name);
    for (const rt::CoefPlan& coef : plan.coefs)
        all.take(coef.symbol);
    CNames names;
    lower::Names prefix;
    names.stencil = prefix.take(plan.name);
    for (int axis = 0; axis < rt::kMaxRank; ++axis) {
        names.axes.push_back(all.take(
            "n" + (axis < plan.rank ? plan.axes[static_cast<std::size_t>(axis)] : fmt::format("_{}", axis))));
    }
    lower::Names members;
    for (const rt::ParamPlan& param : plan.params)
        names.params.push_back(members.take(param.name));
    for (const rt::FieldPlan& field : plan.fields)
        names.fields.push_back(all.take(field.name));
    for (const rt::CoefPlan& coef : plan.coefs)
        names.coefs.push_back(all.take(coef.name));
    for (const rt::ReductionPlan& reduction : plan.reductions)
        names.reductions.push_back(all.take(reduction.name));
    return names;
}

CLauncher make_c_launcher(const rt::LaunchPlan& plan, const std::string& file_stem) {
    Maker maker(plan, file_stem);
    return {maker.header(), maker.source()};
}

}  // namespace halo::driver
