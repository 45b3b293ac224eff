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
// Empty: it is in none.
std::string module_of(const std::string& unique);

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
        std::vector<int> lower;    // of each axis, an expression; -1: 1
        std::vector<int> sizes;    // of assumed shape: variables
        std::vector<int> lengths;  // expressions; -1: it is not said
    };
    // A part of an array: of each of its axes, one subscript or several.
    struct Section {
        struct Axis {
            int lower = -1, upper = -1;  // expressions
            std::int64_t step = 0;       // 0: it is `lower` alone
        };
        int array = -1;  // value
        std::vector<Axis> axes;
        std::size_t rank() const;
    };
    // What a value of the operations stands for.
    struct Held {
        int expr = -1;                 // a number
        int place = -1;                // a variable or an element, not read
        const Array* array = nullptr;  // of a place that is one
        int version = -1;  // of what the variables hold, where it was read; -1: it does not matter
        const Section* section = nullptr;           // of an array
        const mlir::Operation* computed = nullptr;  // of an array that is no variable: hlfir.elemental
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
    // An element of an array or section: by its own subscripts, or by those of a section, which begin at 1.
    int element(const Held& of, const std::vector<int>& subscripts, SourceRange where);
    // An element, and what is there, at these places, which are counted from 1 along each axis. What is there
    // of a number is that.
    int place_at(int value, const std::vector<int>& places, SourceRange where);
    int value_at(int value, const std::vector<int>& places, SourceRange where);
    // In 64 bits where one of the two has them.
    int sized(const std::string& op, int left, int right);
    // The value without the choices by which flang says that a length is no less than none.
    int bound(int value, SourceRange where);
    // A truth value of Fortran, which is a whole number, as a condition.
    int truth(int value, SourceRange where);
    void something_changes() { ++version_; }
    bool is_current(int version) const { return version < 0 || version == version_; }

    const mlir::Module& module_;
    const SourceText& text_;
    UnitBuilder build_;
    std::map<int, Array> arrays_;  // by variable
    std::set<int> steady_;         // variables that keep their value as long as the procedure runs
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
    void translate_section(const mlir::Operation& from);
    void translate_elements(const mlir::Operation& from);
    int computed_at(const mlir::Operation& elements, const std::vector<int>& places, SourceRange where);
    int from_lower(int index, int lower, SourceRange where);
    int times(int base, std::int64_t power);
    int operand(const mlir::Operation& from, std::size_t i);  // an expression
    int version_of(const mlir::Operation& from);

    std::map<int, Held> held_;
    std::map<int, Section> sections_;  // by value
    int version_ = 0;
};

}  // namespace halo::lift::fortran
