// Sums and maxima over the invocations of a group, in the order of a tree.

shared float lanes[LANES];

// Returns the sum of all invocations' values.
float sumOfGroup(float value)
{
    lanes[gl_LocalInvocationIndex] = value;
    barrier();
    for (uint reach = LANES / 2u; reach > 0u; reach /= 2u) {
        if (gl_LocalInvocationIndex < reach) {
            lanes[gl_LocalInvocationIndex] += lanes[gl_LocalInvocationIndex + reach];
        }
        barrier();
    }
    const float sum = lanes[0];
    barrier();
    return sum;
}

// Returns the greatest of all invocations' values.
float mostOfGroup(float value)
{
    lanes[gl_LocalInvocationIndex] = value;
    barrier();
    for (uint reach = LANES / 2u; reach > 0u; reach /= 2u) {
        if (gl_LocalInvocationIndex < reach) {
            lanes[gl_LocalInvocationIndex] = max(lanes[gl_LocalInvocationIndex],
                                                 lanes[gl_LocalInvocationIndex + reach]);
        }
        barrier();
    }
    const float most = lanes[0];
    barrier();
    return most;
}
