// What a run leaves for the host: the text, and for each token that was computed all logits.

layout(set = 0, binding = 2, std430) buffer Text {
    uint tokens[256]; // MODEL_MOST_POSITIONS
    float logits[];
} text;
