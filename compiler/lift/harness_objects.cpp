#include "compiler/lift/harness_objects.h"

#include <fmt/format.h>

namespace halo::lift {

namespace {

// Of an array in an object: what there is of both.
std::string bytes_text(const std::string& member, const std::string& element, const std::string& length) {
    return fmt::format("(sizeof {0} < ({2}) * sizeof({1}) ? sizeof {0} : ({2}) * sizeof({1}))", member,
                       element, length);
}

}  // namespace

const char* type_name(c::Number number) {
    using c::Number;
    switch (number) {
        case Number::boolean:
            return "unsigned char";
        case Number::i8:
            return "signed char";
        case Number::u8:
            return "unsigned char";
        case Number::i16:
            return "short";
        case Number::u16:
            return "unsigned short";
        case Number::i32:
            return "int";
        case Number::u32:
            return "unsigned";
        case Number::i64:
            return "long long";
        case Number::u64:
            return "unsigned long long";
        case Number::f32:
            return "float";
        case Number::f64:
            return "double";
        case Number::none:
            break;
    }
    return "";
}

std::string written_type(std::string plain) {
    for (const std::string word : {"const ", "volatile "})
        if (plain.starts_with(word)) plain.erase(0, word.size());
    const std::string hidden = "(anonymous namespace)::";
    for (std::size_t at = 0; (at = plain.find(hidden)) != std::string::npos;)
        plain.erase(at, hidden.size());
    return plain;
}

std::string ObjectText::declared(const std::string& written, const std::string& name) const {
    if (!is_cxx_) return fmt::format("    static {} {};\n", written, name);
    return fmt::format(
        "    static unsigned char {1}_bytes[sizeof({0})] __attribute__((aligned(64)));\n"
        "    {0}& {1} = *({0}*){1}_bytes;\n",
        written, name);
}

std::string ObjectText::reached(const std::string& object, const std::vector<std::string>& members) {
    std::string text;
    std::vector<std::string> passed;
    for (const std::string& each : members) {
        passed.push_back(each);
        if (!each.ends_with("->")) continue;
        const std::string at = way_text(object, false, passed);
        if (!begins(at)) continue;
        text += fmt::format(
            "    static unsigned char {0}_{1}[sizeof(*{2})] __attribute__((aligned(64)));\n"
            "    *(void**)&{2} = {0}_{1};\n",
            object, ++made_, at);
    }
    return text;
}

std::string ObjectText::number(const std::string& member, const std::string& from) {
    return fmt::format("    __builtin_memcpy((void*)&{0}, {1}, sizeof {0});\n", member, from);
}
std::string ObjectText::pointer(const std::string& member, const std::string& from) {
    return fmt::format("    *(void**)&{} = {};\n", member, from);
}

std::string ObjectText::array(const std::string& member, bool is_vector, const std::string& element,
                              const std::string& from, const std::string& length) {
    if (is_vector)
        return fmt::format("    new ((void*)&{0}) std::vector<{1}>(({1}*){2}, ({1}*){2} + ({3}));\n", member,
                           element, from, length);
    return fmt::format("    __builtin_memcpy((void*)&{}, {}, {});\n", member, from,
                       bytes_text(member, element, length));
}
std::string ObjectText::array_back(const std::string& member, bool is_vector, const std::string& element,
                                   const std::string& from, const std::string& length) {
    if (is_vector)
        return fmt::format("    for (long long i = 0; i < (long long)({3}); ++i) (({1}*){2})[i] = {0}[i];\n",
                           member, element, from, length);
    return fmt::format("    __builtin_memcpy({1}, (void*)&{0}, {2});\n", member, from,
                       bytes_text(member, element, length));
}

}  // namespace halo::lift
