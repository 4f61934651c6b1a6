# Writes OUT: the docstrings in the files SCHEMAS, a list, each above its operator's name. The library has the schemas.
set(all)
foreach(file ${SCHEMAS})
  file(READ ${file} text)
  string(REGEX REPLACE "(^|\n)([A-Za-z0-9_:.]+\\()[^\n]*" "\\1\\2" text "${text}")
  string(APPEND all "${text}")
endforeach()
file(WRITE ${OUT} "${all}")
