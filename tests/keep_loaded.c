/*
 * Preloaded in tests under AddressSanitizer and ThreadSanitizer: nothing is unloaded, so that what
 * a driver or a layer leaks or locks can be distinguished from what Maar does.
 */
int dlclose(void* handle);

int dlclose(void* handle)
{
    (void)handle;
    return 0;
}
