#include "compiler/sema/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace halo::sema {

namespace {

std::string name_of_part(const std::vector<std::string>& names, bool is_complex, std::size_t part) {
    if (is_complex) return part == 0 ? "re" : "im";
    return names.empty() ? std::to_string(part) : names[part];
}

std::optional<std::size_t> find_in_names(const std::vector<std::string>& names, std::size_t count,
                                         const std::string& word) {
    const auto found = std::find(names.begin(), names.end(), word);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size() || number >= count) return std::nullopt;
    return number;
}

std::optional<std::size_t> find_complex_part(const std::string& word) {
    if (word == "re") return 0;
    if (word == "im") return 1;
    return std::nullopt;
}

std::string describe_vector(const std::vector<std::string>& names, std::size_t count) {
    if (names.empty()) return fmt::format("a vector of {}", count);
    return fmt::format("a vector ({})", fmt::join(names, ", "));
}

void append_suffixes(const Shape& shape, const std::string& before, std::vector<std::string>& result) {
    if (shape.kind == Shape::Kind::scalar) {
        result.push_back(before);
    } else if (shape.kind == Shape::Kind::complex) {
        result.push_back(before + ".re");
        result.push_back(before + ".im");
    } else {
        for (std::size_t i = 0; i < shape.parts.size(); ++i)
            append_suffixes(shape.parts[i], before + "." + part_name(shape, i), result);
    }
}

bool append_fitting(const Value& value, const Shape& shape, std::vector<Value>& result) {
    if (shape.kind == Shape::Kind::scalar) {
        if (value.has_parts()) return false;
        result.push_back(value);
        return true;
    }
    if (shape.kind == Shape::Kind::complex) {
        if (value.is_vector()) return false;
        result.push_back(value.is_complex() ? value.parts[0] : value);
        result.push_back(value.is_complex() ? value.parts[1] : Value::of(Rational(0)));
        return true;
    }
    if (!value.is_vector()) {
        if (!value.is_uniform()) return false;
        return std::all_of(shape.parts.begin(), shape.parts.end(),
                           [&](const Shape& part) { return append_fitting(value, part, result); });
    }
    if (value.parts.size() != shape.parts.size()) return false;
    const bool both_named = !value.names.empty() && !shape.names.empty();
    if (both_named && value.names != shape.names) return false;
    for (std::size_t i = 0; i < shape.parts.size(); ++i) {
        if (!append_fitting(value.parts[i], shape.parts[i], result)) return false;
    }
    return true;
}

}  // namespace

std::size_t Shape::leaves() const {
    if (kind == Kind::scalar) return 1;
    if (kind == Kind::complex) return 2;
    std::size_t count = 0;
    for (const Shape& part : parts)
        count += part.leaves();
    return count;
}

std::size_t Shape::first_leaf(std::size_t part) const {
    if (kind == Kind::complex) return part;
    std::size_t count = 0;
    for (std::size_t i = 0; i < part; ++i)
        count += parts[i].leaves();
    return count;
}

std::string part_name(const Shape& shape, std::size_t part) {
    return name_of_part(shape.names, shape.kind == Shape::Kind::complex, part);
}
std::string part_name(const Value& value, std::size_t part) {
    return name_of_part(value.names, value.is_complex(), part);
}

std::optional<std::size_t> find_part(const Value& value, const std::string& word,
                                     const std::vector<std::string>& axes) {
    if (value.is_complex()) return find_complex_part(word);
    if (!value.is_vector()) return std::nullopt;
    const bool is_along_axes = value.names.empty() && value.parts.size() == axes.size();
    return find_in_names(is_along_axes ? axes : value.names, value.parts.size(), word);
}

std::optional<std::size_t> find_part(const Shape& shape, const std::string& word,
                                     const std::vector<std::string>& axes) {
    if (shape.kind == Shape::Kind::complex) return find_complex_part(word);
    if (shape.kind != Shape::Kind::vector) return std::nullopt;
    const bool is_along_axes = shape.names.empty() && shape.parts.size() == axes.size();
    return find_in_names(is_along_axes ? axes : shape.names, shape.parts.size(), word);
}

std::vector<std::string> leaf_suffixes(const Shape& shape) {
    std::vector<std::string> result;
    append_suffixes(shape, "", result);
    return result;
}

std::string describe(const Shape& shape) {
    switch (shape.kind) {
        case Shape::Kind::scalar:
            return "a number";
        case Shape::Kind::complex:
            return "a complex number";
        case Shape::Kind::vector:
            break;
    }
    return describe_vector(shape.names, shape.parts.size());
}

std::string describe(const Value& value) {
    if (value.is_complex()) return "a complex number";
    if (value.is_vector()) return describe_vector(value.names, value.parts.size());
    return value.is_boolean() ? "true or false" : "a number";
}

Value assemble(const Shape& shape, const std::vector<Value>& leaves, std::size_t& next) {
    if (shape.kind == Shape::Kind::scalar) return leaves[next++];
    if (shape.kind == Shape::Kind::complex) {
        next += 2;
        return Value::complex_of(leaves[next - 2], leaves[next - 1]);
    }
    std::vector<Value> parts;
    for (const Shape& part : shape.parts)
        parts.push_back(assemble(part, leaves, next));
    return Value::vector_of(std::move(parts), shape.names);
}

Shape shape_of(const Value& value) {
    Shape result;
    if (value.is_complex()) result.kind = Shape::Kind::complex;
    if (!value.is_vector()) return result;
    result.kind = Shape::Kind::vector;
    result.names = value.names;
    for (const Value& part : value.parts)
        result.parts.push_back(shape_of(part));
    return result;
}

std::optional<std::vector<Value>> fit(const Value& value, const Shape& shape) {
    std::vector<Value> result;
    if (value.is_poison() || !append_fitting(value, shape, result)) return std::nullopt;
    return result;
}

}  // namespace halo::sema
