#include "compiler/driver/spec/modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "compiler/driver/console/files.h"
#include "compiler/driver/spec/library.h"
#include "compiler/syntax/parser.h"

namespace halo::driver {

namespace fs = std::filesystem;

namespace {

const std::string kLibrary = "(library)/";

class ModuleReader {
public:
    ModuleReader(SourceFile& source, syntax::File& file, const ModulePath& path, DiagnosticSink& sink)
        : source_(source), file_(file), path_(path), sink_(sink) {}

    std::map<std::string, std::string> run() {
        // The spec itself, where it is a file: a module that uses it closes a ring.
        const fs::path shown(source_.name());
        open_.push_back({identity(fs::path(path_.folder) / shown.filename()), source_.name()});
        read_uses(0, fs::path(path_.folder), shown.parent_path());
        return std::move(texts_);
    }

private:
    struct Open {
        std::string identity;
        std::string name;  // as it is shown
    };

    static std::string identity(const fs::path& path) {
        std::error_code trouble;
        const fs::path canonical = fs::weakly_canonical(fs::absolute(path, trouble), trouble);
        return trouble ? path.lexically_normal().string() : canonical.string();
    }

    // Reads the uses from index `first` on, which stand in a file of that folder, shown as `shown`.
    void read_uses(std::size_t first, const fs::path& folder, const fs::path& shown) {
        const std::size_t end = file_.uses.size();
        for (std::size_t i = first; i < end; ++i) {
            const syntax::Use use = file_.uses[i];  // a copy: modules add theirs
            if (!use.path.text.empty()) read(use, folder, shown);
        }
    }

    struct Found {
        fs::path path;  // empty: its text is known
        std::string shown;
        std::string text;
    };
    std::optional<Found> find(const std::string& name, const fs::path& folder, const fs::path& shown) const {
        if (path_.texts) return find_text(name, shown);
        std::error_code trouble;
        const fs::path beside = folder / name;
        if (fs::is_regular_file(beside, trouble))
            return Found{beside, (shown / name).lexically_normal().string(), ""};
        if (fs::path(name).is_absolute()) return std::nullopt;
        for (const std::string& place : path_.search) {
            const fs::path there = fs::path(place) / name;
            if (fs::is_regular_file(there, trouble))
                return Found{there, there.lexically_normal().string(), ""};
        }
        const auto module = library_modules().find(name);
        if (module == library_modules().end()) return std::nullopt;
        return Found{{}, kLibrary + name, module->second};
    }
    // Among texts that are given; in the same order.
    std::optional<Found> find_text(const std::string& name, const fs::path& shown) const {
        std::vector<std::string> places{(shown / name).lexically_normal().string()};
        for (const std::string& place : path_.search)
            places.push_back((fs::path(place) / name).lexically_normal().string());
        places.push_back(kLibrary + name);
        for (const std::string& place : places)
            if (const auto found = path_.texts->find(place); found != path_.texts->end())
                return Found{{}, place, found->second};
        return std::nullopt;
    }

    void read(const syntax::Use& use, const fs::path& folder, const fs::path& shown) {
        const std::string& name = use.path.text;
        if (!name.ends_with(".halo")) {
            sink_.report(DiagnosticKind::file_format, use.path.where,
                         "the name of a module must end in .halo");
            return;
        }
        const std::optional<Found> found = find(name, folder, shown);
        if (!found) return report_missing(use);
        const bool is_known = found->path.empty();
        const std::string id = is_known ? found->shown : identity(found->path);
        const auto open =
            std::find_if(open_.begin(), open_.end(), [&](const Open& each) { return each.identity == id; });
        if (open != open_.end()) return report_cycle(use, *open);
        if (std::find(done_.begin(), done_.end(), id) != done_.end()) return;
        done_.push_back(id);
        if (done_.size() > kMaxModules) {
            sink_.report(DiagnosticKind::program_too_large, use.where,
                         fmt::format("a spec uses {} modules at most", kMaxModules));
            return;
        }
        const std::string text = is_known ? found->text : text_of(found->path.string());
        texts_[found->shown] = text;
        const std::size_t first_use = file_.uses.size();
        const std::uint32_t begin = source_.add(found->shown, text);
        syntax::parse_module(source_, begin, sink_, file_);
        open_.push_back({id, found->shown});
        read_uses(first_use, found->path.parent_path(), fs::path(found->shown).parent_path());
        open_.pop_back();
    }

    std::string text_of(const std::string& path) const {
        if (path_.unsaved) {
            if (std::optional<std::string> text = path_.unsaved(path)) return *std::move(text);
        }
        return read_text(path, 4 * syntax::kMaxFileBytes);
    }

    void report_missing(const syntax::Use& use) {
        Diagnostic& diagnostic = sink_.report(DiagnosticKind::module_not_found, use.path.where,
                                              fmt::format("there is no module `{}`", use.path.text));
        std::vector<std::string> library;
        for (const auto& [name, text] : library_modules())
            library.push_back("`" + name + "`");
        if (path_.search.empty()) {
            diagnostic.note(
                "it is looked for beside this file, then where -I and the environment variable HALO_PATH "
                "say");
        } else {
            diagnostic.note(
                fmt::format("it is neither beside this file nor in {}", fmt::join(path_.search, ", ")));
        }
        diagnostic.note(fmt::format("the compiler's own library has {}", fmt::join(library, ", ")));
        file_.lacks_module = true;
    }

    void report_cycle(const syntax::Use& use, const Open& ring) {
        Diagnostic& diagnostic = sink_.report(DiagnosticKind::module_cycle, use.path.where,
                                              fmt::format("`{}` uses itself", ring.name));
        std::string way;
        bool is_on = false;
        for (const Open& each : open_) {
            is_on = is_on || each.identity == ring.identity;
            if (is_on && each.identity != ring.identity) way += (way.empty() ? "" : ", ") + each.name;
        }
        if (!way.empty()) diagnostic.note(fmt::format("by way of {}", way));
    }

    SourceFile& source_;
    syntax::File& file_;
    const ModulePath& path_;
    DiagnosticSink& sink_;
    std::vector<Open> open_;         // the spec and the modules that are being read
    std::vector<std::string> done_;  // identities of those that have been
    std::map<std::string, std::string> texts_;
};

}  // namespace

ModulePath module_path(const std::string& path, const std::vector<std::string>& include) {
    ModulePath result;
    if (path != "-") result.folder = fs::path(path).parent_path().string();
    result.search = include;
    const char* given = std::getenv("HALO_PATH");
    std::string rest = given == nullptr ? "" : given;
    while (!rest.empty()) {
        const std::size_t end = rest.find(':');
        if (end != 0) result.search.push_back(rest.substr(0, end));
        rest = end == std::string::npos ? "" : rest.substr(end + 1);
    }
    return result;
}

std::map<std::string, std::string> add_modules(SourceFile& source, syntax::File& file, const ModulePath& path,
                                               DiagnosticSink& sink) {
    return ModuleReader(source, file, path, sink).run();
}

}  // namespace halo::driver
