// Places and types of Clang's tree as plain data; for clang_translate.cpp.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/Basic/SourceManager.h>

#include <map>
#include <string>

#include "compiler/lift/c_code.h"

namespace halo::lift {

class TypeTranslator {
public:
    TypeTranslator(clang::ASTContext& context, const std::string& file_name);
    virtual ~TypeTranslator() = default;
    TypeTranslator(const TypeTranslator&) = delete;
    TypeTranslator& operator=(const TypeTranslator&) = delete;

    c::Unit unit;
    virtual int expr(const clang::Expr* from) = 0;  // of the length of an array

protected:
    SourceRange place(clang::SourceRange range);
    int type(clang::QualType wanted);

    clang::ASTContext& context_;
    const clang::SourceManager& sources_;

private:
    std::uint32_t file_begin(clang::FileID file);
    bool container(clang::QualType wanted, c::Type& made);
    std::map<clang::FileID, std::uint32_t> files_;
    std::map<const void*, int> types_;
};

}  // namespace halo::lift
