#include "compiler/lift/clang_translate.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/AST/StmtVisitor.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <map>

#include "compiler/lift/clang_kinds.h"
#include "compiler/lift/clang_objects.h"

namespace halo::lift {

namespace {

using c::Number;

class Translator : public ObjectTranslator, public clang::ConstStmtVisitor<Translator, int> {
public:
    using ObjectTranslator::ObjectTranslator;

    int function(const clang::FunctionDecl& wanted) override {
        const clang::FunctionDecl* definition = nullptr;
        const clang::FunctionDecl& decl = wanted.hasBody(definition) ? *definition : wanted;
        if (const auto found = functions_.find(&decl); found != functions_.end()) return found->second;
        const int id = static_cast<int>(unit.functions.size());
        functions_[&decl] = id;
        c::Function made;
        made.name = decl.getNameAsString();
        made.full_name = full_name(decl.getQualifiedNameAsString());
        made.space = space_of(decl);
        made.where = place(clang::SourceRange(decl.getBeginLoc(), decl.getLocation()));
        made.begin = made.where.begin;
        const auto* linkage = clang::dyn_cast<clang::LinkageSpecDecl>(decl.getLexicalDeclContext());
        if (linkage && !linkage->hasBraces()) made.begin = place(linkage->getSourceRange()).begin;
        made.outer_begin = made.begin;
        made.result = type(decl.getReturnType());
        made.is_kernel = decl.hasAttr<clang::CUDAGlobalAttr>();
        made.is_plain = !decl.isTemplateInstantiation();
        const auto* method = clang::dyn_cast<clang::CXXMethodDecl>(&decl);
        if (method) describe_method(*method, made);
        const int object = has_object(decl) ? object_parameter(*method) : -1;
        if (object >= 0) made.parameters.push_back(object);
        unit.functions.push_back(made);
        begin_method(decl, object);
        for (const clang::ParmVarDecl* parameter : decl.parameters()) {
            const int variable_id = variable(*parameter);
            unit.functions[static_cast<std::size_t>(id)].parameters.push_back(variable_id);
        }
        if (definition && definition->getBody()) {
            std::vector<int> before;
            const auto* constructor = clang::dyn_cast<clang::CXXConstructorDecl>(definition);
            if (constructor) before = initialisers(*constructor, object);
            int body = statement(definition->getBody());
            if (!before.empty()) body = block_of(std::move(before), body);
            unit.functions[static_cast<std::size_t>(id)].body = body;
        }
        end_method();
        return id;
    }

private:
    int block_of(std::vector<int> statements, int last) {
        c::Statement made;
        made.kind = c::Statement::Kind::block;
        made.where = unit.statements[static_cast<std::size_t>(last)].where;
        made.statements = std::move(statements);
        made.statements.push_back(last);
        unit.statements.push_back(std::move(made));
        return static_cast<int>(unit.statements.size()) - 1;
    }
    static std::string space_of(const clang::FunctionDecl& decl) {
        const clang::DeclContext* at = decl.getEnclosingNamespaceContext();
        const auto* space = clang::dyn_cast<clang::NamespaceDecl>(at);
        while (space && space->isAnonymousNamespace())
            space = clang::dyn_cast<clang::NamespaceDecl>(space->getParent());
        return space ? full_name(space->getQualifiedNameAsString()) : "";
    }
    static std::string full_name(std::string name) {
        const std::string hidden = "(anonymous namespace)::";
        for (std::size_t at = 0; (at = name.find(hidden)) != std::string::npos;)
            name.erase(at, hidden.size());
        return name;
    }

    // ---- variables

    int variable(const clang::VarDecl& wanted) {
        const clang::VarDecl* key = wanted.getCanonicalDecl();
        if (const auto found = variables_.find(key); found != variables_.end()) return found->second;
        const int id = static_cast<int>(unit.variables.size());
        variables_[key] = id;
        c::Variable made;
        made.name = wanted.getNameAsString();
        made.where = place(clang::SourceRange(wanted.getLocation(), wanted.getLocation()));
        const clang::QualType written = wanted.getType();
        made.is_const = written.isConstQualified() ||
                        (written->isReferenceType() && written->getPointeeType().isConstQualified());
        const clang::VarDecl* defined = wanted.getDefinition();
        if (clang::isa<clang::ParmVarDecl>(wanted)) {
            made.storage = c::Variable::Storage::parameter;
        } else if (wanted.hasGlobalStorage()) {
            made.storage =
                wanted.isStaticLocal() ? c::Variable::Storage::local : c::Variable::Storage::global;
            made.is_static = wanted.isStaticLocal();
            made.is_extern = wanted.hasDefinition() == clang::VarDecl::DeclarationOnly;
        }
        made.is_unordered = is_unordered(wanted);
        made.is_shared = wanted.hasAttr<clang::CUDASharedAttr>();
        unit.variables.push_back(made);
        const int type_id = type(written);
        unit.variables[static_cast<std::size_t>(id)].type = type_id;
        const clang::VarDecl& initialised = defined ? *defined : wanted;
        if (initialised.getInit() && !clang::isa<clang::ParmVarDecl>(wanted)) {
            const std::optional<int> known = constant(initialised);
            const int init = known ? *known : expr(initialised.getInit());
            unit.variables[static_cast<std::size_t>(id)].init = init;
        }
        return id;
    }

