#include "compiler/lift/clang_front.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Frontend/PreprocessorOutputOptions.h>
#include <clang/Lex/MacroInfo.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>

#include "compiler/lift/clang_compiler.h"
#include "compiler/lift/clang_kinds.h"
#include "compiler/lift/clang_translate.h"
#include "compiler/lift/order.h"

namespace halo::lift {

namespace {

// All functions of the file and of what it includes, in order; those of templates as they are used.
template <class Visit>
void for_functions(clang::DeclContext& context, const Visit& visit) {
    for (clang::Decl* each : context.decls()) {
        if (auto* function = clang::dyn_cast<clang::FunctionDecl>(each)) {
            visit(*function, /*is_template=*/false);
        } else if (auto* made = clang::dyn_cast<clang::FunctionTemplateDecl>(each)) {
            visit(*made->getTemplatedDecl(), true);
            for (clang::FunctionDecl* instance : made->specializations())
                visit(*instance, false);
        } else if (auto* inner = clang::dyn_cast<clang::DeclContext>(each)) {
            for_functions(*inner, visit);
        }
    }
}

struct Found {
    std::vector<clang::FunctionDecl*> functions;
    std::vector<std::string> others;  // of the main file
    bool is_template = false;
};

Found find_function(clang::ASTContext& context, const std::string& name) {
    Found found;
    const clang::SourceManager& sources = context.getSourceManager();
    for_functions(*context.getTranslationUnitDecl(), [&](clang::FunctionDecl& each, bool is_template) {
        if (!each.getDeclName().isIdentifier() || !each.doesThisDeclarationHaveABody()) return;
        if (each.getName() == name || each.getQualifiedNameAsString() == name) {
            if (is_template)
                found.is_template = true;
            else
                found.functions.push_back(&each);
        } else if (sources.isInMainFile(sources.getExpansionLoc(each.getLocation()))) {
            found.others.push_back(each.getNameAsString());
        }
    });
    return found;
}

// The function that is asked for; else why there is none.
clang::FunctionDecl* the_function(clang::ASTContext& context, const SourceRequest& request,
                                  std::string& trouble) {
    const Found found = find_function(context, request.function);
    if (found.functions.size() == 1) {
        clang::FunctionDecl* function = found.functions.front();
        if (!function->isInvalidDecl() && !function->willHaveBody()) return function;
        trouble = "`" + request.function + "` does not compile";
    } else if (found.functions.empty()) {
        trouble = found.is_template
                      ? "`" + request.function + "` is a template that the file never uses"
                      : "there is no function `" + request.function + "` with a body in " + request.file;
        if (!found.others.empty() && !found.is_template) {
            trouble += "; it has ";
            for (std::size_t i = 0; i < found.others.size() && i < 12; ++i)
                trouble += (i ? ", " : "") + found.others[i];
        }
    } else {
        trouble = "there are " + std::to_string(found.functions.size()) + " functions `" + request.function +
                  "` in " + request.file;
    }
    return nullptr;
}

// Translates the function once the file is read.
class Action : public clang::ASTFrontendAction {
public:
    explicit Action(std::function<void(clang::ASTContext&)> work) : work_(std::move(work)) {}
    std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&,
                                                          llvm::StringRef) override {
        struct Consumer : clang::ASTConsumer {
            explicit Consumer(const std::function<void(clang::ASTContext&)>& wanted) : work(wanted) {}
            void HandleTranslationUnit(clang::ASTContext& context) override { work(context); }
            const std::function<void(clang::ASTContext&)>& work;
        };
        return std::make_unique<Consumer>(work_);
    }

private:
    std::function<void(clang::ASTContext&)> work_;
};

bool has_launch(const clang::Stmt* statement) {
    if (statement == nullptr) return false;
    if (clang::isa<clang::CUDAKernelCallExpr>(statement)) return true;
    return std::any_of(statement->child_begin(), statement->child_end(), has_launch);
}

// Removes from the main file's text the bodies of functions that launch kernels; `at` stays at its place.
void remove_launches(clang::ASTContext& context, std::string& text, std::size_t& at) {
    const clang::SourceManager& sources = context.getSourceManager();
    std::vector<std::pair<unsigned, unsigned>> bodies;
    for_functions(*context.getTranslationUnitDecl(), [&](clang::FunctionDecl& each, bool) {
        if (!sources.isInMainFile(sources.getExpansionLoc(each.getLocation()))) return;
        if (!each.doesThisDeclarationHaveABody() || !has_launch(each.getBody())) return;
        const clang::SourceRange range = each.getBody()->getSourceRange();
        bodies.emplace_back(sources.getFileOffset(sources.getExpansionLoc(range.getBegin())),
                            sources.getFileOffset(sources.getExpansionLoc(range.getEnd())) + 1);
    });
    std::sort(bodies.rbegin(), bodies.rend());
    bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
    for (const auto& [begin, end] : bodies) {
        if (end > text.size()) continue;
        text.replace(begin, end - begin, ";");
        if (at >= end) at -= end - begin - 1;
    }
}

std::string read_file(const std::string& path) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer) throw SourceError("cannot read " + path + ": " + buffer.getError().message(), true);
    return (*buffer)->getBuffer().str();
}
std::string text_of(const SourceRequest& request) {
    return request.text.empty() ? read_file(request.file) : request.text;
}

