#include "compare_lift.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <fstream>

#include "interpreted_nest.h"
#include "runtime/cpu/jit.h"

namespace halo::test {

namespace {

constexpr unsigned kRuns = 8;

// ---- what the compiled text calls

struct Running {
    std::deque<InterpretedNest>* nests = nullptr;
    Memory* memory = nullptr;
    std::string trouble;
    bool is_undefined = false;
    int entered = 0;
} running;

int enter_nest(int id, double* numbers, void** arrays, double* results) {
    try {
        InterpretedNest& nest = (*running.nests)[static_cast<std::size_t>(id)];
        const bool done = nest.run(*running.memory, numbers, arrays, results, running.trouble);
        running.entered += nest.was_run() ? 1 : 0;
        return done ? 1 : 0;
    } catch (const std::exception& error) {
        running.trouble = error.what();
        return 0;
    }
}
void leave_nest(int id, double* results) {
    (*running.nests)[static_cast<std::size_t>(id)].compare(*running.memory, results, running.trouble);
}
void note_undefined() {
    running.is_undefined = true;
}

std::string arguments_of(const RandomFunction& function) {
    std::string text;
    for (std::size_t i = 0; i < function.arguments.size(); ++i) {
        const Argument& each = function.arguments[i];
        text += i ? ", " : "";
        const bool is_pointer = each.role == Argument::Role::array || each.role == Argument::Role::list;
        text += is_pointer ? fmt::format("v[{}]", i) : fmt::format("*({}*)v[{}]", c_name(each.type), i);
    }
    return text;
}

// What is compiled for a function: itself as f, and with its nests done elsewhere as g; and two calls.
std::string compiled_text(const RandomFunction& function, const lift::Nests& lifted, int id,
                          std::size_t first, const std::deque<InterpretedNest>& nests) {
    const std::string f = fmt::format("f_{}", id), g = fmt::format("g_{}", id);
    std::string text = function.text(f), copy;
    if (lifted.is_whole) {
        const int nest = static_cast<int>(first);
        std::string call;
        for (const Argument& each : function.arguments)
            call += (call.empty() ? "" : ", ") + each.name;
        copy = fmt::format("{} {}{}({});{}}}\n", function.head_text(g) + " {", nests[first].enter(nest), f,
                           call, nests[first].leave(nest));
    } else {
        copy = text;
        const std::size_t before = std::strlen(kMathDeclarations);
        for (std::size_t i = lifted.lifted.size(); i-- > 0;) {
            const SourceRange where = lifted.lifted[i].outline->where;
            const int nest = static_cast<int>(first + i);
            copy.insert(where.end - before, nests[first + i].leave(nest));
            copy.insert(where.begin - before, nests[first + i].enter(nest));
        }
        for (std::size_t at = copy.find(f); at != std::string::npos; at = copy.find(f, at + g.size()))
            copy.replace(at, f.size(), g);
    }
    text += copy;
    for (const std::string& each : {f, g}) {
        const std::string call = fmt::format("{}({})", each, arguments_of(function));
        text +=
            fmt::format("double call_{}(void** v) {{ {} }}\n", each,
                        function.result == CType::boolean ? call + "; return 0;" : "return " + call + ";");
    }
    return text;
}

std::string shown_arguments(const RandomFunction& function, const std::vector<char*>& values) {
    std::string text;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const Argument& each = function.arguments[i];
        if (each.role == Argument::Role::array || each.role == Argument::Role::list) continue;
        text += fmt::format("{} = {}, ", each.name, read_value(values[i], each.type));
    }
    return text;
}

// What docs/lift.md leaves open: where one operand of fmin or fmax is no number, or a cell of a reduction,
// and which of two zeros they choose.
bool has_nan(const Memory& memory) {
    return std::any_of(memory.regions.begin(), memory.regions.end(), [](const Region& each) {
        for (const char* at = each.begin; at < each.end; at += c_bytes(each.type)) {
            if (std::isnan(read_value(at, each.type))) return true;
        }
        return false;
    });
}
bool takes_extremes(const Compared& result) {
    return result.text.find("fm") != std::string::npos || result.specs.find("reduce") != std::string::npos;
}

void compare(const RandomFunction& function, bool no_alias, Compared& result, double (*f)(void**),
             double (*g)(void**), Memory& memory) {
    for (unsigned run = 0; run < kRuns && result.difference.empty(); ++run) {
        const std::vector<char*> values = random_arguments(function, no_alias, run, memory);
        std::vector<void*> given(values.begin(), values.end());
        const std::vector<char> before = memory.bytes;
        running.trouble.clear();
        running.is_undefined = false;
        running.entered = 0;
        const double want = f(given.data());
        if (running.is_undefined) {
            ++result.undefined;
            continue;
        }
        const std::vector<char> wanted = memory.bytes;
        std::copy(before.begin(), before.end(), memory.bytes.begin());
        const double have = g(given.data());
        result.runs += running.entered > 0 ? 1 : 0;
        result.difference = running.trouble;
        if (result.difference.empty())
            result.difference = first_difference(memory, wanted, memory.bytes, !takes_extremes(result));
        const bool is_same = want == have || (std::isnan(want) && std::isnan(have));
        if (result.difference.empty() && !is_same)
            result.difference = fmt::format("it returns {} and with the spec {}", want, have);
        if (!result.difference.empty() && has_nan(memory) && takes_extremes(result)) {
            result.difference.clear();
            ++result.undefined;
        }
        if (!result.difference.empty()) {
            std::copy(before.begin(), before.end(), memory.bytes.begin());
            result.difference += fmt::format(" (run {}: {})", run, shown_arguments(function, values));
        }
    }
}

}  // namespace

