/* Read by CheckHiredis.cmake, not run. */
#include <hiredis/hiredis.h>
#include <stdio.h>

#define TEXT_OF(number) #number
#define TEXT(number)    TEXT_OF(number)
#define VERSION         TEXT(HIREDIS_MAJOR) "." TEXT(HIREDIS_MINOR) "." TEXT(HIREDIS_PATCH)

int main(void)
{
    redisReaderFree(redisReaderCreate());
    return puts("hiredis headers " VERSION " " TEXT(HIREDIS_SONAME) " end") < 0;
}
