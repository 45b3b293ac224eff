# With HALO_BATCHES the files of the target are compiled as one, which spares reading headers, and compiling what they define
# inline or as templates, again and again. Such files share their anonymous namespaces; scripts/helpers looks that no two files of a room name a helper alike.
function(halo_batched target)
  if(HALO_BATCHES)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    # GCC takes files that a batch includes for headers, whose types anonymous namespaces must not be part of.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# CMake's Release is -O3. Only the runtime and the interpreter (compiler/ir) have loops over cells that gain by it, and the search
# for a plan (compiler/schedule) gains by -O2. The other rooms take milliseconds whatever the compiler does, and GCC takes a
# quarter less time for -O1 than for -O2.
set(sparingly_optimised $<$<CONFIG:Release>:-O1>)
set(room_of_search $<$<CONFIG:Release>:-O2>)

# halo_room(compiler/ir SOURCES a.cpp b.cpp DEPENDS compiler/support [LIBRARIES fmt::fmt] [PRIVATE_LIBRARIES ...])
#
# One static library a room. A room's headers are reached as "compiler/ir/program.h" through an include root that
# holds this room alone (a link in the build tree), and a room sees the roots of the rooms it names in DEPENDS, so an
# include of a room that is not named does not build.
function(halo_room path)
  cmake_parse_arguments(ROOM "" "" "SOURCES;DEPENDS;LIBRARIES;PRIVATE_LIBRARIES" ${ARGN})
  string(REPLACE "/" "_" name ${path})
  set(root ${CMAKE_BINARY_DIR}/rooms/${name})
  get_filename_component(parent ${path} DIRECTORY)
  file(MAKE_DIRECTORY ${root}/${parent})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${path} ${root}/${path} SYMBOLIC)
  list(TRANSFORM ROOM_DEPENDS REPLACE "/" "_")
  list(TRANSFORM ROOM_DEPENDS PREPEND "halo_")
  add_library(halo_${name} STATIC ${ROOM_SOURCES})
  halo_batched(halo_${name})
  if(path STREQUAL "compiler/schedule")
    target_compile_options(halo_${name} PRIVATE ${room_of_search})
  elseif(NOT path MATCHES "^runtime/|^compiler/ir$")
    target_compile_options(halo_${name} PRIVATE ${sparingly_optimised})
  endif()
  target_include_directories(halo_${name} PUBLIC ${root})
  set_property(GLOBAL APPEND PROPERTY HALO_ROOMS ${path})
  target_link_libraries(halo_${name} PUBLIC ${ROOM_DEPENDS} ${ROOM_LIBRARIES} PRIVATE halo_warnings ${ROOM_PRIVATE_LIBRARIES})
endfunction()

# halo_clang_files(compiler/lift SOURCES a.cpp [DEFINITIONS X=1]): files of a room that see the headers of Clang and LLVM,
# as no other file does. They are a target of their own, halo_ROOM_clang, whose objects the room's library has.
function(halo_clang_files path)
  cmake_parse_arguments(CLANG "" "" "SOURCES;DEFINITIONS" ${ARGN})
  string(REPLACE "/" "_" name ${path})
  add_library(halo_${name}_clang OBJECT ${CLANG_SOURCES})
  halo_batched(halo_${name}_clang)
  target_compile_options(halo_${name}_clang PRIVATE ${sparingly_optimised})
  target_include_directories(halo_${name}_clang SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS} ${CLANG_INCLUDE_DIRS})
  target_include_directories(halo_${name}_clang PRIVATE $<TARGET_PROPERTY:halo_${name},INCLUDE_DIRECTORIES>)
  target_compile_definitions(halo_${name}_clang PRIVATE ${CLANG_DEFINITIONS}
                             $<TARGET_PROPERTY:halo_${name},COMPILE_DEFINITIONS>)
  target_link_libraries(halo_${name}_clang PRIVATE halo_warnings)
  target_sources(halo_${name} PRIVATE $<TARGET_OBJECTS:halo_${name}_clang>)
  # What a program has of them is for it to say: HALO_STATIC_LLVM is a property of targets.
  target_link_libraries(halo_${name} PRIVATE $<IF:$<BOOL:$<TARGET_PROPERTY:HALO_STATIC_LLVM>>,halo_static_llvm,clang-cpp$<SEMICOLON>LLVM>)
endfunction()
