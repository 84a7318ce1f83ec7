// Colours that the host uses too: samples/virtual_texture/texture_reference.c.
const uint KIND_MAP = 0u;
const uint KIND_OUTSIDE = 1u;
const uint KIND_SKY = 2u;
const uvec3 ZENITH = uvec3(92u, 142u, 206u);
const uvec3 HORIZON = uvec3(206u, 222u, 234u);
const uvec3 OUTSIDE = uvec3(40u, 66u, 96u);
const uvec3 NOTHING_YET = uvec3(128u, 128u, 128u);

const uint TINT_COUNT = 8u;
const uvec3 tints[TINT_COUNT] =
    uvec3[TINT_COUNT](uvec3(214u, 39u, 40u), uvec3(255u, 140u, 20u), uvec3(242u, 212u, 40u),
                      uvec3(44u, 170u, 60u), uvec3(30u, 190u, 200u), uvec3(40u, 100u, 220u),
                      uvec3(140u, 80u, 200u), uvec3(110u, 110u, 110u));
