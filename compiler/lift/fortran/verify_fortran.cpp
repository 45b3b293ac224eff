// Specs beside what gfortran makes of the file.
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "compiler/lift/fortran/harness.h"
#include "compiler/lift/fortran/programs.h"
#include "compiler/lift/fortran/reading.h"
#include "compiler/lift/fortran/unit_builder.h"

namespace halo::lift::fortran {

namespace fs = std::filesystem;

// One stencil, and the shared object that runs what it was lifted from.
class Trials {
public:
    Trials(const FortranFile& file, const std::string& name, const Nests& found, const Lifted& lifted)
        : reading_(*file.reading_),
          request_(file.request()),
          unit_(found.unit),
          lifted_(lifted),
          harness_(write_harness(found.unit, lifted, reading_.procedure(name, request_.file), reading_.text)),
          gcov_(find_gcov()) {}

    Verification run() {
        compile();
        const std::string object = scratch_.file("run.so");
        const std::unique_ptr<void, int (*)(void*)> library(::dlopen(object.c_str(), RTLD_LAZY | RTLD_LOCAL),
                                                            &::dlclose);
        void* call = library ? ::dlsym(library.get(), "halo_lift_call") : nullptr;
        if (call == nullptr) throw SourceError("what gfortran has made cannot be loaded");
        Runnable function;
        // In the process of the run alone: what was counted is written as the library goes.
        function.call = [&](void** values) {
            reinterpret_cast<void (*)(void**)>(call)(values);
            ::dlclose(library.get());
        };
        function.addresses = [](void**) {};
        int looks = 0;
        return verify(lifted_, harness_.values, function, draws(),
                      [&] { return looks++ % 10 == 0 ? !never_seen().empty() : true; });
    }

    // What the runs have not reached; empty: nothing.
    std::string never_seen() const {
        if (gcov_.empty())
            return "there is no gcov, which tells the branches that were taken: apt-get install gcc, or name "
                   "it in HALO_GCOV";
        std::string counts;
        for (const fs::directory_entry& each : fs::directory_iterator(scratch_.path())) {
            if (!each.path().string().ends_with("copy.gcda")) continue;
            const ProgramRun run = run_program(
                {gcov_, "--json-format", "--stdout", "--branch-probabilities", each.path().string()},
                scratch_, scratch_.path());
            if (run.status == 0) counts = run.said;
        }
        const nlohmann::json told = nlohmann::json::parse(counts, nullptr, false);
        if (told.is_discarded()) return "gcov does not tell which branches were taken";
        return first_gap(told);
    }

private:
    void compile() {
        const std::string gfortran = find_gfortran();
        if (gfortran.empty())
            throw SourceError(
                "there is no gfortran to run Fortran with: apt-get install gfortran, or name it in "
                "HALO_GFORTRAN");
        const std::string copy = scratch_.file("copy" + fs::path(request_.file).extension().string());
        std::ofstream(copy) << harness_.text;
        std::vector<std::string> words{
            gfortran,     "-shared",          "-fPIC", "-O0", "-ffree-line-length-none", "-w",
            "--coverage", "-ffp-contract=off"};
        words.insert(words.end(), {"-J", scratch_.path(), "-I", folder_of(request_.file)});
        words.insert(words.end(), request_.arguments.begin(), request_.arguments.end());
        const std::vector<std::string> modules = module_files(request_.file);
        words.insert(words.end(), modules.begin(), modules.end());
        words.insert(words.end(), {copy, "-o", scratch_.file("run.so")});
        const ProgramRun run = run_program(words, scratch_, ".");
        if (run.status != 0) throw SourceError("gfortran does not compile it: " + first_error(run.said));
    }
    static std::string folder_of(const std::string& file) {
        const std::string folder = fs::path(file).parent_path().string();
        return folder.empty() ? "." : folder;
    }
    static std::string first_error(const std::string& said) {
        const std::size_t at = said.find("Error: ");
        return at == std::string::npos ? "it says no error"
                                       : said.substr(at + 7, said.find('\n', at) - at - 7);
    }

