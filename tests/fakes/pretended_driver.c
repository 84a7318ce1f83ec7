/*
 * FAKES. Nothing but a name: that of a real CUDA driver's library, to see the fake refuse to run
 * while one is loaded.
 */
int maar_pretended_driver(void);

int maar_pretended_driver(void)
{
    return 0;
}
