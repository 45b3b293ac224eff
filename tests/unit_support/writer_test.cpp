#include "compiler/support/writer.h"
#include "catch.h"

using halo::Writer;

TEST_CASE("indentation follows scopes") {
    Writer out;
    out.line("for (int k = 0; k < {}; ++k) {{", 4);
    {
        const auto body = out.indent();
        out.line("step(k);");
        out.text("a\n\nb");
        out.end_line();
        {
            const auto inner = out.indent();
            out.write("{}", "deep");
            out.write(" and on");
        }
        out.line("back");
    }
    out.line("}}");
    CHECK(out.str() ==
          "for (int k = 0; k < 4; ++k) {\n    step(k);\n    a\n\n    b\n        deep and on\n    back\n}\n");
}

TEST_CASE("blank lines do not pile up") {
    Writer out(2);
    out.blank_line();
    out.line("a");
    out.blank_line();
    out.blank_line();
    out.text("b");
    out.blank_line();
    out.line("c");
    CHECK(out.take() == "a\n\nb\n\nc\n");
}
