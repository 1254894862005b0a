# cmake -DFROM=viewer/dist/index.html -DTO=<file in the build folder> -P ViewerBundle.cmake
# Copies the viewer when it changed; an empty file stands for a viewer that was not built.
if(EXISTS ${FROM})
  configure_file(${FROM} ${TO} COPYONLY)
elseif(NOT EXISTS ${TO})
  file(TOUCH ${TO})
else()
  file(SIZE ${TO} size)
  if(size GREATER 0)
    file(WRITE ${TO} "")
  endif()
endif()
