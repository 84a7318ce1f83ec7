/*
 * A user of the library that uses Maar inside, who knows nothing of Maar.
 */
#include <engine.h>

int main(void)
{
    return engine_use() == 2 ? 0 : 1;
}
