# The libraries of others that the project builds on; README.md lists them with their Debian packages.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(PNG REQUIRED)
find_package(GIF 5)
if(NOT GIF_FOUND)
  message(STATUS "giflib not found: movies are written by ffmpeg alone (apt-get install libgif-dev)")
endif()
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(Boost 1.74 REQUIRED) # headers alone: Boost.Multiprecision, and Boost.Beast for the page of a run

add_library(halo_warnings INTERFACE)
target_compile_options(halo_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(halo_warnings INTERFACE -Wno-restrict) # false alarms on std::string, GCC bug 105329
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  # The sanitizers' checks mislead GCC's analysis of the standard library's copies.
  target_compile_options(halo_warnings INTERFACE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
                         -Wno-maybe-uninitialized)
endif()
if(HALO_VERIFY)
  target_compile_definitions(halo_warnings INTERFACE HALO_VERIFY=1)
endif()

if(HALO_LLVM)
  find_package(LLVM 19.1 CONFIG)
  find_package(Clang 19.1 CONFIG HINTS ${LLVM_DIR}/../clang)
  if(NOT LLVM_FOUND OR NOT Clang_FOUND)
    message(STATUS "LLVM/Clang 19 not found: the CPU back end is left out (apt-get install llvm-19-dev libclang-19-dev clang-19)")
    set(HALO_LLVM OFF)
  endif()
endif()

# Runs of several processes (mpirun haloc run): of the command alone.
if(NOT HALO_MPI STREQUAL "OFF")
  find_package(MPI COMPONENTS C)
  if(NOT MPI_C_FOUND AND NOT HALO_MPI STREQUAL "AUTO")
    message(FATAL_ERROR "MPI was asked for (HALO_MPI=${HALO_MPI}) and not found (apt-get install libopenmpi-dev)")
  elseif(NOT MPI_C_FOUND)
    message(STATUS "MPI not found: runs of several processes are left out (apt-get install libopenmpi-dev openmpi-bin)")
  endif()
endif()
