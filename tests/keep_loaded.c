/*
 * Preloaded in tests under AddressSanitizer: nothing is unloaded, so that what a driver or a layer
 * leaks can be told from what Maar leaks.
 */
int dlclose(void* handle);

int dlclose(void* handle)
{
    (void)handle;
    return 0;
}
