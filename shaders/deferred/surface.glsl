// The reflection of surfaces: GGX, and its average over a whole environment.

float distributionGgx(float nh, float roughness)
{
    const float a2 = pow(roughness, 4.0);
    const float d = nh * nh * (a2 - 1.0) + 1.0;
    return a2 / (pi * d * d + 1e-6);
}

float visibilityGgx(float nv, float nl, float roughness)
{
    const float a = roughness * roughness;
    return 0.5 / mix(2.0 * nl * nv, nl + nv, a);
}

vec3 fresnelSchlick(float vh, vec3 f0)
{
    return f0 + (1.0 - f0) * pow(clamp(1.0 - vh, 0.0, 1.0), 5.0);
}

vec3 reflectLight(vec3 normal, vec3 view, vec3 light, vec3 albedo, float metalness, float roughness)
{
    const float nl = dot(normal, light);
    if (nl <= 0.0) {
        return vec3(0.0);
    }
    const vec3 halfway = normalize(view + light);
    const float nv = max(dot(normal, view), 1e-3);
    const float nh = max(dot(normal, halfway), 0.0);
    const vec3 f0 = mix(vec3(0.04), albedo, metalness);
    const vec3 fresnel = fresnelSchlick(max(dot(view, halfway), 0.0), f0);
    const vec3 specular =
        fresnel * distributionGgx(nh, roughness) * visibilityGgx(nv, nl, roughness);
    const vec3 diffuse = (1.0 - fresnel) * (1.0 - metalness) * albedo / pi;
    return (diffuse + min(specular, vec3(40.0))) * nl;
}

// The split-sum approximation of an environment's reflection, fitted by Karis.
vec3 environmentReflection(vec3 albedo, float metalness, float roughness, float nv)
{
    const vec3 f0 = mix(vec3(0.04), albedo, metalness);
    const vec4 r = roughness * vec4(-1.0, -0.0275, -0.572, 0.022) + vec4(1.0, 0.0425, 1.04, -0.04);
    const float a = min(r.x * r.x, exp2(-9.28 * nv)) * r.x + r.y;
    const vec2 scale = vec2(-1.04, 1.04) * a + r.zw;
    return f0 * scale.x + scale.y;
}
