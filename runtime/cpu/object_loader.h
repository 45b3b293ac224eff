// The one place that knows ORC: an object file in memory to code that runs.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halo::rt {

class LoadedObject {
public:
    // resolve: the address of a name that the object uses and does not define, or null. Throws Error.
    LoadedObject(const std::string& object, std::function<void*(const std::string&)> resolve);
    ~LoadedObject();

    struct Symbol {
        std::string name;
        void* address = nullptr;
        std::size_t bytes = 0;
        bool is_code = false;
    };
    const std::vector<Symbol>& symbols() const;  // by address; local ones, too

    // The line of `file` that the code at an address was made from, by the object's line table; where code of
    // another file was inlined there, the line that called it.
    std::optional<int> line(const void* code, const std::string& file) const;

private:
    struct Session;
    std::unique_ptr<Session> session_;
};

}  // namespace halo::rt