// Collects the macros of the program that are whole numbers.
class MacroWatcher : public clang::PPCallbacks {
public:
    using Visit = std::function<void(const std::string& name, std::int64_t value, clang::MacroInfo& macro)>;
    MacroWatcher(clang::Preprocessor& preprocessor, Visit visit)
        : preprocessor_(preprocessor), visit_(std::move(visit)) {}

    void MacroDefined(const clang::Token& name, const clang::MacroDirective* defined) override {
        clang::MacroInfo* macro = const_cast<clang::MacroInfo*>(defined->getMacroInfo());
        const clang::SourceManager& sources = preprocessor_.getSourceManager();
        const clang::SourceLocation at = macro->getDefinitionLoc();
        if (sources.isInSystemHeader(at) || sources.isWrittenInBuiltinFile(at)) return;
        const llvm::ArrayRef<clang::Token> tokens = macro->tokens();
        // `2000` or `(2000)`
        const bool is_enclosed = tokens.size() == 3 && tokens[0].is(clang::tok::l_paren);
        if (macro->isFunctionLike() || (tokens.size() != 1 && !is_enclosed)) return;
        const clang::Token& number = tokens[is_enclosed ? 1 : 0];
        if (number.isNot(clang::tok::numeric_constant)) return;
        const std::string text = preprocessor_.getSpelling(number);
        char* end = nullptr;
        const std::int64_t value = std::strtoll(text.c_str(), &end, 10);
        const std::string suffix = end;  // as of 2000L
        if (suffix.find_first_not_of("uUlL") == std::string::npos)
            visit_(name.getIdentifierInfo()->getName().str(), value, *macro);
    }

private:
    clang::Preprocessor& preprocessor_;
    Visit visit_;
};

// Assigns small values (24, 32, 40, ...) to sizes and step counts that the text contains, in their order.
std::map<std::int64_t, int> small_values(const std::set<std::int64_t>& values) {
    std::map<std::int64_t, int> all;
    for (const std::int64_t each : values)
        all.emplace(each, 24 + 8 * static_cast<int>(all.size()));
    return all;
}

class PreprocessAction : public clang::PreprocessorFrontendAction {
public:
    PreprocessAction(llvm::raw_ostream& out, MacroWatcher::Visit visit)
        : out_(out), visit_(std::move(visit)) {}

protected:
    void ExecuteAction() override {
        clang::Preprocessor& preprocessor = getCompilerInstance().getPreprocessor();
        if (visit_) preprocessor.addPPCallbacks(std::make_unique<MacroWatcher>(preprocessor, visit_));
        clang::PreprocessorOutputOptions how;
        how.ShowCPP = how.ShowLineMarkers = 1;
        clang::DoPrintPreprocessedInput(preprocessor, &out_, how);
    }

private:
    llvm::raw_ostream& out_;
    MacroWatcher::Visit visit_;
};

std::string preprocess_with(const SourceRequest& request, const MacroWatcher::Visit& visit) {
    const std::string source = text_of(request);
    std::string said, text;
    llvm::raw_string_ostream messages(said), out(text);
    auto compiler = make_compiler(request, Mode::read, &source, messages);
    PreprocessAction action(out, visit);
    const bool done = compiler->ExecuteAction(action);
    messages.flush();
    out.flush();
    if (!done || text.empty()) throw SourceError(request.file + " cannot be preprocessed\n" + said);
    return text;
}

}  // namespace

c::Unit read_function(const SourceRequest& request) {
    const std::string source = text_of(request);
    std::string text, trouble;
    llvm::raw_string_ostream messages(text);
    c::Unit unit;
    auto compiler = make_compiler(request, Mode::read, &source, messages);
    Action action([&](clang::ASTContext& context) {
        if (const clang::FunctionDecl* function = the_function(context, request, trouble))
            unit = translate(context, *function, request.file);
    });
    const bool done = compiler->ExecuteAction(action);
    messages.flush();
    // A program that does not compile means nothing. Of CUDA, the host's part needs headers that are not
    // read.
    const bool must_compile = !is_cuda(request) || unit.function < 0;
    if ((!done || compiler->getDiagnostics().hasErrorOccurred()) && must_compile)
        throw SourceError(request.file + " does not compile; give clang's arguments after --\n" + text);
    if (!trouble.empty()) throw SourceError(trouble);
    if (unit.function < 0) throw SourceError("`" + request.function + "` could not be read");
    refuse_open_order(unit);
    unit.is_cuda = is_cuda(request);
    unit.is_cxx = compiler->getLangOpts().CPlusPlus;
    unit.fast_math = compiler->getLangOpts().FastMath || compiler->getLangOpts().AllowFPReassoc ||
                     compiler->getLangOpts().UnsafeFPMath;
    return unit;
}

