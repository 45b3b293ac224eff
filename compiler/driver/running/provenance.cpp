#include "compiler/driver/running/provenance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "compiler/driver/console/arguments.h"
#include "compiler/driver/console/commit.h"
#include "compiler/driver/console/exit_code.h"
#include "compiler/driver/running/checkpoint_files.h"
#include "compiler/driver/running/params.h"
#include "compiler/driver/running/saved_frames.h"
#include "compiler/support/file_kinds.h"
#include "runtime/hdf5/contents.h"
#include "runtime/hdf5/hdf5.h"

namespace halo::driver {

namespace {

using rt::json::Value;

// JSON has no number that is not finite.
Value number_json(double value) {
    return std::isfinite(value) ? Value(value) : Value(fmt::format("{}", value));
}

template <class List>
Value by_axis(const List& list, int rank) {
    Value all = Value::list({});
    for (int axis = 0; axis < rank; ++axis)
        all.push_back(list[static_cast<std::size_t>(axis)]);
    return all;
}

Value params_json(const ir::Program& program, const RunRequest& request) {
    Value all = Value::object();
    const std::vector<double> values = param_values(program, request);
    for (std::size_t i = 0; i < values.size(); ++i)
        all[program.params[i].name] = number_json(values[i]);
    return all;
}

Value coefs_json(const RunRequest& request) {
    Value all = Value::object();
    for (const auto& [name, values] : request.coefs) {
        Value list = Value::list({});
        for (const double value : values)
            list.push_back(number_json(value));
        all[name] = list;
    }
    return all;
}

Value spec_json(const CheckedSpec& spec) {
    Value modules = Value::list({});
    for (const auto& [name, text] : spec.module_texts)
        modules.push_back(Value::object({{"name", name}, {"text", text}}));
    return Value::object({{"name", spec.source.name()},
                          {"text", spec.text},
                          {"modules", modules},
                          {"folders", spec.modules.search}});
}

// Takes the arguments that decide what a run computes to JSON and from it, those alone that were given.
class ArgumentsJson {
public:
    explicit ArgumentsJson(Value& json, bool reads) : json_(json), reads_(reads) {}

    void take(RunArguments& arguments) {
        member("run", arguments.run_name);
        member("devices", arguments.devices);
        member("exchange", arguments.exchange.interval);
        member("exchange_scheme", arguments.exchange.scheme);
        member("grid", arguments.grid);
        member("steps", arguments.steps);
        member("set", arguments.set);
        member("init", arguments.init);
        member("load", arguments.load);
        member("until", arguments.until);
        member("schedule", arguments.schedule);
        member("strict_fp", arguments.strict_fp);
        member("no_tuned", arguments.no_tuned);
        member("cuda", arguments.cuda);
        member("tolerance_ulps", arguments.tolerance_ulps);
    }

private:
    template <class Type>
    void member(const char* name, Type& value) {
        if (reads_) {
            if (const Value* const found = json_.find(name)) found->read(value);
        } else if (value != Type{}) {
            json_[name] = value;
        }
    }
    template <class Number>
    void member(const char* name, std::optional<Number>& value) {
        if (reads_) {
            if (const Value* const found = json_.find(name)) value = found->template get<Number>();
        } else if (value) {
            json_[name] = *value;
        }
    }

