#include "compiler/lift/whole_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>

#include "compiler/lift/coverage.h"
#include "compiler/lift/draws.h"
#include "compiler/lift/memory.h"
#include "compiler/lift/replace.h"
#include "compiler/lift/stand_ins.h"
#include "compiler/lift/timers.h"
#include "compiler/lift/whole_arguments.h"
#include "compiler/lift/whole_harness.h"
#include "compiler/lift/whole_process.h"
#include "runtime/cpu/jit.h"

namespace halo::lift {

namespace {

using c::Number;
using Clock = std::chrono::steady_clock;

constexpr int kCalls = 3, kMostDoubtful = 6, kMostDraws = 400, kLeastRuns = 6;
#ifdef __SANITIZE_ADDRESS__
constexpr double kSlower = 10;  // how much sanitizers slow code down
#else
constexpr double kSlower = 1;
#endif
constexpr double kMostToWait =
    10;  // seconds of the clock for each of the processor, as the machine is shared
constexpr double kSecondsOfRun = 1 * kSlower, kSecondsOfLongRun = 10 * kSlower;

// Of this process and of those that it has waited for: what else the machine does shall not decide how many
// draws are compared, and with it the verdict.
double processor_seconds() {
    double seconds = 0;
    for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
        rusage used{};
        ::getrusage(who, &used);
        for (const timeval& each : {used.ru_utime, used.ru_stime})
            seconds += static_cast<double>(each.tv_sec) + static_cast<double>(each.tv_usec) * 1e-6;
    }
    return seconds;
}

// Clocks of other files tell other times at each call, and the same ones in each run.
double tick() {
    static double now = 0;
    return now += 3;
}
std::uint64_t whole_tick() {
    return static_cast<std::uint64_t>(tick());
}
float float_tick() {
    return static_cast<float>(tick());
}

std::unique_ptr<rt::JitModule> load(const std::string& bytes, unsigned char* seen,
                                    const std::map<std::string, Number>& timers) {
    rt::CompiledObject object;
    object.bytes = bytes;
    rt::JitOptions jit;
    jit.symbols = stand_in_symbols();
    jit.symbols["halo_lift_seen"] = seen;
    for (const auto& [name, number] : timers) {
        void* clock = number == Number::f64   ? address(&tick)
                      : number == Number::f32 ? address(&float_tick)
                                              : address(&whole_tick);
        jit.symbols[name] = clock;
        jit.symbols[fmt::format("_Z{}{}v", name.size(), name)] = clock;  // as C++ calls it
    }
    jit.resolve = [](const std::string& name) {
        void* found = library_symbol(name);
        return found ? found : stop_at_call(name);
    };
    return std::make_unique<rt::JitModule>(object, jit);
}

class Runner {
public:
    Runner(const Options& options, const Nests& found, const ParsedFile& preprocessed)
        : options_(options), found_(found), preprocessed_(preprocessed) {}

    WholeRun run() {
        try {
            prepare();
        } catch (const SourceError& trouble) {
            const std::string text = trouble.what();
            result_.reason = text.substr(0, text.find('\n'));
            return std::move(result_);
        }
        ::malloc_trim(0);  // each run is a copy of this process, and pages that nothing uses would be copied
        const auto start = Clock::now();
        const double computed = processor_seconds();
        const auto has_time = [&] {
            const std::chrono::duration<double> passed = Clock::now() - start;
            const double most = options_.most_seconds * kSlower;
            return processor_seconds() - computed < most && passed.count() < kMostToWait * most;
        };
        const int enough = Draws(unit_, 0).enough();
        int draws = 0;
        for (; draws < kMostDraws && has_time() && !result_.differs; ++draws) {
            const bool has_enough = compared_ >= enough && runs_of_each() >= kLeastRuns;
            if (has_enough && missing().empty()) break;
            draw(static_cast<unsigned>(draws), has_enough);
        }
        if (result_.differs) return std::move(result_);
        const auto left = missing();
        result_.was_too_long = compared_ == 0 && too_long_ > 0;
        if (compared_ == 0)
            result_.reason =
                fmt::format("the function could not be run on any of {} draws ({})", draws, failure_);
        else if (doubtful_ > 0)
            result_.reason = fmt::format("on {} of {} draws {}", doubtful_, draws, result_.reason);
        else if (!left.empty())
            result_.reason =
                left.front() + (left.size() > 1 ? fmt::format(" (and {} more)", left.size() - 1) : "");
        else if (guarded_ == 0)
            result_.reason = "a stencil copies cells of an array that the function never touched";
        result_.table.push_back(fmt::format(
            "the whole function: {} of {} draws compared, {} calls each, {} of {} branches seen both ways{}",
            compared_, draws, kCalls, points_.size() - unseen_count(), points_.size(),
            failure_.empty() ? "" : "; of another draw: " + failure_));
        return std::move(result_);
    }

private:
    // ---- what is run

