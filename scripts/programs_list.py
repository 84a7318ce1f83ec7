"""The programs of scripts/capture-programs: what each is, and how it runs without a person.

Commands contain {data} and {out}, the folders of the inputs and of what the program writes, and
{samples}. A program that draws for ever is ended by SIGTERM after some seconds.
"""

import dataclasses

HERE, TRIXIE, SID = "bookworm", "trixie", "sid"
FRAMES = {"VK_INSTANCE_LAYERS": "VK_LAYER_MESA_screenshot"}
LAVAPIPE = "/usr/share/vulkan/icd.d/lvp_icd.json"
ZINK = {"GALLIUM_DRIVER": "zink", "LIBGL_ALWAYS_SOFTWARE": "1"}
CHROMIUM = ("--no-sandbox --disable-gpu-sandbox --use-angle=vulkan --use-vulkan=native "
            "--enable-features=Vulkan,DefaultANGLEVulkan,VulkanFromANGLE --ignore-gpu-blocklist "
            "--disable-gpu-watchdog --no-first-run --user-data-dir={out}/profile")


@dataclasses.dataclass
class Program:
    """One program. `same` says what must be equal with and without the layer: files that a pattern
    names in {out}, "output" for what it prints, "screen" for the screen at the end, or nothing
    besides the exit code, with the reason in `why`."""
    name: str
    kind: str
    system: str
    package: str
    command: str
    same: str = ""
    why: str = ""
    window: bool = False
    seconds: int = 0        # until SIGTERM; 0: it ends by itself
    frames: str = ""        # frames that Mesa's screenshot layer writes
    rig: str = "lavapipe"
    environment: dict = dataclasses.field(default_factory=dict)


TIME = "the picture depends on the time"
PROGRAMS = [
    Program("vkcube", "a first example", SID, "vulkan-tools", "vkcube --c 40", "*.png", window=True,
            frames="5/30"),
    Program("supertuxkart", "a game", HERE, "supertuxkart",
            "/usr/games/supertuxkart --render-driver=vulkan --windowed --screensize=640x480 "
            "--no-sound --track=lighthouse --numkarts=2 --no-start-screen", why=TIME, window=True,
            seconds=40),
    Program("warzone2100", "a game, its menu", HERE, "warzone2100",
            "/usr/games/warzone2100 --gfxbackend=vulkan --window --resolution=640x480 --nosound",
            why=TIME, window=True, seconds=20),
    Program("chromium", "a browser", HERE, "chromium",
            f"chromium {CHROMIUM} file://{{data}}/page.html", "screen", window=True, seconds=12),
    Program("mpv", "a video player", HERE, "mpv",
            "mpv --no-config --no-terminal --vo=gpu --gpu-api=vulkan --gpu-context=x11vk --ao=null "
            "--vulkan-device={device} --keep-open=yes --geometry=640x360+0+0 --no-osc --no-osd-bar "
            "--cursor-autohide=always {data}/clip.avi", "screen", window=True, seconds=8),
    Program("ffmpeg", "a video filter", HERE, "ffmpeg",
            "ffmpeg -v error -y -init_hw_device vulkan=vk:0 -filter_hw_device vk -i {data}/clip.avi "
            "-frames:v 12 -vf format=yuv420p,hwupload,gblur_vulkan,chromaber_vulkan,hflip_vulkan,"
            "hwdownload,format=yuv420p -f rawvideo {out}/frames.yuv", "frames.yuv"),
    Program("glmark2", "OpenGL through zink", HERE, "glmark2-x11",
            "glmark2 -s 320x240 --validate -b build -b texture -b shading -b bump -b terrain "
            "-b desktop -b shadow -b refract", "output", window=True, environment=ZINK),
    Program("test-backend-ops", "an LLM engine's tests", SID, "llama.cpp-tests",
            "/usr/libexec/*/ggml/test-backend-ops test -b Vulkan0 -o SOFT_MAX", "output",
            environment={"GGML_VK_VISIBLE_DEVICES": "0"}),
    Program("vkd3d-gears", "D3D12 through vkd3d", SID, "vkd3d-demos", "vkd3d-gears", why=TIME,
            window=True, seconds=4),
    Program("vkd3d-triangle", "D3D12 through vkd3d", SID, "vkd3d-demos", "vkd3d-triangle", "*.png",
            window=True, seconds=4, frames="0/1"),
    Program("godot", "a game engine", SID, "godot",
            "godot --path {data}/godot --rendering-driver vulkan --audio-driver Dummy --resolution "
            "320x240 --fixed-fps 30 --write-movie {out}/frame.png --quit-after 10", "*.png",
            window=True),
    Program("gtk4-rendernode-tool", "a toolkit's renderer", TRIXIE, "libgtk-4-bin",
            "gtk4-rendernode-tool render --renderer=vulkan {data}/shapes.node {out}/shapes.png",
            "*.png", window=True),
    Program("gtk4-widget-factory", "a toolkit's window", TRIXIE, "gtk-4-examples",
            "gtk4-widget-factory", why="its bars move", window=True, seconds=8,
            environment={"GSK_RENDERER": "vulkan", "GDK_BACKEND": "x11"}),
    Program("vkmark", "a benchmark", TRIXIE, "vkmark",
            "vkmark --winsys xcb -s 320x240 -b clear:duration=1 -b cube:duration=1 "
            "-b texture:duration=1 -b shading:duration=1 -b desktop:duration=1", why=TIME,
            window=True),
    Program("gpu-assisted", "the validation layer's GPU-assisted mode", HERE,
            "vulkan-validationlayers",
            "{samples}/deferred_frame --device lavapipe --frames 1 --size 160x90 "
            "--output {out}/frame.png", "*.png", environment={
                # The loader puts layers in the order in which it finds their manifests.
                "VK_INSTANCE_LAYERS": "VK_LAYER_KHRONOS_validation",
                "VK_LAYER_PATH": "/usr/share/vulkan/explicit_layer.d:{layer}",
                "VK_LAYER_SETTINGS_PATH": "{data}/gpu_assisted.txt"}),
    Program("deferred_frame", "Maar's sample", HERE, "", "{samples}/deferred_frame --device lavapipe "
            "--frames 2 --size 320x180 --output {out}/frame.png", "*.png"),
    Program("draw_with_maar", "Maar's sample", HERE, "",
            "{samples}/draw_with_maar --picture {out}/picture.png", "*.png"),
    Program("draw_with_vma", "the same program with VMA", HERE, "",
            "{samples}/draw_with_vma --picture {out}/picture.png", "*.png"),
    Program("draw_with_maar.radv", "Maar's sample", HERE, "", "{samples}/draw_with_maar",
            why="nothing executes", rig="radv"),
    Program("layer_probe.radv", "memory and nothing else", HERE, "",
            "{samples}/../tests/layer/layer_probe busy 20000", "output", rig="radv"),
    Program("deferred_frame.radv", "Maar's sample", HERE, "",
            "{samples}/deferred_frame --frames 60", why="nothing executes", rig="radv"),
    Program("ffmpeg.radv", "a video filter", HERE, "ffmpeg",
            "ffmpeg -v error -y -init_hw_device vulkan=vk:0 -filter_hw_device vk -i {data}/clip.avi "
            "-vf format=yuv420p,hwupload,gblur_vulkan,chromaber_vulkan,hflip_vulkan,hwdownload,"
            "format=yuv420p -f rawvideo {out}/frames.yuv", why="nothing executes", rig="radv"),
]

