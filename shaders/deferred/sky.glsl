// The sky at dusk: a gradient, the sun with its halo, and thin clouds.

vec3 skyGradient(vec3 direction)
{
    const float height = max(direction.y, 0.0);
    const float toSun = max(dot(direction, frame.sunDirection.xyz), 0.0);
    const vec2 flatDirection =
        direction.xz * inversesqrt(max(dot(direction.xz, direction.xz), 1e-6));
    const vec2 flatSun = normalize(frame.sunDirection.xz);
    const float side = 0.5 + 0.5 * dot(flatDirection, flatSun);
    const vec3 zenith = vec3(0.05, 0.14, 0.42);
    const vec3 middle = mix(vec3(0.13, 0.28, 0.62), vec3(0.30, 0.33, 0.52), side);
    const vec3 horizon = mix(vec3(0.36, 0.33, 0.42), vec3(1.25, 0.56, 0.25), side * side * side);
    vec3 color = mix(horizon, middle, smoothstep(0.0, 0.20, height));
    color = mix(color, zenith, smoothstep(0.10, 0.62, height));
    color += vec3(1.0, 0.45, 0.16) * (0.40 * pow(toSun, 9.0) + 1.0 * pow(toSun, 120.0));
    return color;
}

vec3 skyColor(vec3 direction)
{
    vec3 color = skyGradient(direction);
    if (direction.y > 0.015) {
        const vec2 place = direction.xz / (direction.y + 0.12);
        const float wide = textureLod(noiseTexture, place * vec2(0.13, 0.22) + 0.13, 0.0).x;
        const float fine = textureLod(noiseTexture, place * vec2(0.45, 0.71) + 0.41, 0.0).x;
        const float cover = smoothstep(0.47, 0.66, wide * 0.68 + fine * 0.32);
        const float toSun = max(dot(direction, frame.sunDirection.xyz), 0.0);
        const vec3 lit = vec3(0.62, 0.34, 0.32) + vec3(2.1, 1.0, 0.42) * pow(toSun, 6.0);
        color = mix(color, lit, cover * 0.85 * smoothstep(0.015, 0.16, direction.y));
    }
    return color;
}

vec3 sunDisc(vec3 direction)
{
    const float toSun = dot(direction, frame.sunDirection.xyz);
    return vec3(60.0, 34.0, 15.0) * smoothstep(0.99945, 0.99975, toSun);
}

// Returns the ambient light on a surface with a normal.
vec3 skyIrradiance(vec3 normal)
{
    const vec3 up = vec3(0.26, 0.31, 0.47);
    const vec3 down = vec3(0.075, 0.065, 0.06);
    const vec3 warm = vec3(0.52, 0.25, 0.11) * pow(max(0.5 + 0.5 * dot(normal,
        normalize(vec3(frame.sunDirection.x, 0.1, frame.sunDirection.z))), 0.0), 2.0);
    return mix(down, up, 0.5 + 0.5 * normal.y) + warm * 0.6;
}
