# Compiler, flags and libraries that every room uses.
option(CANDOR_WERROR "Warnings are errors (on in CI)" OFF)
set(CANDOR_SANITIZE "" CACHE STRING "Sanitizers for everything, as in -fsanitize=…: address,undefined or thread")
option(CANDOR_FUZZ "Build the fuzz targets (needs clang's libFuzzer)" OFF)

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "g++: expected version 12 or newer, got ${CMAKE_CXX_COMPILER_VERSION}; install g++-12 or set CXX to a newer compiler.")
elseif(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 16)
  message(FATAL_ERROR "clang: expected version 16 or newer, got ${CMAKE_CXX_COMPILER_VERSION}; install clang-16 or set CXX to a newer compiler.")
endif()

find_program(CANDOR_CCACHE ccache)
if(CANDOR_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CANDOR_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CANDOR_CCACHE})
endif()

set(OPENSSL_USE_STATIC_LIBS TRUE)
find_package(Threads REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(OpenSSL 3 REQUIRED)
# Headers alone: the loader is opened at run time, and a machine without one builds and runs Candor too.
find_path(CANDOR_VULKAN_INCLUDE vulkan/vulkan_core.h)
if(NOT CANDOR_VULKAN_INCLUDE)
  message(FATAL_ERROR "vulkan/vulkan_core.h: expected the Vulkan headers 1.3, got none; install libvulkan-dev (tools/setup/setup.sh run does).")
endif()

add_library(candor_options INTERFACE)
target_include_directories(candor_options INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
# -ffp-contract=off: a multiply and an add are fused only where a kernel says so, so that numbers do not depend on the compiler's mood.
target_compile_options(candor_options INTERFACE -Wall -Wextra -ffp-contract=off)
if(CANDOR_WERROR)
  target_compile_options(candor_options INTERFACE -Werror)
endif()
# Of fmt only the headers: src/base/fmt_library.cc is its archive.
target_include_directories(candor_options SYSTEM INTERFACE $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
target_link_libraries(candor_options INTERFACE Threads::Threads)

if(CANDOR_SANITIZE)
  target_compile_options(candor_options INTERFACE -fsanitize=${CANDOR_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(candor_options INTERFACE -fsanitize=${CANDOR_SANITIZE})
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_link_options(candor_options INTERFACE -static-libstdc++ -static-libgcc)
endif()
if(CANDOR_FUZZ)
  target_compile_options(candor_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

set(CANDOR_AVX2_FLAGS -mavx2 -mfma -mf16c -mbmi -mbmi2 -maes -mpclmul)
# GCC 12 takes the undefined start values inside its own AVX-512 intrinsics for uninitialised reads.
set(CANDOR_AVX512_FLAGS ${CANDOR_AVX2_FLAGS} -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512cd -mavx512vnni -mprefer-vector-width=512 -Wno-uninitialized -Wno-maybe-uninitialized)
