#include "dump.h"

#include <fmt/format.h>

namespace halo::syntax {

namespace {

struct Dumper {
    const File& file;

    std::string all(const std::vector<ExprId>& ids) const {
        std::string text;
        for (const ExprId id : ids)
            text += " " + (*this)(id);
        return text;
    }
    std::string operator()(ExprId id) const { return std::visit(*this, file[id].node); }

    std::string operator()(const Missing&) const { return "?"; }
    std::string operator()(const Number& node) const {
        return node.value.to_string() + (node.is_imaginary ? "i" : "");
    }
    std::string operator()(const NameUse& node) const { return node.name; }
    std::string operator()(const Member& node) const {
        return fmt::format("(. {} {})", (*this)(node.base),
                           node.index ? (*this)(*node.index) : node.member.text);
    }
    std::string operator()(const Index& node) const {
        return fmt::format("(at {}{})", (*this)(node.base), all(node.subscripts));
    }
    std::string operator()(const CallExpr& node) const {
        std::string text = "(call " + node.callee.text;
        for (const Argument& argument : node.arguments) {
            text += " ";
            if (argument.keyword) text += argument.keyword->text + "=";
            text += (*this)(argument.value);
        }
        return text + ")";
    }
    std::string operator()(const UnaryExpr& node) const {
        constexpr const char* kNames[] = {"neg", "plus", "not"};
        return fmt::format("({} {})", kNames[static_cast<int>(node.kind)], (*this)(node.operand));
    }
    std::string operator()(const BinaryExpr& node) const {
        constexpr const char* kNames[] = {
            "+", "-", "*", "/", "^", "<", "<=", ">", ">=", "==", "!=", "and", "or"};
        return fmt::format("({} {} {})", kNames[static_cast<int>(node.kind)], (*this)(node.left),
                           (*this)(node.right));
    }
    std::string operator()(const Conditional& node) const {
        return fmt::format("(if {} {} {})", (*this)(node.condition), (*this)(node.then),
                           (*this)(node.otherwise));
    }
    std::string operator()(const Fold& node) const {
        constexpr const char* kNames[] = {"sum", "prod", "min", "max", "list"};
        std::string text = fmt::format("({}", kNames[static_cast<int>(node.kind)]);
        for (const RangeIndex& index : node.indices) {
            text += fmt::format(" {}:{}..{}", index.name.text, (*this)(index.low), (*this)(index.high));
        }
        return text + " " + (*this)(node.body) + ")";
    }
    std::string operator()(const TableFold& node) const {
        std::string text = fmt::format("(rows {}:{}", node.row.text, node.table.text);
        for (const RowLet& let : node.lets)
            text += fmt::format(" {}={}", let.name.text, (*this)(let.value));
        return text + " " + (*this)(node.body) + ")";
    }
    std::string operator()(const List& node) const { return "[" + all(node.elements) + " ]"; }
};

}  // namespace

std::string dump(const File& file, ExprId id) {
    return Dumper{file}(id);
}

}  // namespace halo::syntax
