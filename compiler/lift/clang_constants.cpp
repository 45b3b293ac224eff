// What Clang has computed: numbers, arrays and objects that are constants to the compiler.
#include <clang/AST/APValue.h>
#include <clang/AST/Expr.h>

#include "compiler/lift/clang_objects.h"

namespace halo::lift {

using ExprKind = c::Expr::Kind;

std::string ObjectTranslator::base_name(clang::QualType base) const {
    std::string name = base.getCanonicalType().getUnqualifiedType().getAsString(context_.getPrintingPolicy());
    const std::string hidden = "(anonymous namespace)::";
    for (std::size_t at = 0; (at = name.find(hidden)) != std::string::npos;)
        name.erase(at, hidden.size());
    return name + "::";
}

int ObjectTranslator::computed(const clang::APValue& value, clang::QualType of, const clang::Expr& from) {
    c::Expr made;
    const clang::CXXRecordDecl* record = of->getAsCXXRecordDecl();
    if (value.isInt() || value.isFloat()) {
        made.kind = value.isInt() ? ExprKind::integer : ExprKind::real;
        if (value.isInt())
            made.integer = value.getInt().getExtValue();
        else
            made.real = value.getFloat().convertToDouble();
    } else if (value.isArray()) {
        made.kind = ExprKind::list;
        const clang::QualType element = context_.getAsArrayType(of)->getElementType();
        for (unsigned i = 0; i < value.getArraySize(); ++i)
            made.operands.push_back(computed(i < value.getArrayInitializedElts()
                                                 ? value.getArrayInitializedElt(i)
                                                 : value.getArrayFiller(),
                                             element, from));
    } else if (value.isStruct() && record && is_container(of)) {
        const clang::FieldDecl* elements = *record->field_begin();  // of a std::array
        const int inner = computed(value.getStructField(0), elements->getType(), from);
        if (at(inner).kind != ExprKind::list) return unknown(from, "this constant is not understood");
        made.kind = ExprKind::list;
        made.operands = at(inner).operands;
    } else if (value.isStruct() && record && value.getStructNumBases() == 0) {
        made.kind = ExprKind::make;
        for (const clang::FieldDecl* field : record->fields()) {
            made.names.push_back(field->getNameAsString());
            made.operands.push_back(
                computed(value.getStructField(field->getFieldIndex()), field->getType(), from));
        }
    } else {
        return unknown(from, "this constant is not understood");
    }
    made.type = type(of);
    made.where = place(from.getSourceRange());
    unit.exprs.push_back(std::move(made));
    return static_cast<int>(unit.exprs.size()) - 1;
}

std::optional<int> ObjectTranslator::constant(const clang::VarDecl& variable) {
    const clang::Expr& init = *variable.getInit();
    const clang::Expr& bare = *init.IgnoreImplicit()->IgnoreParens();
    const bool is_call = clang::isa<clang::CallExpr>(bare);
    const bool is_known =
        variable.getType()->isRecordType() || variable.getType()->isIntegralOrEnumerationType();
    if (!variable.isConstexpr() || init.isValueDependent() || (!is_call && !is_known)) return std::nullopt;
    const clang::APValue* value = variable.evaluateValue();
    if (value == nullptr || value->isAbsent()) return std::nullopt;
    return computed(*value, variable.getType(), init);
}

std::optional<int> ObjectTranslator::constant(const clang::Expr& from) {
    const bool is_number = clang::isa<clang::CallExpr, clang::SizeOfPackExpr>(from) && from.isPRValue() &&
                           from.getType()->isIntegralOrEnumerationType() && !from.isValueDependent();
    clang::Expr::EvalResult value;
    if (!is_number || !from.EvaluateAsInt(value, context_)) return std::nullopt;
    return computed(value.Val, from.getType(), from);
}

}  // namespace halo::lift
