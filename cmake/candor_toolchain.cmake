# Compiler, flags and libraries that every room uses.
find_program(CANDOR_CCACHE ccache)
if(CANDOR_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CANDOR_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CANDOR_CCACHE})
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(OpenSSL REQUIRED)

add_library(candor_options INTERFACE)
target_include_directories(candor_options INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
# -ffp-contract=off: a multiply and an add are fused only where a kernel says so, so that numbers do not depend on the compiler's mood.
target_compile_options(candor_options INTERFACE -Wall -Wextra -ffp-contract=off)
target_link_libraries(candor_options INTERFACE fmt::fmt-header-only Threads::Threads)

set(CANDOR_AVX2_FLAGS -mavx2 -mfma -mf16c -mbmi -mbmi2 -maes -mpclmul)
set(CANDOR_AVX512_FLAGS ${CANDOR_AVX2_FLAGS} -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512cd -mavx512vnni -mprefer-vector-width=512)
