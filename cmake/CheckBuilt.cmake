# Before anything is installed: all files are there that will be, or a message says what to build. Given are `needed`, the files,
# `targets`, which make them, and `folder`, where these are built.
set(missing)
foreach(file IN LISTS needed)
  if(NOT EXISTS ${file})
    list(APPEND missing ${file})
  endif()
endforeach()
if(missing)
  list(JOIN missing "\n  " files)
  list(JOIN targets " " words)
  message(FATAL_ERROR "nothing was installed, as these files are not built yet:\n  ${files}\n"
                      "This builds them:\n  cmake --build ${folder} --target ${words}")
endif()
