#version 450
#extension GL_GOOGLE_include_directive : require
#define BY_ADDRESS
#include "count.glsl"
