#include "runtime/io/xdmf.h"

#include "catch.h"

using namespace halo::rt;

TEST_CASE("a page of XDMF says where the fields of a file lie") {
    const FieldShape shape{{7, 5, 4}, 3}, vector{{7, 5, 4}, 3, 3};
    const XdmfFrame frame{"a & b.h5",
                          0.5,
                          {{"u", shape, ElementType::f32, {-1, 0, 0}},
                           {"v", vector, ElementType::f64, {-1, 0, 0}},
                           {"ux", shape, ElementType::boolean, {-0.75, 0, 0}}}};
    CHECK(xdmf_page("heat", {0.5, 0.25, 2}, {frame}, false) == R"(<?xml version="1.0" encoding="UTF-8"?>
<Xdmf Version="3.0">
  <Domain>
    <Grid Name="heat" GridType="Collection" CollectionType="Spatial">
      <Time Value="0.5"/>
      <Grid Name="u" GridType="Uniform">
        <Time Value="0.5"/>
        <Topology TopologyType="3DCoRectMesh" Dimensions="4 5 7"/>
        <Geometry GeometryType="ORIGIN_DXDYDZ">
          <DataItem Format="XML" NumberType="Float" Precision="8" Dimensions="3">0 0 -1</DataItem>
          <DataItem Format="XML" NumberType="Float" Precision="8" Dimensions="3">2 0.25 0.5</DataItem>
        </Geometry>
        <Attribute Name="u" AttributeType="Scalar" Center="Node">
          <DataItem Format="HDF" NumberType="Float" Precision="4" Dimensions="4 5 7">a &amp; b.h5:/u</DataItem>
        </Attribute>
        <Attribute Name="v" AttributeType="Vector" Center="Node">
          <DataItem Format="HDF" NumberType="Float" Precision="8" Dimensions="4 5 7 3">a &amp; b.h5:/v</DataItem>
        </Attribute>
      </Grid>
      <Grid Name="ux" GridType="Uniform">
        <Time Value="0.5"/>
        <Topology TopologyType="3DCoRectMesh" Dimensions="4 5 7"/>
        <Geometry GeometryType="ORIGIN_DXDYDZ">
          <DataItem Format="XML" NumberType="Float" Precision="8" Dimensions="3">0 0 -0.75</DataItem>
          <DataItem Format="XML" NumberType="Float" Precision="8" Dimensions="3">2 0.25 0.5</DataItem>
        </Geometry>
        <Attribute Name="ux" AttributeType="Scalar" Center="Node">
          <DataItem Format="HDF" NumberType="UChar" Precision="1" Dimensions="4 5 7">a &amp; b.h5:/ux</DataItem>
        </Attribute>
      </Grid>
    </Grid>
  </Domain>
</Xdmf>
)");
}

TEST_CASE("frames are a collection over time") {
    const FieldShape plane{{7, 5, 1}, 2};
    std::vector<XdmfFrame> frames;
    for (const double time : {1.0, 2.0})
        frames.push_back({"u.h5", time, {{"n", plane, ElementType::i64, {}}}});
    CHECK(xdmf_page("life", {1, 1, 1}, frames, true) == R"(<?xml version="1.0" encoding="UTF-8"?>
<Xdmf Version="3.0">
  <Domain>
    <Grid Name="life" GridType="Collection" CollectionType="Temporal">
      <Grid Name="life" GridType="Uniform">
        <Time Value="1"/>
        <Topology TopologyType="2DCoRectMesh" Dimensions="5 7"/>
        <Geometry GeometryType="ORIGIN_DXDY">
          <DataItem Format="XML" NumberType="Float" Precision="8" Dimensions="2">0 0</DataItem>
          <DataItem Format="XML" NumberType="Float" Precision="8" Dimensions="2">1 1</DataItem>
        </Geometry>
        <Attribute Name="n" AttributeType="Scalar" Center="Node">
          <DataItem Format="HDF" NumberType="Int" Precision="8" Dimensions="5 7">u.h5:/n</DataItem>
        </Attribute>
      </Grid>
      <Grid Name="life" GridType="Uniform">
        <Time Value="2"/>
        <Topology TopologyType="2DCoRectMesh" Dimensions="5 7"/>
        <Geometry GeometryType="ORIGIN_DXDY">
          <DataItem Format="XML" NumberType="Float" Precision="8" Dimensions="2">0 0</DataItem>
          <DataItem Format="XML" NumberType="Float" Precision="8" Dimensions="2">1 1</DataItem>
        </Geometry>
        <Attribute Name="n" AttributeType="Scalar" Center="Node">
          <DataItem Format="HDF" NumberType="Int" Precision="8" Dimensions="5 7">u.h5:/n</DataItem>
        </Attribute>
      </Grid>
    </Grid>
  </Domain>
</Xdmf>
)");
    CHECK(!has_xdmf({{7, 1, 1}, 1}));
    CHECK(!has_xdmf({{7, 5, 1}, 2, 2, true}));
    CHECK(has_xdmf(plane));
}
