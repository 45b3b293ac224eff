#include "compiler/driver/live/live_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/console/interrupt.h"
#include "compiler/driver/live/page.h"
#include "compiler/driver/running/field_files.h"
#include "compiler/driver/running/params.h"
#include "compiler/driver/running/picture_cut.h"
#include "compiler/driver/running/pictures.h"

namespace halo::driver::live {

namespace {

using rt::json::Value;
using namespace std::chrono_literals;

constexpr auto kPatience = 20s;  // for a step to end
constexpr auto kPicture = 50ms;  // from one picture to the next, where steps are to be seen one by one
constexpr std::int64_t kPictures = 200;  // of a run whose steps are known: ten seconds at least
constexpr auto kIdle = 100ms;            // between looks at Ctrl-C
constexpr auto kFarewell = 2s;           // for a page to see the end of a run
constexpr std::size_t kMostProbes = 8;

// The run cannot answer now, or no longer.
class Unanswered : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

HttpResponse json_response(const std::string& text) {
    return {200, "application/json", text};
}

const char* word(Pace::State state) {
    switch (state) {
        case Pace::State::awaiting:
            return "awaiting";
        case Pace::State::running:
            return "running";
        case Pace::State::paused:
            return "paused";
        case Pace::State::finished:
            break;
    }
    return "finished";
}

Value points_json(const History& history) {
    Value steps = Value::list({}), values = Value::list({});
    for (const History::Point& point : history.points()) {
        steps.push_back(point.step);
        values.push_back(number_or_null(point.value));
    }
    return Value::object({{"steps", std::move(steps)}, {"values", std::move(values)}});
}

// The first plot of a field in the run block, or movie.
const sema::Plot* plot_of(const sema::RunSpec* run, const std::string& field) {
    if (run == nullptr) return nullptr;
    for (const auto* plots : {&run->plots, &run->movies})
        for (const sema::Plot& plot : *plots)
            if (plot.field == field) return &plot;
    return nullptr;
}

Output first_view(const RunRequest& request, const ir::Program& program, const sema::RunSpec* run,
                  const ir::Field& field, const Console& console) {
    Output output = shown_field(program, field.name);
    const sema::Plot* const plot = plot_of(run, field.name);
    output.cuts = plot != nullptr ? picture_cuts(request, *plot, field, console)
                                  : picture_cuts(request, FileArgument{}, "", field);
    if (plot != nullptr) output.look_as(*plot);
    output.logarithmic = false;  // the page has even scales alone
    return output;
}

std::int64_t step_count_of(const Value& asked) {
    const auto count = asked.at("steps").get<std::int64_t>();
    if (count < 1) refuse_usage("a number of steps is 1 or more");
    return count;
}

}  // namespace

LiveRun::LiveRun(const LiveArguments& arguments, RunRequest& request, const ir::Program& program,
                 const sema::RunSpec* run, const std::string& device, std::string params_are_fixed,
                 Remarks remarks, rt::Ranks& ranks, const Console& console)
    : stays_(arguments.stays),
      request_(request),
      program_(program),
      params_are_fixed_(std::move(params_are_fixed)),
      remarks_(std::move(remarks)),
      ranks_(ranks),
      pace_(arguments.paused  ? Pace::State::paused
            : arguments.stays ? Pace::State::awaiting
                              : Pace::State::running) {
    // Who looks at a run sees all of it go by, also where it would be over in a moment.
    if (stays_ && !request.is_endless())
        pace_.show_each(std::max<std::int64_t>(1, (request.last_step() + kPictures - 1) / kPictures));
    // A run that draws the plots has said of them what there is to say.
    Console of_plots = console;
    of_plots.set_silent(console.silent() || !stays_);
    for (const ir::Field& field : program.fields)
        if (field.role != ir::Role::intermediate && !ir::is_hidden(program, field))
            outputs_.emplace(field.name, first_view(request, program, run, field, of_plots));
    facts_ = facts(run, device).dump();
    server_ = std::make_unique<HttpServer>(arguments.port.value_or(0),
                                           [this](HttpRequest& asked) { return answer(asked); });
}

LiveRun::~LiveRun() {
    mailbox_.close();
    server_.reset();
}

std::string LiveRun::url() const {
    return fmt::format("http://127.0.0.1:{}/{}/", server_->port(), access_.token());
}

// ---- in threads of the server

HttpResponse LiveRun::answer(HttpRequest& request) {
    if (std::optional<HttpResponse> refusal = access_.refuse(request)) return *refusal;
    const auto refused = [](int status, const std::string& why) {
        return HttpResponse{status, "text/plain; charset=utf-8", why + "\n"};
    };
    try {
        return request.method == "POST" ? change(request) : show(request);
    } catch (const CommandError& error) {
        return refused(400, error.what() + (error.hint().empty() ? "" : ": " + error.hint()));
    } catch (const rt::json::Mistake& mistake) {
        return refused(400, mistake.what());
    } catch (const Unanswered& unanswered) {
        return refused(503, unanswered.what());
    }
}

HttpResponse LiveRun::show(const HttpRequest& request) {
    if (request.path.empty() || request.path == "/") return {200, "text/html; charset=utf-8", page_text()};
    if (request.path == "/facts") return json_response(facts_);
    if (request.path == "/frame")
        return {200, "application/octet-stream", frame_bytes(snapshot(request.query))};
    if (request.path == "/picture.png") return {200, "image/png", png_bytes(snapshot(request.query))};
    if (request.path == "/curves") {
        std::string text;
        in_run([&] { text = curves().dump(); });
        return json_response(text);
    }
    return {404, "text/plain; charset=utf-8", "there is nothing at this address\n"};
}

HttpResponse LiveRun::change(const HttpRequest& request) {
    const std::string& what = request.path;
    const Value asked = request.body.empty() ? Value::object() : Value::parse(request.body);
    Mailbox::Task task;
    if (what == "/pause") {
        task = [&] { pace_.pause(); };
    } else if (what == "/resume") {
        task = [&] { pace_.resume(); };
    } else if (what == "/step") {
        task = [&, count = step_count_of(asked)] { pace_.step(count); };
    } else if (what == "/pace") {
        std::optional<std::int64_t> steps;
        if (asked.contains("steps")) steps = step_count_of(asked);
        task = [&, steps] { pace_.show_each(steps); };
    } else if (what == "/param") {
        task = [&] { change_param(asked.at("name").text(), asked.at("value").text()); };
    } else if (what == "/probe") {
        task = [&] { add_probe(asked); };
    } else if (what == "/forget") {
        task = [&] {
            std::erase_if(probes_, [&](const Probe& probe) {
                return asked.at("probe").get<std::int64_t>() == probe.number;
            });
        };
    } else {
        return {404, "text/plain; charset=utf-8", "there is nothing to change at this address\n"};
    }
    std::string now;
    in_run([&] {
        task();
        now = state().dump();
    });
    return json_response(now);
}

Snapshot LiveRun::snapshot(const std::map<std::string, std::string>& query) {
    const AskedView asked = read_view(query);
    Snapshot taken;
    in_run([&] { taken = take(asked); });
    return taken;
}

void LiveRun::in_run(const Mailbox::Task& task) {
    switch (mailbox_.ask(task, kPatience)) {
        case Mailbox::Answer::done:
            return;
        case Mailbox::Answer::late:
            throw Unanswered("the run is still in a step; ask again");
        case Mailbox::Answer::over:
            throw Unanswered("the run is over");
    }
}

// ---- in the run's thread

std::int64_t LiveRun::look(Engine& engine, std::int64_t steps, double seconds) {
    note(engine, steps, seconds);
    const Clock::time_point next = last_look_ + kPicture;
    while (!InterruptGuard::requested()) {
        mailbox_.serve();
        const Clock::time_point now = Clock::now();
        const bool is_early = pace_.steps_a_picture() && now < next;
        if (pace_.allowed() > 0 && !is_early) {
            last_look_ = now;
            return pace_.allowed();
        }
        mailbox_.wait(is_early ? std::chrono::ceil<std::chrono::milliseconds>(next - now) : kIdle);
    }
    return 0;
}

void LiveRun::end(Engine& engine, std::int64_t steps, double seconds, const std::string& how) {
    note(engine, steps, seconds);
    pace_.finish();
    how_ = how;
    const Clock::time_point now = Clock::now();
    const Clock::time_point last = now - last_asked_ < kFarewell ? now + kFarewell : now;
    while (!InterruptGuard::requested() && (stays_ || (!end_is_seen_ && Clock::now() < last))) {
        mailbox_.serve();
        mailbox_.wait(kIdle);
    }
    mailbox_.close();
}

void LiveRun::note(Engine& engine, std::int64_t steps, double seconds) {
    engine_ = &engine;
    if (first_steps_ < 0) first_steps_ = rate_steps_ = steps;
    pace_.did(steps - std::max(steps_, first_steps_));
    steps_ = steps;
    if (seconds - rate_seconds_ > 0.25 || rate_ == 0) {
        const double cells = static_cast<double>(cell_count(request_.extent));
        if (seconds > rate_seconds_)
            rate_ = cells * static_cast<double>(steps - rate_steps_) / (seconds - rate_seconds_);
        rate_steps_ = steps;
        rate_seconds_ = seconds;
    }
    if (steps > first_steps_)
        for (const std::string& name : request_.reductions)
            reductions_[name].add(steps, engine.reduction(name));
    for (Probe& probe : probes_)
        sample(probe);
}

void LiveRun::sample(Probe& probe) {
    rt::Box cell = rt::box_of_field(output_of(probe.field).grid, rt::whole_box(request_.extent));
    for (std::size_t axis = 0; axis < rt::kMaxRank; ++axis) {
        cell.begin[axis] = probe.cell[axis];
        cell.end[axis] = probe.cell[axis] + 1;
    }
    probe.values.add(steps_, gather_cells(ranks_, *engine_, probe.field, cell).at(0));
}

Snapshot LiveRun::take(const AskedView& asked) {
    pace_.page_came();
    last_asked_ = Clock::now();
    if (pace_.state() == Pace::State::finished) end_is_seen_ = true;
    Snapshot taken;
    taken.output = output_of(asked.place.field);
    if (asked.place.axis) {
        const auto field = std::ranges::find(program_.fields, asked.place.field, &ir::Field::name);
        taken.output.cuts = picture_cuts(request_, asked.place, "the page shows", *field);
    }
    taken.output.range = asked.range;
    taken.map = asked.map;
    taken.request = request_;
    taken.steps = steps_;
    taken.values = gather_cells(ranks_, *engine_, asked.place.field, plane_of(request_, taken.output));
    taken.state = state();
    return taken;
}

Value LiveRun::state() const {
    Value params = Value::object();
    const std::vector<double> values = param_values(program_, request_);
    for (std::size_t i = 0; i < values.size(); ++i)
        params[program_.params[i].name] = number_or_null(values[i]);
    Value reductions = Value::object();
    if (steps_ > first_steps_)
        for (const std::string& name : request_.reductions)
            reductions[name] = number_or_null(engine_->reduction(name));
    Value state = Value::object({{"step", steps_},
                                 {"time", number_or_null(request_.time_after(steps_))},
                                 {"state", word(pace_.state())},
                                 {"how", how_},
                                 {"remark", remark_},
                                 {"cells_per_s", number_or_null(rate_)},
                                 {"params", std::move(params)},
                                 {"changes", static_cast<std::int64_t>(request_.changes.size())},
                                 {"reductions", std::move(reductions)}});
    if (pace_.steps_a_picture()) state["pace"] = *pace_.steps_a_picture();
    return state;
}

Value LiveRun::curves() const {
    Value reductions = Value::object();
    for (const auto& [name, history] : reductions_)
        reductions[name] = points_json(history);
    Value probes = Value::list({});
    for (const Probe& probe : probes_) {
        Value points = points_json(probe.values);
        points["probe"] = probe.number;
        points["field"] = probe.field;
        Value& cell = points["cell"] = Value::object();
        for (int axis = 0; axis < request_.rank(); ++axis)
            if (output_of(probe.field).grid.has(axis))
                cell[request_.axes[static_cast<std::size_t>(axis)]] =
                    probe.cell[static_cast<std::size_t>(axis)];
        probes.push_back(std::move(points));
    }
    return Value::object({{"reductions", std::move(reductions)}, {"probes", std::move(probes)}});
}

void LiveRun::change_param(const std::string& name, const std::string& text) {
    if (!params_are_fixed_.empty()) refuse_usage(params_are_fixed_);
    if (pace_.state() == Pace::State::finished) refuse_usage("the run has ended: no step would see it");
    std::vector<std::string> names;
    for (const ir::Param& param : program_.params)
        names.push_back(param.name);
    const auto param = std::ranges::find(program_.params, name, &ir::Param::name);
    if (param == program_.params.end()) throw_unknown(request_.name, "param", name, names);
    const double value = param_value(*param, text, name);
    const auto index = static_cast<std::size_t>(param - program_.params.begin());
    if (value == param_values(program_, request_)[index]) return;
    engine_->set_param(name, value);
    set_param(request_, name, value);
    take_coordinates(request_, program_);
    request_.changes.push_back({name, value, steps_});
    remark_ = remarks_(*engine_);
}

void LiveRun::add_probe(const Value& asked) {
    Probe probe;
    probe.field = asked.at("field").text();
    const rt::FieldGrid& grid = output_of(probe.field).grid;
    for (int axis = 0; axis < request_.rank(); ++axis) {
        if (!grid.has(axis)) continue;
        const auto a = static_cast<std::size_t>(axis);
        probe.cell[a] = asked.at("cell").at(request_.axes[a]).get<std::int64_t>();
        const std::int64_t cells = grid.extent(request_.extent)[a];
        if (probe.cell[a] < 0 || probe.cell[a] >= cells)
            refuse_usage(fmt::format("the grid has {} cells along {}, numbered from 0 to {}", cells,
                                     request_.axes[a], cells - 1));
    }
    if (probes_.size() == kMostProbes)
        refuse_usage(fmt::format("there are {} probes already", kMostProbes), "take one of them away");
    probe.number = ++probes_made_;
    sample(probe);
    probes_.push_back(std::move(probe));
}

const Output& LiveRun::output_of(const std::string& field) const {
    const auto found = outputs_.find(field);
    if (found != outputs_.end()) return found->second;
    std::vector<std::string> names;
    for (const auto& [name, output] : outputs_)
        names.push_back(name);
    throw_unknown(request_.name, "field", field, names);
}

// What does not change while it runs.
Value LiveRun::facts(const sema::RunSpec* run, const std::string& device) const {
    Value fields = Value::list({});
    for (const ir::Field& field : program_.fields) {
        const auto found = outputs_.find(field.name);
        if (found == outputs_.end()) continue;
        const Output& output = found->second;
        Value axes = Value::list({});
        for (int axis = 0; axis < request_.rank(); ++axis)
            if (output.grid.has(axis)) axes.push_back(request_.axes[static_cast<std::size_t>(axis)]);
        Value entry = Value::object({{"name", field.name},
                                     {"axes", std::move(axes)},
                                     {"is_drawn", plot_of(run, field.name) != nullptr},
                                     {"is_state", field.role == ir::Role::state}});
        if (!output.cuts.empty()) {
            const Cut& cut = output.cuts.front();
            entry["cut"] = Value::object(
                {{"axis", request_.axes[static_cast<std::size_t>(cut.axis)]}, {"index", cut.index}});
        }
        if (output.range) entry["range"] = Value::list({output.range->first, output.range->second});
        fields.push_back(std::move(entry));
    }
    Value params = Value::list({});
    for (const ir::Param& param : program_.params)
        params.push_back(Value::object({{"name", param.name}, {"is_integer", param.is_integer()}}));
    Value extent = Value::object();
    for (int axis = 0; axis < request_.rank(); ++axis)
        extent[request_.axes[static_cast<std::size_t>(axis)]] =
            request_.extent[static_cast<std::size_t>(axis)];
    Value facts = Value::object({{"name", request_.name},
                                 {"device", device},
                                 {"extent", std::move(extent)},
                                 {"until", request_.until_words},
                                 {"has_time", request_.time_step.has_value()},
                                 {"fields", std::move(fields)},
                                 {"params", std::move(params)},
                                 {"params_are_fixed", params_are_fixed_},
                                 {"reductions", request_.reductions}});
    if (!request_.is_endless()) facts["steps"] = request_.last_step();
    return facts;
}

}  // namespace halo::driver::live