# What a chroot needs besides the packages of its programs.
ROOT_PACKAGES = "xvfb xauth mesa-vulkan-drivers libvulkan1 libjansson4 adwaita-icon-theme"
MORE_PACKAGES = {"llama.cpp-tests": "libggml0-backend-vulkan"}

FILES = {
    "page.html": """<body style="margin:0;background:#246"><canvas id=c width=300 height=200></canvas>
<div style="width:200px;height:200px;background:linear-gradient(red,blue);transform:rotate(30deg);
will-change:transform"></div><script>
const x = c.getContext('2d');
for (let n = 0; n < 200; n++) {
  x.fillStyle = `hsl(${n * 7}, 80%, 50%)`;
  x.fillRect(n * 37 % 300, n * 61 % 200, 40, 40);
}
</script>
""",
    "shapes.node": """container {
 linear-gradient { bounds: 0 0 200 200; start: 0 0; end: 200 200;
                   stops: 0 rgb(255,0,0), 1 rgb(0,0,255); }
 rounded-clip { clip: 20 20 100 100 / 20;
                child: color { bounds: 0 0 200 200; color: rgba(0,255,0,0.5); } }
 blur { blur: 8; child: color { bounds: 100 100 60 60; color: rgb(255,255,0); } }
}
""",
    "gpu_assisted.txt": """khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT
khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG
khronos_validation.report_flags = error
""",
    "godot/project.godot": """config_version=5
[application]
config/name="cube"
run/main_scene="res://main.tscn"
""",
    "godot/main.tscn": """[gd_scene load_steps=3 format=3]
[sub_resource type="BoxMesh" id="1"]
[sub_resource type="Environment" id="2"]
background_mode = 1
background_color = Color(0.2, 0.3, 0.4, 1)
glow_enabled = true
[node name="Main" type="Node3D"]
[node name="Cube" type="MeshInstance3D" parent="."]
mesh = SubResource("1")
[node name="Camera" type="Camera3D" parent="."]
transform = Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 4)
[node name="Light" type="DirectionalLight3D" parent="."]
shadow_enabled = true
[node name="World" type="WorldEnvironment" parent="."]
environment = SubResource("2")
""",
}
