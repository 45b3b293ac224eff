#include "compiler/driver/running/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/driver/console/arguments.h"
#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/running/params.h"
#include "compiler/driver/running/picture_cut.h"
#include "compiler/driver/running/request_files.h"
#include "compiler/driver/running/requested_outputs.h"
#include "compiler/driver/running/run_lines.h"
#include "compiler/driver/running/saved_columns.h"
#include "compiler/driver/running/saved_frames.h"
#include "compiler/driver/running/saved_part.h"
#include "compiler/driver/running/until_check.h"
#include "compiler/ir/step_choice.h"
#include "compiler/lower/shared/host_scalar.h"
#include "compiler/support/file_kinds.h"

namespace halo::driver {

namespace {

class RequestMaker {
public:
    RequestMaker(const RunArguments& arguments, const CheckedSpec& spec, const sema::AnalyzedStencil& stencil,
                 const Console& console)
        : arguments_(arguments),
          spec_(spec),
          program_(stencil.program),
          console_(console),
          run_(spec.analysis.find_run(stencil.program.name)) {}

    RunRequest make() {
        if (arguments_.safe && run_ != nullptr) check_safe(*run_, arguments_.no_files);
        request_.name = program_.name;
        request_.axes = ir::axis_names(program_);
        request_.strict_fp = arguments_.strict_fp;
        for (const ir::Statement& statement : program_.statements) {
            const auto* reduce = std::get_if<ir::Reduce>(&statement);
            if (reduce != nullptr && !rt::is_hidden_reduction(reduce->name))
                request_.reductions.push_back(reduce->name);
            if (reduce != nullptr && ir::is_number_in_some_steps(program_, *reduce))
                request_.chained.push_back(reduce->name);
        }
        request_.source = injected_points(program_);
        request_.watch = !arguments_.no_watch;
        request_.stop_after = arguments_.stop_after;
        for (const ir::Field& field : program_.fields) {
            if (field.role == ir::Role::state && ir::is_real(field.type))
                request_.states.push_back(field.name);
        }
        take_grid();
        take_steps();
        take_params();
        check_until();
        take_coordinates(request_, program_);
        take_loads();
        check_tables();
        check_points();
        take_saves();
        take_pictures(Output::Kind::plot, arguments_.plot);
        take_pictures(Output::Kind::movie, arguments_.movie);
        for (Output& output : request_.outputs) {
            if (output.is_of_field())
                take_place(output, program_);
            else
                take_unit(output, program_);
        }
        check_files(request_);
        check_together(request_);
        check_columns(request_);
        return std::move(request_);
    }

private:
    void take_grid() {
        std::optional<schedule::Extent> grid = choose_grid(spec_, program_, arguments_.grid);
        if (!grid) {
            std::string example;
            for (int axis = 0; axis < program_.rank(); ++axis)
                example += axis == 0 ? "128" : ",128";
            refuse_usage("how large is the grid? " + missing_in_run(),
                         fmt::format("give the cells along {}, such as --grid {}", join(request_.axes, ", "),
                                     example));
        }
        request_.extent = *grid;
    }

    std::string missing_in_run() const {
        return run_ == nullptr ? fmt::format("There is no run block for {} that says so", program_.name)
                               : fmt::format("The run block of {} does not say", program_.name);
    }

    void take_steps() {
        bool has_state = std::any_of(program_.fields.begin(), program_.fields.end(),
                                     [](const ir::Field& field) { return field.role == ir::Role::state; });
        if (arguments_.steps) {
            request_.steps = *arguments_.steps;
        } else if (run_ != nullptr && run_->steps) {
            request_.steps = *run_->steps;
        } else if (!has_state) {
            request_.steps = 1;  // nothing changes from step to step
        } else if (arguments_.live && arguments_.live->stays) {
            request_.steps = RunRequest::kEndless;
        } else {
            refuse_usage("how many steps? " + missing_in_run(), "for example --steps 1000");
        }
        if (run_ == nullptr || !run_->until) return;
        request_.until = lower::host_scalar(run_->until->host, run_->until->condition);
        request_.watched = watched_reductions(spec_, program_);
        request_.until_words = std::string(spec_.source.text(run_->until->where));
    }

