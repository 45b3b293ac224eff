// Where names are declared and used, and what a document declares.
#include <algorithm>
#include <filesystem>
#include <set>

#include "compiler/lsp/features.h"
#include "compiler/lsp/library_copy.h"

namespace halo::lsp {

namespace {

// The declarations of what stands at an offset, each once.
std::vector<const NameDefinition*> declared_at(const Checked& checked, std::uint32_t offset) {
    std::vector<const NameDefinition*> all;
    for (const NameUse* use : checked.names().at(offset)) {
        const NameDefinition& definition = checked.names().definitions[use->definition];
        const bool is_known = std::ranges::any_of(
            all, [&](const NameDefinition* other) { return other->where == definition.where; });
        if (!is_known) all.push_back(&definition);
    }
    return all;
}

// The `use` whose file's name an offset is in.
const syntax::Use* use_at(const Checked& checked, std::uint32_t offset) {
    for (const syntax::Use& use : checked.spec().tree.uses) {
        if (use.path.where.begin <= offset && offset <= use.path.where.end) return &use;
    }
    return nullptr;
}

// The module of that name that was read; empty: none was.
std::string module_named(const Checked& checked, const std::string& name) {
    namespace fs = std::filesystem;
    const std::vector<std::string> files = checked.spec().source.names();
    const fs::path beside = (fs::path(files.front()).parent_path() / name).lexically_normal();
    std::string found;
    for (std::size_t i = 1; i < files.size(); ++i) {
        if (files[i] == beside) return files[i];
        if (found.empty() && fs::path(files[i]).filename() == fs::path(name).filename()) found = files[i];
    }
    return found;
}

Json to_json(Workspace& workspace, Location location) {
    location.path = readable_path(location.path);
    return location.path.empty() ? Json() : location_json(workspace, location);
}

// As the protocol numbers them; the names of stencils are those of classes.
enum class SymbolKind : std::uint8_t {
    stencil = 5,
    property = 7,
    field = 8,
    function = 12,
    variable = 13,
    constant = 14,
    event = 24
};

SymbolKind symbol_kind(NameKind kind) {
    switch (kind) {
        case NameKind::stencil:
            return SymbolKind::stencil;
        case NameKind::field:
        case NameKind::table:
        case NameKind::series:
        case NameKind::points:
            return SymbolKind::field;
        case NameKind::component:
        case NameKind::column:
            return SymbolKind::property;
        case NameKind::function:
            return SymbolKind::function;
        case NameKind::param:
        case NameKind::constant:
        case NameKind::coef:
            return SymbolKind::constant;
        default:
            return SymbolKind::variable;
    }
}

bool is_symbol(NameKind kind) {
    return kind != NameKind::axis && kind != NameKind::parameter && kind != NameKind::index &&
           kind != NameKind::component && kind != NameKind::column && kind != NameKind::stencil;
}

Json symbol(const View& view, const std::string& name, const std::string& detail, SymbolKind kind,
            SourceRange whole, SourceRange where) {
    if (where.begin < whole.begin || where.end > whole.end) whole = where;
    return {{"name", name.empty() ? "?" : name},
            {"detail", detail},
            {"kind", static_cast<int>(kind)},
            {"range", view.lines.range(whole)},
            {"selectionRange", view.lines.range(where)},
            {"children", Json::array()}};
}

}  // namespace

Json definition(const View& view, std::uint32_t offset) {
    Json all = Json::array();
    for (const NameDefinition* each : declared_at(view.checked, offset)) {
        Json place = to_json(view.workspace, view.checked.location(each->where));
        if (!place.is_null()) all.push_back(std::move(place));
    }
    if (!all.empty()) return all;
    const syntax::Use* const use = use_at(view.checked, offset);
    if (use == nullptr) return nullptr;
    const std::string module = module_named(view.checked, use->path.text);
    const Json place = module.empty() ? Json() : to_json(view.workspace, Location{module, {}});
    return place.is_null() ? place : Json::array({place});
}

// In all documents and files of the workspace's folders that have the word in their text.
std::vector<Location> all_uses(Workspace& workspace, const Location& declaration, const std::string& name) {
    std::set<Location> places;
    std::vector<std::string> files = workspace.files_with(name);
    files.push_back(declaration.path);
    for (const std::string& file : files) {
        const std::shared_ptr<const Checked> checked = workspace.checked_file(file);
        if (!checked) continue;
        const auto begin = checked->offset(declaration.path, declaration.where.begin);
        if (!begin) continue;
        const std::uint32_t length = declaration.where.end - declaration.where.begin;
        for (const NameUse* use : checked->names().of({*begin, *begin + length}))
            places.insert(checked->location(use->where));
    }
    return {places.begin(), places.end()};
}

Json references(const View& view, std::uint32_t offset, bool with_declaration) {
    Json all = Json::array();
    for (const NameDefinition* each : declared_at(view.checked, offset)) {
        const Location declaration = view.checked.location(each->where);
        for (const Location& place : all_uses(view.workspace, declaration, each->name)) {
            if (place == declaration && !with_declaration) continue;
            Json found = to_json(view.workspace, place);
            if (!found.is_null()) all.push_back(std::move(found));
        }
    }
    return all;
}

Json document_symbols(const View& view) {
    const syntax::File& tree = view.checked.spec().tree;
    const NameIndex& names = view.checked.names();
    Json all = Json::array();
    for (const NameDefinition& each : names.definitions) {
        const bool is_shared =
            each.stencil.empty() && is_symbol(each.kind) && view.checked.in_spec(each.where);
        if (is_shared)
            all.push_back(symbol(view, each.name, each.text, symbol_kind(each.kind), each.whole, each.where));
    }
    for (const syntax::Stencil& stencil : tree.stencils) {
        Json entry = symbol(view, stencil.name.text, "stencil", SymbolKind::stencil, stencil.where,
                            stencil.name.where);
        for (const NameDefinition& each : names.definitions) {
            const bool is_inside =
                each.where.begin >= stencil.where.begin && each.where.end <= stencil.where.end;
            if (is_inside && is_symbol(each.kind))
                entry["children"].push_back(
                    symbol(view, each.name, each.text, symbol_kind(each.kind), each.whole, each.where));
        }
        all.push_back(std::move(entry));
    }
    for (const syntax::Run& run : tree.runs)
        all.push_back(
            symbol(view, "run " + run.name.text, "run", SymbolKind::event, run.where, run.name.where));
    return all;
}

}  // namespace halo::lsp
