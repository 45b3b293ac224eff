#include "compiler/lift/clang_objects.h"

#include <clang/AST/DeclTemplate.h>

#include <algorithm>

#include "compiler/lift/clang_kinds.h"

namespace halo::lift {

using ExprKind = c::Expr::Kind;

int ObjectTranslator::add(c::Expr::Kind kind, const clang::Expr& from, std::vector<int> operands,
                          std::string text) {
    c::Expr made;
    made.kind = kind;
    made.type = type(from.getType());
    made.where = place(from.getSourceRange());
    made.operands = std::move(operands);
    made.text = std::move(text);
    unit.exprs.push_back(std::move(made));
    return static_cast<int>(unit.exprs.size()) - 1;
}

int ObjectTranslator::unknown(const clang::Expr& from, const std::string& what) {
    std::vector<int> operands;
    for (const clang::Stmt* each : from.children()) {
        if (const auto* part = clang::dyn_cast_or_null<clang::Expr>(each)) operands.push_back(expr(part));
    }
    const int id = add(ExprKind::unknown, from, operands, what);
    at(id).is_opaque = handling_of(from) == Handling::opaque || clang::isa<clang::LambdaExpr>(from);
    return id;
}

bool ObjectTranslator::is_container(clang::QualType wanted) {
    const c::Type& of = unit.types[static_cast<std::size_t>(type(wanted))];
    return of.is_vector || of.is_std_array;
}

bool ObjectTranslator::is_vector(clang::QualType wanted) {
    return unit.types[static_cast<std::size_t>(type(wanted))].is_vector;
}

// Whether objects of a class of the library are values, made of their members alone: such classes
// (std::mdspan, std::span, std::complex) are executed as those of a program are.
bool ObjectTranslator::is_value_class(const clang::CXXRecordDecl& of) {
    return of.hasDefinition() && of.hasTrivialDestructor() && of.hasTrivialCopyConstructor() &&
           !of.isPolymorphic() && !is_container(clang::QualType(of.getTypeForDecl(), 0));
}

// ---- member functions

bool ObjectTranslator::has_object(const clang::FunctionDecl& decl) {
    const auto* method = clang::dyn_cast<clang::CXXMethodDecl>(&decl);
    return method && method->isImplicitObjectMemberFunction() && !method->getParent()->isLambda();
}

int ObjectTranslator::object_parameter(const clang::CXXMethodDecl& method) {
    c::Variable made;
    made.name = "this";
    made.storage = c::Variable::Storage::parameter;
    made.is_object = true;
    made.where = place(clang::SourceRange(method.getLocation(), method.getLocation()));
    made.type = type(method.getThisType());
    unit.variables.push_back(made);
    return static_cast<int>(unit.variables.size()) - 1;
}

void ObjectTranslator::describe_method(const clang::CXXMethodDecl& method, c::Function& made) {
    const clang::CXXRecordDecl& of = *method.getParent();
    made.is_const = method.isConst();
    // A class without a name, or of a function, cannot be named in front of what is run.
    const bool is_named = of.getIdentifier() != nullptr && of.isLocalClass() == nullptr && !of.isLambda();
    made.is_plain = made.is_plain && is_named && !clang::isa<clang::CXXConstructorDecl>(method) &&
                    !clang::isa<clang::CXXDestructorDecl>(method);
    const clang::SourceLocation end = of.getBraceRange().getEnd();
    for (const clang::DeclContext* at = method.getLexicalDeclContext(); at->isRecord();
         at = at->getLexicalParent())
        made.outer_begin = place(clang::cast<clang::CXXRecordDecl>(at)->getSourceRange()).begin;
    if (method.isOutOfLine() && end.isValid()) made.class_end = place(clang::SourceRange(end, end)).begin;
}

void ObjectTranslator::begin_method(const clang::FunctionDecl& decl, int object) {
    const auto* method = clang::dyn_cast<clang::CXXMethodDecl>(&decl);
    const bool is_closure = method && method->getParent()->isLambda();  // it sees the object around it
    if (!has_begun_ && method) own_class_ = method->getParent()->getCanonicalDecl();
    has_begun_ = true;
    objects_.push_back(is_closure && !objects_.empty() ? objects_.back() : object);
}

std::vector<int> ObjectTranslator::initialisers(const clang::CXXConstructorDecl& constructor, int object) {
    std::vector<int> all;
    for (const clang::CXXCtorInitializer* each : constructor.inits()) {
        const clang::Expr& init = *each->getInit();
        const int value = expr(&init);
        c::Expr named;  // `this`, or a member
        named.kind = ExprKind::variable;
        named.variable = object;
        named.text = "this";
        named.type = unit.variables[static_cast<std::size_t>(object)].type;
        named.where = place(each->getSourceRange());
        unit.exprs.push_back(named);
        named.operands = {static_cast<int>(unit.exprs.size()) - 1};
        named.type = type(init.getType());
        const clang::FieldDecl* field = each->getMember();
        named.kind = ExprKind::member;
        if (field != nullptr && !field->getType()->isReferenceType()) {
            named.text = field->getNameAsString();
        } else if (each->isBaseInitializer() && !each->isBaseVirtual()) {
            named.text = base_name(clang::QualType(each->getBaseClass(), 0));
        } else if (each->isDelegatingInitializer()) {
            named.kind = ExprKind::dereference;
        } else {
            named.kind = ExprKind::unknown;
            named.text = "what this constructor begins with is not followed";
        }
        unit.exprs.push_back(named);
        c::Expr set = named;
        set.kind = ExprKind::assign;
        set.text = "=";
        set.operands = {static_cast<int>(unit.exprs.size()) - 1, value};
        unit.exprs.push_back(set);
        c::Statement done;
        done.kind = c::Statement::Kind::expression;
        done.expr = static_cast<int>(unit.exprs.size()) - 1;
        done.where = named.where;
        unit.statements.push_back(done);
        all.push_back(static_cast<int>(unit.statements.size()) - 1);
    }
    return all;
}

// ---- objects and their members

int ObjectTranslator::this_object(const clang::CXXThisExpr& from) {
    if (objects_.empty() || objects_.back() < 0) return unknown(from, "which object this is is not known");
    const int id = add(ExprKind::variable, from);
    at(id).variable = objects_.back();
    at(id).text = "this";
    return id;
}

// Whether the function that is lifted may not write the member's name.
bool ObjectTranslator::is_hidden(const clang::ValueDecl& member) const {
    const clang::AccessSpecifier access = member.getAccess();
    if (access == clang::AS_public || access == clang::AS_none) return false;
    const auto* of = clang::dyn_cast<clang::CXXRecordDecl>(member.getDeclContext());
    return own_class_ == nullptr || of == nullptr || of->getCanonicalDecl() != own_class_;
}

int ObjectTranslator::member(const clang::MemberExpr& from) {
    const auto* field = clang::dyn_cast<clang::FieldDecl>(from.getMemberDecl());
    if (!field || field->isBitField() || field->isMutable() || field->getParent()->isUnion())
        return unknown(from, "only plain members of structs are followed");
    const int base = expr(from.getBase());
    const int id = add(ExprKind::member, from, {base}, field->getNameAsString());
    at(id).is_hidden = is_hidden(*field);
    return id;
}

int ObjectTranslator::base_part(const clang::CastExpr& from, int inner) {
    for (const clang::CXXBaseSpecifier* each : from.path()) {
        if (each->isVirtual()) return add(ExprKind::unknown, from, {inner}, "virtual bases are not followed");
        const bool is_loaded = at(inner).is_loaded;
        inner = add(ExprKind::member, from, {inner}, base_name(each->getType()));
        at(inner).is_loaded = is_loaded;
        at(inner).is_hidden = each->getAccessSpecifier() != clang::AS_public;
    }
    return inner;
}

int ObjectTranslator::object_operand(const clang::Expr& object, bool is_arrow) {
    const int named = expr(&object);
    if (!is_arrow) return named;
    const clang::QualType pointed = object.getType()->getPointeeType();
    const int id = add(ExprKind::dereference, object, {named});
    at(id).type = type(pointed);
    at(id).is_loaded = pointed.isConstQualified();
    return id;
}

// ---- calls

int ObjectTranslator::call_of(const clang::CallExpr& from, const clang::CXXMethodDecl& called,
                              const clang::Expr& object, bool is_arrow, unsigned first_argument) {
    if (called.getParent()->isInStdNamespace() && !is_value_class(*called.getParent()))
        return call_of_library(from, called, object, is_arrow, first_argument);
    std::vector<int> operands{object_operand(object, is_arrow)};
    if (called.isConst()) at(operands.front()).is_loaded = true;
    for (unsigned i = first_argument; i < from.getNumArgs(); ++i)
        operands.push_back(expr(from.getArg(i)));
    const clang::FunctionDecl* definition = nullptr;
    const int body = called.hasBody(definition) ? function(called) : -1;
    const int id = add(ExprKind::call, from, operands, called.getQualifiedNameAsString());
    at(id).function = body;
    return id;
}

// Containers are what they hold: nothing of their own is executed.
int ObjectTranslator::call_of_library(const clang::CallExpr& from, const clang::CXXMethodDecl& called,
                                      const clang::Expr& object, bool is_arrow, unsigned first_argument) {
    const std::string name = called.getNameAsString();
    const bool has_elements = !is_arrow && is_container(object.getType());
    const bool is_array =
        has_elements && unit.types[static_cast<std::size_t>(type(object.getType()))].is_std_array;
    const auto first_element = [&] {
        const int held = expr(&object);
        return is_array ? add(ExprKind::convert, object, {held}) : held;
    };
    if (has_elements && called.getOverloadedOperator() == clang::OO_Subscript) {
        const int base = first_element();
        const int index = expr(from.getArg(first_argument));
        return add(ExprKind::subscript, from, {base, index});
    }
    if (has_elements && name == "data") return first_element();
    std::vector<int> operands{object_operand(object, is_arrow)};
    if (called.isConst()) at(operands.front()).is_loaded = true;
    for (unsigned i = first_argument; i < from.getNumArgs(); ++i)
        operands.push_back(expr(from.getArg(i)));
    return add(ExprKind::unknown, from, operands,
               "`" + called.getQualifiedNameAsString() + "` of the library is not understood");
}

int ObjectTranslator::member_call(const clang::CXXMemberCallExpr& from) {
    const auto* named = clang::dyn_cast<clang::MemberExpr>(from.getCallee()->IgnoreParens());
    const clang::CXXMethodDecl* called = from.getMethodDecl();
    if (!named || !called) return unknown(from, "this calls a function by a pointer: it may do anything");
    if (called->isVirtual() && named->performsVirtualDispatch(context_.getLangOpts())) {
        called = called->getDevirtualizedMethod(named->getBase(), false);
        if (!called)
            return unknown(from, "`" + from.getMethodDecl()->getNameAsString() +
                                     "` is virtual: which function this calls is not known before it runs");
    }
    if (clang::isa<clang::CXXConversionDecl>(called) && called->getParent()->isLambda())
        return unknown(from, "a lambda becomes a pointer to a function here, which is not followed");
    return call_of(from, *called, *named->getBase(), named->isArrow(), 0);
}

int ObjectTranslator::operator_call(const clang::CXXOperatorCallExpr& from) {
    const clang::FunctionDecl* callee = from.getDirectCallee();
    const auto* method = clang::dyn_cast_or_null<clang::CXXMethodDecl>(callee);
    if (method && from.getOperator() == clang::OO_Call && method->getParent()->isLambda()) {
        std::vector<int> operands;
        for (const clang::Expr* each : from.arguments())
            operands.push_back(expr(each));
        const int called = function(*method);
        const int id = add(ExprKind::invoke, from, operands);
        at(id).function = called;
        return id;
    }
    if (!callee || (method && !has_object(*method)))
        return unknown(from, "this operator of a class is not understood");
    const bool copies = method && method->isCopyAssignmentOperator();
    if (method && (copies || method->isMoveAssignmentOperator()) && !method->isUserProvided()) {
        if (!method->isTrivial())
            return unknown(from, "a whole object is copied here, which is not followed");
        const int to = expr(from.getArg(0)), value = expr(from.getArg(1));
        return add(ExprKind::assign, from, {to, value}, "=");
    }
    if (method && method->isVirtual())
        return unknown(from, "this operator is virtual: which function it calls is not known before it runs");
    if (method) return call_of(from, *method, *from.getArg(0), false, 1);
    std::vector<int> operands;
    for (const clang::Expr* each : from.arguments())
        operands.push_back(expr(each));
    const clang::FunctionDecl* definition = nullptr;
    const bool is_known = callee->hasBody(definition) && !callee->isInStdNamespace();
    const int body = is_known ? function(*callee) : -1;
    const int id = add(ExprKind::call, from, operands, callee->getQualifiedNameAsString());
    at(id).function = body;
    return id;
}

// ---- objects that are made

int ObjectTranslator::construct(const clang::CXXConstructExpr& from) {
    const clang::CXXConstructorDecl& made = *from.getConstructor();
    const clang::CXXRecordDecl& of = *made.getParent();
    const std::string name = "objects of type `" + from.getType().getAsString() + "`";
    const bool is_copy = from.getNumArgs() == 1 && made.isCopyOrMoveConstructor();
    const bool is_copied_array = is_copy && made.isTrivial() && !is_vector(from.getType());
    if (is_container(from.getType()) && !is_copied_array)
        return unknown(from, "a whole array is made or copied here, which is not followed");
    if (is_copy && (made.isTrivial() || of.isLambda())) return expr(from.getArg(0));
    const clang::FunctionDecl* definition = nullptr;
    if (is_copy && !made.isUserProvided() && !made.hasBody(definition))
        return unknown(from, "a whole object is copied here, which is not followed");
    if (of.isInStdNamespace() && !is_value_class(of)) return unknown(from, name + " are not understood");
    if (!of.hasTrivialDestructor())
        return unknown(from, name + " do something when they end, which is not followed");
    if (of.isPolymorphic() || of.getNumVBases() > 0 || (from.requiresZeroInitialization() && !of.isEmpty()))
        return unknown(from, name + " are not understood");
    if (made.isTrivial() && from.getNumArgs() == 0) return add(ExprKind::make, from);
    if (!made.hasBody(definition))
        return unknown(from, name + " are made by a constructor whose body is not in this file");
    std::vector<int> operands;
    for (const clang::Expr* each : from.arguments())
        operands.push_back(expr(each));
    const int called = function(made);
    const int id = add(ExprKind::make, from, operands);
    at(id).function = called;
    return id;
}

int ObjectTranslator::made_of(const clang::InitListExpr& from, const clang::RecordDecl& record) {
    const auto* of = clang::dyn_cast<clang::CXXRecordDecl>(&record);
    const bool is_plain =
        !record.isUnion() && (!of || (of->getNumBases() == 0 && of->hasTrivialDestructor()));
    std::vector<int> operands;
    std::vector<std::string> names;
    unsigned next = 0;
    for (const clang::FieldDecl* field : record.fields()) {
        const bool is_followed = is_plain && !field->isUnnamedBitField() && !field->isBitField() &&
                                 !field->getType()->isReferenceType() && next < from.getNumInits();
        if (!is_followed) return unknown(from, "what this object is made of is not followed");
        operands.push_back(expr(from.getInit(next++)));
        names.push_back(field->getNameAsString());
    }
    const int id = add(ExprKind::make, from, operands);
    at(id).names = std::move(names);
    return id;
}

}  // namespace halo::lift
