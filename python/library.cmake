# One library with all that the module needs, the compiler included: of it a wheel consists. Only the C++ interface is
# visible, so that other packages of a process can bring an LLVM of their own.
option(HALO_PYTHON_STATIC_LLVM "Link LLVM and Clang into the Python package's library, as wheels need it" OFF)

get_property(rooms GLOBAL PROPERTY HALO_ROOMS)
# Of the command alone.
list(REMOVE_ITEM rooms compiler/bench compiler/driver/command compiler/lift runtime/mpi)
halo_objects(objects ${rooms})
add_library(halocline_python SHARED ${objects})
set(exports ${CMAKE_CURRENT_LIST_DIR}/exports.map)
set_target_properties(halocline_python PROPERTIES OUTPUT_NAME halocline-python LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/package/halocline
                                                  INSTALL_RPATH "$ORIGIN" LINK_DEPENDS ${exports})
if(HALO_PYTHON_PACKAGE STREQUAL "LIBRARY") # scripts/wheel asks for it
  set_target_properties(halocline_python PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
target_include_directories(halocline_python PUBLIC ${PROJECT_SOURCE_DIR}/../include)
target_link_options(halocline_python PRIVATE -Wl,--version-script=${exports} -Wl,--gc-sections)
if(NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize") # whose run-time library is the executable's
  target_link_options(halocline_python PRIVATE -Wl,-z,defs)
endif()
target_link_libraries(halocline_python PRIVATE fmt::fmt PNG::PNG $<$<BOOL:${GIF_FOUND}>:GIF::GIF> OpenSSL::Crypto Threads::Threads ${CMAKE_DL_LIBS})
if(HALO_LLVM AND HALO_PYTHON_STATIC_LLVM)
  if(NOT HALO_HAS_STATIC_LLVM)
    message(FATAL_ERROR "HALO_PYTHON_STATIC_LLVM needs LLVM's static libraries (apt-get install libclang-19-dev libzstd-dev zlib1g-dev)")
  endif()
  target_link_libraries(halocline_python PRIVATE halo_static_llvm)
elseif(HALO_LLVM)
  target_link_libraries(halocline_python PRIVATE clang-cpp LLVM)
endif()
install(TARGETS halocline_python LIBRARY DESTINATION halocline COMPONENT python EXCLUDE_FROM_ALL)
