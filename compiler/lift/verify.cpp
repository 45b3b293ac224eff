#include "compiler/lift/verify.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <random>

#include "compiler/ir/interpreter.h"
#include "compiler/lift/form_origins.h"
#include "compiler/lift/memory.h"
#include "compiler/lift/stand_ins.h"
#include "compiler/lift/verify_sizes.h"
#include "compiler/sema/sema.h"
#include "compiler/support/error.h"
#include "compiler/syntax/parser.h"

namespace halo::lift {

namespace {

using c::Number;

constexpr int kSizes = 5, kMostSizes = 200;

// Beside each sum, that of the absolute values.
ir::Program program_of(const Lifted& lifted) {
    std::string body = lifted.spec.body;
    for (const ReductionName& each : lifted.spec.reductions) {
        const std::size_t at = body.find(each.line);
        if (at == std::string::npos) throw InternalError("a lifted spec has lost a reduction");
        body.insert(at + each.line.size(), each.magnitude);
    }
    SourceFile source("lifted.halo", body);
    DiagnosticSink sink;
    const syntax::File tree = syntax::parse(source, sink);
    sema::Analysis analysis = sema::analyze(tree, sink);
    if (sink.has_errors() || analysis.stencils.empty()) throw InternalError("a lifted spec has mistakes");
    return analysis.stencils.front().program;
}

struct CallOutcome {
    double ulps = 0;
    double sum_ulps = 0, allowed_ulps = 0;
    bool passed = true;
    std::int64_t differing = 0, cells = 0;
    std::string worst;
};

class Trial {
public:
    Trial(const Lifted& lifted, const Harness& harness, const ir::Program& program, const Runnable& function,
          unsigned seed, const std::vector<std::int64_t>& symbols)
        : lifted_(lifted),
          model_(lifted.model),
          form_(lifted.form),
          harness_(harness),
          program_(program),
          function_(function),
          random_(seed),
          wide_(seed % 2 == 1),
          symbols_(symbols),
          memory_(std::size_t{1} << 30) {}

    CallOutcome run() {
        for (const Polynomial& each : form_.grid)
            grid_.push_back(number(each));
        choose_scalars();
        make_arrays();
        fill();
        call();
        return compare();
    }

private:
    std::int64_t number(const Polynomial& poly) const {
        return poly.evaluate([this](int symbol) { return symbols_[static_cast<std::size_t>(symbol)]; });
    }
    const Field& field(int id) const { return form_.fields[static_cast<std::size_t>(id)]; }
    // The array that a field is in memory, at first.
    int array_of(int id) const {
        const Object& object = model_.object(field(id).object);
        return object.role_of >= 0 ? object.role_of : field(id).object;
    }
    std::int64_t steps() const {
        if (model_.time_loop < 0) return 1;
        const Loop& time = model_.loop(model_.time_loop);
        return std::max<std::int64_t>(0, number(time.upper) - number(time.lower));
    }

    double draw() {
        return wide_ ? std::uniform_real_distribution<double>(-1.5, 1.5)(random_)
                     : std::uniform_real_distribution<double>(0.5, 1.5)(random_);
    }
    double draw(Number type) {
        if (c::is_real(type)) return type == Number::f32 ? static_cast<float>(draw()) : draw();
        if (type == Number::boolean) return static_cast<double>(random_() % 2);
        return static_cast<double>(random_() % 4);
    }

    void choose_scalars() {
        for (const Scalar& each : model_.scalars) {
            double value = std::uniform_real_distribution<double>(0.1, 0.9)(random_);
            if (each.number == Number::f32) value = static_cast<float>(value);
            if (each.symbol >= 0)
                value = static_cast<double>(symbols_[static_cast<std::size_t>(each.symbol)]);
            scalars_.push_back(value);
        }
    }