    // How the source calls a parameter, or the last member on the way to it.
    static std::string last_of(const Model& model, int symbol) {
        const int scalar = model.symbols[static_cast<std::size_t>(symbol)].scalar;
        if (scalar < 0) return model.name(symbol);
        const std::string& access = model.scalars[static_cast<std::size_t>(scalar)].access;
        return access.substr(access.find_last_of(".>:") + 1);
    }

    // Parameters that a stencil takes for the distance of planes.
    std::set<std::string> far_strides() const {
        std::set<std::string> names;
        for (const Lifted& nest : found_.lifted)
            for (const Field& each : nest.form.fields)
                for (const Polynomial& apart : each.apart)
                    for (const auto& [monomial, factor] : apart.terms())
                        if (monomial.size() == 1 && factor > 0)
                            names.insert(last_of(nest.model, monomial[0]));
        return names;
    }

    // Those that are as long as a row, or longer, where that is a parameter of its own.
    std::set<std::string> row_lengths() const {
        std::set<std::string> names;
        for (const Lifted& nest : found_.lifted)
            for (const Field& each : nest.form.fields)
                for (const Polynomial& pitch : each.pitch)
                    if (pitch.terms().size() == 1 && pitch.terms().begin()->first.size() == 1)
                        names.insert(last_of(nest.model, pitch.terms().begin()->first[0]));
        return names;
    }

    // What must be 1 at least, so that the stencils run, of the numbers that the function is given.
    std::vector<Polynomial> needs(const std::vector<WholeValue>& values) const {
        std::vector<Polynomial> all;
        for (const Lifted& nest : found_.lifted) {
            const auto value_of = [&](int symbol) {
                const int scalar = nest.model.symbols[static_cast<std::size_t>(symbol)].scalar;
                const auto is_it = [&](const WholeValue& each) {
                    return each.kind == WholeValue::Kind::number && c::is_integer(each.number) &&
                           each.name == nest.model.scalars[static_cast<std::size_t>(scalar)].access;
                };
                const auto at = scalar < 0 ? values.end() : std::ranges::find_if(values, is_it);
                return at == values.end() ? -1 : static_cast<int>(at - values.begin());
            };
            for (const Polynomial& each : form_needs(nest.model, nest.form)) {
                Polynomial need;
                bool is_known = true;
                for (const auto& [monomial, factor] : each.terms()) {
                    Polynomial term = factor;
                    for (const int symbol : monomial) {
                        const int value = value_of(symbol);
                        is_known = is_known && value >= 0;
                        term = term * Polynomial::symbol(value);
                    }
                    need = need + term;
                }
                if (is_known) all.push_back(std::move(need));
            }
        }
        return all;
    }

    void prepare() {
        Options plain = options_;
        plain.source.text = preprocessed_.request().text;
        plain.keep_result = true;
        nests_ = lift_nests(plain, preprocessed_);
        bool is_same = nests_.lifted.size() == found_.lifted.size() && !nests_.lifted.empty();
        if (!is_same) throw SourceError("with its result the function is lifted in another way");
        std::vector<std::string> specs;
        for (std::size_t i = 0; is_same && i < nests_.lifted.size(); ++i) {
            is_same = nests_.lifted[i].spec.fields == found_.lifted[i].spec.fields;
            specs.push_back(found_.lifted[i].spec.body);
        }
        if (!is_same) throw SourceError("the preprocessed source is lifted in another way");
        unit_ = std::move(nests_.unit);
        const bool is_kernel = unit_.functions[static_cast<std::size_t>(unit_.function)].is_kernel;
        const WholeHarness harness = write_whole_harness(unit_, nests_);
        std::map<std::string, Number> timers = find_timers(unit_);
        std::erase_if(timers, [](const auto& each) { return library_symbol(each.first) != nullptr; });
        for (const auto& [name, number] : timers)
            result_.remarks.push_back(fmt::format(
                "`{}` is defined in another file, and is taken to be a clock that changes nothing.", name));
        Instrumented counted = instrument(unit_);
        points_ = std::move(counted.points);
        record_memory_.emplace(sizeof(RunRecord));
        seen_memory_.emplace(std::max<std::size_t>(4096, 2 * points_.size()));
        SourceRequest request = plain.source;
        request.text = counted.text;
        original_ = load(compile_with(request, harness.text, {}, true), seen(), timers);
        request.text = plain.source.text;
        if (!is_kernel) {
            const Replaced replaced = replace_loops(nests_, specs, kCallDeclarations);
            if (!replaced.left.empty()) throw SourceError(replaced.left.front().what());
            request.text = replaced.text;
        }
        replaced_ = load(compile_with(request, is_kernel ? harness.replaced : harness.text), seen(), timers);
        for (const Lifted& each : found_.lifted) {
            const bool has_sum = std::any_of(each.form.statements.begin(), each.form.statements.end(),
                                             [](const Statement& of) { return of.field < 0; });
            is_exact_ = is_exact_ && each.spec.is_exact && !has_sum;
            keeps_zeros_ = keeps_zeros_ && each.spec.keeps_zeros;
        }
        std::vector<void*> places(harness.globals.size() + 1);
        std::vector<long> bytes(harness.globals.size() + 1);
        original_->function<void(void**, long*)>("halo_lift_globals")(places.data(), bytes.data());
        arguments_.emplace(harness, bytes, options_.assume, far_strides(), row_lengths(),
                           needs(harness.values));
    }
    RunRecord& record() const { return *reinterpret_cast<RunRecord*>(record_memory_->begin()); }
    unsigned char* seen() const { return reinterpret_cast<unsigned char*>(seen_memory_->begin()); }

