#include "compiler/sema/types.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "compiler/sema/builtins.h"
#include "compiler/sema/evaluator.h"

namespace halo::sema {

using ir::Scalar;
using ir::Storage;

namespace {

struct NamedType {
    std::string_view name;
    Storage storage;
    Scalar type;              // computed in, unless it says otherwise
    std::string_view longer;  // what may stand after `as`
};
constexpr std::array<NamedType, 8> kTypes{{
    {"bool", Storage::boolean, Scalar::boolean, "bool"},
    {"u8", Storage::u8, Scalar::i32, "i32"},
    {"i32", Storage::i32, Scalar::i32, "i32"},
    {"i64", Storage::i64, Scalar::i64, "i64"},
    {"f16", Storage::f16, Scalar::f32, "f32"},
    {"bf16", Storage::bf16, Scalar::f32, "f32"},
    {"f32", Storage::f32, Scalar::f32, "f32"},
    {"f64", Storage::f64, Scalar::f64, "f64"},
}};

const NamedType* find_type(std::string_view name) {
    for (const NamedType& type : kTypes) {
        if (type.name == name) return &type;
    }
    return nullptr;
}

const NamedType* find_reported(const syntax::Name& name, Evaluator& evaluator) {
    if (name.text.empty()) return nullptr;  // did not parse
    if (const NamedType* known = find_type(name.text)) return known;
    evaluator.report_unknown(DiagnosticKind::unknown_type, name.text, name.where,
                             fmt::format("there is no type `{}`", name.text), type_names());
    return nullptr;
}

struct Bounds {
    double low, high;  // both inside, and exact
    const char* name;
    const char* words;
};

Bounds bounds_of(Storage storage) {
    switch (storage) {
        case Storage::u8:
            return {0, 255, "u8", "which holds 0 to 255"};
        case Storage::i32:
            return {-2147483648.0, 2147483647.0, "i32", "which ends at 2147483647"};
        case Storage::i64:
            return {-0x1p63, 0x1p63, "i64", "which ends at about 9.2e18"};
        case Storage::f16:  // half a step above the largest one rounds to infinity
            return {-65519.0, 65519.0, "f16", "which ends at 65504"};
        case Storage::bf16:
            return {-3.39e38, 3.39e38, "bf16", "which ends at about 3.39e38"};
        case Storage::boolean:
        case Storage::f32:
        case Storage::f64:
            break;  // Arithmetic::as says so
    }
    return {0, 0, "", ""};
}

}  // namespace

std::optional<ElementType> resolve_type(const syntax::TypeRef& type, Evaluator& evaluator) {
    // Of a complex number, the type of its parts.
    if (type.storage.text == "c64") return ElementType{Scalar::f32, Storage::f32};
    if (type.storage.text == "c128") return ElementType{Scalar::f64, Storage::f64};
    const NamedType* storage = find_reported(type.storage, evaluator);
    if (!storage) return std::nullopt;
    ElementType result{storage->type, storage->storage};
    if (!type.arithmetic) return result;
    const NamedType* arithmetic = find_reported(*type.arithmetic, evaluator);
    if (!arithmetic) return std::nullopt;
    if (storage->name == "f32" && arithmetic->name == "f64") return ElementType{Scalar::f64, Storage::f32};
    if (arithmetic->name == storage->longer) return result;
    evaluator
        .report(DiagnosticKind::type_mismatch, type.arithmetic->where,
                fmt::format("{} is not computed in {}", storage->name, arithmetic->name))
        .note(fmt::format("{} is computed in {}{}", storage->name, storage->longer,
                          storage->name == "f32" ? ", or in f64" : ""))
        .mend(type.arithmetic->where, std::string(storage->longer));
    return std::nullopt;
}

std::optional<Scalar> resolve_number_type(const syntax::TypeRef& type, const std::string& what,
                                          Evaluator& evaluator) {
    if (type.count || type.storage.text == "c64" || type.storage.text == "c128") {
        evaluator.report(DiagnosticKind::component_mismatch, type.storage.where,
                         fmt::format("{} is one real number", what));
        return std::nullopt;
    }
    const NamedType* found = find_reported(type.storage, evaluator);
    if (!found) return std::nullopt;
    const bool is_number = found->storage != Storage::boolean && found->storage != Storage::f16 &&
                           found->storage != Storage::bf16 && found->storage != Storage::u8;
    if (is_number && !type.arithmetic) return found->type;
    evaluator
        .report(DiagnosticKind::type_mismatch, is_number ? type.arithmetic->where : type.storage.where,
                fmt::format("{} is a number by itself: its type says nothing about memory", what))
        .note("f64, f32, i32 and i64 can be its type");
    return std::nullopt;
}

bool names_integer(const std::optional<syntax::TypeRef>& type) {
    return type && (type->storage.text == "i32" || type->storage.text == "i64");
}

bool check_number(const Rational& number, Scalar type, Storage storage, SourceRange where,
                  DiagnosticSink& sink) {
    if (ir::is_integer(type) && !number.is_integer()) {
        const char* name = bounds_of(storage).name;
        sink.report(DiagnosticKind::not_an_integer, where,
                    fmt::format("{} is no whole number, and {} holds nothing else", number.to_string(), name))
            .note("`round` takes the nearest whole number, `floor` the one below")
            .mend(where, fmt::format("round({})", number.to_string()));
        return false;
    }
    const Bounds bounds = bounds_of(storage);
    if (bounds.low == bounds.high) return true;
    const bool fits = !(number < Rational::from_double(bounds.low)) &&
                      (storage == Storage::i64 ? number < Rational::from_double(bounds.high)
                                               : !(number > Rational::from_double(bounds.high)));
    if (fits) return true;
    sink.report(DiagnosticKind::number_too_large, where,
                fmt::format("{} does not fit into {}, {}", number.to_string(), bounds.name, bounds.words));
    return false;
}

}  // namespace halo::sema