    // The most elements or pointers that each level of an array needs.
    void make_arrays() {
        std::map<int, std::vector<std::int64_t>> sizes;
        for (std::size_t i = 0; i < form_.fields.size(); ++i) {
            const Field& each = form_.fields[i];
            std::vector<std::int64_t>& size = sizes[array_of(static_cast<int>(i))];
            std::vector<std::int64_t> last(
                static_cast<std::size_t>(*std::max_element(each.level.begin(), each.level.end())) + 1);
            for (std::size_t a = 0; a < each.stride.size(); ++a)
                last[static_cast<std::size_t>(each.level[a])] +=
                    (number(each.extents[a]) - 1) * number(each.stride[a]);
            if (each.modulus)
                last[static_cast<std::size_t>(each.phase_level)] +=
                    (*each.modulus - 1) * number(each.phase_stride);
            last.front() += ahead(each);
            size.resize(std::max(size.size(), last.size()));
            for (std::size_t l = 0; l < last.size(); ++l)
                size[l] = std::max(size[l], last[l] + 1);
        }
        for (const Scalar& each : model_.scalars) {
            if (!each.element) continue;
            for (std::size_t i = 0; i < model_.objects.size(); ++i) {
                if (model_.objects[i].variable != each.variable || model_.objects[i].role_of >= 0) continue;
                std::vector<std::int64_t>& size = sizes[static_cast<int>(i)];
                size.resize(1);
                size[0] = std::max(size[0], *each.element + 1);
            }
        }
        for (const auto& [object, size] : sizes)
            arrays_.emplace(object, Blocks(memory_, model_.object(object).number, size));
    }

    // Elements that the array has before the first cell of the grid, where it begins earlier.
    std::int64_t ahead(const Field& of) const { return std::max<std::int64_t>(0, number(first_element(of))); }
    // Where a function that goes below its pointer finds the array.
    void* pointer_to(int object, const Blocks& blocks) const {
        std::int64_t before = 0;
        for (const Field& each : form_.fields)
            if (each.object == object) before = std::max(before, -number(first_element(each)));
        return static_cast<char*>(blocks.top()) +
               before * static_cast<std::int64_t>(bytes_of(model_.object(object).number));
    }
    std::vector<std::int64_t> offsets(const Field& of, const std::vector<std::int64_t>& cell,
                                      int phase) const {
        std::vector<std::int64_t> result(
            static_cast<std::size_t>(*std::max_element(of.level.begin(), of.level.end())) + 1);
        for (std::size_t a = 0; a < cell.size(); ++a)
            result[static_cast<std::size_t>(of.level[a])] += cell[a] * number(of.stride[a]);
        if (of.modulus) result[static_cast<std::size_t>(of.phase_level)] += phase * number(of.phase_stride);
        result.front() += ahead(of);
        return result;
    }
    // Of a[t % 2], which of them a field is before the first step.
    int first_phase(const Field& of) const {
        if (!of.modulus) return 0;
        const std::int64_t start = number(model_.loop(model_.time_loop).lower);
        return static_cast<int>(((start + *of.phase) % *of.modulus + *of.modulus) % *of.modulus);
    }

    template <class Function>
    void for_cells(const Field& of, Function&& visit) const {
        std::vector<std::int64_t> cell(grid_.size()), extent;
        for (const Polynomial& each : of.extents)
            extent.push_back(number(each));
        extent.resize(3, 1);
        for (std::int64_t z = 0; z < extent[2]; ++z) {
            for (std::int64_t y = 0; y < extent[1]; ++y) {
                for (std::int64_t x = 0; x < extent[0]; ++x) {
                    const std::int64_t all[3] = {x, y, z};
                    for (std::size_t a = 0; a < cell.size(); ++a)
                        cell[a] = all[a];
                    visit(cell, at(of, cell));
                }
            }
        }
    }
    std::size_t at(const Field& of, const std::vector<std::int64_t>& cell) const {
        std::size_t index = 0, stride = 1;
        for (std::size_t a = 0; a < cell.size(); ++a) {
            if (!of.lies_along(a)) continue;
            index += static_cast<std::size_t>(cell[a]) * stride;
            stride *= static_cast<std::size_t>(grid_[a]);
        }
        return index;
    }