    // ---- one draw of all arguments

    // to_see: enough has been compared, and what is still looked for are branches that no run has taken; a
    // draw that takes none of them is not compared.
    void draw(unsigned seed, bool to_see) {
        Draws draws(unit_, seed);
        arguments_->draw(draws, seed / 4 % 2 == 1);
        record() = RunRecord{};
        record().failing_request = seed % 8 == 7 ? static_cast<int>(seed / 8 % 6) : -1;
        record().rank = static_cast<int>(seed % RunRecord::kProcesses);
        record().turn = seed;
        const std::vector<char> seen_before(seen(), seen() + 2 * points_.size());
        const Outcome own = run_one(*original_, Layout::roomy, 0x3f);
        if (to_see && std::equal(seen_before.begin(), seen_before.end(), seen())) return;
        std::vector<Region> touched(record().regions, record().regions + record().region_count);
        // A result that depends on uninitialized memory, or on the order of loops that have none, has no
        // meaning.
        record().turn = ~seed;
        const bool means_something = !own.has_failed && own == run_one(*original_, Layout::roomy, 0x33);
        record().turn = seed;
        const Outcome replaced = means_something ? run_one(*replaced_, Layout::roomy, 0x3f) : Outcome{};
        if (!means_something || record().overlaps) {
            failure_ = own.has_failed     ? own.why
                       : !means_something ? "it reads memory that has not been written"
                                          : "arrays overlap that are said to be apart";
            too_long_ += own.was_too_long;
            std::copy(seen_before.begin(), seen_before.end(), seen());  // nothing of it was compared
            return;
        }
        if (!agrees(own, replaced)) return;
        if (add_copied(touched)) {
            guarded_ += 1;
            for (const Layout layout : {Layout::high, Layout::low}) {
                const Outcome again = run_one(*original_, layout, 0x3f, touched);
                // Its accesses that are not traced (of functions of the library) may need the room.
                if (!again.has_failed && !agrees(again, run_one(*replaced_, layout, 0x3f, touched))) return;
            }
        }
        ++compared_;
        ran_ += record().ran;
    }

    // Whether the boxes that stencils copy end in the row or plane in which the function's accesses end: the
    // array has that row. Where not, the function's conditions may have left it out.
    bool add_copied(std::vector<Region>& touched) const {
        for (std::size_t i = 0; i < touched.size(); ++i) {
            const Region& copied = record().regions[i];
            Region& own = touched[i];
            if (copied.copied_high <= copied.copied_low || arguments_->has_tables(i)) continue;
            if (own.high <= own.low) return false;
            if (own.low - copied.copied_low >= std::max<std::ptrdiff_t>(1, copied.pitch)) return false;
            if (copied.copied_high - own.high >= std::max<std::ptrdiff_t>(1, copied.pitch)) return false;
            own.low = std::min(own.low, copied.copied_low);
            own.high = std::max(own.high, copied.copied_high);
        }
        return true;
    }

    Outcome run_one(rt::JitModule& module, Layout layout, unsigned char garbage,
                    const std::vector<Region>& touched = {}) {
        // The interpreter, which runs the stencils in place, takes longer than the function that has ended.
        const bool has_long = too_long_ > 5 || &module == replaced_.get();
        ProcessRun run{&module,
                       &record(),
                       arguments_->place(layout, touched, record()),
                       arguments_->globals(),
                       kCalls,
                       has_long ? kSecondsOfLongRun : kSecondsOfRun,
                       garbage};
        Outcome outcome = run_process(run);
        if (!outcome.has_failed) outcome.memory = arguments_->memory();
        return outcome;
    }

