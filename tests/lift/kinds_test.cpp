// The list of statements and expressions that the lifter knows is closed: each kind of Clang's tree is
// modelled, and stands in a function that is lifted in these tests; or it is refused here; or it is in no C,
// C++ or CUDA that a function with loops may have. A kind that a later Clang adds fails this test until it is
// in one of the lists.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "cases.h"
#include "catch.h"
#include "compiler/lift/clang_kinds.h"
#include "compiler/lift/lift.h"
#include "temporary_folder.h"

namespace {

using halo::lift::Handling;

struct Snippet {
    const char* kind;
    const char* file;  // its language
    const char* text;  // in a nest, in front of b[i] = a[i] * s
    const char* before = "";
};

const std::vector<Snippet>& snippets() {
    static const std::vector<Snippet> all{
        {"AtomicExpr", "c", "__c11_atomic_store((_Atomic(int)*)&k, 3, 5);"},
        {"BinaryConditionalOperator", "c", "s = k ?: 3;"},
        {"BreakStmt", "c", "if (i > 5) break;"},
        {"BuiltinBitCastExpr", "cpp", "s = __builtin_bit_cast(float, k);"},
        {"CXXPseudoDestructorExpr", "cpp", "using F = float; s.~F();"},
        {"CaseStmt", "c", "switch (k) { case 3: s = 2; }"},
        {"CompoundLiteralExpr", "c", "s = (float[]){3, 4}[k];"},
        {"ConvertVectorExpr", "cpp", "v4f w{}; s = __builtin_convertvector(w, v4i)[0];",
         "typedef float v4f __attribute__((vector_size(16))); typedef int v4i "
         "__attribute__((vector_size(16)));"},
        {"CUDAKernelCallExpr", "cu", "kernel<<<1, 1>>>(b);",
         "__global__ void kernel(float* p) { p[0] = 1; }"},
        {"CXXBindTemporaryExpr", "cpp", "s = Owner(k).x;",
         "struct Owner { explicit Owner(int); ~Owner(); float x; };"},
        {"CXXCatchStmt", "cpp", "try { s = 2; } catch (int) { s = 3; }"},
        {"CXXDynamicCastExpr", "cpp", "s = dynamic_cast<Derived*>(base) ? 2 : 3;",
         "struct Base { virtual ~Base(); }; struct Derived : Base {}; extern Base* base;"},
        {"CXXForRangeStmt", "cpp", "for (float x : table) s += x;", "static float table[3] = {1, 2, 3};"},
        {"CXXMemberCallExpr", "cpp", "s = box.get();", "struct Box { float get() const; }; extern Box box;"},
        {"CXXNoexceptExpr", "cpp", "s = noexcept(k++);"},
        {"CXXNullPtrLiteralExpr", "cpp", "if (b == nullptr) s = 2;"},
        {"CXXParenListInitExpr", "cpp20", "Two p(1, 2); s = p.y;", "struct Two { float x, y; };"},
        {"CXXRewrittenBinaryOperator", "cpp20", "if (Eq{1} != Eq{2}) s = 2;",
         "struct Eq { int x; bool operator==(const Eq&) const = default; };"},
        {"CXXScalarValueInitExpr", "cpp", "using F = float; s = F();"},
        {"CXXStdInitializerListExpr", "cpp", "for (int x : {1, 2, 3}) s += x;",
         "#include <initializer_list>\n"},
        {"CXXTemporaryObjectExpr", "cpp", "s = Made(k, 1).x;", "struct Made { Made(int, int); float x; };"},
        {"CXXThrowExpr", "cpp", "if (a[i] > 100) throw 3;"},
        {"CXXTryStmt", "cpp", "try { s = 2; } catch (...) { s = 3; }"},
        {"CXXTypeidExpr", "cpp", "if (typeid(k) == typeid(int)) s = 2;", "#include <typeinfo>\n"},
        {"DefaultStmt", "c", "switch (k) { default: s = 2; }"},
        {"DesignatedInitUpdateExpr", "c", "struct W w = {.h = o, .h.y = 3}; s = w.h.y;",
         "struct H { float x, y; }; struct W { struct H h; }; static struct H o;"},
        {"DoStmt", "c", "do { s += 1; } while (s < k);"},
        {"ExtVectorElementExpr", "c", "f4 w = {1, 2, 3, 4}; s = w.y;",
         "typedef float f4 __attribute__((ext_vector_type(4)));"},
        {"GCCAsmStmt", "c", "__asm__(\"\" : \"+m\"(s));"},
        {"GNUNullExpr", "cpp", "if (b == __null) s = 2;"},
        {"GotoStmt", "c", "if (i > 5) goto out; s = 2; out:;"},
        {"ImaginaryLiteral", "c", "s = __real__(2.0f + 3.0fi);"},
        {"IndirectGotoStmt", "c", "void* p = &&out; goto *p; out: s = 2;"},
        {"AddrLabelExpr", "c", "void* p = &&out; goto *p; out: s = 2;"},
        {"LabelStmt", "c", "if (i > 5) goto out; s = 2; out:;"},
        {"NoInitExpr", "c", "struct W w = {.h = o, .h.y = 3}; s = w.h.y;",
         "struct H { float x, y; }; struct W { struct H h; }; static struct H o;"},
        {"OffsetOfExpr", "c", "s = __builtin_offsetof(struct H, y);", "struct H { float x, y; };"},
        {"OpaqueValueExpr", "c", "s = k ?: 3;"},
        {"PredefinedExpr", "c", "s = __func__[0];"},
        {"ArrayInitIndexExpr", "cpp",
         "float v[2] = {1, 2}; auto g = [v] { return v[1]; }; v[1] = 3; s = g();"},
        {"ShuffleVectorExpr", "c", "f4 w = {1, 2, 3, 4}; s = __builtin_shufflevector(w, w, 1, 2, 3, 0)[0];",
         "typedef float f4 __attribute__((ext_vector_type(4)));"},
        {"SourceLocExpr", "c", "s = __builtin_LINE();"},
        {"StmtExpr", "c", "s = ({ k = 3; k; });"},
        {"StringLiteral", "c", "s = \"abc\"[1];"},
        {"SwitchStmt", "c", "switch (k) { case 3: s = 2; }"},
        {"TypeTraitExpr", "cpp", "s = __is_class(int);"},
        {"UserDefinedLiteral", "cpp", "s = 3_m;", "float operator\"\"_m(unsigned long long);"},
        {"VAArgExpr", "c", "__builtin_va_list l; s = __builtin_va_arg(l, int);"},
        {"WhileStmt", "c", "while (s < k) s += 1;"},
    };
    return all;
}

// Families that are of other languages, of templates before they are used, or of dialects that the command's
// clang does not read.
bool is_elsewhere(const std::string& kind) {
    for (const char* family : {"ObjC",
                               "OMP",
                               "OpenACC",
                               "SEH",
                               "MS",
                               "Dependent",
                               "Unresolved",
                               "Coawait",
                               "Coreturn",
                               "Coyield",
                               "Coroutine",
                               "AsType",
                               "SYCL",
                               "HLSL",
                               "Block",
                               "Embed",
                               "Recovery",
                               "Typo",
                               "ArrayType",
                               "Expression",
                               "Requires",
                               "Concept",
                               "PackExpansion",
                               "PackIndexing",
                               "SizeOfPack",
                               "SubstNon",
                               "FunctionParmPack",
                               "CXXFold",
                               "CXXUnresolved",
                               "CXXDependent",
                               "CXXUuid",
                               "CXXInherited",
                               "CXXAddrspace",
                               "FixedPoint",
                               "Captured",
                               "ArraySection",
                               "MatrixSubscript",
                               "ParenList",
                               "ArrayInitLoop",
                               "PseudoObject",
                               "DesignatedInitExpr"}) {
        if (kind.rfind(family, 0) == 0) return true;
    }
    return false;
}

halo::lift::Options options_for(const TemporaryFolder& folder, const Snippet& each) {
    halo::lift::Options options;
    const std::string language = each.file;
    options.source.file = folder / (std::string("snippet.") + (language == "cpp20" ? "cpp" : language));
    options.source.function = "f";
    if (language == "cpp20") options.source.arguments = {"-std=c++20"};
    options.form.no_alias = true;
    std::ofstream(options.source.file)
        << each.before << "\nvoid f(int n, int k, const float* a, float* b) {\n"
        << "    for (int i = 0; i < n; i++) {\n        float s = 1;\n        " << each.text
        << "\n        b[i] = a[i] * s;\n    }\n}\n";
    return options;
}

}  // namespace