    void fill() {
        rt::Extent extent{};
        std::copy(grid_.begin(), grid_.end(), extent.begin());
        interpreter_.emplace(program_, extent, ir::Arithmetic::declared);
        for (const auto& [id, name] : lifted_.spec.params)
            interpreter_->set_param(name, scalars_[static_cast<std::size_t>(id)]);
        for (std::size_t i = 0; i < form_.fields.size(); ++i) {
            const Field& of = form_.fields[i];
            const Number type = model_.object(of.object).number;
            // With --equal-rims the rotating arrays begin alike.
            const bool is_copy = lifted_.equal_rims && of.after_step != static_cast<int>(i);
            for_cells(of, [&](const std::vector<std::int64_t>& cell, std::size_t index) {
                double value = draw(type);
                if (is_copy) value = 0.5 + static_cast<double>(index * 2654435761U % 65536U) / 65536;
                write_number(arrays_.at(array_of(static_cast<int>(i))).at(offsets(of, cell, first_phase(of))),
                             type, value);
                for (const auto* names : {&lifted_.spec.fields, &lifted_.spec.before})
                    if (const auto name = names->find(static_cast<int>(i)); name != names->end())
                        interpreter_->field(name->second)[index] = program_value(value, type);
            });
        }
        for (std::size_t k = 0; k < model_.scalars.size(); ++k) {
            const Scalar& each = model_.scalars[k];
            if (!each.element) continue;
            for (auto& [object, blocks] : arrays_) {
                if (model_.object(object).variable == each.variable &&
                    model_.object(object).members == each.members)
                    write_number(blocks.at({*each.element}), each.number, scalars_[k]);
            }
        }
    }
    static double program_value(double value, Number type) {
        return type == Number::i64 ? std::bit_cast<double>(static_cast<std::int64_t>(value)) : value;
    }
    static double plain_value(double value, Number type) {
        return type == Number::i64 ? static_cast<double>(std::bit_cast<std::int64_t>(value)) : value;
    }

    // In a process of its own: a function that fails ends that process alone.
    void call() {
        std::vector<void*> values{launch()};
        for (const HarnessValue& each : harness_.values) {
            if (each.kind == HarnessValue::Kind::scalar) {
                void* held = memory_.take(64);
                if (each.index >= 0)
                    write_number(held, model_.scalars[static_cast<std::size_t>(each.index)].number,
                                 scalars_[static_cast<std::size_t>(each.index)]);
                values.push_back(held);
            } else if (each.kind == HarnessValue::Kind::length) {
                std::size_t bytes = 0;
                if (const auto found = arrays_.find(each.index); found != arrays_.end())
                    found->second.elements(bytes);
                const Number type = each.index >= 0 ? model_.object(each.index).number : Number::u8;
                values.push_back(memory_.take(64));
                write_number(values.back(), Number::i64, static_cast<double>(bytes / bytes_of(type)));
            } else if (each.kind == HarnessValue::Kind::result) {
                results_.push_back(memory_.take(64));
                values.push_back(results_.back());
            } else {
                const auto found = arrays_.find(each.index);
                values.push_back(found == arrays_.end() ? unread(each.index)
                                                        : pointer_to(each.index, found->second));
            }
        }
        std::vector<void*> places = values;
        function_.addresses(places.data());
        begin_order();
        const pid_t child = ::fork();
        if (child < 0) throw SourceError("a process to run the function in cannot be made");
        if (child == 0) {
            for (const int each : {SIGABRT, SIGALRM, SIGBUS, SIGFPE, SIGILL, SIGINT, SIGSEGV})
                ::signal(each, SIG_DFL);
            ::alarm(120);
            copy_globals(values, places, true);
            function_.call(values.data());
            copy_globals(values, places, false);
            ::_exit(0);
        }
        int status = 0;
        while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        if (WIFSIGNALED(status))
            throw SourceError(fmt::format("the function ended with signal {} ({}) when it was run on {}",
                                          WTERMSIG(status), ::strsignal(WTERMSIG(status)), size_text()));
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            throw SourceError("the function ended the process that it was run in");
    }
    // An array of which the spec reads nothing. Its numbers are not zero: what the function reads of it
    // shows.
    void* unread(int object) {
        constexpr std::size_t kBytes = 1 << 20;
        char* held = static_cast<char*>(memory_.take(kBytes));
        const Number type = object < 0 ? Number::none : model_.object(object).number;
        const std::size_t each = type == Number::none ? kBytes : bytes_of(type);
        for (std::size_t at = 0; at + each <= kBytes && type != Number::none; at += each)
            write_number(held + at, type, draw(type));
        return held;
    }
    void copy_globals(const std::vector<void*>& values, const std::vector<void*>& places, bool in) const {
        for (std::size_t i = 1; i < values.size(); ++i) {
            if (values[i] == places[i]) continue;
            const auto found = arrays_.find(harness_.values[i - 1].index);
            if (found == arrays_.end()) continue;
            std::size_t bytes = 0;
            void* held = found->second.elements(bytes);
            if (in)
                std::memcpy(places[i], held, bytes);
            else
                std::memcpy(held, places[i], bytes);
        }
    }
    int* launch() {
        int* sizes = static_cast<int*>(memory_.take(6 * sizeof(int)));
        const std::array<int, 6> found = launch_sizes(model_, grid_, symbols_);
        std::copy(found.begin(), found.end(), sizes);
        return sizes;
    }