void LiftComparison::add(const RandomFunction& function) {
    functions_.emplace_back();
    Function& each = functions_.back();
    each.made = function;
    each.no_alias = function.seed % 3 == 0;  // of some: then its data does not overlap
    const std::string name = fmt::format("f_{}", functions_.size() - 1);
    each.compared.seed = function.seed;
    each.compared.text = function.text(name);
    lift::Options options;
    options.source.file = folder_ + "/made.c";
    options.source.function = name;
    options.source.arguments = {"-std=gnu11"};
    options.form.no_alias = each.no_alias;
    options.form.in_place = function.seed % 2 == 0;
    options.keep_result = true;
    options.assume.insert(function.assumed.begin(), function.assumed.end());
    std::ofstream(options.source.file) << kMathDeclarations << each.compared.text;
    try {
        each.lifted = lift::lift_nests(options);
    } catch (const lift::SourceError&) {
        throw;
    } catch (const std::exception& error) {
        each.compared.difference = std::string("lifting ended with: ") + error.what();
    }
    each.compared.nests = static_cast<int>(each.lifted.lifted.size());
    for (const lift::Lifted& nest : each.lifted.lifted) {
        each.compared.specs += nest.spec.body + "\n";
        each.compared.joined += lift::has_several_nests(nest) ? 1 : 0;
    }
    if (each.lifted.lifted.empty() && !each.lifted.refused.empty())
        each.compared.refused = each.lifted.refused.front().what();
}

std::vector<Compared> LiftComparison::run() {
    std::deque<InterpretedNest> nests;
    std::string text = std::string(kMathDeclarations) +
                       "int halo_enter(int, double*, void**, double*);\nvoid halo_leave(int, double*);\n";
    for (std::size_t i = 0; i < functions_.size(); ++i) {
        const Function& each = functions_[i];
        const std::size_t first = nests.size();
        for (const lift::Lifted& nest : each.lifted.lifted)
            nests.emplace_back(nest);
        if (nests.size() > first)
            text += compiled_text(each.made, each.lifted, static_cast<int>(i), first, nests);
    }
    lift::SourceRequest request;
    request.file = folder_ + "/batch.c";
    // A call where C says nothing about what comes next.
    request.arguments = {"-std=gnu11", "-fsanitize=signed-integer-overflow,shift,float-cast-overflow",
                         "-fsanitize-minimal-runtime"};
    std::ofstream(request.file) << text;
    rt::CompiledObject object;
    object.bytes = lift::compile_with(request, "");
    rt::JitOptions jit;
    jit.resolve = [](const std::string& name) -> void* {
        if (name.rfind("__ubsan_handle", 0) == 0) return reinterpret_cast<void*>(&note_undefined);
        if (name == "halo_enter") return reinterpret_cast<void*>(&enter_nest);
        if (name == "halo_leave") return reinterpret_cast<void*>(&leave_nest);
        return ::dlsym(RTLD_DEFAULT, name.c_str());
    };
    const rt::JitModule module(object, jit);
    std::vector<Compared> done;
    Memory memory;
    running.nests = &nests;
    running.memory = &memory;
    for (std::size_t i = 0; i < functions_.size(); ++i) {
        Function& each = functions_[i];
        if (!each.lifted.lifted.empty())
            compare(each.made, each.no_alias, each.compared,
                    module.function<double(void**)>(fmt::format("call_f_{}", i)),
                    module.function<double(void**)>(fmt::format("call_g_{}", i)), memory);
        done.push_back(std::move(each.compared));
    }
    functions_.clear();
    return done;
}

RandomFunction shrunk(RandomFunction function, const std::string& folder) {
    const auto differs = [&](const RandomFunction& smaller) {
        try {
            LiftComparison comparison(folder);
            comparison.add(smaller);
            return !comparison.run().front().difference.empty();
        } catch (const lift::SourceError&) {
            return false;  // does not compile
        }
    };
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (int part = 0;; ++part) {
            RandomFunction smaller = function;
            if (!remove_part(smaller, part)) break;
            if (!differs(smaller)) continue;
            function = std::move(smaller);
            goes_on = true;
            --part;
        }
    }
    return function;
}

}  // namespace halo::test
