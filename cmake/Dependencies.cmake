# hiredis: reads replies.  libev: the loop.  libsodium: random tokens, base64url.
# The targets are global, for whoever links the library may do so from another folder.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(REDLOCK_HIREDIS REQUIRED IMPORTED_TARGET GLOBAL hiredis>=0.14)
pkg_check_modules(REDLOCK_SODIUM REQUIRED IMPORTED_TARGET GLOBAL libsodium)
include(${CMAKE_CURRENT_LIST_DIR}/redlockEv.cmake)
if(NOT TARGET redlock::ev)
  message(FATAL_ERROR "libev is needed: ev.h or its library was not found. "
    "Install it (Debian: libev-dev), or set REDLOCK_EV_INCLUDE_DIR and REDLOCK_EV_LIBRARY")
endif()
include(${CMAKE_CURRENT_LIST_DIR}/CheckHiredis.cmake)
