#include "runtime/io/xdmf.h"

#include <fmt/format.h>

#include <algorithm>

namespace halo::rt {

namespace {

std::string escaped(const std::string& text) {
    std::string result;
    for (const char letter : text) {
        switch (letter) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '"':
                result += "&quot;";
                break;
            default:
                result += letter;
        }
    }
    return result;
}

const char* number_of(ElementType type) {
    switch (type) {
        case ElementType::f64:
            return R"(NumberType="Float" Precision="8")";
        case ElementType::i32:
            return R"(NumberType="Int" Precision="4")";
        case ElementType::i64:
            return R"(NumberType="Int" Precision="8")";
        case ElementType::u8:
        case ElementType::boolean:
            return R"(NumberType="UChar" Precision="1")";
        case ElementType::f32:
        case ElementType::f16:
        case ElementType::bf16:
            break;
    }
    return R"(NumberType="Float" Precision="4")";
}

const char* attribute_of(std::int64_t components) {
    if (components == 1) return "Scalar";
    if (components == 2 || components == 3) return "Vector";
    return components == 9 ? "Tensor" : "Matrix";
}

// Slowest axis first, as all lists in a page.
std::string by_axis(const std::array<double, kMaxRank>& numbers, int rank) {
    std::string text;
    for (int axis = rank; axis-- > 0;) {
        if (!text.empty()) text += ' ';
        text += fmt::format("{}", numbers[static_cast<std::size_t>(axis)]);
    }
    return text;
}

class Page {
public:
    Page(const std::array<double, kMaxRank>& spacing) : spacing_(spacing) {}

    void line(const std::string& text) {
        text_.append(static_cast<std::size_t>(2 * depth_), ' ');
        text_ += text + '\n';
    }
    void open(const std::string& element) {
        line('<' + element + '>');
        ++depth_;
    }
    void close(const std::string& name) {
        --depth_;
        line("</" + name + '>');
    }

    // Fields that lie at other places are a grid of their own.
    void frame(const std::string& name, const XdmfFrame& frame) {
        std::vector<std::vector<const XdmfField*>> places;
        for (const XdmfField& field : frame.fields) {
            const auto place = std::ranges::find(places, field.origin,
                                                 [](const auto& fields) { return fields.front()->origin; });
            if (place == places.end())
                places.push_back({&field});
            else
                place->push_back(&field);
        }
        const std::string time = fmt::format(R"(Time Value="{}"/)", frame.time);
        if (places.size() == 1) return grid(name, frame, places.front(), time);
        open(fmt::format(R"(Grid Name="{}" GridType="Collection" CollectionType="Spatial")", name));
        line('<' + time + '>');
        for (const std::vector<const XdmfField*>& place : places)
            grid(escaped(place.front()->name), frame, place, time);
        close("Grid");
    }

    std::string take() { return std::move(text_); }

private:
    void grid(const std::string& name, const XdmfFrame& frame, const std::vector<const XdmfField*>& fields,
              const std::string& time) {
        const XdmfField& first = *fields.front();
        const int rank = first.shape.rank;
        const std::string cells = fmt::format("{}", fmt::join(first.shape.cells(), " "));
        open(fmt::format(R"(Grid Name="{}" GridType="Uniform")", name));
        line('<' + time + '>');
        line(fmt::format(R"(<Topology TopologyType="{}DCoRectMesh" Dimensions="{}"/>)", rank, cells));
        open(fmt::format(R"(Geometry GeometryType="{}")", rank == 3 ? "ORIGIN_DXDYDZ" : "ORIGIN_DXDY"));
        for (const auto* numbers : {&first.origin, &spacing_})
            line(fmt::format(
                R"(<DataItem Format="XML" NumberType="Float" Precision="8" Dimensions="{}">{}</DataItem>)",
                rank, by_axis(*numbers, rank)));
        close("Geometry");
        for (const XdmfField* field : fields) {
            open(fmt::format(R"(Attribute Name="{}" AttributeType="{}" Center="Node")", escaped(field->name),
                             attribute_of(field->shape.components)));
            elements(frame, *field);
            close("Attribute");
        }
        close("Grid");
    }

    void elements(const XdmfFrame& frame, const XdmfField& field) {
        std::vector<std::int64_t> shape = field.shape.elements();
        const auto item = [&] {
            line(fmt::format(R"(<DataItem Format="HDF" {} Dimensions="{}">{}:/{}</DataItem>)",
                             number_of(field.type), fmt::join(shape, " "), escaped(frame.file),
                             escaped(field.name)));
        };
        if (frame.of == 0) return item();
        // Of all frames this one: where it begins, strides and counts.
        open(fmt::format(R"(DataItem ItemType="HyperSlab" Dimensions="{}")", fmt::join(shape, " ")));
        std::vector<std::int64_t> begin(shape.size() + 1, 0), stride(shape.size() + 1, 1);
        begin.front() = frame.number;
        shape.insert(shape.begin(), 1);
        line(fmt::format(R"(<DataItem Format="XML" NumberType="Int" Dimensions="3 {}">{} {} {}</DataItem>)",
                         shape.size(), fmt::join(begin, " "), fmt::join(stride, " "), fmt::join(shape, " ")));
        shape.front() = frame.of;
        item();
        close("DataItem");
    }

    const std::array<double, kMaxRank>& spacing_;
    std::string text_;
    int depth_ = 0;
};

}  // namespace

bool has_xdmf(const FieldShape& shape) {
    return shape.rank >= 2 && shape.rank <= 3 && !shape.is_complex;
}

std::string xdmf_page(const std::string& name, const std::array<double, kMaxRank>& spacing,
                      const std::vector<XdmfFrame>& frames, bool is_series) {
    const std::string title = escaped(name);
    Page page(spacing);
    page.line(R"(<?xml version="1.0" encoding="UTF-8"?>)");
    page.open(R"(Xdmf Version="3.0")");
    page.open("Domain");
    if (is_series)
        page.open(fmt::format(R"(Grid Name="{}" GridType="Collection" CollectionType="Temporal")", title));
    for (const XdmfFrame& frame : frames)
        page.frame(title, frame);
    if (is_series) page.close("Grid");
    page.close("Domain");
    page.close("Xdmf");
    return page.take();
}

}  // namespace halo::rt
