#include "compiler/lift/verify_sizes.h"

#include <algorithm>

#include "compiler/lift/clang_front.h"

namespace halo::lift {

namespace {
constexpr std::int64_t kMostCells = 4'000'000;
constexpr std::int64_t kMostWork = 40'000'000;  // cells times steps
}  // namespace

bool SizeChooser::has_choice() const {
    return std::any_of(model_.symbols.begin(), model_.symbols.end(),
                       [](const Symbol& each) { return each.kind == Symbol::Kind::size; });
}

std::vector<std::int64_t> SizeChooser::next() {
    for (int attempt = 0; attempt < 20'000; ++attempt) {
        std::vector<std::int64_t> values(model_.symbols.size(), 0);
        const bool is_small = has_boundary() && random_() % 3 == 0;  // both edges at once
        for (std::size_t i = 0; i < values.size(); ++i) {
            const int id = static_cast<int>(i);
            values[i] = counts_steps(id)    ? 1 + static_cast<std::int64_t>(random_() % 5)
                        : is_first_cell(id) ? static_cast<std::int64_t>(random_() % 8)
                        : is_small          ? 1 + static_cast<std::int64_t>(random_() % 3)
                                            : 3 + static_cast<std::int64_t>(random_() % 18);
            if (model_.block && counts_cells(id)) {  // of some blocks
                const auto apart = static_cast<std::uint64_t>(std::ranges::max(*model_.block_stride));
                values[i] += static_cast<std::int64_t>(random_() % (2 * std::min<std::uint64_t>(apart, 64)));
            }
            if (const auto drawn = draws_.find(id); drawn != draws_.end() && random_() % 4 != 0)
                values[i] = drawn->second[random_() % drawn->second.size()];
            if (is_far_stride(id)) values[i] += static_cast<std::int64_t>(random_() % 400);
            if (model_.symbols[i].assumed) values[i] = *model_.symbols[i].assumed;
        }
        if (fits(values)) return values;
        lengthen(values);
        if (fits(values)) return values;
    }
    throw SourceError("no small grid was found that the function can be run on");
}

// Of parameters that must be large enough, as the length of a row: makes them so.
void SizeChooser::lengthen(std::vector<std::int64_t>& values) {
    for (const Polynomial& need : form_needs(model_, form_)) {
        const std::int64_t short_by =
            1 - need.evaluate([&](int symbol) { return values[static_cast<std::size_t>(symbol)]; });
        if (short_by <= 0) continue;
        for (const auto& [monomial, factor] : need.terms()) {
            if (monomial.size() != 1 || factor != 1 || counts_cells(monomial[0])) continue;
            const auto symbol = static_cast<std::size_t>(monomial[0]);
            if (model_.symbols[symbol].assumed) continue;
            values[symbol] += short_by + static_cast<std::int64_t>(random_() % 3);
            break;
        }
    }
}

bool SizeChooser::has_boundary() const {
    return std::any_of(form_.fields.begin(), form_.fields.end(), [](const Field& each) {
        return std::any_of(each.past.begin(), each.past.end(), [](const auto& faces) {
            return faces[0] != Field::Past::nothing || faces[1] != Field::Past::nothing;
        });
    });
}
bool SizeChooser::counts_steps(int symbol) const {
    return model_.time_loop >= 0 && model_.loop(model_.time_loop).upper.has(symbol);
}
bool SizeChooser::counts_cells(int symbol) const {
    return std::ranges::any_of(form_.grid, [&](const Polynomial& each) { return each.has(symbol); });
}
// Whether planes are that far from each other.
bool SizeChooser::is_far_stride(int symbol) const {
    return std::ranges::any_of(form_.fields, [&](const Field& each) {
        return std::ranges::any_of(each.apart,
                                   [&](const Polynomial& apart) { return apart.of({symbol}) > 0; });
    });
}
// Whether a box begins there, rather than at a fixed cell or that far from the end.
bool SizeChooser::is_first_cell(int symbol) const {
    return std::any_of(form_.statements.begin(), form_.statements.end(), [&](const Statement& each) {
        return std::any_of(each.region.begin(), each.region.end(), [&](const Range& range) {
            return range.lower.of({symbol}) > 0 && (range.upper - range.lower).of({symbol}) < 0;
        });
    });
}
bool SizeChooser::fits(const std::vector<std::int64_t>& values) const {
    const auto number = [&](const Polynomial& poly) {
        return poly.evaluate([&](int symbol) { return values[static_cast<std::size_t>(symbol)]; });
    };
    std::int64_t cells = 1;
    for (const Polynomial& each : form_.grid) {
        const std::int64_t extent = number(each);
        if (extent < 1) return false;
        cells *= extent;
        if (cells > kMostCells) return false;
    }
    if (model_.time_loop >= 0) {
        const Loop& time = model_.loop(model_.time_loop);
        const std::int64_t steps = number(time.upper) - number(time.lower);
        if (steps < 0 || steps * cells > kMostWork) return false;
    }
    const std::vector<Polynomial> needs = form_needs(model_, form_);
    return std::all_of(needs.begin(), needs.end(), [&](const Polynomial& each) { return number(each) >= 1; });
}

bool names_threads(const Model& model, std::size_t axis) {
    return std::ranges::any_of(model.symbols, [&](const Symbol& each) {
        return each.kind == Symbol::Kind::builtin && (each.name == std::string("threadIdx.") + "xyz"[axis] ||
                                                      each.name == std::string("blockIdx.") + "xyz"[axis]);
    });
}

std::array<int, 6> launch_sizes(const Model& model, const std::vector<std::int64_t>& grid,
                                const std::vector<std::int64_t>& values) {
    std::array<int, 6> sizes{1, 1, 1, 1, 1, 1};
    std::int64_t most = 1;
    for (const std::int64_t each : grid)
        most = model.has_rows ? most * each : std::max(most, each);
    const ThreadPlace size = model.block.value_or(ThreadPlace{8, 4, 2});
    const ThreadPlace stride = model.block_stride.value_or(size);
    for (std::size_t a = 0; a < 3; ++a) {
        const bool is_named = names_threads(model, a);
        if (model.launched[a]) {
            sizes[a + 3] = static_cast<int>(model.launched[a]->evaluate(
                [&](int symbol) { return values[static_cast<std::size_t>(symbol)]; }));
            continue;
        }
        if (!is_named && (!model.block || size[a] == 1)) continue;
        sizes[a] = static_cast<int>(size[a]);
        // One more where cells of a block may begin elsewhere than its threads.
        sizes[a + 3] = static_cast<int>(most / stride[a]) + (model.block ? 2 : 1);
    }
    return sizes;
}

}  // namespace halo::lift
