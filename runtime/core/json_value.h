// A JSON value as plain data, for what runs inside other people's programs. nlohmann::json reads the text;
// but its values take memory where they are destroyed, so where there is none they end the process. These do
// not: std::bad_alloc is thrown, and arrives.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace halo::rt::json {

// What is not as the caller asked for it: no JSON, another type, no such member. The text says which.
class Mistake : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// The types as which a value can be read.
template <class Type>
inline constexpr bool is_readable = (std::integral<Type> && !std::same_as<Type, char>) ||
                                    std::same_as<Type, double> || std::same_as<Type, std::string>;
template <class Item>
inline constexpr bool is_readable<std::vector<Item>> = is_readable<Item>;
template <class Item, std::size_t Count>
inline constexpr bool is_readable<std::array<Item, Count>> = is_readable<Item>;

class Value {
public:
    using Member = std::pair<std::string, Value>;
    using List = std::vector<Value>;
    using Object = std::vector<Member>;  // in the order of the text

    Value() = default;  // null
    Value(std::nullptr_t) {}
    Value(bool value) : data_(value) {}
    template <std::integral Number>
        requires(!std::same_as<Number, bool>)
    Value(Number value) : data_(static_cast<std::int64_t>(value)) {}
    Value(double value) : data_(value) {}  // a finite one
    Value(const char* text) : data_(std::string(text)) {}
    Value(std::string_view text) : data_(std::string(text)) {}
    Value(std::string text) : data_(std::move(text)) {}
    Value(List items) : data_(std::move(items)) {}
    Value(Object members) : data_(std::move(members)) {}
    template <class Item>
    Value(const std::vector<Item>& items) : Value(list_of(items)) {}
    template <class Item, std::size_t Count>
    Value(const std::array<Item, Count>& items) : Value(list_of(items)) {}

    static Value list(std::initializer_list<Value> items) { return List(items); }
    static Value object(std::initializer_list<Member> members = {}) { return Object(members); }
    // Throws Mistake where the text is no JSON, is nested deeper than plain data is, or has whole numbers
    // past 64 bits.
    static Value parse(std::string_view text);

    bool is_null() const { return std::holds_alternative<Null>(data_); }
    bool is_string() const { return std::holds_alternative<std::string>(data_); }
    bool is_list() const { return std::holds_alternative<List>(data_); }
    bool is_object() const { return std::holds_alternative<Object>(data_); }
    bool is_integer() const { return std::holds_alternative<std::int64_t>(data_); }

    // ---- reading; Mistake where the type is another

    const std::string& text() const;
    const List& items() const;
    const Object& members() const;
    const Value* find(std::string_view name) const;  // null: there is no such member
    const Value& at(std::string_view name) const;
    const Value& at(std::size_t index) const;
    bool contains(std::string_view name) const { return find(name) != nullptr; }
    template <class Type>
    Type value(std::string_view name, Type otherwise) const {
        const Value* const found = find(name);
        return found == nullptr ? otherwise : found->get<Type>();
    }
    template <class Type>
    Type get() const {
        Type result{};
        read(result);
        return result;
    }
    void read(bool& result) const;
    void read(double& result) const;
    void read(std::string& result) const { result = text(); }
    template <std::integral Number>
    void read(Number& result) const {
        const std::int64_t number = whole_number();
        if (!std::in_range<Number>(number)) throw Mistake(std::to_string(number) + " is out of range");
        result = static_cast<Number>(number);
    }
    template <class Item>
    void read(std::vector<Item>& result) const {
        for (const Value& item : items())
            result.push_back(item.get<Item>());
    }
    template <class Item, std::size_t Count>
    void read(std::array<Item, Count>& result) const {
        for (std::size_t i = 0; i < Count; ++i)
            result[i] = at(i).get<Item>();
    }
    template <class Type>
        requires(is_readable<Type>)
    operator Type() const {
        return get<Type>();
    }

    // ---- making

    // Null becomes an object; a member that is not there, null. A literal has an overload of its own: beside
    // the conversions to numbers, a string_view alone would be ambiguous with the built-in number[pointer].
    Value& operator[](std::string_view name);
    Value& operator[](const char* name) { return (*this)[std::string_view(name)]; }
    void push_back(Value item);  // null becomes a list
    // At the end of a list, or of an object by that name, of which there may be one: the last one counts.
    Value& append(const std::string& name, Value item);

    // On one line without spaces; or with so many spaces a level, what fits on a line of 120 columns on one.
    // Numbers are read again as they were.
    std::string dump(int indent = -1) const;

private:
    template <class Items>
    static List list_of(const Items& items) {
        List list;
        for (const auto& item : items)
            list.emplace_back(item);
        return list;
    }

    // In place of std::monostate: a variant of nothing but plain data, texts and vectors is never without a
    // value for libstdc++, which then crashes where copying one throws. Of another class it is not taken for
    // granted.
    struct Null {
        Null() = default;
        Null(const Null&) {}
        Null& operator=(const Null&) { return *this; }
    };

    std::int64_t whole_number() const;
    struct Layout {
        int indent = 0;  // spaces a level; 0: all on one line
        const char* comma = ",";
        const char* colon = ":";
        Layout on_one_line() const { return {0, comma, colon}; }
    };
    void write(std::string& to, const Layout& layout, int level) const;
    bool fits(const Layout& layout, int level) const;  // on one line

    std::variant<Null, bool, std::int64_t, double, std::string, List, Object> data_;
};

// With its quotes and escapes.
std::string json_string(std::string_view text);

}  // namespace halo::rt::json
