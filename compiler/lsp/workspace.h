// The texts that the editor has open, and what the compiler knows of them and of the modules that they use.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/driver/spec/spec.h"
#include "compiler/lsp/names.h"
#include "compiler/lsp/position.h"

namespace halo::lsp {

struct Document {
    std::string uri;
    std::string path;  // of the file; where it is none, the URI
    std::string text;
    Json version;  // as the editor counts
};

// A place in a file.
struct Location {
    std::string path;
    SourceRange where;  // from the file's first byte
    friend auto operator<=>(const Location& a, const Location& b) {
        return std::tuple(a.path, a.where.begin, a.where.end) <=>
               std::tuple(b.path, b.where.begin, b.where.end);
    }
    friend bool operator==(const Location&, const Location&) = default;
};

// A spec with its modules, checked, and its names.
class Checked {
public:
    Checked(driver::CheckedSpec spec, std::string trouble);

    const driver::CheckedSpec& spec() const { return spec_; }
    const NameIndex& names() const { return names_; }
    // Why it could not be checked: a module that cannot be read. Empty: it was.
    const std::string& trouble() const { return trouble_; }

    Location location(SourceRange where) const;
    // Where the place of a file is in the text of all; nullopt: the file is none of them.
    std::optional<std::uint32_t> offset(const std::string& path, std::uint32_t in_file) const;
    // nullopt: it is of another file.
    std::optional<SourceRange> in_spec(SourceRange where) const;
    std::string_view text_of(const std::string& path) const;  // of the spec or a module; empty: it is neither
    bool uses(const std::string& path) const;                 // as a module

private:
    struct Part {
        std::string path;
        SourceRange where;
    };
    driver::CheckedSpec spec_;
    std::string trouble_;
    std::vector<Part> parts_;  // the spec's own text, then its modules
    NameIndex names_;
};

class Workspace {
public:
    explicit Workspace(std::vector<std::string> include) : include_(std::move(include)) {}

    void set_encoding(Encoding encoding) { encoding_ = encoding; }
    Encoding encoding() const { return encoding_; }
    void add_folder(const std::string& path) { folders_.insert(path); }
    void remove_folder(const std::string& path) { folders_.erase(path); }

    void open(const std::string& uri, std::string text, Json version);
    // Changes as the protocol has them: a range and its text each, or the whole text. Throws Json::exception.
    void change(const std::string& uri, const Json& changes, Json version);
    void close(const std::string& uri);
    void files_changed();  // on the disk, by others

    const Document* find(const std::string& uri) const;  // nullptr: it is not open
    std::vector<const Document*> documents() const;
    const Checked& checked(const Document& document);
    std::shared_ptr<const Checked> checked_file(const std::string& path);  // null: it cannot be read
    // Of a text in the place of that of the file; other texts as they are, but for `others`.
    Checked check(const std::string& path, std::string text,
                  const std::map<std::string, std::string>& others) const;

    // Documents and files of the folders that have this word in their text.
    std::vector<std::string> files_with(const std::string& word);
    std::string uri(const std::string& path) const;  // as the editor calls it
    std::optional<std::string> unsaved(const std::string& path) const;
    std::string text(const std::string& path) const;  // empty: it cannot be read

private:
    void forget(const std::string& path);

    std::vector<std::string> include_;
    Encoding encoding_ = Encoding::utf16;
    std::set<std::string> folders_;
    std::map<std::string, Document> documents_;                      // by URI
    std::map<std::string, std::shared_ptr<const Checked>> checked_;  // by path
};

}  // namespace halo::lsp
