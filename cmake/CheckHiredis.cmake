# hiredis's structs change between versions: headers of one and the library of another
# make a program that crashes.  Some of its pkg-config files name only the folder in which
# hiredis.h is, so <hiredis/hiredis.h> would be another one's: its parent is added.
set(parents "")
foreach(folder IN LISTS REDLOCK_HIREDIS_INCLUDE_DIRS)
  get_filename_component(parent ${folder} DIRECTORY)
  list(APPEND parents ${parent})
endforeach()
find_path(REDLOCK_HIREDIS_INCLUDE_DIR hiredis/hiredis.h
  HINTS ${parents} ${REDLOCK_HIREDIS_INCLUDE_DIRS})
if(REDLOCK_HIREDIS_INCLUDE_DIR)
  target_include_directories(PkgConfig::REDLOCK_HIREDIS BEFORE INTERFACE
    ${REDLOCK_HIREDIS_INCLUDE_DIR})
endif()

# A program says which headers it was compiled with and, to the loader, which library it
# was linked with.  It is read, not run: it may be for another machine.
function(redlock_read_hiredis header_version header_soname library_soname)
  set(program ${PROJECT_BINARY_DIR}/hiredis_probe)
  try_compile(REDLOCK_HIREDIS_LINKS ${PROJECT_BINARY_DIR}/CMakeFiles/hiredis_probe
    SOURCES ${PROJECT_SOURCE_DIR}/cmake/hiredis_probe.c
    LINK_LIBRARIES PkgConfig::REDLOCK_HIREDIS
    OUTPUT_VARIABLE output COPY_FILE ${program})
  if(NOT REDLOCK_HIREDIS_LINKS)
    message(FATAL_ERROR "A program that uses hiredis ${REDLOCK_HIREDIS_VERSION} cannot be built:\n"
                        "${output}")
  endif()
  file(STRINGS ${program} headers REGEX "hiredis headers [^ ]+ [^ ]+ end")
  file(STRINGS ${program} needed REGEX "^libhiredis\\.so\\.")
  string(REGEX MATCH "hiredis headers ([^ ]+) ([^ ]+) end" headers "${headers}")
  set(${header_version} "${CMAKE_MATCH_1}" PARENT_SCOPE)
  set(${header_soname} "${CMAKE_MATCH_2}" PARENT_SCOPE)
  string(REGEX REPLACE "^libhiredis\\.so\\." "" needed "${needed}")
  set(${library_soname} "${needed}" PARENT_SCOPE) # "" of a static library
endfunction()

function(redlock_check_hiredis)
  redlock_read_hiredis(header header_soname library_soname)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" wanted "${REDLOCK_HIREDIS_VERSION}")
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" found "${header}")
  set(help "The command would crash. Let one hiredis be found: set PKG_CONFIG_PATH to the folder "
           "of its hiredis.pc, take the other one out of CFLAGS, CPATH and LIBRARY_PATH, and begin "
           "with an empty build folder")
  string(CONCAT help ${help})
  if(NOT found STREQUAL wanted)
    message(FATAL_ERROR "hiredis: pkg-config found ${REDLOCK_HIREDIS_VERSION}, "
                        "but the headers are of ${header}. ${help}")
  endif()
  if(library_soname AND NOT library_soname STREQUAL header_soname)
    message(FATAL_ERROR "hiredis: the headers are of ${header} (libhiredis.so.${header_soname}), "
                        "but libhiredis.so.${library_soname} is linked. ${help}")
  endif()
endfunction()

redlock_check_hiredis()
