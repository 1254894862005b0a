# Faster builds where the machine has the tools: ccache in front of the compiler, mold or lld as the
# linker. Neither changes what is built; both are silently optional.
find_program(LAYERSCOPE_CCACHE ccache)
if(LAYERSCOPE_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${LAYERSCOPE_CCACHE})
endif()

include(CheckLinkerFlag)
foreach(linker mold lld)
  string(TOUPPER ${linker} upper)
  check_linker_flag(CXX -fuse-ld=${linker} LAYERSCOPE_HAS_${upper})
  if(LAYERSCOPE_HAS_${upper})
    add_link_options(-fuse-ld=${linker})
    break()
  endif()
endforeach()