std::string preprocess(const SourceRequest& request, std::map<std::string, int>* made_small) {
    if (made_small == nullptr) return preprocess_with(request, {});
    constexpr std::int64_t kLeast = 100;
    std::set<std::int64_t> found;
    preprocess_with(request, [&](const std::string&, std::int64_t value, clang::MacroInfo&) {
        if (value >= kLeast) found.insert(value);
    });
    const std::map<std::int64_t, int> values = small_values(found);
    std::map<int, std::string> spelled;  // what the tokens point to
    for (const auto& [value, small] : values)
        spelled[small] = std::to_string(small);
    return preprocess_with(request,
                           [&](const std::string& name, std::int64_t value, clang::MacroInfo& macro) {
                               const auto small = values.find(value);
                               if (small == values.end()) return;
                               (*made_small)[name] = small->second;
                               const std::string& text = spelled.at(small->second);
                               for (const clang::Token& each : macro.tokens()) {
                                   if (each.isNot(clang::tok::numeric_constant)) continue;
                                   clang::Token& number = const_cast<clang::Token&>(each);
                                   number.setLength(static_cast<unsigned>(text.size()));
                                   number.setLiteralData(text.c_str());
                               }
                           });
}

std::set<std::string> kinds_in(const SourceRequest& request, const std::vector<std::string>& functions) {
    std::string text, trouble;
    llvm::raw_string_ostream messages(text);
    std::set<std::string> kinds;
    Action action([&](clang::ASTContext& context) {
        SourceRequest wanted = request;
        for (const std::string& each : functions) {
            wanted.function = each;
            if (const clang::FunctionDecl* function = the_function(context, wanted, trouble))
                collect_kinds(function->getBody(), kinds);
        }
    });
    make_compiler(request, Mode::read, nullptr, messages)->ExecuteAction(action);
    if (kinds.empty() || !trouble.empty()) throw SourceError(trouble + text);
    return kinds;
}

namespace {

// Makes undefined arithmetic trap: nothing can be compared with a program that has it.
void trap_undefined_arithmetic(clang::CompilerInstance& compiler) {
    for (const clang::SanitizerMask each :
         {clang::SanitizerKind::SignedIntegerOverflow, clang::SanitizerKind::Shift,
          clang::SanitizerKind::IntegerDivideByZero, clang::SanitizerKind::FloatCastOverflow,
          clang::SanitizerKind::VLABound}) {
        compiler.getLangOpts().Sanitize.set(each, true);
        compiler.getCodeGenOpts().SanitizeTrap.set(each, true);
    }
}

}  // namespace

std::string compile_with(const SourceRequest& request, const std::string& text, const std::string& inserted,
                         std::size_t at, bool traced) {
    std::string source = text_of(request);
    std::string said;
    llvm::raw_string_ostream messages(said);
    if (is_cuda(request)) {
        auto compiler = make_compiler(request, Mode::read, &source, messages);
        Action action([&](clang::ASTContext& context) { remove_launches(context, source, at); });
        compiler->ExecuteAction(action);
        said.clear();
    }
    source.insert(at, inserted);
    source += "\n" + text;
    auto compiler = make_compiler(request, Mode::compile, &source, messages);
    compiler->getFrontendOpts().ProgramAction = clang::frontend::EmitObj;
    compiler->getCodeGenOpts().OptimizationLevel = 0;
    if (traced) {
        compiler->getCodeGenOpts().SanitizeCoverageType = 1;  // of functions
        compiler->getCodeGenOpts().SanitizeCoverageTracePC = 1;
        compiler->getCodeGenOpts().SanitizeCoverageTraceLoads = 1;
        compiler->getCodeGenOpts().SanitizeCoverageTraceStores = 1;
        trap_undefined_arithmetic(*compiler);
    }
    compiler->getCodeGenOpts().RelocationModel = llvm::Reloc::PIC_;
    compiler->getLangOpts().PICLevel = 2;
    llvm::SmallVector<char, 0> object;
    compiler->setOutputStream(std::make_unique<llvm::raw_svector_ostream>(object));
    clang::EmitObjAction action;
    const bool done = compiler->ExecuteAction(action);
    messages.flush();
    if (!done || object.empty())
        throw SourceError("the file could not be compiled to be run beside the spec\n" + said);
    return std::string(object.data(), object.size());
}

}  // namespace halo::lift
