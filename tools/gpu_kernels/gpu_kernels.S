/* The compressed GPU kernels as read-only data of the program (src/kernels/lib/gpu_modules.cc reads them). */
        .section .rodata
        .balign 16
        .globl candor_gpu_kernels_begin
        .globl candor_gpu_kernels_end
candor_gpu_kernels_begin:
        .incbin "gpu_kernels.bin"
candor_gpu_kernels_end:
        .section .note.GNU-stack, "", %progbits
