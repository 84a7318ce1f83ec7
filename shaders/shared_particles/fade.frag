// Writes nothing: the blending alone darkens the picture.
#version 450

layout(location = 0) out vec4 light;

void main()
{
    light = vec4(0.0);
}
