#include "runtime/core/halo_fill.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "runtime/core/element.h"

namespace halo::rt {

namespace {

// Cells that a pass covers along an axis: with the field's halo or without.
struct CoveredSpan {
    std::int64_t low = 0;
    std::int64_t count = 1;
};

class PassMaker {
public:
    PassMaker(const FieldPlan& field, const Geometry& geometry, const std::vector<double>& params,
              const Extent& grid)
        : field_(field), geometry_(geometry), params_(params), grid_(grid) {
        stride_ = geometry.strides();
        for (std::int64_t& stride : stride_)
            stride *= field.interleave;
    }

    HaloPass make(int axis, bool constants) const;

private:
    CoveredSpan span(int axis, bool with_halo) const {
        if (axis >= geometry_.rank) return {0, 1};
        if (!with_halo) return {0, geometry_.extent[axis]};
        const auto& halo = field_.halo[axis];
        return {-halo[0], geometry_.extent[axis] + halo[0] + halo[1]};
    }
    void add_layer(HaloPass& pass, int axis, std::int64_t index, std::int64_t start, bool constants) const;

    const FieldPlan& field_;
    const Geometry& geometry_;
    const std::vector<double>& params_;
    const Extent& grid_;
    std::array<std::int64_t, kMaxRank> stride_;
};

void PassMaker::add_layer(HaloPass& pass, int axis, std::int64_t index, std::int64_t start,
                          bool constants) const {
    const auto& faces = field_.boundary[axis];
    const ImageSource source = image_source(faces[0].kind, faces[1].kind, index, geometry_.extent[axis]);
    HaloPass::Layer layer;
    layer.to = index;
    layer.from = source.cell;
    layer.destination = start + index * stride_[axis];
    if (source.shows == ImageMap::Shows::value && constants) {
        layer.constant = true;
        layer.value = evaluate(faces[source.side].value, params_, grid_);
        pass.layers.push_back(layer);
    } else if (source.shows == ImageMap::Shows::cell && !constants) {
        layer.source = start + source.cell * stride_[axis];
        pass.layers.push_back(layer);
    }
}

HaloPass PassMaker::make(int axis, bool constants) const {
    HaloPass pass;
    pass.axis = axis;
    // The other axes, fastest first; the first of them is the row where it is x.
    const int first = axis == 0 ? 1 : 0;
    const int second = axis <= 1 ? 2 : 1;
    const int third = axis <= 2 ? 3 : 2;
    const auto covered = [&](int other) { return span(other, constants || other < axis); };
    const CoveredSpan inner = covered(first), outer = covered(second), volumes = covered(third);
    const std::int64_t start = geometry_.origin * field_.interleave + field_.component +
                               inner.low * stride_[first] + outer.low * stride_[second] +
                               volumes.low * stride_[third];
    if (first == 0 && field_.interleave == 1) {
        pass.row_length = inner.count;
    } else {
        pass.inner_units = inner.count;
        pass.inner_stride = stride_[first];
    }
    pass.outer_units = outer.count;
    pass.outer_low = outer.low;
    pass.outer_stride = stride_[second];
    pass.volumes = volumes.count;
    pass.volume_stride = stride_[third];
    const auto& halo = field_.halo[axis];
    for (std::int64_t index = -halo[0]; index < 0; ++index)
        add_layer(pass, axis, index, start, constants);
    const std::int64_t n = geometry_.extent[axis];
    for (std::int64_t index = n; index < n + halo[1]; ++index)
        add_layer(pass, axis, index, start, constants);
    return pass;
}

using Layers = std::span<const HaloPass::Layer>;

template <class Element>
void run_units(const HaloPass& pass, Layers layers, ElementType type, void* start, std::int64_t begin,
               std::int64_t end) {
    auto* const array = static_cast<Element*>(start);
    for (std::int64_t unit = begin; unit < end; ++unit) {
        Element* base = array + pass.place_of(unit);
        for (const HaloPass::Layer& layer : layers) {
            Element* destination = base + layer.destination;
            if (layer.constant) {
                Element value;
                encode(layer.value, type, &value);
                std::fill_n(destination, pass.row_length, value);
            } else if (pass.row_length == 1) {
                *destination = base[layer.source];
            } else {
                std::memcpy(destination, base + layer.source, pass.row_length * sizeof(Element));
            }
        }
    }
}

void run_layers(const HaloPass& pass, Layers layers, ElementType type, void* array, std::int64_t begin,
                std::int64_t end) {
    // Elements are moved by their size alone, whatever their type.
    switch (size_of(type)) {
        case 1:
            return run_units<std::uint8_t>(pass, layers, type, array, begin, end);
        case 2:
            return run_units<std::uint16_t>(pass, layers, type, array, begin, end);
        case 4:
            return run_units<std::uint32_t>(pass, layers, type, array, begin, end);
        default:
            return run_units<std::uint64_t>(pass, layers, type, array, begin, end);
    }
}

// Fills the images past the faces of the slowest axis, of the piece's planes. `across_rows` has already put
// images of its rows past the faces of the middle axis, and those rows have images, too.
void fill_planes(const HaloPass& pass, const HaloPass* across_rows, ElementType type, int rank, void* array,
                 const HaloPiece& piece) {
    for (const HaloPass::Layer& layer : pass.layers) {
        if (layer.from < piece.begin || layer.from >= piece.end) continue;
        const auto fill_rows = [&](std::int64_t begin, std::int64_t end) {
            run_layers(pass, {&layer, 1}, type, array, (begin - pass.outer_low) * pass.inner_units,
                       (end - pass.outer_low) * pass.inner_units);
        };
        if (rank == 2) {
            run_layers(pass, {&layer, 1}, type, array, 0, pass.units());
            continue;
        }
        fill_rows(piece.row_begin, piece.row_end);
        if (across_rows == nullptr) continue;
        for (const HaloPass::Layer& row : across_rows->layers)
            if (row.from >= piece.row_begin && row.from < piece.row_end) fill_rows(row.to, row.to + 1);
    }
}

}  // namespace

std::vector<HaloPass> make_halo_passes(const FieldPlan& field, const Geometry& geometry,
                                       const std::vector<double>& params, HaloPart part, const Extent& grid) {
    const PassMaker maker(field, geometry, params, grid);
    std::vector<HaloPass> passes;
    const auto keep = [&](HaloPass pass) {
        if (!pass.layers.empty()) passes.push_back(std::move(pass));
    };
    if (part != HaloPart::fixed)
        for (int axis = 0; axis < geometry.rank; ++axis)
            keep(maker.make(axis, false));
    if (part != HaloPart::images)
        for (int axis = geometry.rank - 1; axis >= 0; --axis)
            keep(maker.make(axis, true));
    return passes;
}

void run_halo_pass(const HaloPass& pass, ElementType type, void* array, std::int64_t begin,
                   std::int64_t end) {
    run_layers(pass, pass.layers, type, array, begin, end);
}

void fill_images(const std::vector<HaloPass>& passes, ElementType type, const Geometry& geometry, void* array,
                 const HaloPiece& piece) {
    const int slowest = geometry.rank - 1;
    const HaloPass* across_rows = nullptr;  // of three axes: the one along the middle axis
    for (const HaloPass& pass : passes) {
        if (pass.axis == slowest) {
            fill_planes(pass, across_rows, type, geometry.rank, array, piece);
        } else if (pass.axis == 0) {
            // The units of this pass are the rows of the grid.
            const std::int64_t rows = geometry.rank == 2 ? 1 : geometry.extent[1];
            if (piece.row_end - piece.row_begin == rows) {
                run_layers(pass, pass.layers, type, array, piece.begin * rows, piece.end * rows);
                continue;
            }
            for (std::int64_t plane = piece.begin; plane < piece.end; ++plane)
                run_layers(pass, pass.layers, type, array, plane * rows + piece.row_begin,
                           plane * rows + piece.row_end);
        } else {
            across_rows = &pass;
            for (const HaloPass::Layer& layer : pass.layers)
                if (layer.from >= piece.row_begin && layer.from < piece.row_end)
                    run_layers(pass, {&layer, 1}, type, array, piece.begin * pass.inner_units,
                               piece.end * pass.inner_units);
        }
    }
}

void fill_halo(const std::vector<HaloPass>& passes, ElementType type, void* array) {
    for (const HaloPass& pass : passes)
        run_halo_pass(pass, type, array, 0, pass.units());
}

}  // namespace halo::rt