    void take_params() {
        std::vector<std::string> names, coefs;
        for (const ir::Param& param : program_.params)
            names.push_back(param.name);
        for (const ir::Coef& coef : program_.coefs)
            coefs.push_back(coef.name);
        if (run_ != nullptr) {
            for (const sema::ParamOverride& param : run_->params)
                set_param(request_, param.name, param.value);
            for (const sema::CoefOverride& coef : run_->coefs)
                request_.coefs.emplace_back(coef.name, coef.values);
        }
        for (const std::string& text : arguments_.set) {
            Assignment assignment = parse_assignment(text, "--set");
            if (std::find(coefs.begin(), coefs.end(), assignment.name) != coefs.end()) {
                refuse_usage(
                    fmt::format("{} is a coefficient: its values are set in the run block, not with --set",
                                assignment.name),
                    fmt::format("run {} {{ {} = […] }}", program_.name, assignment.name));
            }
            if (std::find(names.begin(), names.end(), assignment.name) == names.end()) {
                throw_unknown(program_.name, "param", assignment.name, names);
            }
            const auto param = std::ranges::find(program_.params, assignment.name, &ir::Param::name);
            set_param(request_, assignment.name,
                      param_value(*param, assignment.value, "--set " + assignment.name));
        }
        std::vector<std::string> unset;
        for (const ir::Param& param : program_.params) {
            bool is_set = std::any_of(request_.params.begin(), request_.params.end(),
                                      [&](const auto& given) { return given.first == param.name; });
            if (!param.default_value && !is_set) unset.push_back(param.name);
        }
        if (!unset.empty()) {
            refuse_usage(
                fmt::format("{} needs a value for {}: it has no default", program_.name, join(unset, ", ")),
                fmt::format("for example --set {}=1", unset.front()));
        }
    }
    void check_until() const {
        if (run_ == nullptr || !run_->until) return;
        const std::string why =
            why_until_is_not_finite(*run_->until, spec_.source, request_.params, request_.extent);
        if (!why.empty())
            refuse_usage(why + ": the run would never look at its numbers", "--set gives a param");
    }

    // The field, component or group of this name.
    FieldSet field(const std::string& name) const {
        std::vector<std::string> names;
        for (const ir::Group& group : program_.groups) {
            if (group.name == name) return find_fields(program_, name);
            names.push_back(group.name);
        }
        for (const ir::Field& field : program_.fields) {
            if (field.role == ir::Role::intermediate) {
                if (field.name == name) {
                    refuse_usage(
                        fmt::format("{} is a `let`: it has no values of its own outside the step", name),
                        "make it a field to read or write it");
                }
                continue;
            }
            if (field.name == name) return find_fields(program_, name);
            names.push_back(field.name);
        }
        throw_unknown(program_.name, "field", name, names);
    }

    bool is_table(const std::string& name) const {
        return std::any_of(program_.tables.begin(), program_.tables.end(),
                           [&](const ir::Table& table) { return table.name == name; });
    }

    void check_tables() {
        std::set<std::string> given;
        for (const Load& load : request_.table_loads)
            given.insert(load.field);
        if (run_ != nullptr) {
            for (const sema::TableFill& fill : run_->tables)
                given.insert(fill.table);
        }
        for (const ir::Table& table : program_.tables) {
            if (given.contains(table.name)) continue;
            if (table.is_series)
                refuse_usage(
                    fmt::format("nothing gives the values of the series {}", table.name),
                    fmt::format(
                        "for example --load {0}={0}.npy, or `load {0} from \"{0}.npy\"` in the run block",
                        table.name));
            refuse_usage(fmt::format("nothing gives the rows of the table {}", table.name),
                         fmt::format("for example --load {0}={0}.npy, or `rows {0} = 100` in the run block",
                                     table.name));
        }
    }

