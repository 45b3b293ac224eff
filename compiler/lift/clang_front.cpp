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
clang::FunctionDecl* the_function(clang::ASTContext& context, const std::string& name,
                                  const std::string& file, std::string& trouble) {
    const Found found = find_function(context, name);
    if (found.functions.size() == 1) {
        clang::FunctionDecl* function = found.functions.front();
        if (!function->isInvalidDecl() && !function->willHaveBody()) return function;
        trouble = "`" + name + "` does not compile";
    } else if (found.functions.empty()) {
        trouble = found.is_template ? "`" + name + "` is a template that the file never uses"
                                    : "there is no function `" + name + "` with a body in " + file;
        if (!found.others.empty() && !found.is_template) {
            trouble += "; it has ";
            for (std::size_t i = 0; i < found.others.size() && i < 12; ++i)
                trouble += (i ? ", " : "") + found.others[i];
        }
    } else {
        trouble =
            "there are " + std::to_string(found.functions.size()) + " functions `" + name + "` in " + file;
    }
    return nullptr;
}

bool has_launch(const clang::Stmt* statement) {
    if (statement == nullptr) return false;
    if (clang::isa<clang::CUDAKernelCallExpr>(statement)) return true;
    return std::any_of(statement->child_begin(), statement->child_end(), has_launch);
}

using BlockSize = std::array<std::int64_t, 3>;

// What stands between <<< and >>> for the threads of a block: a number, dim3(…), or a variable that is made
// of numbers and never set again.
std::optional<BlockSize> block_size(const clang::Expr* from, const clang::ASTContext& context,
                                    int depth = 0) {
    from = from->IgnoreImplicit()->IgnoreParens();
    BlockSize size{1, 1, 1};
    clang::Expr::EvalResult number;
    if (from->getType()->isIntegerType()) {
        if (!from->EvaluateAsInt(number, context)) return std::nullopt;
        size[0] = number.Val.getInt().getExtValue();
        return size;
    }
    if (const auto* named = clang::dyn_cast<clang::DeclRefExpr>(from)) {
        const auto* variable = clang::dyn_cast<clang::VarDecl>(named->getDecl());
        const bool is_fixed = variable && variable->getInit() && depth < 4;
        return is_fixed ? block_size(variable->getInit(), context, depth + 1) : std::nullopt;
    }
    if (const auto* cast = clang::dyn_cast<clang::CastExpr>(from))
        return block_size(cast->getSubExpr(), context, depth);
    const auto* made = clang::dyn_cast<clang::CXXConstructExpr>(from);
    if (!made) return std::nullopt;
    const bool is_copy = made->getConstructor()->isCopyOrMoveConstructor();
    if (is_copy) return block_size(made->getArg(0), context, depth);
    if (made->getNumArgs() > 3) return std::nullopt;
    for (unsigned a = 0; a < made->getNumArgs(); ++a) {
        const clang::Expr* argument = made->getArg(a);
        if (!argument->EvaluateAsInt(number, context)) return std::nullopt;
        size[a] = number.Val.getInt().getExtValue();
    }
    return size;
}

// Whether a statement sets one of these, or hands one on by which it may be set.
bool changes(const clang::Stmt* statement, const clang::VarDecl* variable) {
    if (statement == nullptr) return false;
    const auto names_it = [&](const clang::Expr* expr) {
        const auto* named = clang::dyn_cast<clang::DeclRefExpr>(expr->IgnoreParenImpCasts());
        return named && named->getDecl() == variable;
    };
    const auto* cast = clang::dyn_cast<clang::ImplicitCastExpr>(statement);
    if (cast && cast->getCastKind() == clang::CK_LValueToRValue &&
        clang::isa<clang::MemberExpr>(cast->getSubExpr()))
        return false;  // it is read
    if (const auto* member = clang::dyn_cast<clang::MemberExpr>(statement))
        return names_it(member->getBase());
    if (const auto* address = clang::dyn_cast<clang::UnaryOperator>(statement))
        if (address->getOpcode() == clang::UO_AddrOf && names_it(address->getSubExpr())) return true;
    if (const auto* call = clang::dyn_cast<clang::CXXOperatorCallExpr>(statement))
        if (call->getNumArgs() > 0 && names_it(call->getArg(0))) return true;
    return std::any_of(statement->child_begin(), statement->child_end(),
                       [&](const clang::Stmt* each) { return changes(each, variable); });
}

