# libev as the target redlock::ev, if it is there: on Debian it has no pkg-config file.
# Also installed, for redlockConfig.cmake.
find_path(REDLOCK_EV_INCLUDE_DIR ev.h PATH_SUFFIXES libev)
find_library(REDLOCK_EV_LIBRARY ev)
if(REDLOCK_EV_INCLUDE_DIR AND REDLOCK_EV_LIBRARY AND NOT TARGET redlock::ev)
  add_library(redlock::ev INTERFACE IMPORTED GLOBAL)
  target_include_directories(redlock::ev INTERFACE ${REDLOCK_EV_INCLUDE_DIR})
  target_link_libraries(redlock::ev INTERFACE ${REDLOCK_EV_LIBRARY})
endif()