    // Points, or with `member` what a run gives of them: a column or a trace that is injected.
    bool is_points(const std::string& name) const {
        return std::any_of(program_.points.begin(), program_.points.end(), [&](const ir::Points& points) {
            if (points.name == name) return true;
            const auto is_named = [&](const std::string& own) { return points.name + "." + own == name; };
            return std::any_of(points.columns.begin(), points.columns.end(), is_named) ||
                   std::any_of(points.traces.begin(), points.traces.end(),
                               [&](const auto& trace) { return !trace.sampled && is_named(trace.name); });
        });
    }

    std::optional<TraceName> sampled_trace(const std::string& name) const {
        for (const ir::Points& points : program_.points) {
            for (const ir::Points::Trace& trace : points.traces) {
                if (trace.sampled && points.name + "." + trace.name == name)
                    return TraceName{points.name, trace.name};
            }
        }
        return std::nullopt;
    }

    void check_points() {
        std::set<std::string> given;
        for (const Load& load : request_.point_loads)
            given.insert(load.field);
        if (run_ != nullptr) {
            for (const sema::PointPlaces& places : run_->places)
                given.insert(places.points);
            for (const sema::PointFill& fill : run_->point_fills)
                given.insert(fill.points + "." + fill.name);
        }
        for (const ir::Points& points : program_.points) {
            if (!given.contains(points.name)) {
                std::vector<std::string> zeros(request_.axes.size(), "0");
                refuse_usage(fmt::format("nothing says where the points {} are", points.name),
                             fmt::format("for example --load {0}={0}.npy, or `{0} at [{1}]` in the run block",
                                         points.name, join(zeros, ", ")));
            }
            std::vector<std::string> names = points.columns;
            for (const ir::Points::Trace& trace : points.traces)
                if (!trace.sampled) names.push_back(trace.name);
            for (const std::string& name : names) {
                const std::string own = points.name + "." + name;
                if (given.contains(own)) continue;
                refuse_usage(fmt::format("nothing gives the values of {}", own),
                             fmt::format("for example --load {0}={1}.npy, or `init {0} = …` in the run block",
                                         own, name));
            }
        }
    }

    FieldSet shown(const std::string& name, const std::string& option) const {
        FieldSet set = field(name);
        if (!set.is_single()) {
            refuse_usage(fmt::format("{} {}: a picture shows one number in each cell, and {} has {}", option,
                                     name, name, set.fields.size()),
                         fmt::format("draw one of them, such as {}", set.fields.front()));
        }
        return set;
    }

    // A picture has one number for each cell of a plane.
    void check_loaded(const FileArgument& argument) {
        const FieldSet set = field(argument.field);
        if (!serves(argument.path, FileUse::load_picture)) return;
        const int rank = first_of(program_, set).grid.rank(program_.rank());
        if (rank != 2)
            refuse_usage(fmt::format("--load {}: a picture is loaded into a field of two axes, and {} has {}",
                                     argument.field, rank == program_.rank() ? program_.name : argument.field,
                                     rank));
        if (!set.is_single())
            refuse_usage(fmt::format("--load {}: a picture has one number for each cell, and {} has {}",
                                     argument.field, argument.field, set.fields.size()));
    }

    void take_loads() {
        std::set<std::string> given;
        for (const std::string& text : arguments_.load) {
            FileArgument argument = parse_file_argument(text, "--load", ".npy");
            const bool to_table = is_table(argument.field), to_points = is_points(argument.field);
            if (!to_table && !to_points) check_loaded(argument);
            if (!given.insert(argument.field).second)
                refuse_usage(fmt::format("--load gives {} twice", argument.field));
            (to_table    ? request_.table_loads
             : to_points ? request_.point_loads
                         : request_.loads)
                .push_back({argument.field, argument.path});
        }
        if (run_ == nullptr) return;
        for (const sema::Load& load : run_->table_loads) {
            if (!given.contains(load.field)) request_.table_loads.push_back({load.field, load.path});
        }
        for (const sema::Load& load : run_->point_loads) {
            if (!given.contains(load.field)) request_.point_loads.push_back({load.field, load.path});
        }
        for (const sema::Load& load : run_->loads) {
            if (!given.contains(load.field)) request_.loads.push_back({load.field, load.path});
        }
    }