    CallOutcome compare() {
        const std::int64_t count = steps();
        for (std::int64_t i = 0; i < count; ++i)
            interpreter_->step();
        CallOutcome outcome;
        for (const auto& [id, name] : lifted_.spec.fields) {
            if (model_.object(field(id).object).origin == Object::Origin::local) continue;
            compare_field(id, name, count, outcome);
        }
        for (std::size_t i = 0; i < lifted_.spec.reductions.size(); ++i)
            compare_reduction(i, outcome);
        return outcome;
    }
    void compare_reduction(std::size_t i, CallOutcome& outcome) const {
        const ReductionName& named = lifted_.spec.reductions[i];
        const Statement& cells = form_.statements[static_cast<std::size_t>(named.statement)];
        const Reduction& reduction =
            model_.reduction(model_.stores[static_cast<std::size_t>(cells.store)].reduction);
        double first = 0;
        for (std::size_t k = 0; k < model_.scalars.size(); ++k) {
            const Scalar& each = model_.scalars[k];
            if (each.variable == reduction.variable && each.members.empty()) first = scalars_[k];
        }
        const double found = interpreter_->reduction(named.name);
        const double have = reduction.op == "sum"   ? first + found
                            : reduction.op == "max" ? std::max(first, found)
                                                    : std::min(first, found);
        const double want = read_number(results_[i], reduction.type);
        const bool is_float = reduction.type == Number::f32;
        const double shown = is_float ? static_cast<float>(have) : have;
        const double apart = ulps_apart(want, shown, reduction.type);
        double allowed = 0;
        if (reduction.op == "sum" && c::is_real(reduction.type)) {
            // Each addition rounds by at most half a unit of the partial sum, in both programs.
            double count = 2;
            for (const Range& range : cells.region)
                count *= static_cast<double>(number(range.upper) - number(range.lower));
            const double magnitude = std::abs(first) + interpreter_->reduction(named.magnitude_name);
            allowed = count * magnitude * (is_float ? 0x1p-24 : 0x1p-53) * 2;
        }
        const bool is_close = apart == 0 || std::abs(want - shown) <= allowed;
        if (!is_close)
            outcome.worst =
                fmt::format("`{}` is {} by the spec and {} by the function", reduction.name, shown, want);
        outcome.passed = outcome.passed && is_close;
        const double unit =
            std::max(std::abs(want) * (is_float ? 0x1p-23 : 0x1p-52), std::numeric_limits<double>::min());
        outcome.sum_ulps = std::max(outcome.sum_ulps, apart);
        outcome.allowed_ulps = std::max(outcome.allowed_ulps, allowed / unit);
    }
    void compare_field(int id, const std::string& name, std::int64_t count, CallOutcome& outcome) {
        int now = id;  // the name that the array had at first
        for (std::int64_t i = 0; i < count; ++i)
            now = field(now).after_step;
        const Field& of = field(now);
        const Number type = model_.object(of.object).number;
        const std::vector<double>& got = interpreter_->field(name);
        double scale = 0;
        for_cells(of, [&](const std::vector<std::int64_t>& cell, std::size_t) {
            const double want =
                read_number(arrays_.at(array_of(now)).at(offsets(of, cell, first_phase(of))), type);
            if (std::isfinite(want)) scale = std::max(scale, std::abs(want));
        });
        const double epsilon = type == Number::f32 ? 0x1p-23 : 0x1p-52;
        const double bound =
            lifted_.spec.is_exact || !c::is_real(type)
                ? 0
                : 16 * epsilon * scale * static_cast<double>(std::max<std::int64_t>(1, count));
        for_cells(of, [&](const std::vector<std::int64_t>& cell, std::size_t index) {
            const double want =
                read_number(arrays_.at(array_of(now)).at(offsets(of, cell, first_phase(of))), type);
            const double have = plain_value(got[index], type);
            ++outcome.cells;
            const double apart = ulps_apart(want, have, type);
            if (apart == 0 || (!lifted_.spec.keeps_zeros && want == have)) return;
            ++outcome.differing;
            const bool is_close = bound > 0 && std::abs(want - have) <= bound;
            if (!is_close || apart > outcome.ulps) {
                if (outcome.passed || !is_close)
                    outcome.worst = fmt::format("`{}` at ({}) is {} in the spec and {} in the function", name,
                                                fmt::join(cell, ", "), have, want);
            }
            outcome.passed = outcome.passed && is_close;
            outcome.ulps = std::max(outcome.ulps, apart);
        });
    }

public:
    std::string size_text() const {
        std::string text;
        for (const std::int64_t each : grid_)
            text += (text.empty() ? "" : " x ") + std::to_string(each);
        return text + (grid_.size() == 1 ? " cells" : "") +
               (steps() == 1 ? "" : fmt::format(", {} steps", steps()));
    }

private:
    const Lifted& lifted_;
    const Model& model_;
    const Form& form_;
    const Harness& harness_;
    const ir::Program& program_;
    const Runnable& function_;
    std::mt19937 random_;
    bool wide_;
    std::vector<std::int64_t> symbols_;
    SharedMemory memory_;
    std::vector<std::int64_t> grid_;
    std::vector<double> scalars_;
    std::vector<void*> results_;
    std::map<int, Blocks> arrays_;
    std::optional<ir::Interpreter> interpreter_;
};

std::string ulps_text(double ulps) {
    if (ulps == 0) return "the same bits";
    return std::isinf(ulps) ? "not a number in one of them" : fmt::format("up to {:.0f} ulps apart", ulps);
}

}  // namespace

Verification verify(const Lifted& lifted, const Harness& harness, const Runnable& function,
                    const SymbolDraws& draws, const std::function<bool()>& wants_more) {
    const ir::Program program = program_of(lifted);
    SizeChooser sizes(lifted.model, lifted.form, draws);
    Verification result;
    result.passed = true;
    result.sizes = sizes.has_choice() ? kSizes : 2;
    std::string failure;
    for (int i = 0; result.passed; ++i) {
        if (i == result.sizes && (i >= kMostSizes || !wants_more || !wants_more())) break;
        result.sizes = std::max(result.sizes, i + 1);
        Trial trial(lifted, harness, program, function, static_cast<unsigned>(i), sizes.next());
        const CallOutcome outcome = trial.run();
        result.largest_ulps = std::max(result.largest_ulps, outcome.ulps);
        result.passed = outcome.passed;
        std::string line = fmt::format("{}: {}", trial.size_text(), ulps_text(outcome.ulps));
        if (outcome.differing > 0)
            line += fmt::format(", in {} of {} values", outcome.differing, outcome.cells);
        if (outcome.allowed_ulps > 0)
            line +=
                fmt::format("; sums {}, {:.0f} allowed", ulps_text(outcome.sum_ulps), outcome.allowed_ulps);
        result.sum_ulps = std::max(result.sum_ulps, outcome.sum_ulps);
        result.allowed_ulps = std::max(result.allowed_ulps, outcome.allowed_ulps);
        result.table.push_back(line);
        if (!outcome.passed) failure = outcome.worst + " (" + trial.size_text() + ")";
    }
    if (!result.passed)
        result.sentences = {failure};
    else
        result.sentences = {fmt::format("Verified: run beside the function on random data of {} {}, {}.",
                                        result.sizes, sizes.has_choice() ? "sizes" : "kinds",
                                        ulps_text(result.largest_ulps))};
    if (result.passed && result.allowed_ulps > 0)
        result.sentences.push_back(
            fmt::format("Sums over cells: {}, where adding in another order allows {:.0f}.",
                        ulps_text(result.sum_ulps), result.allowed_ulps));
    return result;
}

}  // namespace halo::lift
