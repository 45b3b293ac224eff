// What the generated parser cannot decide by one character: whether a line's end is a statement's, and where a number ends.
// It goes by docs/language.md, "Text", as the compiler's lexer and parser do.
#include <stdbool.h>
#include <string.h>

#include "tree_sitter/parser.h"

enum Token { END, NUMBER, RECOVERING };

static bool is_digit(int32_t c) {
    return c >= '0' && c <= '9';
}

static bool is_word(int32_t c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_blank(int32_t c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// Whether a line that begins here goes on with the one before: operators, `)`, `]`, and these words.
static bool goes_on(TSLexer *lexer) {
    static const char *const kWords[] = {"then", "else", "and", "or"};
    const int32_t first = lexer->lookahead;
    if (first != 0 && first < 128 && strchr("+-*/^<>=!,:)]", (int)first)) return true;
    char word[6] = {0};
    size_t length = 0;
    for (; is_word(lexer->lookahead); lexer->advance(lexer, false)) {
        if (length + 1 == sizeof word) return false;
        word[length++] = (char)lexer->lookahead;
    }
    for (size_t i = 0; i < sizeof kWords / sizeof *kWords; ++i) {
        if (strcmp(word, kWords[i]) == 0) return true;
    }
    return false;
}

// The end of a statement has no characters of its own: a comment behind it is still a comment.
// `passes_line`: whether a line's end, or the file's, lies before what comes next.
static bool scan_end(TSLexer *lexer, bool *passes_line) {
    lexer->mark_end(lexer);
    for (bool in_comment = false;; lexer->advance(lexer, true)) {
        const int32_t c = lexer->lookahead;
        if (c == '\n' || lexer->eof(lexer)) {
            *passes_line = true;
            in_comment = false;
        }
        if (c == '#') in_comment = true;
        if (lexer->eof(lexer) || (!in_comment && !is_blank(c))) break;
    }
    return *passes_line && (lexer->eof(lexer) || !goes_on(lexer));
}

static void digits(TSLexer *lexer) {
    while (is_digit(lexer->lookahead))
        lexer->advance(lexer, false);
    lexer->mark_end(lexer);
}

// 12, 0.25, .5, 1e-3, 2i; of `1..2` the 1 alone.
static bool scan_number(TSLexer *lexer) {
    while (is_blank(lexer->lookahead))
        lexer->advance(lexer, true);
    const bool begins_with_digit = is_digit(lexer->lookahead);
    if (!begins_with_digit && lexer->lookahead != '.') return false;
    digits(lexer);
    if (lexer->lookahead == '.') {
        lexer->advance(lexer, false);
        if (!begins_with_digit && !is_digit(lexer->lookahead)) return false;
        if (lexer->lookahead == '.') return true;
        digits(lexer);
    }
    if (lexer->lookahead == 'e' || lexer->lookahead == 'E') {
        lexer->advance(lexer, false);
        if (lexer->lookahead == '+' || lexer->lookahead == '-') lexer->advance(lexer, false);
        if (is_digit(lexer->lookahead)) digits(lexer);
    }
    if (lexer->lookahead == 'i') {
        lexer->advance(lexer, false);
        if (!is_word(lexer->lookahead)) lexer->mark_end(lexer);
    }
    return true;
}

void *tree_sitter_halocline_external_scanner_create(void) {
    return NULL;
}

void tree_sitter_halocline_external_scanner_destroy(void *payload) {
    (void)payload;
}

unsigned tree_sitter_halocline_external_scanner_serialize(void *payload, char *buffer) {
    (void)payload;
    (void)buffer;
    return 0;
}

void tree_sitter_halocline_external_scanner_deserialize(void *payload, const char *buffer, unsigned length) {
    (void)payload;
    (void)buffer;
    (void)length;
}

bool tree_sitter_halocline_external_scanner_scan(void *payload, TSLexer *lexer, const bool *valid_symbols) {
    (void)payload;
    if (valid_symbols[RECOVERING]) return false;  // after a mistake every token is asked for
    bool passes_line = false;
    if (valid_symbols[END] && scan_end(lexer, &passes_line)) {
        lexer->result_symbol = END;
        return true;
    }
    lexer->result_symbol = NUMBER;
    return valid_symbols[NUMBER] && !passes_line && scan_number(lexer);
}
