#include "compiler/lsp/workspace.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <utility>

#include "compiler/driver/console/files.h"
#include "compiler/lsp/uri.h"
#include "compiler/syntax/parser.h"

namespace halo::lsp {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMaxFiles = 2000;     // of the folders, that are searched for a name
constexpr std::size_t kMaxEntries = 50000;  // of the folders, that are looked at

bool is_left_out(const fs::path& folder) {
    const std::string name = folder.filename().string();
    return name.starts_with(".") || name == "build" || name == "node_modules";
}

// The specs in a folder and those within it.
void find_specs(const std::string& folder, std::set<std::string>& found) {
    std::error_code trouble;
    fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, trouble);
    for (std::size_t count = 0; !trouble && entry != fs::recursive_directory_iterator(); ++count) {
        if (count > kMaxEntries || found.size() > kMaxFiles) return;
        std::error_code ignored;
        if (entry->is_directory(ignored)) {
            if (is_left_out(entry->path())) entry.disable_recursion_pending();
        } else if (entry->path().extension() == ".halo" && entry->is_regular_file(ignored)) {
            found.insert(entry->path().lexically_normal().string());
        }
        entry.increment(trouble);
    }
}

}  // namespace

// ---- what is known of a spec

Checked::Checked(driver::CheckedSpec spec, std::string trouble)
    : spec_(std::move(spec)), trouble_(std::move(trouble)) {
    const std::string_view text = spec_.source.text();
    std::uint32_t begin = 0;
    // Parts have a line end between them, and begin where the source says so.
    for (std::uint32_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\n' || spec_.source.part_begin(i + 1) != i + 1) continue;
        parts_.push_back({spec_.source.name(begin), {begin, i}});
        begin = i + 1;
    }
    parts_.push_back({spec_.source.name(begin), {begin, static_cast<std::uint32_t>(text.size())}});
    names_ = index_names(spec_.source, spec_.tree);
}

Location Checked::location(SourceRange where) const {
    const std::uint32_t begin = spec_.source.part_begin(where.begin);
    return {spec_.source.name(where.begin), {where.begin - begin, where.end - begin}};
}

std::optional<std::uint32_t> Checked::offset(const std::string& path, std::uint32_t in_file) const {
    const auto part = std::ranges::find(parts_, path, &Part::path);
    if (part == parts_.end()) return std::nullopt;
    return part->where.begin + in_file;
}

std::optional<SourceRange> Checked::in_spec(SourceRange where) const {
    if (spec_.source.part_begin(where.begin) != 0) return std::nullopt;
    return where;
}

std::string_view Checked::text_of(const std::string& path) const {
    const auto part = std::ranges::find(parts_, path, &Part::path);
    return part == parts_.end() ? std::string_view() : spec_.source.text(part->where);
}

bool Checked::uses(const std::string& path) const {
    return std::any_of(parts_.begin() + 1, parts_.end(), [&](const Part& part) { return part.path == path; });
}

// ---- texts

void Workspace::open(const std::string& uri, std::string text, Json version) {
    const std::string path = path_of(uri);
    Document& document = documents_[uri];
    document = {uri, path.empty() ? uri : path, std::move(text), std::move(version)};
    forget(document.path);
}

void Workspace::change(const std::string& uri, const Json& changes, Json version) {
    const auto found = documents_.find(uri);
    if (found == documents_.end()) return;
    Document& document = found->second;
    document.version = std::move(version);
    for (const Json& change : changes) {
        std::string text = change.at("text").get<std::string>();
        if (!change.contains("range")) {
            document.text = std::move(text);
            continue;
        }
        const SourceRange where = Lines(document.text, encoding_).offsets(change.at("range"));
        document.text.replace(where.begin, where.end - where.begin, text);
    }
    forget(document.path);
}

void Workspace::close(const std::string& uri) {
    const auto found = documents_.find(uri);
    if (found == documents_.end()) return;
    const std::string path = found->second.path;
    documents_.erase(found);
    forget(path);
}

void Workspace::files_changed() {
    checked_.clear();
}

// What is known of a file, and of those that use it, or that look for a module.
void Workspace::forget(const std::string& path) {
    std::erase_if(checked_, [&](const auto& entry) {
        const auto& [name, checked] = entry;
        return !checked || name == path || checked->uses(path) || checked->spec().tree.lacks_module;
    });
}

const Document* Workspace::find(const std::string& uri) const {
    const auto found = documents_.find(uri);
    return found == documents_.end() ? nullptr : &found->second;
}

std::vector<const Document*> Workspace::documents() const {
    std::vector<const Document*> all;
    for (const auto& [uri, document] : documents_)
        all.push_back(&document);
    return all;
}

std::optional<std::string> Workspace::unsaved(const std::string& path) const {
    for (const auto& [uri, document] : documents_) {
        if (document.path == path) return document.text;
    }
    return std::nullopt;
}

std::string Workspace::text(const std::string& path) const {
    if (std::optional<std::string> open = unsaved(path)) return *std::move(open);
    try {
        return driver::read_text(path, syntax::kMaxFileBytes);
    } catch (const std::exception&) {  // gone, or not to be read: there is no text
        return {};
    }
}

std::string Workspace::uri(const std::string& path) const {
    for (const auto& [uri, document] : documents_) {
        if (document.path == path) return uri;
    }
    return uri_of(path);
}

// ---- checking

Checked Workspace::check(const std::string& path, std::string text,
                         const std::map<std::string, std::string>& others) const {
    driver::ModulePath modules = driver::module_path(path, include_);
    modules.unsaved = [&](const std::string& module) -> std::optional<std::string> {
        const std::string normal = fs::path(module).lexically_normal().string();
        const auto other = others.find(normal);
        return other != others.end() ? other->second : unsaved(normal);
    };
    std::string trouble;
    try {
        driver::CheckedSpec spec = driver::check_text(path, text, modules);
        spec.modules.unsaved = nullptr;  // it is of this call
        return Checked(std::move(spec), "");
    } catch (const std::exception& error) {  // a module that is gone meanwhile, or not to be read
        trouble = error.what();
    }
    return Checked(driver::CheckedSpec{SourceFile(path, text), text, {}, {}, {}}, trouble);
}

const Checked& Workspace::checked(const Document& document) {
    std::shared_ptr<const Checked>& known = checked_[document.path];
    if (!known) known = std::make_shared<const Checked>(check(document.path, document.text, {}));
    return *known;
}

std::shared_ptr<const Checked> Workspace::checked_file(const std::string& path) {
    const auto known = checked_.find(path);
    if (known != checked_.end() && known->second) return known->second;
    const std::string content = text(path);
    if (content.empty()) return nullptr;
    auto result = std::make_shared<const Checked>(check(path, content, {}));
    if (unsaved(path)) checked_[path] = result;  // what is on the disk may change unseen
    return result;
}

std::vector<std::string> Workspace::files_with(const std::string& word) {
    std::set<std::string> files;
    for (const std::string& folder : folders_)
        find_specs(folder, files);
    for (const auto& [uri, document] : documents_)
        files.insert(document.path);
    std::vector<std::string> with;
    for (const std::string& file : files) {
        if (text(file).find(word) != std::string::npos) with.push_back(file);
    }
    return with;
}

}  // namespace halo::lsp
