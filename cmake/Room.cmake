# With HALO_BATCHES several files of the target are compiled as one, which spares most of reading headers again and again.
function(halo_batched target)
  if(HALO_BATCHES)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# halo_room(compiler/ir SOURCES a.cpp b.cpp DEPENDS compiler/support [LIBRARIES fmt::fmt] [PRIVATE_LIBRARIES ...])
#
# One static library a room. A room's headers are reached as "compiler/ir/program.h" through an include root that
# holds this room alone (a link in the build tree), and a room sees the roots of the rooms it names in DEPENDS, so an
# include of a room that is not named does not build.
#
# BATCHED: its files share their anonymous namespaces (halo_batched), so scripts/helpers looks that no two name a helper
# alike.
function(halo_room path)
  cmake_parse_arguments(ROOM "BATCHED" "" "SOURCES;DEPENDS;LIBRARIES;PRIVATE_LIBRARIES" ${ARGN})
  string(REPLACE "/" "_" name ${path})
  set(root ${CMAKE_BINARY_DIR}/rooms/${name})
  get_filename_component(parent ${path} DIRECTORY)
  file(MAKE_DIRECTORY ${root}/${parent})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${path} ${root}/${path} SYMBOLIC)
  list(TRANSFORM ROOM_DEPENDS REPLACE "/" "_")
  list(TRANSFORM ROOM_DEPENDS PREPEND "halo_")
  add_library(halo_${name} STATIC ${ROOM_SOURCES})
  if(ROOM_BATCHED)
    halo_batched(halo_${name})
  endif()
  target_include_directories(halo_${name} PUBLIC ${root})
  set_property(GLOBAL APPEND PROPERTY HALO_ROOMS ${path})
  target_link_libraries(halo_${name} PUBLIC ${ROOM_DEPENDS} ${ROOM_LIBRARIES} PRIVATE halo_warnings ${ROOM_PRIVATE_LIBRARIES})
endfunction()
