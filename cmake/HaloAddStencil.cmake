# halo_add_stencil(heat heat.halo
#                  [ARCH sm_90 …]        code for these GPU architectures, too; needs NVRTC where this is built
#                  [GRID 512,512 …]      with schedules for these grids, besides those for any other
#                  [SCHEDULE "stream …"] as of `haloc run --schedule`, once for all stages or once for each
#                  [STENCIL name]        which one, where the file has several
#                  [INCLUDE folder …]    where modules are looked for
#                  [STRICT_FP]           keep the order of arithmetic as written
#                  [NATIVE])             code for the CPU that uses all that the building machine's processor has
#
# Makes a static library `heat` from the spec: code for the CPU, compiled by the project's C++ compiler, and for GPUs.
# heat.h has what to call: heat_program() in C++, heat_open() in C. It needs Halocline::runtime and no compiler at run
# time. It is made anew when the spec, a module that it uses, or haloc changes.
function(halo_add_stencil target spec)
  cmake_parse_arguments(PARSE_ARGV 2 HALO "STRICT_FP;NATIVE" "STENCIL" "ARCH;GRID;SCHEDULE;INCLUDE")
  if(HALO_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "halo_add_stencil(${target} …) does not know: ${HALO_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT target MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "halo_add_stencil: `${target}` is part of function names: letters, digits and underscores alone")
  endif()
  cmake_path(ABSOLUTE_PATH spec BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
  if(NOT EXISTS ${spec})
    message(FATAL_ERROR "halo_add_stencil(${target} …): there is no file ${spec}")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/halocline/${target})
  file(MAKE_DIRECTORY ${folder})
  set(options)
  foreach(name IN ITEMS ARCH GRID SCHEDULE)
    string(TOLOWER ${name} option)
    foreach(value IN LISTS HALO_${name})
      list(APPEND options --${option} ${value})
    endforeach()
  endforeach()
  foreach(include IN LISTS HALO_INCLUDE)
    cmake_path(ABSOLUTE_PATH include BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
    list(APPEND options -I ${include})
  endforeach()
  if(HALO_STENCIL)
    list(APPEND options --stencil ${HALO_STENCIL})
  endif()
  if(HALO_STRICT_FP)
    list(APPEND options --strict-fp)
  endif()
  add_custom_command(OUTPUT ${folder}/${target}.cpp ${folder}/${target}.h
    COMMAND Halocline::haloc bundle -q ${spec} -o ${folder}/${target}.cpp --depfile ${folder}/${target}.d ${options}
    DEPENDS ${spec} $<TARGET_FILE:Halocline::haloc> DEPFILE ${folder}/${target}.d COMMENT "Generating ${target}.cpp from a spec" VERBATIM)
  # The results are those of the spec, bit by bit: nothing may be contracted or reordered.
  set(flags -O3 -ffp-contract=off -fno-fast-math -fno-math-errno -Wno-unknown-pragmas)
  if(HALO_NATIVE)
    list(APPEND flags -march=native)
  endif()
  add_library(${target} STATIC ${folder}/${target}.cpp)
  target_compile_options(${target} PRIVATE ${flags})
  target_include_directories(${target} PUBLIC ${folder})
  target_link_libraries(${target} PUBLIC Halocline::runtime)
endfunction()
