#include "compiler/lift/clang_types.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/Expr.h>
#include <clang/Lex/Lexer.h>

namespace halo::lift {

namespace {

using c::Number;

Number number_of(const clang::Type& type, const clang::ASTContext& context) {
    const auto* builtin = type.getAs<clang::BuiltinType>();
    if (const auto* enumeration = type.getAs<clang::EnumType>())
        builtin = enumeration->getDecl()->getIntegerType()->getAs<clang::BuiltinType>();
    if (!builtin) return Number::none;
    if (builtin->getKind() == clang::BuiltinType::Float) return Number::f32;
    if (builtin->getKind() == clang::BuiltinType::Double) return Number::f64;
    if (builtin->isBooleanType()) return Number::boolean;
    if (!builtin->isInteger()) return Number::none;
    const bool is_signed = builtin->isSignedInteger();
    switch (context.getTypeSize(builtin)) {
        case 8:
            return is_signed ? Number::i8 : Number::u8;
        case 16:
            return is_signed ? Number::i16 : Number::u16;
        case 32:
            return is_signed ? Number::i32 : Number::u32;
        case 64:
            return is_signed ? Number::i64 : Number::u64;
        default:
            return Number::none;
    }
}

}  // namespace

TypeTranslator::TypeTranslator(clang::ASTContext& context, const std::string& file_name)
    : context_(context), sources_(context.getSourceManager()) {
    const clang::FileID main = sources_.getMainFileID();
    unit.source = SourceFile(file_name, sources_.getBufferData(main).str());
    files_[main] = 0;
}

std::uint32_t TypeTranslator::file_begin(clang::FileID file) {
    if (const auto found = files_.find(file); found != files_.end()) return found->second;
    const auto entry = sources_.getFileEntryRefForID(file);
    const std::uint32_t begin =
        unit.source.add(entry ? entry->getName().str() : "", sources_.getBufferData(file).str());
    files_[file] = begin;
    return begin;
}

SourceRange TypeTranslator::place(clang::SourceRange range) {
    const clang::SourceLocation begin = sources_.getExpansionLoc(range.getBegin());
    const clang::SourceLocation last = sources_.getExpansionRange(range.getEnd()).getEnd();
    if (begin.isInvalid() || last.isInvalid()) return {};
    const auto [file, offset] = sources_.getDecomposedLoc(begin);
    const auto [end_file, end] = sources_.getDecomposedLoc(last);
    const unsigned length = clang::Lexer::MeasureTokenLength(last, sources_, context_.getLangOpts());
    const std::uint32_t start = file_begin(file);
    if (end_file != file || end < offset) return {start + offset, start + offset + 1};
    return {start + offset, start + end + length};
}

// std::vector and std::array, of anything but bool.
bool TypeTranslator::container(clang::QualType wanted, c::Type& made) {
    const auto* record =
        clang::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(wanted->getAsCXXRecordDecl());
    if (!record || !record->isInStdNamespace() || !record->getIdentifier()) return false;
    made.is_vector = record->getName() == "vector";
    made.is_std_array = record->getName() == "array";
    if (!made.is_vector && !made.is_std_array) return false;
    const clang::TemplateArgumentList& arguments = record->getTemplateArgs();
    const clang::QualType element = arguments[0].getAsType();
    if (made.is_vector && element->isBooleanType()) {
        made.is_vector = false;
        return false;
    }
    made.kind = made.is_vector ? c::Type::Kind::pointer : c::Type::Kind::array;
    made.element = type(wanted.isConstQualified() ? element.withConst() : element);
    if (made.is_std_array) made.count = arguments[1].getAsIntegral().getExtValue();
    return true;
}

int TypeTranslator::type(clang::QualType wanted) {
    const void* key = wanted.getAsOpaquePtr();
    if (const auto found = types_.find(key); found != types_.end()) return found->second;
    c::Type made;
    made.text = wanted.getAsString(context_.getPrintingPolicy());
    made.plain = wanted.getCanonicalType().getAsString(context_.getPrintingPolicy());
    made.is_const = wanted.isConstQualified();
    made.is_restrict = wanted.isRestrictQualified();
    const clang::Type& canonical = *wanted.getCanonicalType();
    if (const auto* decayed = wanted->getAs<clang::DecayedType>())
        made.element = type(decayed->getPointeeType());  // keeps what the user wrote
    if (const auto* reference = wanted->getAs<clang::ReferenceType>()) {
        made.kind = c::Type::Kind::pointer;
        made.is_reference = true;
        made.element = type(reference->getPointeeType());
    } else if (const auto* pointer = wanted->getAs<clang::PointerType>()) {
        made.kind = c::Type::Kind::pointer;
        made.element = type(pointer->getPointeeType());
    } else if (const clang::ArrayType* array = context_.getAsArrayType(wanted)) {
        made.kind = c::Type::Kind::array;
        made.element = type(array->getElementType());
        made.is_const = array->getElementType().isConstQualified();
        if (const auto* constant = clang::dyn_cast<clang::ConstantArrayType>(array))
            made.count = static_cast<std::int64_t>(constant->getZExtSize());
        else if (const auto* variable = clang::dyn_cast<clang::VariableArrayType>(array);
                 variable && variable->getSizeExpr())
            made.count_expr = expr(variable->getSizeExpr());
    } else if (container(wanted, made)) {
    } else if (wanted.isVolatileQualified()) {
        made.kind = c::Type::Kind::other;  // each access is an effect
    } else if ((made.number = number_of(canonical, context_)) != Number::none) {
        made.kind = c::Type::Kind::number;
    } else if (const auto* record = wanted->getAsRecordDecl()) {
        made.is_class = !record->isUnion();
    }
    const int id = static_cast<int>(unit.types.size());
    unit.types.push_back(made);
    types_[key] = id;
    return id;
}

}  // namespace halo::lift
