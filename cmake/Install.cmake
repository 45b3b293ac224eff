# What is installed: the two libraries of host programs with their headers, the CMake package with halo_add_stencil(),
# the command with its manual page and completions, documents and examples. All paths are relative to the prefix, so
# the tree may be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

file(RELATIVE_PATH lib_from_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})

# halo_objects(variable ROOM…): the object files of rooms.
function(halo_objects variable)
  set(objects)
  foreach(room IN LISTS ARGN)
    string(REPLACE "/" "_" name ${room})
    list(APPEND objects $<TARGET_OBJECTS:halo_${name}>)
    if(TARGET halo_${name}_clang)
      list(APPEND objects $<TARGET_OBJECTS:halo_${name}_clang>)
    endif()
  endforeach()
  set(${variable} ${objects} PARENT_SCOPE)
endfunction()

# Runs compiled code. It must stay small, and free of the compiler (tests/install).
set(rooms_of_runtime runtime/api runtime/core runtime/cuda runtime/host runtime/pieces runtime/ranks)
halo_objects(objects ${rooms_of_runtime})
add_library(halocline_runtime SHARED ${objects})
target_link_libraries(halocline_runtime PRIVATE fmt::fmt OpenSSL::Crypto Threads::Threads ${CMAKE_DL_LIBS})

# The compiler: all other rooms but those of measuring and of MPI, which are the command's. What it shares with the runtime it
# takes from there.
get_property(rooms GLOBAL PROPERTY HALO_ROOMS)
list(REMOVE_ITEM rooms ${rooms_of_runtime} compiler/bench runtime/mpi)
halo_objects(objects ${rooms})
add_library(halocline SHARED ${objects})
target_link_libraries(halocline PUBLIC halocline_runtime
  PRIVATE fmt::fmt PNG::PNG $<$<BOOL:${GIF_FOUND}>:GIF::GIF> OpenSSL::Crypto Threads::Threads ${CMAKE_DL_LIBS})
if(HALO_LLVM)
  target_link_libraries(halocline PRIVATE clang-cpp LLVM)
endif()

foreach(library IN ITEMS halocline_runtime halocline)
  target_include_directories(${library} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                               $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${library} INTERFACE cxx_std_20)
  set_target_properties(${library} PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                                              INSTALL_RPATH "$ORIGIN" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
  # Names of the libraries that are linked in statically, and of templates, are no one else's.
  target_link_options(${library} PRIVATE -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/exports.map -Wl,--gc-sections)
  if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize") # whose run-time library is the executable's
    target_link_options(${library} PRIVATE -Wl,-z,defs)
  endif()
  set_property(TARGET ${library} APPEND PROPERTY LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/exports.map)
endforeach()
set_target_properties(halocline_runtime PROPERTIES OUTPUT_NAME halocline-runtime EXPORT_NAME runtime)
set_target_properties(halocline PROPERTIES EXPORT_NAME compiler)
set_target_properties(haloc PROPERTIES INSTALL_RPATH "$ORIGIN/${lib_from_bin}")

# The manual page and completions, as the command itself tells them.
set(man ${CMAKE_INSTALL_MANDIR}/man1/haloc.1)
set(bash ${CMAKE_INSTALL_DATADIR}/bash-completion/completions/haloc)
set(zsh ${CMAKE_INSTALL_DATADIR}/zsh/site-functions/_haloc)
set(fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/haloc.fish)
set(made)
foreach(what IN ITEMS man bash zsh fish)
  list(APPEND made ${CMAKE_CURRENT_BINARY_DIR}/about/${${what}})
endforeach()

# halo_check_built(component FILES file… TARGETS target…): refuses to install it, before anything is copied, where a file is missing.
function(halo_check_built component)
  cmake_parse_arguments(PARSE_ARGV 1 check "" "" "FILES;TARGETS")
  install(CODE "set(needed \"${check_FILES}\")
set(targets ${check_TARGETS})
set(folder \"${CMAKE_BINARY_DIR}\")
include(\"${PROJECT_SOURCE_DIR}/cmake/CheckBuilt.cmake\")" COMPONENT ${component})
endfunction()
halo_check_built(compiler FILES $<TARGET_FILE:haloc> $<TARGET_FILE:halocline> ${made} TARGETS haloc halocline about_haloc)
halo_check_built(runtime FILES $<TARGET_FILE:halocline_runtime> TARGETS halocline_runtime)

install(TARGETS haloc RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
install(TARGETS halocline_runtime EXPORT HaloclineRuntime LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime)
install(TARGETS halocline EXPORT HaloclineCompiler LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT compiler)
install(DIRECTORY include/halocline DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT compiler)

foreach(what IN ITEMS man bash zsh fish)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/about/${${what}})
  get_filename_component(folder ${file} DIRECTORY)
  file(MAKE_DIRECTORY ${folder})
  add_custom_command(OUTPUT ${file} COMMAND haloc about ${what} > ${file} DEPENDS haloc VERBATIM)
  get_filename_component(destination ${${what}} DIRECTORY)
  install(FILES ${file} DESTINATION ${destination} COMPONENT compiler)
endforeach()
add_custom_target(about_haloc ALL DEPENDS ${made})

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Halocline)
configure_package_config_file(cmake/HaloclineConfig.cmake.in HaloclineConfig.cmake INSTALL_DESTINATION ${package}
                              PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(HaloclineConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT HaloclineRuntime NAMESPACE Halocline:: DESTINATION ${package} COMPONENT compiler)
install(EXPORT HaloclineCompiler NAMESPACE Halocline:: DESTINATION ${package} COMPONENT compiler)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/HaloclineConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/HaloclineConfigVersion.cmake
              cmake/HaloAddStencil.cmake DESTINATION ${package} COMPONENT compiler)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT compiler)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT compiler)
install(DIRECTORY editors DESTINATION ${CMAKE_INSTALL_DATADIR}/halocline COMPONENT compiler)
install(DIRECTORY dsl_examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT compiler)

# cpack: two Debian packages, the runtime and the rest.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME halocline)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "Halocline's maintainers <halocline@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "stencil programs to CUDA and C++")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL runtime compiler)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR}/lib)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libhalocline-runtime)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "Runs compiled stencil programs; no compiler is in it.")
set(CPACK_DEBIAN_COMPILER_PACKAGE_NAME halocline)
set(CPACK_COMPONENT_COMPILER_DEPENDS runtime)
set(CPACK_COMPONENT_COMPILER_DESCRIPTION "The command haloc, the libraries for host programs with their headers, documents and examples.")
include(CPack)