    // ---- expressions

public:
    int expr(const clang::Expr* from) override {
        const clang::Expr* bare = from->IgnoreParens();
        if (const std::optional<int> known = constant(*bare)) return *known;
        if (handling_of(*bare) != Handling::modelled) return VisitStmt(bare);
        if (has_own_rounding(*bare))
            return unknown(*bare, "a pragma changes how floating-point numbers round here");
        return Visit(bare);
    }

    int VisitStmt(const clang::Stmt* from) {
        const auto* expression = clang::dyn_cast<clang::Expr>(from);
        if (!expression) return -1;
        if (clang::isa<clang::CXXThrowExpr>(from)) {
            const int id = unknown(*expression, "this leaves the loops by an exception, and a spec has none");
            at(id).is_end = true;
            return id;
        }
        if (clang::isa<clang::CUDAKernelCallExpr>(from))
            return unknown(*expression, "a kernel is launched here, which is not followed");
        return unknown(*expression, "this is an expression that is not understood (" +
                                        std::string(from->getStmtClassName()) + ")");
    }
    int VisitFullExpr(const clang::FullExpr* from) { return expr(from->getSubExpr()); }
    int VisitMaterializeTemporaryExpr(const clang::MaterializeTemporaryExpr* from) {
        return expr(from->getSubExpr());
    }
    int VisitSubstNonTypeTemplateParmExpr(const clang::SubstNonTypeTemplateParmExpr* from) {
        return expr(from->getReplacement());
    }
    int VisitGenericSelectionExpr(const clang::GenericSelectionExpr* from) {
        if (from->isResultDependent()) return VisitStmt(from);
        return expr(from->getResultExpr());
    }
    int VisitChooseExpr(const clang::ChooseExpr* from) { return expr(from->getChosenSubExpr()); }
    int VisitCXXDefaultInitExpr(const clang::CXXDefaultInitExpr* from) { return expr(from->getExpr()); }
    int VisitCXXDefaultArgExpr(const clang::CXXDefaultArgExpr* from) { return expr(from->getExpr()); }
    int whole(const clang::Expr& from, std::int64_t value) {
        const int id = add(c::Expr::Kind::integer, from);
        at(id).integer = value;
        return id;
    }
    int VisitIntegerLiteral(const clang::IntegerLiteral* from) {
        return whole(*from, static_cast<std::int64_t>(from->getValue().getLimitedValue()));
    }
    int VisitCharacterLiteral(const clang::CharacterLiteral* from) { return whole(*from, from->getValue()); }
    int VisitCXXBoolLiteralExpr(const clang::CXXBoolLiteralExpr* from) {
        return whole(*from, from->getValue());
    }
    int VisitFloatingLiteral(const clang::FloatingLiteral* from) {
        const int id = add(c::Expr::Kind::real, *from);
        at(id).real = from->getValueAsApproximateDouble();
        return id;
    }
    int VisitUnaryExprOrTypeTraitExpr(const clang::UnaryExprOrTypeTraitExpr* from) {
        clang::Expr::EvalResult value;
        if (!from->EvaluateAsInt(value, context_)) return unknown(*from, "the size of this is not known");
        return whole(*from, value.Val.getInt().getExtValue());
    }
    int VisitDeclRefExpr(const clang::DeclRefExpr* from) {
        if (const auto* constant = clang::dyn_cast<clang::EnumConstantDecl>(from->getDecl()))
            return whole(*from, constant->getInitVal().getExtValue());
        if (const auto* named = clang::dyn_cast<clang::VarDecl>(from->getDecl())) {
            const int which = variable(*named);
            const int id = add(c::Expr::Kind::variable, *from);
            at(id).variable = which;
            at(id).text = named->getNameAsString();
            return id;
        }
        return unknown(*from, "`" + from->getDecl()->getNameAsString() + "` is not a variable");
    }
    int VisitCastExpr(const clang::CastExpr* from) {
        const int inner = expr(from->getSubExpr());
        switch (from->getCastKind()) {
            case clang::CK_LValueToRValue:
                at(inner).is_loaded = true;
                return inner;
            case clang::CK_NoOp:
                if (from->getType().isConstQualified()) at(inner).is_loaded = true;
                return inner;
            case clang::CK_FunctionToPointerDecay:
            case clang::CK_BuiltinFnToFnPtr:
            case clang::CK_ConstructorConversion:
            case clang::CK_UserDefinedConversion:
                return inner;
            case clang::CK_UncheckedDerivedToBase:
            case clang::CK_DerivedToBase:
                return base_part(*from, inner);
            case clang::CK_ArrayToPointerDecay:
            case clang::CK_BitCast:
            case clang::CK_IntegralCast:
            case clang::CK_IntegralToBoolean:
            case clang::CK_IntegralToFloating:
            case clang::CK_FloatingToIntegral:
            case clang::CK_FloatingToBoolean:
            case clang::CK_FloatingCast:
            case clang::CK_BooleanToSignedIntegral:
            case clang::CK_PointerToBoolean:
                return add(c::Expr::Kind::convert, *from, {inner});
            case clang::CK_ToVoid:
                return inner;
            default:
                return add(
                    c::Expr::Kind::unknown, *from, {inner},
                    std::string("this conversion is not understood (") + from->getCastKindName() + ")");
        }
    }
    int VisitUnaryOperator(const clang::UnaryOperator* from) {
        const int inner = expr(from->getSubExpr());
        switch (from->getOpcode()) {
            case clang::UO_Plus:
            case clang::UO_Minus:
            case clang::UO_LNot:
            case clang::UO_Not:
                return add(c::Expr::Kind::unary, *from, {inner},
                           clang::UnaryOperator::getOpcodeStr(from->getOpcode()).str());
            case clang::UO_Deref:
                return add(c::Expr::Kind::dereference, *from, {inner});
            case clang::UO_AddrOf:
                return add(c::Expr::Kind::address, *from, {inner});
            case clang::UO_PreInc:
                return add(c::Expr::Kind::step, *from, {inner}, "++x");
            case clang::UO_PreDec:
                return add(c::Expr::Kind::step, *from, {inner}, "--x");
            case clang::UO_PostInc:
                return add(c::Expr::Kind::step, *from, {inner}, "x++");
            case clang::UO_PostDec:
                return add(c::Expr::Kind::step, *from, {inner}, "x--");
            case clang::UO_Extension:
                return inner;
            default:
                return unknown(*from, "this operator is not understood");
        }
    }
    int VisitBinaryOperator(const clang::BinaryOperator* from) {
        const int left = expr(from->getLHS());
        const int right = expr(from->getRHS());
        const std::string text = from->getOpcodeStr().str();
        if (from->getOpcode() == clang::BO_Comma) return add(c::Expr::Kind::comma, *from, {left, right});
        if (from->isAssignmentOp()) {
            const int id = add(c::Expr::Kind::assign, *from, {left, right}, text);
            if (const auto* compound = clang::dyn_cast<clang::CompoundAssignOperator>(from))
                at(id).type = type(compound->getComputationResultType());  // what x + y is computed in
            return id;
        }
        return add(c::Expr::Kind::binary, *from, {left, right}, text);
    }
    int VisitConditionalOperator(const clang::ConditionalOperator* from) {
        const int condition = expr(from->getCond());
        const int then = expr(from->getTrueExpr());
        const int otherwise = expr(from->getFalseExpr());
        return add(c::Expr::Kind::conditional, *from, {condition, then, otherwise});
    }
    int VisitArraySubscriptExpr(const clang::ArraySubscriptExpr* from) {
        const int base = expr(from->getBase());
        const int index = expr(from->getIdx());
        return add(c::Expr::Kind::subscript, *from, {base, index});
    }
    int VisitMemberExpr(const clang::MemberExpr* from) {
        if (const auto* shared = clang::dyn_cast<clang::VarDecl>(from->getMemberDecl())) {
            const int which = variable(*shared);
            const int id = add(c::Expr::Kind::variable, *from);
            at(id).variable = which;
            at(id).text = shared->getNameAsString();
            return id;
        }
        return member(*from);
    }
    int VisitCXXThisExpr(const clang::CXXThisExpr* from) { return this_object(*from); }
    int VisitInitListExpr(const clang::InitListExpr* from) {
        // A std::array has its elements in an array of its own.
        const bool is_nested = is_container(from->getType()) && from->getNumInits() == 1 &&
                               from->getInit(0)->getType()->isArrayType();
        if (is_nested) {
            const int inner = expr(from->getInit(0));
            at(inner).where = place(from->getSourceRange());  // its own braces may be left out
            return inner;
        }
        if (const auto* record = from->getType()->getAsRecordDecl(); record && !is_container(from->getType()))
            return made_of(*from, *record);
        std::vector<int> elements;
        for (const clang::Expr* each : from->inits())
            elements.push_back(expr(each));
        return add(c::Expr::Kind::list, *from, elements);
    }
    int VisitImplicitValueInitExpr(const clang::ImplicitValueInitExpr* from) { return whole(*from, 0); }
    int VisitLambdaExpr(const clang::LambdaExpr* from) {
        if (from->isMutable())
            return unknown(*from, "this lambda keeps numbers of its own from call to call");
        for (const clang::LambdaCapture& capture : from->captures()) {
            if (capture.getCaptureKind() == clang::LCK_StarThis)
                return unknown(*from, "this lambda copies the whole object, which is not followed");
            if (capture.capturesVariable() && capture.getCaptureKind() == clang::LCK_ByCopy &&
                (capture.getCapturedVar()->getType()->isArrayType() ||
                 is_container(capture.getCapturedVar()->getType())))
                return unknown(*from, "this lambda copies a whole array, which is not followed");
        }
        const int id = add(c::Expr::Kind::closure, *from);
        for (const clang::LambdaCapture& capture : from->captures()) {
            if (!capture.capturesVariable() || capture.getCaptureKind() != clang::LCK_ByCopy) continue;
            if (const auto* copied = clang::dyn_cast<clang::VarDecl>(capture.getCapturedVar())) {
                const int which = variable(*copied);
                at(id).captured.push_back(which);
            }
        }
        const int called = function(*from->getCallOperator());
        at(id).function = called;
        return id;
    }
    int VisitCXXConstructExpr(const clang::CXXConstructExpr* from) { return construct(*from); }
    int VisitCXXOperatorCallExpr(const clang::CXXOperatorCallExpr* from) { return operator_call(*from); }
    int VisitCXXMemberCallExpr(const clang::CXXMemberCallExpr* from) { return member_call(*from); }
    int VisitCXXNewExpr(const clang::CXXNewExpr* from) {
        if (!from->isArray()) return unknown(*from, "`new` of one object is not understood");
        return add(c::Expr::Kind::call, *from, {}, "new[]");
    }
    int VisitCXXDeleteExpr(const clang::CXXDeleteExpr* from) {
        return add(c::Expr::Kind::call, *from, {}, "delete[]");
    }
    int VisitCallExpr(const clang::CallExpr* from) {
        const clang::FunctionDecl* callee = from->getDirectCallee();
        if (callee && callee->hasAttr<clang::ReturnsTwiceAttr>()) {
            const int id = unknown(*from, "`" + callee->getNameAsString() + "` may return a second time");
            at(id).is_opaque = true;
            return id;
        }
        if (!callee) return unknown(*from, "this calls a function by a pointer: it may do anything");
        std::vector<int> operands;
        for (const clang::Expr* each : from->arguments())
            operands.push_back(expr(each));
        const clang::FunctionDecl* definition = nullptr;
        const bool is_known = callee->hasBody(definition) && !is_elsewhere(*callee);
        const int called = is_known ? function(*callee) : -1;
        const int id = add(c::Expr::Kind::call, *from, operands, callee->getQualifiedNameAsString());
        at(id).function = called;
        at(id).is_end = callee->isNoReturn() && !c::is_hint(at(id).text);
        return id;
    }

