// What operations compute, as expressions; for translate.cpp.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/lift/fortran/mlir_text.h"
#include "compiler/lift/fortran/source_text.h"
#include "compiler/lift/fortran/unit_builder.h"

namespace halo::lift::fortran {

using mlir::starts;
using mlir::without;

// Of `_QMmoduleFprocedureEname`: flang's letters between names are capitals, and names have none.
std::string last_name(const std::string& unique);

class ValueTranslator {
public:
    ValueTranslator(const mlir::Module& module, const SourceText& text, const std::string& file)
        : module_(module), text_(text) {
        build_.unit.source = SourceFile(file, text.text());
    }
    ValueTranslator(const ValueTranslator&) = delete;
    ValueTranslator& operator=(const ValueTranslator&) = delete;

protected:
    struct Array {
        std::vector<int> lower;  // of each axis, an expression; -1: 1
        std::vector<int> sizes;  // of assumed shape: variables
    };
    // What a value of the operations stands for.
    struct Held {
        int expr = -1;                 // a number
        int place = -1;                // a variable or an element, not read
        const Array* array = nullptr;  // of a place that is one
        int version = -1;  // of what the variables hold, where it was read; -1: it does not matter
    };

    // The operations that read and compute. Whether this is one of them.
    bool translate_value(const mlir::Operation& from);

    SourceRange place_of(const mlir::Location& where) const;
    SourceRange place_of(const mlir::Operation& from) const { return place_of(from.where); }
    Held& held(int value) { return held_[value]; }
    const mlir::Operation* maker(int value) const { return module_.value(value).made_by; }
    // The number, which must be read since the last change of a variable.
    int number(int value, SourceRange where);
    // A whole number that is written down, through conversions.
    std::optional<std::int64_t> constant(int value) const;
    // The value before it was made a longer whole number, or an index.
    int before_widening(int value) const;
    void set(const mlir::Operation& from, int expr);
    // As MLIR writes it: `1.5`, `true`, or the bits of a real.
    int written_number(const std::string& text, c::Number type, SourceRange where);
    void something_changes() { ++version_; }
    bool is_current(int version) const { return version < 0 || version == version_; }

    const mlir::Module& module_;
    const SourceText& text_;
    UnitBuilder build_;
    std::map<int, Array> arrays_;  // by variable
    SourceRange head_;             // of the procedure
    std::string file_;             // that it is in, as flang calls it

private:
    bool translate_other(const mlir::Operation& from);
    void translate_constant(const mlir::Operation& from);
    void translate_load(const mlir::Operation& from);
    void translate_element(const mlir::Operation& from);
    void translate_conversion(const mlir::Operation& from);
    void translate_lengths(const mlir::Operation& from);
    void translate_comparison(const mlir::Operation& from);
    void translate_choice(const mlir::Operation& from);
    void translate_logic(const mlir::Operation& from);
    void translate_power(const mlir::Operation& from);
    void translate_sign(const mlir::Operation& from);
    bool translate_call(const mlir::Operation& from);
    int from_lower(int index, int lower, SourceRange where);
    int sized(const std::string& op, int left, int right);
    int times(int base, std::int64_t power);
    int operand(const mlir::Operation& from, std::size_t i);  // an expression
    int version_of(const mlir::Operation& from);

    std::map<int, Held> held_;
    int version_ = 0;
};

}  // namespace halo::lift::fortran
