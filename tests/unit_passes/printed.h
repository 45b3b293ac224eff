// What the tests of passes compare: the statements of a printed program, and what the interpreter makes of
// it.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "compiler/ir/interpreter.h"
#include "compiler/ir/print.h"
#include "program_maker.h"

namespace halo::ir {

// The text after the declarations.
inline std::string statements_of(const Program& program) {
    const std::string text = print(program);
    return text.substr(text.find("\n\n") + 2);
}

// Every field's level now after some steps from pseudo-random data, in one row.
inline std::vector<double> run(const Program& program, Arithmetic arithmetic, int steps = 2) {
    Interpreter interpreter(program, {7, 4, 3}, arithmetic);
    std::uint64_t seed = 42;
    for (const Field& field : program.fields) {
        if (field.role == Role::output || field.role == Role::intermediate) continue;
        for (double& cell : interpreter.field(field.name)) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            cell = static_cast<float>(0.5 + static_cast<double>(seed >> 33) / 4294967296.0);
        }
    }
    for (int step = 0; step < steps; ++step)
        interpreter.step();
    std::vector<double> all;
    for (const Field& field : program.fields)
        for (double cell : interpreter.field(field.name))
            all.push_back(cell);
    return all;
}

// The largest difference relative to the largest value. Places where both are NaN agree.
inline double difference(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() != b.size()) return INFINITY;
    double largest = 0, apart = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (std::isnan(a[i]) != std::isnan(b[i])) return INFINITY;
        if (std::isnan(a[i])) continue;
        largest = std::max(largest, std::abs(a[i]));
        apart = std::max(apart, std::abs(a[i] - b[i]));
    }
    return largest == 0 ? apart : apart / largest;
}

}  // namespace halo::ir
