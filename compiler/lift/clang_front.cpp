#include "compiler/lift/clang_front.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
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
#include "compiler/lift/clang_functions.h"
#include "compiler/lift/clang_kinds.h"
#include "compiler/lift/clang_translate.h"
#include "compiler/lift/order.h"

namespace halo::lift {

namespace {

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
    const clang::FunctionDecl* function = find_function(reading_->context(), name, request_.file, trouble);
    // Of CUDA, the host's part needs headers that are not read.
    if (function == nullptr || !is_cuda(request_)) reading_->check(request_.file);
    if (function == nullptr) throw SourceError(trouble);
    c::Unit unit = translate(reading_->context(), *function, request_.file);
    refuse_open_order(unit);
    unit.is_cuda = is_cuda(request_);
    if (unit.is_cuda) {
        const KernelLaunch launch = launch_of(reading_->context(), *function);
        const std::vector<int>& parameters =
            unit.functions[static_cast<std::size_t>(unit.function)].parameters;
        unit.block = launch.block;
        for (std::size_t a = 0; a < 3; ++a)
            if (launch.counts[a] >= 0)
                unit.thread_counts[a] = parameters.at(static_cast<std::size_t>(launch.counts[a]));
    }
    unit.has_kokkos = std::ranges::any_of(unit.functions, [&](const c::Function& each) {
        return is_stand_in(std::string(unit.source.name(each.where.begin)));
    });
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
        if (const auto* function = find_function(reading_->context(), each, request_.file, trouble))
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

using ByteRange = std::pair<std::size_t, std::size_t>;

// ParsedFile::launches() of a file with this text. Of the last one they are kept: its kernels are compiled
// one after the other.
std::vector<ByteRange> launches_in(const SourceRequest& request, const std::string& text) {
    const std::vector<std::string> own{request.file, request.build_folder, request.text, text};
    static thread_local std::vector<std::string> last_file, last_arguments;
    static thread_local std::vector<ByteRange> last_launches;
    if (own == last_file && request.arguments == last_arguments) return last_launches;
    last_launches = ParsedFile(request).launches();
    last_file = own;
    last_arguments = request.arguments;
    return last_launches;
}

// Removes from the file's text the bodies of functions that launch kernels; what is inserted stays at its
// place.
void remove_launches(const SourceRequest& request, std::string& text, std::vector<Inserted>& inserted) {
    for (const auto& [begin, end] : launches_in(request, text)) {
        if (end > text.size()) continue;
        text.replace(begin, end - begin, ";");
        for (Inserted& each : inserted)
            if (each.at >= end) each.at -= end - begin - 1;
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

std::string compile_with(const SourceRequest& request, const std::string& text,
                         const std::vector<Inserted>& inserted, bool traced) {
    std::string source = text_of(request);
    std::vector<Inserted> pieces = inserted;
    std::string said;
    llvm::raw_string_ostream messages(said);
    if (is_cuda(request) && source.find("<<<") != std::string::npos) remove_launches(request, source, pieces);
    if (is_cuda(request)) share_static(source);
    std::ranges::stable_sort(pieces, std::greater(), &Inserted::at);
    for (const Inserted& each : pieces)
        source.insert(each.at, each.text);
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
