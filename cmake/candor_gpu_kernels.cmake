# The GPU kernels: every module of the variant table src/kernels/gpu_modules.txt is built from Slang for Vulkan and CUDA and embedded in the
# library candor_gpu_kernel_pack. With CANDOR_GPU=OFF that library holds an empty table. Steps and formats: docs/gpu_kernels.md.
option(CANDOR_GPU "Build the GPU kernels and embed them (needs tools/setup/requirements_gpu.txt)" OFF)
set(CANDOR_CUDA_ARCHS 75 80 86 89 90 100 120 CACHE STRING "CUDA architectures to make cubins for; fewer of them build sooner. Empty: no CUDA")

enable_language(ASM)
find_library(CANDOR_ZSTD NAMES libzstd.a REQUIRED)
find_path(CANDOR_ZSTD_INCLUDE zstd.h REQUIRED)

# Two compilers at once, whatever the build's own number of jobs: each takes up to 1 GiB.
set_property(GLOBAL APPEND PROPERTY JOB_POOLS candor_gpu_kernels=2)

set(gpu_table ${CMAKE_SOURCE_DIR}/src/kernels/gpu_modules.txt)
set(gpu_tools ${CMAKE_SOURCE_DIR}/tools/gpu_kernels)
set(gpu_out ${CMAKE_BINARY_DIR}/gpu_kernels)

# candor_gpu_toolchain(): a clear end now, instead of 50 failures in the build.
function(candor_gpu_toolchain)
  execute_process(COMMAND ${CANDOR_PYTHON} -B ${gpu_tools}/toolchain.py RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "GPU kernels: ${output}Install the compilers with tools/setup/setup.sh run, or configure with -DCANDOR_GPU=OFF to build without GPU support.")
  endif()
endfunction()

# candor_gpu_packs(VARIABLE): one command a row of the table; the files that they make.
function(candor_gpu_packs variable)
  set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${gpu_table})
  file(STRINGS ${gpu_table} rows REGEX "^[a-z]")
  foreach(row ${rows})
    string(REGEX MATCH "^[^ ]+" module "${row}")
    # The row itself is in the command, so that a changed row rebuilds its module and no other.
    string(REGEX REPLACE " +" " " row "${row}")
    add_custom_command(
      OUTPUT ${gpu_out}/${module}.pack
      COMMAND ${CANDOR_PYTHON} -B ${gpu_tools}/build_module.py "${row}" --source-root ${CMAKE_SOURCE_DIR}/src --out ${gpu_out}
              --depfile-target gpu_kernels/${module}.pack --architectures "${CANDOR_CUDA_ARCHS}"
      DEPFILE ${gpu_out}/${module}.d
      JOB_POOL candor_gpu_kernels
      COMMENT "GPU kernel ${module}"
      VERBATIM)
    list(APPEND packs ${gpu_out}/${module}.pack)
  endforeach()
  set(${variable} ${packs} PARENT_SCOPE)
endfunction()

set(gpu_packs)
if(CANDOR_GPU)
  candor_gpu_toolchain()
  candor_gpu_packs(gpu_packs)
endif()
file(MAKE_DIRECTORY ${gpu_out})
add_custom_command(
  OUTPUT ${gpu_out}/gpu_kernels.bin ${gpu_out}/gpu_kernel_table.cc
  COMMAND ${CANDOR_PYTHON} -B ${gpu_tools}/link_modules.py ${gpu_packs} --out ${gpu_out}
  DEPENDS ${gpu_packs} ${gpu_tools}/link_modules.py
  VERBATIM)
set_source_files_properties(${gpu_tools}/gpu_kernels.S PROPERTIES
  COMPILE_OPTIONS "-I${gpu_out}" OBJECT_DEPENDS ${gpu_out}/gpu_kernels.bin)
add_library(candor_gpu_kernel_pack STATIC ${gpu_out}/gpu_kernel_table.cc ${gpu_tools}/gpu_kernels.S)
target_include_directories(candor_gpu_kernel_pack PUBLIC ${CANDOR_ZSTD_INCLUDE})
target_link_libraries(candor_gpu_kernel_pack PUBLIC candor_options ${CANDOR_ZSTD})
