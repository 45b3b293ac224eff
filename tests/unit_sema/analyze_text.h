// A spec in a string to what sema makes of it.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "catch.h"
#include "compiler/ir/print.h"
#include "compiler/ir/verify.h"
#include "compiler/sema/sema.h"
#include "compiler/syntax/parser.h"

struct Analyzed {
    std::string messages;  // as printed; empty where there is no mistake
    std::vector<halo::DiagnosticKind> kinds;
    halo::sema::Analysis analysis;

    const halo::ir::Program& program() const { return analysis.stencils.front().program; }

    // The expression that the n-th statement gives a value with.
    std::string value(std::size_t statement) const {
        return halo::ir::print(program(), std::visit([](const auto& node) { return node.value; },
                                                     program().statements.at(statement)));
    }
    halo::ir::Margins margins(std::size_t statement) const {
        const halo::ir::Statement& node = program().statements.at(statement);
        if (const auto* reduce = std::get_if<halo::ir::Reduce>(&node)) return reduce->margins;
        return std::get<halo::ir::Assign>(node).margins;
    }
    const halo::ir::Field& field(const std::string& name) const {
        for (const halo::ir::Field& candidate : program().fields) {
            if (candidate.name == name) return candidate;
        }
        FAIL("no field " + name);
        return program().fields.front();
    }
};

inline Analyzed analyze_text(const std::string& text) {
    const halo::SourceFile file("test.halo", text);
    halo::DiagnosticSink sink;
    const halo::syntax::File tree = halo::syntax::parse(file, sink);
    Analyzed result;
    result.analysis = halo::sema::analyze(tree, sink);
    const std::vector<halo::Diagnostic> diagnostics = sink.sorted();
    result.messages = halo::render(diagnostics, file);
    for (const halo::Diagnostic& diagnostic : diagnostics)
        result.kinds.push_back(diagnostic.kind);
    if (sink.has_errors()) return result;
    for (const halo::sema::AnalyzedStencil& stencil : result.analysis.stencils) {
        for (const std::string& broken : halo::ir::verify(stencil.program))
            FAIL_CHECK(broken);
    }
    for (const halo::sema::RunSpec& run : result.analysis.runs) {
        if (run.init) {
            for (const std::string& broken : halo::ir::verify(*run.init))
                FAIL_CHECK(broken);
        }
        if (run.until) {
            for (const std::string& broken : halo::ir::verify(run.until->host))
                FAIL_CHECK(broken);
        }
    }
    return result;
}

// The statements of a stencil over x, y; free of mistakes.
inline Analyzed stencil(const std::string& body, const std::string& axes = "x, y") {
    Analyzed result = analyze_text("stencil s(" + axes + ") {\n" + body + "\n}\n");
    INFO(result.messages);
    REQUIRE(result.kinds.empty());
    return result;
}

inline std::vector<halo::DiagnosticKind> mistakes(const std::string& body, const std::string& run = "") {
    return analyze_text("stencil s(x, y) {\n" + body + "\n}\n" + run).kinds;
}
