# halo_static_llvm: LLVM and Clang as static libraries, of which only what is called gets into a program. A program with the
# shared ones spends 20 ms of each start on the loader's relocations of all that LLVM has.
set(HALO_HAS_STATIC_LLVM OFF)
if(HALO_LLVM AND EXISTS ${LLVM_LIBRARY_DIR}/libclangCodeGen.a)
  find_package(ZLIB)
  find_library(HALO_ZSTD zstd)
  mark_as_advanced(HALO_ZSTD)
  if(ZLIB_FOUND AND HALO_ZSTD)
    set(HALO_HAS_STATIC_LLVM ON)
  endif()
endif()
if(NOT HALO_HAS_STATIC_LLVM)
  return()
endif()

# Debian's CMake files of Clang name the shared LLVM, also for the static libraries.
execute_process(COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-config --link-static --libfiles all
                OUTPUT_VARIABLE llvm OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(llvm)
list(FILTER llvm EXCLUDE REGEX "Polly")
set(clang)
foreach(library IN ITEMS CodeGen Frontend FrontendTool Driver Serialization Parse Sema Edit Analysis ASTMatchers AST APINotes
                         ExtractAPI InstallAPI Index Rewrite RewriteFrontend Support Lex Basic Tooling ToolingCore)
  if(EXISTS ${LLVM_LIBRARY_DIR}/libclang${library}.a)
    list(APPEND clang ${LLVM_LIBRARY_DIR}/libclang${library}.a)
  endif()
endforeach()

add_library(halo_no_polly STATIC EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/no_polly.cpp)
target_include_directories(halo_no_polly SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
add_library(halo_static_llvm INTERFACE)
target_link_libraries(halo_static_llvm INTERFACE -Wl,--start-group ${clang} ${llvm} halo_no_polly -Wl,--end-group ZLIB::ZLIB ${HALO_ZSTD} rt m)