// How many threads a block has wherever the file launches the kernel; nothing where that is not the same or
// not known.
class Launches {
public:
    Launches(clang::ASTContext& context, const clang::FunctionDecl& kernel)
        : context_(context), kernel_(kernel) {
        for_functions(*context.getTranslationUnitDecl(), [&](clang::FunctionDecl& each, bool) {
            if (!each.doesThisDeclarationHaveABody()) return;
            body_ = each.getBody();
            visit(body_);
        });
    }
    std::optional<BlockSize> size() const { return is_known_ ? size_ : std::nullopt; }

private:
    void visit(const clang::Stmt* statement) {
        if (statement == nullptr) return;
        if (const auto* launch = clang::dyn_cast<clang::CUDAKernelCallExpr>(statement);
            launch && launch->getDirectCallee() &&
            launch->getDirectCallee()->getCanonicalDecl() == kernel_.getCanonicalDecl())
            note(*launch);
        for (const clang::Stmt* each : statement->children())
            visit(each);
    }
    void note(const clang::CUDAKernelCallExpr& launch) {
        std::optional<BlockSize> found;
        if (launch.getConfig() && launch.getConfig()->getNumArgs() > 1) {
            const clang::Expr* block = launch.getConfig()->getArg(1);
            const bool is_set = names_changed(block);
            if (!is_set) found = block_size(block, context_);
        }
        is_known_ = is_known_ && found && (!size_ || size_ == found);
        size_ = found;
    }
    bool names_changed(const clang::Stmt* statement) const {
        if (statement == nullptr) return false;
        if (const auto* named = clang::dyn_cast<clang::DeclRefExpr>(statement)) {
            const auto* variable = clang::dyn_cast<clang::VarDecl>(named->getDecl());
            return variable && changes(body_, variable);
        }
        return std::any_of(statement->child_begin(), statement->child_end(),
                           [&](const clang::Stmt* each) { return names_changed(each); });
    }

    clang::ASTContext& context_;
    const clang::FunctionDecl& kernel_;
    const clang::Stmt* body_ = nullptr;
    bool is_known_ = true;
    std::optional<BlockSize> size_;
};

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

std::string preprocess_small(const SourceRequest& request, std::map<std::string, int>& made_small) {
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
                               made_small[name] = small->second;
                               const std::string& text = spelled.at(small->second);
                               for (const clang::Token& each : macro.tokens()) {
                                   if (each.isNot(clang::tok::numeric_constant)) continue;
                                   clang::Token& number = const_cast<clang::Token&>(each);
                                   number.setLength(static_cast<unsigned>(text.size()));
                                   number.setLiteralData(text.c_str());
                               }
                           });
}

}  // namespace

// Clang's tree, which lives as long as the compiler that has read it.
class ParsedFile::Reading : public clang::ASTFrontendAction {
public:
    explicit Reading(const SourceRequest& request) : messages_(said_) {
        const std::string source = text_of(request);
        compiler_ = make_compiler(request, Mode::read, &source, messages_);
        const bool has_begun = compiler_->createTarget() &&
                               BeginSourceFile(*compiler_, compiler_->getFrontendOpts().Inputs.front());
        if (!has_begun) throw SourceError(request.file + " cannot be read\n" + messages_.str());
        has_failed_ =
            static_cast<bool>(llvm::errorToBool(Execute())) || compiler_->getDiagnostics().hasErrorOccurred();
    }
    ~Reading() override { EndSourceFile(); }

    clang::ASTContext& context() const { return compiler_->getASTContext(); }
    const clang::LangOptions& language() const { return compiler_->getLangOpts(); }
    bool has_failed() const { return has_failed_; }
    std::string said() {
        messages_.flush();
        return said_;
    }
    // A program that does not compile means nothing.
    void check(const std::string& file) {
        if (has_failed_)
            throw SourceError(file + " does not compile; give clang's arguments after --\n" + said());
    }

private:
    std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&,
                                                          llvm::StringRef) override {
        return std::make_unique<clang::ASTConsumer>();
    }

    std::string said_;
    llvm::raw_string_ostream messages_;
    std::unique_ptr<clang::CompilerInstance> compiler_;
    bool has_failed_ = false;
};

ParsedFile::ParsedFile(SourceRequest request)
    : request_(std::move(request)), reading_(std::make_unique<Reading>(request_)) {}
ParsedFile::~ParsedFile() = default;

