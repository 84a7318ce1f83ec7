/*
 * The version of the library, for programs that were compiled against other headers.
 */
#include "maar/base.h"

uint32_t VKAPI_CALL maarGetVersion(void)
{
    return MAAR_VERSION;
}
