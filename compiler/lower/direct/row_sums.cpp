#include "compiler/lower/direct/row_sums.h"

#include <algorithm>

namespace halo::lower {

using kernel::Block;
using kernel::Expr;
using kernel::Type;

Lanes RowSums::shared(Context& context, const RowSum& sum, const PackedSources& sources,
                      const std::array<Expr, 2>& counts, const std::array<Expr, 2>& place) {
    Lanes lanes = sum_in_row(context.program(), sum, sum.low, sources);
    const bool has_words = kernel::int_value(counts[1]) != 1;
    const auto indices = [&](const std::array<Expr, 2>& at) {
        std::vector<Expr> all{at[0]};
        if (has_words) all.push_back(at[1]);
        return all;
    };
    const auto element = [&](const std::string& name, const std::array<Expr, 2>& at, std::size_t word) {
        std::vector<Expr> all = indices(at);
        if (lanes.words.size() > 1) all.emplace_back(static_cast<int>(word));
        return kernel::element(name, std::move(all), Type::u32);
    };
    auto found = std::ranges::find(known_, sum, [](const auto& each) { return each.first; });
    if (found == known_.end()) {
        known_.emplace_back(sum, context.names().take(context.label(sum.level) + "_sums"));
        found = known_.end() - 1;
        std::vector<Expr> dims = indices(counts);
        if (lanes.words.size() > 1) dims.emplace_back(static_cast<int>(lanes.words.size()));
        if (body_.empty())
            body_.push_back(kernel::Comment{"Sums of neighbours in a row, which rows of cells share."});
        body_.push_back(kernel::DeclareArray{Type::u32, found->second, std::move(dims)});
        const std::array<Expr, 2> here{kernel::variable("y", Type::i32), kernel::variable("x", Type::i32)};
        Block each;
        for (std::size_t word = 0; word < lanes.words.size(); ++word)
            each.push_back(kernel::Assign{element(found->second, here, word), lanes.words[word]});
        append(body_, loop_over("y", counts[0], loop_over("x", counts[1], std::move(each))));
    }
    for (std::size_t word = 0; word < lanes.words.size(); ++word)
        lanes.words[word] = element(found->second, place, word);
    return lanes;
}

}  // namespace halo::lower