c::Unit ParsedFile::function(const std::string& name) const {
    std::string trouble;
    const clang::FunctionDecl* function = the_function(reading_->context(), name, request_.file, trouble);
    // Of CUDA, the host's part needs headers that are not read.
    if (function == nullptr || !is_cuda(request_)) reading_->check(request_.file);
    if (function == nullptr) throw SourceError(trouble);
    c::Unit unit = translate(reading_->context(), *function, request_.file);
    refuse_open_order(unit);
    unit.is_cuda = is_cuda(request_);
    if (unit.is_cuda) unit.block = Launches(reading_->context(), *function).size();
    unit.is_cxx = reading_->language().CPlusPlus;
    unit.fast_math = reading_->language().FastMath || reading_->language().AllowFPReassoc ||
                     reading_->language().UnsafeFPMath;
    return unit;
}

std::vector<std::string> ParsedFile::functions() const {
    if (!is_cuda(request_)) reading_->check(request_.file);
    const clang::SourceManager& sources = reading_->context().getSourceManager();
    std::vector<std::string> all;
    const auto add = [&](clang::FunctionDecl& each, bool is_template) {
        const bool is_asked_for = !is_template && each.getDeclName().isIdentifier() &&
                                  each.doesThisDeclarationHaveABody() && !each.isInvalidDecl() &&
                                  sources.isInMainFile(sources.getExpansionLoc(each.getLocation()));
        if (!is_asked_for) return;
        std::string name = each.getQualifiedNameAsString();
        if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(std::move(name));
    };
    for_functions(*reading_->context().getTranslationUnitDecl(), add);
    if (all.empty()) reading_->check(request_.file);
    return all;
}

std::set<std::string> ParsedFile::kinds(const std::vector<std::string>& functions) const {
    std::string trouble;
    std::set<std::string> kinds;
    for (const std::string& each : functions) {
        if (const auto* function = the_function(reading_->context(), each, request_.file, trouble))
            collect_kinds(function->getBody(), kinds);
    }
    if (kinds.empty() || !trouble.empty()) throw SourceError(trouble + reading_->said());
    return kinds;
}

std::vector<std::pair<std::size_t, std::size_t>> ParsedFile::launches() const {
    const clang::SourceManager& sources = reading_->context().getSourceManager();
    std::vector<std::pair<std::size_t, std::size_t>> bodies;
    for_functions(*reading_->context().getTranslationUnitDecl(), [&](clang::FunctionDecl& each, bool) {
        if (!sources.isInMainFile(sources.getExpansionLoc(each.getLocation()))) return;
        if (!each.doesThisDeclarationHaveABody() || !has_launch(each.getBody())) return;
        const clang::SourceRange range = each.getBody()->getSourceRange();
        bodies.emplace_back(sources.getFileOffset(sources.getExpansionLoc(range.getBegin())),
                            sources.getFileOffset(sources.getExpansionLoc(range.getEnd())) + 1);
    });
    std::sort(bodies.rbegin(), bodies.rend());
    bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
    return bodies;
}

const ParsedFile& ParsedFile::preprocessed() const {
    if (!request_.text.empty()) return *this;
    if (!preprocessed_) {
        SourceRequest plain = request_;
        plain.text = preprocess_with(request_, {});
        preprocessed_ = std::make_unique<ParsedFile>(std::move(plain));
    }
    return *preprocessed_;
}

const ParsedFile& ParsedFile::made_small(std::map<std::string, int>& values) const {
    if (!small_) {
        SourceRequest plain = request_;
        plain.text = preprocess_small(request_, small_values_);
        small_ = std::make_unique<ParsedFile>(std::move(plain));
    }
    values = small_values_;
    return *small_;
}

namespace {

// Removes from the file's text the bodies of functions that launch kernels; `at` stays at its place.
void remove_launches(const SourceRequest& request, std::string& text, std::size_t& at) {
    for (const auto& [begin, end] : ParsedFile(request).launches()) {
        if (end > text.size()) continue;
        text.replace(begin, end - begin, ";");
        if (at >= end) at -= end - begin - 1;
    }
}

// Shared memory is static on this machine; of a text without macros, too, where it is an attribute that means
// nothing. What has its size from the launch of a kernel stays undefined. Nothing else moves.
void share_static(std::string& text) {
    const auto replace = [&](const std::string& words, std::string instead) {
        instead.resize(words.size(), ' ');
        for (std::size_t at = 0; (at = text.find(words, at)) != std::string::npos;)
            text.replace(at, words.size(), instead);
    };
    replace("extern __shared__", "extern");
    replace("extern __attribute__((shared))", "extern");
    replace("__attribute__((shared))", "static");
}

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
    if (is_cuda(request) && source.find("<<<") != std::string::npos) remove_launches(request, source, at);
    if (is_cuda(request)) share_static(source);
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