    Output& add_trace(Output::Kind kind, const std::string& name, const std::string& path,
                      const sema::Frames& frames) {
        Output output;
        output.kind = kind;
        output.field.name = name;
        output.trace = sampled_trace(name);
        output.path = path;
        output.frames = frames;
        request_.outputs.push_back(std::move(output));
        return request_.outputs.back();
    }
    // False where the argument names no trace.
    bool add_trace(Output::Kind kind, const FileArgument& argument, std::set<std::string>& given,
                   const sema::Frames& frames = {}) {
        if (!sampled_trace(argument.field)) return false;
        if (!argument.parts.empty())
            refuse_usage(
                fmt::format("--save {}: a trace is saved with all its points and steps", argument.field));
        if (argument.axis)
            refuse_usage(
                fmt::format("--plot {}: the picture of a trace shows all points and steps", argument.field));
        given.insert(argument.field);
        add_trace(kind, argument.field, argument.path, frames);
        return true;
    }

    void take_saves() {
        const sema::Frames frames = parse_frames(arguments_.save_every, arguments_.together);
        std::set<std::string> given;
        for (const std::string& text : arguments_.save) {
            FileArgument argument = parse_save_argument(text);
            given.insert(argument.field);
            if (add_trace(Output::Kind::save, argument, given, frames)) continue;
            if (take_column(request_, argument, frames)) continue;
            Output output{Output::Kind::save, field(argument.field), argument.path, {}, frames};
            check_first_frame(program_, output);
            take_part(request_, argument, first_of(program_, output.field), output);
            request_.outputs.push_back(std::move(output));
        }
        if (run_ == nullptr || arguments_.no_files) return;
        take_columns(request_, run_->reduction_saves, given);
        for (const sema::Save& save : run_->trace_saves)
            if (!given.contains(save.field))
                add_trace(Output::Kind::save, save.field, save.path, save.frames);
        for (const sema::Save& save : run_->saves) {
            if (given.contains(save.field)) continue;
            Output output{Output::Kind::save, field(save.field), save.path, {}, save.frames};
            take_part(request_, save, first_of(program_, output.field), output);
            request_.outputs.push_back(std::move(output));
        }
    }

    // Plots or movies.
    void take_pictures(Output::Kind kind, const std::vector<std::string>& asked) {
        const bool is_movie = kind == Output::Kind::movie;
        const std::string option = is_movie ? "--movie" : "--plot";
        std::set<std::string> given;
        for (const std::string& text : asked) {
            if (is_run_line(text)) continue;  // among those of the run block
            const FileArgument argument = parse_picture_argument(text, option, is_movie ? ".mp4" : ".png");
            if (is_movie && sampled_trace(argument.field))
                refuse_usage(
                    fmt::format("--movie {0}: a movie shows a field, and {0} is a trace", argument.field),
                    fmt::format("--plot {}=trace.png shows all its steps", argument.field));
            if (add_trace(kind, argument, given)) continue;
            if (take_curve(request_, argument, option)) {
                given.insert(argument.field);
                continue;
            }
            const FieldSet set = shown(argument.field, option);
            given.insert(argument.field);
            Output output{kind,
                          set,
                          argument.path,
                          picture_cuts(request_, argument, option, first_of(program_, set)),
                          {}};
            if (is_movie) take_usual_frames(output);
            request_.outputs.push_back(std::move(output));
        }
        if (run_ == nullptr) return;
        const std::vector<sema::Plot>& pictures = is_movie ? run_->movies : run_->plots;
        for (const auto* plots : {&pictures, &run_->trace_plots, &run_->reduction_plots})
            for (const sema::Plot& plot : *plots)
                if (plot.is_asked) given.insert(plot.field);
        const auto is_wanted = [&](const sema::Plot& plot) {
            return plot.is_asked || (!arguments_.no_files && !given.contains(plot.field));
        };
        if (!is_movie) {
            for (const sema::Plot& plot : run_->trace_plots)
                if (is_wanted(plot)) add_trace(kind, plot.field, plot.path, plot.frames).look_as(plot);
            for (const sema::Plot& plot : run_->reduction_plots)
                if (is_wanted(plot)) add_curve(request_, plot);
        }
        for (const sema::Plot& plot : pictures) {
            if (!is_wanted(plot)) continue;
            const FieldSet set = field(plot.field);
            Output output{kind, set, plot.path,
                          picture_cuts(request_, plot, first_of(program_, set), console_), plot.frames};
            output.look_as(plot);
            add_layers(program_, plot, output);
            request_.outputs.push_back(std::move(output));
        }
    }

