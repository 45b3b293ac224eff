#include "compiler/lift/clang_functions.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <vector>

namespace halo::lift {

void for_functions(clang::DeclContext& context, const FunctionVisit& visit) {
    for (clang::Decl* each : context.decls()) {
        if (auto* function = clang::dyn_cast<clang::FunctionDecl>(each)) {
            visit(*function, /*is_template=*/false);
        } else if (auto* made = clang::dyn_cast<clang::FunctionTemplateDecl>(each)) {
            visit(*made->getTemplatedDecl(), true);
            for (clang::FunctionDecl* instance : made->specializations())
                visit(*instance, false);
        } else if (auto* classes = clang::dyn_cast<clang::ClassTemplateDecl>(each)) {
            for (clang::ClassTemplateSpecializationDecl* instance : classes->specializations())
                if (!instance->isExplicitSpecialization()) for_functions(*instance, visit);
        } else if (auto* inner = clang::dyn_cast<clang::DeclContext>(each)) {
            for_functions(*inner, visit);
        }
    }
}

bool has_launch(const clang::Stmt* statement) {
    if (statement == nullptr) return false;
    if (clang::isa<clang::CUDAKernelCallExpr>(statement)) return true;
    return std::any_of(statement->child_begin(), statement->child_end(), has_launch);
}

namespace {

struct Found {
    std::vector<clang::FunctionDecl*> functions;
    std::vector<std::string> others;  // of the main file
    bool is_template = false;
};

Found functions_named(clang::ASTContext& context, const std::string& name) {
    Found found;
    const clang::SourceManager& sources = context.getSourceManager();
    for_functions(*context.getTranslationUnitDecl(), [&](clang::FunctionDecl& each, bool is_template) {
        if (!each.getDeclName().isIdentifier() || !each.doesThisDeclarationHaveABody()) return;
        if (("::" + each.getQualifiedNameAsString()).ends_with("::" + name)) {
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

// What a variable begins as; else the expression itself.
const clang::Expr* beginning_of(const clang::Expr* from) {
    for (int depth = 0; depth < 8; ++depth) {
        from = from->IgnoreImplicit()->IgnoreParens();
        const auto* named = clang::dyn_cast<clang::DeclRefExpr>(from);
        const auto* variable = named ? clang::dyn_cast<clang::VarDecl>(named->getDecl()) : nullptr;
        const auto* made = clang::dyn_cast<clang::CXXConstructExpr>(from);
        if (variable && variable->getInit() && variable->getType()->isRecordType())
            from = variable->getInit();
        else if (made && made->getConstructor()->isCopyOrMoveConstructor())
            from = made->getArg(0);
        else if (const auto* cast = clang::dyn_cast<clang::CastExpr>(from); cast && !variable)
            from = cast->getSubExpr();
        else
            break;
    }
    return from;
}

// Threads of an axis from what is written for its blocks.
class BlockCount {
public:
    BlockCount(const clang::ASTContext& context, std::int64_t threads)
        : context_(context), threads_(threads) {}

    // n of n / 64, (n + 63) / 64, (n - 1) / 64 + 1 and their like: they are the same where 64 divides n.
    const clang::VarDecl* counted(const clang::Expr* blocks) const {
        std::int64_t more = 0;
        const clang::Expr* quotient = without_number(blocks, more);
        const auto* divided = clang::dyn_cast<clang::BinaryOperator>(quotient);
        const bool is_quotient =
            divided && divided->getOpcode() == clang::BO_Div && number(divided->getRHS()) == threads_;
        if (threads_ < 1 || (!is_quotient && threads_ > 1)) return nullptr;
        std::int64_t added = 0;
        const clang::Expr* whole = without_number(is_quotient ? divided->getLHS() : quotient, added);
        const std::int64_t least = -more * threads_;
        if (added < least || added >= least + threads_) return nullptr;
        const auto* named = clang::dyn_cast<clang::DeclRefExpr>(whole);
        return named ? clang::dyn_cast<clang::VarDecl>(named->getDecl()) : nullptr;
    }

private:
    static const clang::Expr* plain(const clang::Expr* from) {
        for (;;) {
            from = from->IgnoreImplicit()->IgnoreParens();
            const auto* cast = clang::dyn_cast<clang::CastExpr>(from);
            if (!cast || !cast->getSubExpr()->getType()->isIntegerType()) return from;
            from = cast->getSubExpr();
        }
    }
    std::optional<std::int64_t> number(const clang::Expr* from) const {
        clang::Expr::EvalResult found;
        from = plain(from);
        if (from->EvaluateAsInt(found, context_)) return found.Val.getInt().getExtValue();
        if (const auto* sum = clang::dyn_cast<clang::BinaryOperator>(from)) {
            const auto a = number(sum->getLHS()), b = number(sum->getRHS());
            if (a && b && sum->getOpcode() == clang::BO_Add) return *a + *b;
            if (a && b && sum->getOpcode() == clang::BO_Sub) return *a - *b;
        }
        // block.x
        const auto* member = clang::dyn_cast<clang::MemberExpr>(from);
        if (!member || !member->getMemberDecl()->getDeclName().isIdentifier()) return std::nullopt;
        const std::string name = member->getMemberDecl()->getName().str();
        const auto axis = name.size() == 1 ? std::string("xyz").find(name) : std::string::npos;
        const auto size = axis < 3 ? block_size(member->getBase(), context_) : std::nullopt;
        return size ? std::optional((*size)[axis]) : std::nullopt;
    }
    // Without what is added to it, which `sum` is increased by.
    const clang::Expr* without_number(const clang::Expr* from, std::int64_t& sum) const {
        for (;;) {
            from = plain(from);
            const auto* both = clang::dyn_cast<clang::BinaryOperator>(from);
            const bool adds = both && both->getOpcode() == clang::BO_Add;
            if (!adds && !(both && both->getOpcode() == clang::BO_Sub)) return from;
            const auto left = number(both->getLHS()), right = number(both->getRHS());
            if (left.has_value() == right.has_value() || (left && !adds)) return from;
            sum += left ? *left : adds ? *right : -*right;
            from = left ? both->getRHS() : both->getLHS();
        }
    }

    const clang::ASTContext& context_;
    const std::int64_t threads_;
};

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
    KernelLaunch found() const {
        KernelLaunch launch = launch_.value_or(KernelLaunch{});
        if (!is_known_) launch.block.reset();
        return launch;
    }

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
        KernelLaunch found;
        if (launch.getConfig() && launch.getConfig()->getNumArgs() > 1) {
            const clang::Expr* block = launch.getConfig()->getArg(1);
            const bool is_set = names_changed(block);
            if (!is_set) found.block = block_size(block, context_);
            if (found.block) count(launch, *found.block, found.counts);
        }
        is_known_ = is_known_ && found.block && (!launch_ || launch_->block == found.block);
        if (launch_)
            for (std::size_t a = 0; a < 3; ++a)
                if (launch_->counts[a] != found.counts[a]) found.counts[a] = -1;
        launch_ = found;
    }
    // Which arguments are the numbers of threads.
    void count(const clang::CUDAKernelCallExpr& launch, const BlockSize& block,
               std::array<int, 3>& counts) const {
        if (names_changed(launch.getConfig()->getArg(0))) return;
        const clang::Expr* grid = beginning_of(launch.getConfig()->getArg(0));
        const auto* made = clang::dyn_cast<clang::CXXConstructExpr>(grid);
        const unsigned axes = made ? std::min(made->getNumArgs(), 3U) : 1;
        for (unsigned a = 0; a < axes; ++a) {
            const clang::Expr* blocks = made ? made->getArg(a) : grid;
            if (clang::isa<clang::CXXDefaultArgExpr>(blocks)) continue;
            const clang::VarDecl* all = BlockCount(context_, block[a]).counted(blocks);
            if (!all || changes(body_, all)) continue;
            for (unsigned i = 0; i < launch.getNumArgs(); ++i) {
                const auto* given =
                    clang::dyn_cast<clang::DeclRefExpr>(launch.getArg(i)->IgnoreParenImpCasts());
                if (given && given->getDecl() == all) counts[a] = static_cast<int>(i);
            }
        }
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
    std::optional<KernelLaunch> launch_;
};

}  // namespace

clang::FunctionDecl* find_function(clang::ASTContext& context, const std::string& name,
                                   const std::string& file, std::string& trouble) {
    const Found found = functions_named(context, name);
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

KernelLaunch launch_of(clang::ASTContext& context, const clang::FunctionDecl& kernel) {
    return Launches(context, kernel).found();
}

}  // namespace halo::lift