TEST_CASE("each kind of node is modelled and lifted here, or refused here, or nowhere in such functions",
          "[parts]") {
    std::set<std::string> seen, refused;
    std::map<std::string, std::vector<std::string>> functions;  // by file, which is read once for all of them
    for (const halo::test::LiftCase& each : halo::test::lift_cases())
        functions[options_of(each).source.file].push_back(each.function);
    for (const auto& [file, names] : functions) {
        halo::lift::SourceRequest request;
        request.file = file;
        const std::set<std::string> inside = halo::lift::ParsedFile(request).kinds(names);
        seen.insert(inside.begin(), inside.end());
    }
    for (const Snippet& each : snippets())
        refused.insert(each.kind);
    for (const halo::lift::NodeKind& each : halo::lift::node_kinds()) {
        INFO(each.name);
        if (each.handling == Handling::modelled)
            CHECK((seen.count(each.name) || each.name == "ParenExpr"));
        else
            CHECK((refused.count(each.name) || is_elsewhere(each.name)));
    }
}

TEST_CASE("what is not modelled refuses its nest", "[parts]") {
    const TemporaryFolder folder;
    for (const Snippet& each : snippets()) {
        INFO(each.kind << ": " << each.text);
        const halo::lift::Options options = options_for(folder, each);
        const halo::lift::ParsedFile file(options.source);
        CHECK(file.kinds({"f"}).count(each.kind) == 1);
        const halo::lift::Nests found = halo::lift::lift_nests(options, file);
        for (const halo::lift::Lifted& lifted : found.lifted)
            FAIL_CHECK(lifted.spec.body);
        CHECK_FALSE(found.refused.empty());
    }
}