    // Of a movie of the command line: ten seconds, unless --movie-every says otherwise.
    void take_usual_frames(Output& movie) const {
        constexpr std::int64_t kUsualFrames = 10 * sema::kUsualRate;
        movie.fps = sema::kUsualRate;
        movie.frames.every = arguments_.movie_every.value_or(
            std::max<std::int64_t>(1, (request_.steps + kUsualFrames - 1) / kUsualFrames));
        movie.frames.from = movie.frames.every;
    }

    const RunArguments& arguments_;
    const CheckedSpec& spec_;
    const ir::Program& program_;
    const Console& console_;
    const sema::RunSpec* run_;
    RunRequest request_;
};

}  // namespace

void take_coordinates(RunRequest& request, const ir::Program& program) {
    const std::vector<double> params = param_values(program, request);
    for (std::size_t i = 0; i < params.size(); ++i)
        if (program.params[i].name == "dt") {
            request.time_step = params[i];
            request.time_unit = program.params[i].unit;
        }
    for (std::size_t axis = 0; axis < program.axes.size(); ++axis) {
        const ir::Axis& declared = program.axes[axis];
        request.axis_units[axis] = declared.unit;
        request.spacing[axis] =
            rt::evaluate(lower::host_scalar(program, declared.spacing), params, request.extent);
        request.origin[axis] =
            rt::evaluate(lower::host_scalar(program, declared.origin), params, request.extent);
    }
    for (const ir::StretchedAxis& stretched : program.stretched) {
        const auto axis = static_cast<std::size_t>(stretched.axis);
        request.is_stretched[axis] = true;
        request.origin[axis] = 0;
        request.axis_units[axis].clear();
    }
}

std::vector<std::string> watched_reductions(const CheckedSpec& spec, const ir::Program& program) {
    const sema::RunSpec* run = spec.analysis.find_run(program.name);
    if (run == nullptr || !run->until) return {};
    const rt::HostScalar until = lower::host_scalar(run->until->host, run->until->condition);
    std::vector<std::string> names;
    auto index = static_cast<int>(program.params.size());
    for (const ir::Statement& statement : program.statements) {
        const auto* reduce = std::get_if<ir::Reduce>(&statement);
        if (reduce == nullptr) continue;
        const bool is_read = std::ranges::any_of(until.steps, [&](const rt::HostScalar::Step& step) {
            return step.op == rt::HostScalar::Op::param && step.index == index;
        });
        if (is_read) names.push_back(reduce->name);
        ++index;
    }
    return names;
}

RunRequest make_request(const RunArguments& arguments, const CheckedSpec& spec,
                        const sema::AnalyzedStencil& stencil, const Console& console) {
    return RequestMaker(arguments, spec, stencil, console).make();
}

}  // namespace halo::driver