    // ---- statements

    int statement(const clang::Stmt* from) {
        c::Statement made;
        if (!from) return -1;
        made.where = place(from->getSourceRange());
        made.is_loop =
            clang::isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt, clang::CXXForRangeStmt>(from);
        fill(made, *from);
        unit.statements.push_back(std::move(made));
        return static_cast<int>(unit.statements.size()) - 1;
    }

private:
    using Kind = c::Statement::Kind;

    void fill(c::Statement& made, const clang::Stmt& from) {
        if (const auto* expression = clang::dyn_cast<clang::Expr>(&from)) {
            made.kind = Kind::expression;
            made.expr = expr(expression);
        } else if (const auto* block = clang::dyn_cast<clang::CompoundStmt>(&from)) {
            made.kind = Kind::block;
            for (const clang::Stmt* each : block->body())
                made.statements.push_back(statement(each));
        } else if (const auto* declared = clang::dyn_cast<clang::DeclStmt>(&from)) {
            fill_declaration(made, *declared);
        } else if (const auto* branch = clang::dyn_cast<clang::IfStmt>(&from)) {
            fill_branch(made, *branch);
        } else if (const auto* loop = clang::dyn_cast<clang::ForStmt>(&from);
                   loop && !loop->getConditionVariable()) {
            made.kind = Kind::for_loop;
            made.statements.push_back(statement(loop->getInit()));
            made.statements.push_back(statement(loop->getBody()));
            if (loop->getCond()) made.expr = expr(loop->getCond());
            if (loop->getInc()) made.step = expr(loop->getInc());
        } else if (const auto* leave = clang::dyn_cast<clang::ReturnStmt>(&from)) {
            made.kind = Kind::return_statement;
            if (leave->getRetValue()) made.expr = expr(leave->getRetValue());
        } else if (const auto* attributed = clang::dyn_cast<clang::AttributedStmt>(&from)) {
            fill(made, *attributed->getSubStmt());
        } else if (clang::isa<clang::ContinueStmt>(from)) {
            made.kind = Kind::continue_statement;
        } else if (clang::isa<clang::NullStmt>(from)) {
            made.kind = Kind::none;
        } else if (clang::isa<clang::BreakStmt>(from)) {
            made.kind = Kind::break_statement;
            made.text = words_for(from);
        } else if (clang::isa<clang::GotoStmt>(from) || clang::isa<clang::IndirectGotoStmt>(from)) {
            made.kind = Kind::goto_statement;
            made.text = words_for(from);
        } else if (const auto* repeated = clang::dyn_cast<clang::WhileStmt>(&from);
                   repeated && !repeated->getConditionVariable()) {
            made.kind = Kind::while_loop;
            made.text = words_for(from);
            made.expr = expr(repeated->getCond());
            made.statements.push_back(statement(repeated->getBody()));
        } else if (const auto* once = clang::dyn_cast<clang::DoStmt>(&from)) {
            made.kind = Kind::while_loop;
            made.text = words_for(from);
            made.expr = expr(once->getCond());
            made.step = 1;
            made.statements.push_back(statement(once->getBody()));
        } else {
            made.kind = Kind::unknown;
            made.text = words_for(from);
            made.is_opaque = handling_of(from) == Handling::opaque;
            made.is_switch = clang::isa<clang::SwitchStmt>(from);
            made.is_label = clang::isa<clang::SwitchCase>(from);
            for (const clang::Stmt* each : from.children()) {
                if (each) made.statements.push_back(statement(each));
            }
        }
    }
    void fill_declaration(c::Statement& made, const clang::DeclStmt& declared) {
        made.kind = Kind::declare;
        for (const clang::Decl* each : declared.decls()) {
            if (!is_plain_declaration(*each)) {
                made.kind = Kind::unknown;
                made.is_opaque = true;
                made.text = "what this declaration does besides is not understood";
            } else if (const auto* named = clang::dyn_cast<clang::VarDecl>(each)) {
                made.variables.push_back(variable(*named));
            } else if (!clang::isa<clang::TypedefNameDecl>(each) && !clang::isa<clang::TagDecl>(each) &&
                       !clang::isa<clang::StaticAssertDecl>(each) && !clang::isa<clang::UsingDecl>(each)) {
                made.kind = Kind::unknown;
                made.text = "this declaration is not understood";
            }
        }
    }
    void fill_branch(c::Statement& made, const clang::IfStmt& branch) {
        made.kind = Kind::branch;
        if (branch.isConstexpr() && !branch.getInit()) {
            if (const auto taken = branch.getNondiscardedCase(context_)) {
                made.kind = Kind::none;
                if (*taken != nullptr) fill(made, **taken);
                return;
            }
        }
        if (branch.getInit() || branch.getConditionVariable() || branch.isConsteval()) {
            made.kind = Kind::unknown;
            made.text = "a variable in the condition of an `if` is not understood";
            for (const clang::Stmt* each : branch.children()) {
                if (each) made.statements.push_back(statement(each));
            }
            return;
        }
        made.expr = expr(branch.getCond());
        made.statements.push_back(statement(branch.getThen()));
        if (branch.getElse()) made.statements.push_back(statement(branch.getElse()));
    }
    std::map<const clang::FunctionDecl*, int> functions_;
    std::map<const clang::VarDecl*, int> variables_;
};

}  // namespace

c::Unit translate(clang::ASTContext& context, const clang::FunctionDecl& function,
                  const std::string& file_name) {
    Translator translator(context, file_name);
    const int id = translator.function(function);
    translator.unit.function = id;
    return std::move(translator.unit);
}

}  // namespace halo::lift