    // ---- what is compared

    // Where not, result_ says so. What rounds otherwise may also branch otherwise after it: of such a
    // function one difference among many draws proves nothing.
    bool agrees(const Outcome& own, const Outcome& other) {
        const std::string difference = compare(own, other);
        if (difference.empty()) return true;
        result_.reason = difference + " (" + arguments_->text() + ")";
        ++doubtful_;
        result_.differs = is_exact_ || (compared_ == 0 && doubtful_ > kMostDoubtful);
        return false;
    }
    std::string compare(const Outcome& own, const Outcome& other) const {
        if (other.has_failed) return "with the stencils in place the function ends: " + other.why;
        if (own.has_exited != other.has_exited || own.exit_code != other.exit_code)
            return "with the stencils in place the function ends the program otherwise";
        std::string difference;
        for (std::size_t i = 0; i < own.memory.size() && difference.empty(); ++i)
            if (arguments_->values[i].kind != WholeValue::Kind::end)
                difference = compare_numbers(arguments_->values[i], own.memory[i], other.memory[i]);
        for (std::size_t i = 0; i < own.globals.size() && difference.empty(); ++i)
            difference = compare_numbers(arguments_->global_values[i], own.globals[i], other.globals[i]);
        // The digits of a sum that is added in another order show in what is printed.
        if (difference.empty() && is_exact_ && own.printed != other.printed)
            difference = "with the stencils in place the function prints something else";
        return difference;
    }
    std::string compare_numbers(const WholeValue& of, const std::vector<char>& own,
                                const std::vector<char>& other) const {
        if (own == other) return "";
        const std::size_t size = bytes_of(of.number);
        double scale = 0;
        for (std::size_t at = 0; at + size <= own.size(); at += size) {
            const double value = read_number(own.data() + at, of.number);
            if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
        }
        const bool rounds = !is_exact_ && c::is_real(of.number);
        const double bound = rounds ? scale * (of.number == Number::f32 ? 1e-3 : 1e-9) : 0;
        for (std::size_t at = 0; at + size <= own.size(); at += size) {
            const double want = read_number(own.data() + at, of.number);
            const double have = read_number(other.data() + at, of.number);
            if (ulps_apart(want, have, of.number) == 0) continue;
            if (!keeps_zeros_ && want == have) continue;
            if (bound > 0 && std::abs(want - have) <= bound) continue;
            return fmt::format("`{}` holds {} with the stencils in place, and {} without them", of.name, have,
                               want);
        }
        return "";
    }
    std::size_t unseen_count() const { return std::min(points_.size(), unseen(points_, seen()).size()); }
    // What no run that was compared has reached.
    std::vector<std::string> missing() const {
        std::vector<std::string> all = unseen(points_, seen());
        for (std::string& each : unrun())
            all.push_back(std::move(each));
        return all;
    }
    // In how many draws that were compared each stencil was run, at least.
    int runs_of_each() const {
        int least = std::numeric_limits<int>::max();
        for (const Lifted& each : found_.lifted) {
            const std::string mark = each.spec.name + " ";
            int count = 0;
            for (std::size_t at = ran_.find(mark); at != std::string::npos; at = ran_.find(mark, at + 1))
                ++count;
            least = std::min(least, count);
        }
        return least;
    }
    std::vector<std::string> unrun() const {
        std::vector<std::string> all;
        for (const Lifted& each : found_.lifted) {
            if (ran_.find(each.spec.name + " ") == std::string::npos)
                all.push_back(fmt::format("`{}` never ran: its loops did, on grids that are too small for it",
                                          each.spec.name));
        }
        return all;
    }

    const Options& options_;
    const Nests& found_;
    const ParsedFile& preprocessed_;
    Nests nests_;
    c::Unit unit_;
    WholeRun result_;
    std::vector<BranchPoint> points_;
    std::unique_ptr<rt::JitModule> original_, replaced_;
    std::optional<GuardedMemory> record_memory_, seen_memory_;
    std::optional<Arguments> arguments_;
    std::string ran_, failure_;
    int compared_ = 0;  // draws
    int guarded_ = 0;   // of these, in memory that ends where the accesses do
    int doubtful_ = 0;  // draws with differences that rounding may have made
    int too_long_ = 0;  // draws on which the function takes too long
    bool is_exact_ = true, keeps_zeros_ = true;
};

}  // namespace

WholeRun run_whole(const Options& options, const Nests& found, const ParsedFile& preprocessed) {
    return Runner(options, found, preprocessed).run();
}

}  // namespace halo::lift
