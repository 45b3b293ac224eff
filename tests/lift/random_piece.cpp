// The text of random functions, and what a shrinker takes away from it.
#include "random_value.h"

namespace halo::test {

namespace {

bool remove_in(Piece& piece, int& number) {
    for (std::size_t i = 0; i < piece.inner.size(); ++i) {
        Piece& each = piece.inner[i];
        if (each.kind == Piece::Kind::statement) {
            if (number-- == 0) {
                piece.inner.erase(piece.inner.begin() + static_cast<std::ptrdiff_t>(i));
                return true;
            }
            if (number-- == 0) {  // what is in it alone
                Piece inside;
                for (const Piece& inner : each.inner) {
                    if (inner.kind != Piece::Kind::value) inside.inner.push_back(inner);
                }
                each = std::move(inside);
                return true;
            }
        } else if (each.kind == Piece::Kind::value) {
            for (std::size_t k = 0; k < each.inner.size(); ++k) {
                if (number-- != 0) continue;
                Piece operand = each.inner[k];
                each = std::move(operand);
                return true;
            }
        }
        if (remove_in(each, number)) return true;
    }
    return false;
}

}  // namespace

std::string Piece::text() const {
    std::string made = before;
    for (std::size_t i = 0; i < inner.size(); ++i)
        made += (i ? between : "") + inner[i].text();
    return made + after;
}

const char* c_name(CType type) {
    static const char* const names[] = {"float", "double",        "int",           "unsigned",
                                        "long",  "unsigned long", "unsigned char", "_Bool"};
    return names[static_cast<std::size_t>(type)];
}
std::size_t c_bytes(CType type) {
    static const std::size_t bytes[] = {4, 8, 4, 4, 8, 8, 1, 1};
    return bytes[static_cast<std::size_t>(type)];
}

std::string RandomFunction::text(const std::string& name) const {
    std::string made = helpers.text() + head.text() + " " + body.text();
    replace_all(made, "FUNCTION", name);
    return made;
}
std::string RandomFunction::head_text(const std::string& name) const {
    std::string made = head.text();
    replace_all(made, "FUNCTION", name);
    return made;
}

bool remove_part(RandomFunction& function, int number) {
    return remove_in(function.body, number) || remove_in(function.helpers, number);
}

}  // namespace halo::test