    Value& json_;
    bool reads_;
};

Value inputs_json(rt::Ranks& ranks, const RunArguments& arguments, const RunRequest& request) {
    Value all = Value::list({});
    const auto add = [&](const std::string& name, const std::string& path) {
        const std::string file = parse_array_name(path).file;
        all.push_back(Value::object({{"name", name}, {"path", file}, {"sha256", file_digest(ranks, file)}}));
    };
    for (const auto* loads : {&request.loads, &request.table_loads, &request.point_loads})
        for (const Load& load : *loads)
            add(load.field, load.path);
    if (!arguments.cuda.empty()) add("--cuda", arguments.cuda);
    return all;
}

// What of a field an output has, as --save says it.
std::string save_words(const RunRequest& request, const Output& output) {
    std::string words = output.field.name;
    for (std::size_t axis = 0; output.part && axis < request.axes.size(); ++axis) {
        if (!output.grid.along[axis]) continue;  // the field does not lie over it
        const std::int64_t begin = output.part->begin[axis], count = output.part->count[axis],
                           stride = output.part->stride[axis];
        if (output.dropped[axis])
            words += fmt::format("@{}={}", request.axes[axis], begin);
        else if (count != request.extent[axis])
            words +=
                fmt::format("@{}={}..{}:{}", request.axes[axis], begin, begin + (count - 1) * stride, stride);
    }
    return words;
}

// "cuda:0", "cpu", "interpreter"; of several devices "4 x cpu" → what --device says for one like it.
std::string device_like(const std::string& kind) {
    const std::size_t times = kind.find(" x ");
    const std::string first = times == std::string::npos ? kind : kind.substr(times + 3);
    return first.substr(0, first.find_first_of(":+"));
}

bool writes_hdf5(const RunRequest& request) {
    return std::ranges::any_of(request.outputs, [](const Output& output) { return needs_hdf5(output.path); });
}

[[noreturn]] void refuse_provenance(const std::string& path, const std::string& why,
                                    const std::string& hint = {}) {
    throw CommandError(ExitCode::file, fmt::format("{} {}", path, why), hint);
}

// Of a file with frames: the step of the last.
std::int64_t last_step_of(const rt::Hdf5Contents& contents) {
    for (const rt::Hdf5Array& array : contents.arrays()) {
        if (array.name != "step" || array.shape.size() != 1 || array.shape[0] < 1 ||
            array.type != rt::ElementType::i64)
            continue;
        std::int64_t step = 0;
        contents.read(array, array.shape[0] - 1, 1, &step);
        return step;
    }
    throw rt::json::Mistake("it has no list of steps");
}

ReadProvenance taken_apart(const Value& json, const rt::Hdf5Contents& contents) {
    ReadProvenance read;
    read.all = json;
    read.version = json.at("haloc").at("version").text();
    read.commit = json.at("haloc").at("commit").text();
    Value arguments = json.at("arguments");
    ArgumentsJson(arguments, true).take(read.arguments);
    SpecTexts texts;
    const Value& spec = json.at("spec");
    texts.name = spec.at("name").text();
    texts.text = spec.at("text").text();
    for (const Value& module : spec.at("modules").items())
        texts.modules[module.at("name").text()] = module.at("text").text();
    spec.at("folders").read(texts.folders);
    read.arguments.file = texts.name;
    read.arguments.texts = std::make_shared<const SpecTexts>(std::move(texts));
    read.arguments.device = device_like(json.at("engine").at("device").text());
    read.arguments.no_files = true;
    read.arguments.no_background = true;
    read.arguments.no_watch = true;  // what the run wrote may be no longer finite
    for (const Value& input : json.at("inputs").items())
        read.inputs.push_back({input.at("name"), input.at("path"), input.at("sha256")});
    static_cast<void>(changes_by_hand(read));  // throws where it is not as a run writes it
    const Value& file = json.at("file");
    if (const Value* const every = file.find("every")) {
        read.arguments.save_every = every->text();
        read.arguments.together = true;
        read.step = last_step_of(contents);
    } else if (const Value* const rows = file.find("rows")) {
        read.arguments.save_every = rows->text();
        read.step = last_step_of(contents);
    } else {
        file.at("step").read(read.step);
    }
    file.at("saves").read(read.saves);
    if (const Value* const ending = file.find("ending")) {
        read.ending = ending->text();
        const FileKind* const kind = kind_of_file("again" + read.ending);
        if (kind == nullptr || kind->ending != read.ending || !kind->needs_hdf5())
            throw rt::json::Mistake("an ending that no such file has");
    }
    if (read.step < 0 || read.saves.empty()) throw rt::json::Mistake("no step, or no fields");
    read.arguments.stop_after = read.step;
    return read;
}

}  // namespace

Provenance::Provenance(rt::Ranks& ranks, const RunArguments& arguments, const CheckedSpec& spec,
                       const ir::Program& program, const RunRequest& request, const Machine& machine,
                       const LoadTimings& loaded) {
    if (!writes_hdf5(request)) return;
    Value asked = Value::object();
    if (!arguments.restart.empty())
        asked["restart"] = arguments.restart;  // a repeated run begins at the beginning
    RunArguments given = arguments;
    ArgumentsJson(asked, false).take(given);
    const int rank = request.rank();
    run_ = Value::object({{"haloc", Value::object({{"version", HALO_VERSION}, {"commit", commit()}})},
                          {"stencil", request.name},
                          {"axes", request.axes},
                          {"grid", by_axis(request.extent, rank)},
                          {"spacing", by_axis(request.spacing, rank)},
                          {"origin", by_axis(request.origin, rank)},
                          {"params", params_json(program, request)},
                          {"coefs", coefs_json(request)},
                          {"seed", program.noise_seed},
                          {"steps", request.steps},
                          {"until", request.until_words},
                          {"engine", Value::object({{"device", machine.kind()},
                                                    {"description", machine.description()},
                                                    {"schedules", loaded.schedules}})},
                          {"arguments", asked},
                          {"inputs", inputs_json(ranks, arguments, request)},
                          {"spec", spec_json(spec)}});
}

std::string Provenance::with(Value file, const RunRequest& request,
                             const std::vector<const Output*>& outputs) const {
    const FileKind* const kind = kind_of_file(outputs.front()->path);
    if (kind != nullptr && kind->format != FileFormat::hdf5) file["ending"] = std::string(kind->ending);
    for (const Output* output : outputs)
        file["saves"].push_back(save_words(request, *output));
    Value all = run_;
    for (const ParamChange& change : request.changes)
        all["changed_by_hand"].push_back(Value::object({{"param", change.param},
                                                        {"value", number_json(change.value)},
                                                        {"after_step", change.after_step}}));
    all["file"] = std::move(file);
    return all.dump(1) + '\n';
}

std::string Provenance::of_file(const RunRequest& request, const std::vector<const Output*>& outputs,
                                std::int64_t done) const {
    return with(Value::object({{"step", done}, {"time", number_json(request.time_after(done))}}), request,
                outputs);
}

std::string Provenance::of_rows(const RunRequest& request, const std::vector<const Output*>& columns) const {
    const sema::Frames& frames = columns.front()->frames;
    return with(Value::object({{"rows", frames.every > 0 ? frames_words(frames) : ""}}), request, columns);
}

std::string Provenance::of_frames(const RunRequest& request,
                                  const std::vector<const Output*>& outputs) const {
    return with(Value::object({{"every", frames_words(outputs.front()->frames)}}), request, outputs);
}

ReadProvenance read_provenance(const std::string& path) {
    const rt::Hdf5Contents contents(path);
    const std::optional<std::string> text = contents.text(rt::kProvenance);
    if (!text)
        refuse_provenance(
            path, "does not say which run wrote it",
            "HDF5 files that haloc run writes say so; .npy files and those of other programs do not");
    try {
        return taken_apart(Value::parse(*text), contents);
    } catch (const rt::json::Mistake& mistake) {
        refuse_provenance(
            path, fmt::format("is damaged: what it says of its run cannot be read ({})", mistake.what()));
    }
}

std::string changes_by_hand(const ReadProvenance& read) {
    const Value* const changes = read.all.find("changed_by_hand");
    if (changes == nullptr) return "";
    std::vector<std::string> words;
    for (const Value& change : changes->items())
        words.push_back(fmt::format("{} = {} after step {}", change.at("param").text(),
                                    change.at("value").dump(), change.at("after_step").dump()));
    return join(words, ", ");
}

const char* haloc_version() {
    return HALO_VERSION;
}

}  // namespace halo::driver
