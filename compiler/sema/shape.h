// How the components of a field, or of a value, are arranged. Each leaf of a field's shape is one ir::Field;
// leaves are in order of declaration, the first part of a complex number is the real one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/sema/value.h"
#include "compiler/syntax/tree.h"

namespace halo::sema {

inline constexpr std::int64_t kMaxComponents = 256;  // of one field

struct Shape {
    enum class Kind : std::uint8_t { scalar, complex, vector };
    Kind kind = Kind::scalar;
    std::vector<std::string> names;               // of a vector's parts; empty: numbered from 0
    std::vector<Shape> parts;                     // of a vector
    const syntax::TypeRef* type = nullptr;        // of scalar and complex, as declared
    const syntax::Name* declared_name = nullptr;  // of a named component

    std::size_t leaves() const;
    // The place of a part's first leaf among those of this shape.
    std::size_t first_leaf(std::size_t part) const;
};

// A field as it is declared: leaves are Program::fields[first], [first + 1], …
struct FieldLayout {
    std::uint32_t first = 0;
    Shape shape;
};

// "x", "3", "re": what comes after the dot for a part of a vector or complex number.
std::string part_name(const Shape& shape, std::size_t part);
std::string part_name(const Value& value, std::size_t part);

// Which part a word names: a component's name, or a number; `axes` name the parts of a vector without names
// that has one for each axis. nullopt where there is none.
std::optional<std::size_t> find_part(const Value& value, const std::string& word,
                                     const std::vector<std::string>& axes);
std::optional<std::size_t> find_part(const Shape& shape, const std::string& word,
                                     const std::vector<std::string>& axes);

// The suffix of each leaf's name, in order: {""} of a scalar, {".x", ".y"}, {".0.re", ".0.im", …}.
std::vector<std::string> leaf_suffixes(const Shape& shape);

// "a number", "a complex number", "a vector (x, y)", "a vector of 19": for messages.
std::string describe(const Shape& shape);
std::string describe(const Value& value);

// Puts leaves together in a shape: the reverse of leaves_of. Takes them from `next` on.
Value assemble(const Shape& shape, const std::vector<Value>& leaves, std::size_t& next);

Shape shape_of(const Value& value);

// The leaves of a value that is meant for something of this shape: a vector of the same components, a complex
// or real number for a complex one; one number for all components where it has one value per launch. nullopt
// where it does not fit.
std::optional<std::vector<Value>> fit(const Value& value, const Shape& shape);

}  // namespace halo::sema
