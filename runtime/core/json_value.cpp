#include "runtime/core/json_value.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace halo::rt::json {

namespace {

constexpr std::size_t kDeepest = 64;

// Builds a value from what the parser finds. `open_` are the lists and objects around the place.
class Builder {
public:
    Value result;

    bool null() { return add(nullptr); }
    bool boolean(bool value) { return add(value); }
    bool number_integer(std::int64_t value) { return add(value); }
    bool number_unsigned(std::uint64_t value) {
        if (!std::in_range<std::int64_t>(value)) throw Mistake(fmt::format("{} is out of range", value));
        return add(value);
    }
    bool number_float(double value, const std::string&) { return add(value); }
    bool string(std::string& text) { return add(std::move(text)); }
    bool binary(nlohmann::json::binary_t&) { throw Mistake("JSON has no binary values"); }
    bool start_object(std::size_t) { return open(Value::object()); }
    bool start_array(std::size_t) { return open(Value::list({})); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }
    bool key(std::string& name) {
        name_ = std::move(name);
        return true;
    }
    bool parse_error(std::size_t at, const std::string&, const nlohmann::json::exception&) {
        throw Mistake(fmt::format("this is no JSON, from byte {} on", at));
    }

private:
    Value& put(Value value) {
        if (open_.empty()) return result = std::move(value);
        return open_.back()->append(name_, std::move(value));
    }
    bool add(Value value) {
        put(std::move(value));
        return true;
    }
    bool open(Value value) {
        if (open_.size() == kDeepest) throw Mistake("it is nested too deeply");
        // Pointers to open lists and objects stay valid: lists and objects around it get their next item when
        // it is closed.
        open_.push_back(&put(std::move(value)));
        return true;
    }
    bool close() {
        open_.pop_back();
        return true;
    }

    std::vector<Value*> open_;
    std::string name_;
};

template <class Type, class Data>
const Type& as(const Data& data, const char* what) {
    if (const Type* const found = std::get_if<Type>(&data)) return *found;
    throw Mistake(fmt::format("there is another value where {} belongs", what));
}

std::string number_text(double value) {
    std::string text = fmt::format("{}", value);
    if (text.find_first_of(".en") == std::string::npos) text += ".0";  // not a whole number when read again
    return text;
}

}  // namespace

Value Value::parse(std::string_view text) {
    Builder builder;
    nlohmann::json::sax_parse(text, &builder);
    return std::move(builder.result);
}

const std::string& Value::text() const {
    return as<std::string>(data_, "a text");
}

const Value::List& Value::items() const {
    return as<List>(data_, "a list");
}

const Value::Object& Value::members() const {
    return as<Object>(data_, "an object");
}

Value& Value::append(const std::string& name, Value item) {
    if (auto* const list = std::get_if<List>(&data_)) return list->emplace_back(std::move(item));
    return std::get<Object>(data_).emplace_back(name, std::move(item)).second;
}

const Value* Value::find(std::string_view name) const {
    const Object& all = members();
    for (auto member = all.rbegin(); member != all.rend(); ++member)
        if (member->first == name) return &member->second;
    return nullptr;
}

const Value& Value::at(std::string_view name) const {
    if (const Value* const found = find(name)) return *found;
    throw Mistake(fmt::format("'{}' is missing", name));
}

const Value& Value::at(std::size_t index) const {
    if (index < items().size()) return items()[index];
    throw Mistake(fmt::format("a list has {} items, and {} are needed", items().size(), index + 1));
}

Value& Value::operator[](std::string_view name) {
    if (is_null()) data_ = Object();
    if (const Value* const found = find(name)) return const_cast<Value&>(*found);
    auto& members = std::get<Object>(data_);
    return members.emplace_back(std::string(name), Value()).second;
}

void Value::push_back(Value item) {
    if (is_null()) data_ = List();
    std::get<List>(data_).push_back(std::move(item));
}

void Value::read(bool& result) const {
    result = as<bool>(data_, "true or false");
}

void Value::read(double& result) const {
    result =
        is_integer() ? static_cast<double>(std::get<std::int64_t>(data_)) : as<double>(data_, "a number");
}

std::int64_t Value::whole_number() const {
    return as<std::int64_t>(data_, "a whole number");
}

std::string json_string(std::string_view text) {
    constexpr std::string_view kEscaped = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt";
    std::string all = "\"";
    for (const char each : text) {
        const std::size_t known = kEscaped.find(each);
        if (known != std::string_view::npos)
            all += {'\\', kLetters[known]};
        else if (static_cast<unsigned char>(each) < 0x20)
            all += fmt::format("\\u{:04x}", static_cast<unsigned>(each));
        else
            all += each;
    }
    return all + '"';
}

void Value::write(std::string& to, const Layout& layout, int level) const {
    const auto write_all = [&](char open, const auto& all, char close, auto&& write_one) {
        // Breaks lines where the value does not fit on one: an argument of a kernel and a face of a field do.
        const bool breaks = layout.indent > 0 && !all.empty() && !fits(layout, level);
        const Layout inside = breaks ? layout : layout.on_one_line();
        const auto begin_line = [&](int depth) {
            to += '\n' + std::string(static_cast<std::size_t>(layout.indent * depth), ' ');
        };
        to += open;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (i > 0) to += breaks ? "," : inside.comma;
            if (breaks) begin_line(level + 1);
            write_one(all[i], inside);
        }
        if (breaks) begin_line(level);
        to += close;
    };
    if (const auto* const text = std::get_if<std::string>(&data_))
        to += json_string(*text);
    else if (const auto* const number = std::get_if<double>(&data_))
        to += number_text(*number);
    else if (const auto* const whole = std::get_if<std::int64_t>(&data_))
        to += std::to_string(*whole);
    else if (const auto* const truth = std::get_if<bool>(&data_))
        to += *truth ? "true" : "false";
    else if (const auto* const list = std::get_if<List>(&data_))
        write_all('[', *list, ']',
                  [&](const Value& item, const Layout& inside) { item.write(to, inside, level + 1); });
    else if (const auto* const object = std::get_if<Object>(&data_))
        write_all('{', *object, '}', [&](const Member& member, const Layout& inside) {
            to += json_string(member.first);
            to += inside.colon;
            member.second.write(to, inside, level + 1);
        });
    else
        to += "null";
}

bool Value::fits(const Layout& layout, int level) const {
    constexpr std::size_t kColumns = 118;
    std::string line;
    write(line, layout.on_one_line(), level);
    return static_cast<std::size_t>(layout.indent * level) + line.size() <= kColumns;
}

std::string Value::dump(int indent) const {
    std::string text;
    write(text, indent > 0 ? Layout{indent, ", ", ": "} : Layout{}, 0);
    return text;
}

}  // namespace halo::rt::json