    // Truth values are 0 and 1; whole numbers that are no sizes are also those that the text compares with.
    SymbolDraws draws() const {
        std::set<std::int64_t> written;
        for (const c::Expr& each : unit_.exprs) {
            const bool is_small = each.integer > -8 && each.integer < 64;
            if (each.kind == c::Expr::Kind::integer && is_small) written.insert(each.integer);
        }
        SymbolDraws made;
        const Model& model = lifted_.model;
        for (std::size_t i = 0; i < model.symbols.size(); ++i) {
            const int symbol = static_cast<int>(i), scalar = model.symbols[i].scalar;
            const auto has = [&](const Polynomial& each) { return each.has(symbol); };
            if (scalar < 0 || std::ranges::any_of(lifted_.form.grid, has)) continue;
            const int variable = model.scalars[static_cast<std::size_t>(scalar)].variable;
            const bool is_length = std::ranges::any_of(unit_.shapes, [variable](const auto& each) {
                return std::ranges::find(each.second, variable) != each.second.end();
            });
            if (variable < 0 || is_length) continue;
            const c::Variable& named = lifted_.unit.variables[static_cast<std::size_t>(variable)];
            if (lifted_.unit.types[static_cast<std::size_t>(named.type)].text == kLogical)
                made[symbol] = {0, 1};
            else if (!written.empty())
                made[symbol] = {written.begin(), written.end()};
        }
        return made;
    }

    // Lines with DO, whose branches say how far they go; or with assignments of arrays.
    std::set<int> loop_lines(bool of_arrays) const {
        std::set<int> lines;
        for (const c::Statement& each : unit_.statements) {
            const bool is_counted = each.is_loop && each.kind == c::Statement::Kind::for_loop;
            const bool is_array =
                is_counted &&
                unit_.statements[static_cast<std::size_t>(each.statements[1])].where == each.where;
            if (each.is_loop && is_array == of_arrays)
                lines.insert(static_cast<int>(unit_.source.line_column(each.where.begin).line));
        }
        return lines;
    }
    // Of an assignment of arrays: it is a loop, whose exit tells how often it was run, and conditions. Some
    // are asked once a run, and are gfortran's own, about memory.
    static bool has_gap(const nlohmann::json& branches) {
        int runs = -1;
        for (std::size_t i = 0; i + 1 < branches.size(); i += 2) {
            const int one = branches[i].value("count", 0), other = branches[i + 1].value("count", 0);
            if (runs < 0 && one > 0 && other > 0) runs = std::min(one, other);
            if ((one == 0 || other == 0) && runs >= 0 && one + other > runs) return true;
        }
        return false;
    }
    std::string first_gap(const nlohmann::json& told) const {
        const std::set<int> loops = loop_lines(false), arrays = loop_lines(true);
        for (const auto& file : told.value("files", nlohmann::json::array())) {
            for (const auto& each : file.value("lines", nlohmann::json::array())) {
                const int line = each.value("line_number", 0), shown = line - harness_.line_shift;
                if (line < harness_.first_line || line > harness_.last_line) continue;
                if (each.value("count", 0) == 0) return fmt::format("line {} was never reached", shown);
                if (loops.count(shown)) continue;
                const nlohmann::json branches = each.value("branches", nlohmann::json::array());
                const bool is_one_way = arrays.count(shown)
                                            ? has_gap(branches)
                                            : std::ranges::any_of(branches, [](const auto& of) {
                                                  return of.value("count", 0) == 0;
                                              });
                if (is_one_way) return fmt::format("in line {} a condition was never seen both ways", shown);
            }
        }
        return "";
    }

    const FortranFile::Reading& reading_;
    const SourceRequest& request_;
    const c::Unit& unit_;
    const Lifted& lifted_;
    FortranHarness harness_;
    std::string gcov_;
    ScratchFolder scratch_;
};

Verdict verify_function(const Options& options, const Nests& found, const FortranFile& file) {
    Verdict verdict;
    for (const Lifted& each : found.lifted) {
        const std::string name = each.outline ? each.spec.name + ": " : "";
        std::vector<std::string> said;
        std::string left;
        try {
            Trials trials(file, options.source.function, found, each);
            Verification run = trials.run();
            verdict.largest_ulps = std::max(verdict.largest_ulps, run.largest_ulps);
            verdict.sum_ulps = std::max(verdict.sum_ulps, run.sum_ulps);
            for (const std::string& line : run.table)
                verdict.table.push_back(name + line);
            if (!run.passed) {
                verdict.difference = run.sentences.front();
                return verdict;
            }
            said = std::move(run.sentences);
            left = trials.never_seen();
            const std::string verified = "Verified:";
            if (!left.empty()) said.front() = "By itself it was" + said.front().substr(verified.size());
        } catch (const SourceError& trouble) {
            left = std::string(trouble.what()).substr(0, std::string(trouble.what()).find('\n'));
            verdict.table.push_back(name + "not run: " + left);
        }
        if (!left.empty()) said.insert(said.begin(), fmt::format("Not verified: {}.", left));
        if (verdict.left.empty()) verdict.left = left;
        verdict.sentences.push_back(std::move(said));
    }
    return verdict;
}

}  // namespace halo::lift::fortran
