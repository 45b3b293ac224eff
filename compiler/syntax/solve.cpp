// `solve`: an equation with the unknown on its left.
#include "compiler/syntax/parser_impl.h"

namespace halo::syntax {

SolveStatement Parser::solve(std::uint32_t begin) {
    SolveStatement result;
    advance();
    result.target = postfix();
    expect(TokenKind::colon,
           "`:` and the equation, as in `solve u[t+1]: u[t+1] - laplacian(u[t+1]) = u using …`");
    result.left = expression();
    expect(TokenKind::assign, "`=` and the right-hand side");
    result.right = expression();
    if (expect_word("using", "and how it is solved, as in `using cg tol 1e-8, at most 500`"))
        result.method = name("how it is solved: cg, multigrid, bicgstab or tridiagonal");
    if (accept_word("along")) result.along = name("an axis, as in `using tridiagonal along x`");
    if (accept_word("over")) result.grids = expression();
    if (accept_word("tol")) result.tolerance = expression();
    if (is(TokenKind::comma) && text(ahead(1)) == "at" && text(ahead(2)) == "most" && !failing_) {
        advance();
        advance();
        advance();
        result.most = expression();
    }
    result.where = since(begin);
    return result;
}

}  // namespace halo::syntax
