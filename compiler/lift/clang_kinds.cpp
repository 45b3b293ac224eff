#include "compiler/lift/clang_kinds.h"

#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>

#include <algorithm>

#include "compiler/lift/stand_in_headers.h"

namespace halo::lift {

namespace {

// Says how the lifter handles a kind of node. One that is not listed here is opaque, so that a kind that a
// later Clang adds is refused until it is listed.
Handling handling_of_kind(clang::Stmt::StmtClass kind) {
    using S = clang::Stmt;
    switch (kind) {
        case S::ArraySubscriptExprClass:
        case S::AttributedStmtClass:
        case S::BinaryOperatorClass:
        case S::CallExprClass:
        case S::CharacterLiteralClass:
        case S::ChooseExprClass:
        case S::CompoundAssignOperatorClass:
        case S::CompoundStmtClass:
        case S::ConditionalOperatorClass:
        case S::ConstantExprClass:
        case S::ContinueStmtClass:
        case S::CStyleCastExprClass:
        case S::CXXBoolLiteralExprClass:
        case S::CXXConstCastExprClass:
        case S::CXXConstructExprClass:
        case S::CXXDefaultArgExprClass:
        case S::CXXDefaultInitExprClass:
        case S::CXXDeleteExprClass:
        case S::CXXFunctionalCastExprClass:
        case S::CXXMemberCallExprClass:
        case S::CXXNewExprClass:
        case S::CXXOperatorCallExprClass:
        case S::CXXReinterpretCastExprClass:
        case S::CXXStaticCastExprClass:
        case S::CXXTemporaryObjectExprClass:
        case S::CXXThisExprClass:
        case S::DeclRefExprClass:
        case S::DeclStmtClass:
        case S::ExprWithCleanupsClass:
        case S::FloatingLiteralClass:
        case S::ForStmtClass:
        case S::GenericSelectionExprClass:
        case S::IfStmtClass:
        case S::ImplicitCastExprClass:
        case S::ImplicitValueInitExprClass:
        case S::InitListExprClass:
        case S::IntegerLiteralClass:
        case S::LambdaExprClass:
        case S::MaterializeTemporaryExprClass:
        case S::MemberExprClass:
        case S::NullStmtClass:
        case S::ParenExprClass:
        case S::ReturnStmtClass:
        case S::SubstNonTypeTemplateParmExprClass:
        case S::UnaryExprOrTypeTraitExprClass:
        case S::UnaryOperatorClass:
            return Handling::modelled;
        case S::BinaryConditionalOperatorClass:
        case S::BreakStmtClass:
        case S::CaseStmtClass:
        case S::CompoundLiteralExprClass:
        case S::CUDAKernelCallExprClass:
        case S::CXXBindTemporaryExprClass:
        case S::CXXCatchStmtClass:
        case S::CXXForRangeStmtClass:
        case S::CXXNullPtrLiteralExprClass:
        case S::CXXScalarValueInitExprClass:
        case S::CXXStdInitializerListExprClass:
        case S::CXXThrowExprClass:
        case S::CXXTryStmtClass:
        case S::DefaultStmtClass:
        case S::DoStmtClass:
        case S::GNUNullExprClass:
        case S::GotoStmtClass:
        case S::ImaginaryLiteralClass:
        case S::IndirectGotoStmtClass:
        case S::LabelStmtClass:
        case S::OffsetOfExprClass:
        case S::OpaqueValueExprClass:
        case S::PredefinedExprClass:
        case S::StringLiteralClass:
        case S::SwitchStmtClass:
        case S::TypeTraitExprClass:
        case S::UserDefinedLiteralClass:
        case S::VAArgExprClass:
        case S::WhileStmtClass:
            return Handling::traversed;
        default:
            return Handling::opaque;
    }
}

}  // namespace

Handling handling_of(const clang::Stmt& statement) {
    return handling_of_kind(statement.getStmtClass());
}

std::string words_for(const clang::Stmt& from) {
    if (clang::isa<clang::WhileStmt>(from) || clang::isa<clang::DoStmt>(from))
        return "how often this loop runs is not known before: only `for` loops are lifted";
    if (clang::isa<clang::BreakStmt>(from)) return "`break` ends the loop at a cell that is not known before";
    if (clang::isa<clang::SwitchStmt>(from)) return "`switch` is not lifted; write it with `if`";
    if (clang::isa<clang::CXXForRangeStmt>(from)) return "a loop over a range has no index to see offsets by";
    return std::string("this statement is not understood (") + from.getStmtClassName() + ")";
}

bool is_unordered(const clang::Decl& declared) {
    const auto* mark = declared.getAttr<clang::AnnotateAttr>();
    return mark && mark->getAnnotation() == kAnyOrder;
}
bool is_elsewhere(const clang::Decl& declared) {
    const auto* mark = declared.getAttr<clang::AnnotateAttr>();
    return mark && mark->getAnnotation() == kElsewhere;
}

bool is_plain_declaration(const clang::Decl& declared) {
    if (clang::isa<clang::DecompositionDecl>(declared)) return false;
    return std::all_of(declared.attr_begin(), declared.attr_end(), [&](const clang::Attr* attribute) {
        if (clang::isa<clang::AnnotateAttr>(attribute)) return is_unordered(declared);
        return clang::isa<clang::AlignedAttr, clang::UnusedAttr, clang::UsedAttr, clang::CUDASharedAttr,
                          clang::CUDAConstantAttr, clang::CUDADeviceAttr>(attribute);
    });
}

bool has_own_rounding(const clang::Expr& from) {
    if (const auto* each = clang::dyn_cast<clang::BinaryOperator>(&from)) return each->hasStoredFPFeatures();
    if (const auto* each = clang::dyn_cast<clang::UnaryOperator>(&from)) return each->hasStoredFPFeatures();
    if (const auto* each = clang::dyn_cast<clang::CastExpr>(&from)) return each->hasStoredFPFeatures();
    if (const auto* each = clang::dyn_cast<clang::CallExpr>(&from)) return each->hasStoredFPFeatures();
    return false;
}

std::vector<NodeKind> node_kinds() {
    std::vector<NodeKind> all;
#define ABSTRACT_STMT(ignored)
#define STMT(Type, Parent) all.push_back({#Type, handling_of_kind(clang::Stmt::Type##Class)});
#include <clang/AST/StmtNodes.inc>
    return all;
}

void collect_kinds(const clang::Stmt* statement, std::set<std::string>& into) {
    std::set<const clang::Stmt*> bodies;
    const auto visit = [&](const auto& self, const clang::Stmt* from) -> void {
        if (from == nullptr) return;
        into.insert(from->getStmtClassName());
        if (const auto* closure = clang::dyn_cast<clang::LambdaExpr>(from)) self(self, closure->getBody());
        if (const auto* call = clang::dyn_cast<clang::CallExpr>(from)) {
            const clang::FunctionDecl* called = call->getDirectCallee();
            const clang::Stmt* body = called ? called->getBody() : nullptr;
            if (body && bodies.insert(body).second) self(self, body);
        }
        for (const clang::Stmt* each : from->children())
            self(self, each);
    };
    visit(visit, statement);
}

}  // namespace halo::lift
