// The text of an MLIR module in its generic form, as plain data. The form is that of MLIR's language
// reference: each operation is "dialect.name"(operands) <{properties}> ({regions}) {attributes} : type
// location. What the operations mean is not known here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace halo::lift::mlir {

struct Location {
    std::string file;
    std::uint32_t line = 0, column = 0;  // from 1; 0: not known
};

struct Block;

struct Operation {
    std::string name;
    std::vector<int> operands, results;             // values
    std::map<std::string, std::string> attributes;  // properties, too; as they are written
    std::vector<std::vector<Block>> regions;
    std::vector<std::string> operand_types;
    std::vector<std::string> successors;  // the blocks in which it may go on, by their names
    Location where;

    // Empty where there is none.
    std::string attribute(const std::string& key) const {
        const auto found = attributes.find(key);
        return found == attributes.end() ? "" : found->second;
    }
};

struct Block {
    std::string name;            // of the first block: empty where nothing is said
    std::vector<int> arguments;  // values
    std::vector<std::unique_ptr<Operation>> operations;
};

struct Value {
    std::string type;
    const Operation* made_by = nullptr;  // nullptr: an argument of a block
    int number = 0;                      // of its results, or of the block's arguments
};

struct Module {
    std::vector<std::unique_ptr<Operation>> operations;
    std::vector<Value> values;

    const Value& value(int id) const { return values[static_cast<std::size_t>(id)]; }
};

// What is no such text.
class TextError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

inline bool starts(const std::string& text, std::string_view with) {
    return text.rfind(with, 0) == 0;
}
// The text without these characters at its ends.
std::string without(const std::string& text, const std::string& characters);

// Throws TextError.
Module read_module(std::string_view text);

}  // namespace halo::lift::mlir
