#include "compiler/support/writer.h"

namespace halo {

void Writer::text(std::string_view text) {
    while (!text.empty()) {
        const std::size_t newline = text.find('\n');
        const std::string_view piece = text.substr(0, newline);
        if (!piece.empty()) {
            if (at_line_start()) out_.append(static_cast<std::size_t>(depth_ * indent_width_), ' ');
            out_ += piece;
        }
        if (newline == std::string_view::npos) return;
        out_ += '\n';
        text.remove_prefix(newline + 1);
    }
}

void Writer::end_line() {
    out_ += '\n';
}

void Writer::blank_line() {
    if (!at_line_start()) end_line();
    const bool at_start = out_.empty();
    const bool after_blank = out_.size() >= 2 && out_[out_.size() - 2] == '\n';
    if (!at_start && !after_blank) out_ += '\n';
}

}  // namespace halo
