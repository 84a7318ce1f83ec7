// Nothing: blending alone darkens what is there.
#version 450

layout(location = 0) out vec4 light;

void main()
{
    light = vec4(0.0);
}
