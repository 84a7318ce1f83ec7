"""The commands of a shell block, held against what they name: programs, options, presets, scripts,
targets, files. Nothing is executed here but `--help`."""

import json
import re
import shlex
import subprocess

# Commands of an archive that scripts/gpu-pack makes, and the script that each starts.
PACKED = {"./gpu-check": "scripts/gpu-check"}

ASSIGNMENT = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*=")


def commands_of(lines):
    """Each command of the lines as words, those of $(...) and sh -c '...' too; `$ ` before it, comments
    and continuations taken off."""
    joined = []
    for line in lines:
        if joined and joined[-1].endswith("\\"):
            joined[-1] = joined[-1][:-1] + " " + line.strip()
        else:
            joined.append(line.strip())
    commands = []
    for line in joined:
        line = re.sub(r"^\$ |^\(|\)$", "", line)
        for inner in re.findall(r"\$\(([^()]*)\)", line):
            commands += commands_of([inner])
        line = re.sub(r"\$\([^()]*\)", "SUBSTITUTED", line)
        words = shlex.split(re.sub(r"(^|\s)#.*$", "", line))
        command = []
        for word in words + ["&&"]:
            if word in ("&&", "|", ";"):
                if command[:2] == ["sh", "-c"]:
                    commands += commands_of(command[2].split(";"))
                elif command:
                    commands.append(command)
                command = []
            else:
                command.append(word)
    return commands


class Shell:
    """What the commands may name: the sources, and the programs of a build."""

    def __init__(self, root, programs):
        self.root = root
        self.programs = programs  # name -> path
        self.helps = {}
        self.presets = {kind: {preset["name"] for preset in presets} for kind, presets in
                        json.loads((root / "CMakePresets.json").read_text()).items()
                        if kind.endswith("Presets")}
        cmake = "".join(path.read_text(encoding="utf-8") for path in
                        [root / "CMakeLists.txt", *root.glob("cmake/*.cmake"),
                         *root.glob("*/CMakeLists.txt"), *root.glob("tests/**/CMakeLists.txt")])
        self.variables = set(re.findall(r"\bMAAR_[A-Z_]+\b", cmake))
        self.targets = set(re.findall(r"(?:add_\w+|target_\w+)\(\s*(\w+)", cmake))
        self.tests = set(re.findall(r"maar_add_\w+\(\s*NAME ([\w.]+)", cmake))
        self.targets.update(f"maar_test_{name}" for name in self.tests)

    def help_of(self, name, *words):
        key = (name, *words)
        if key not in self.helps:
            done = subprocess.run([self.programs[name], *words, "--help"], capture_output=True,
                                  text=True, check=False, timeout=30)
            self.helps[key] = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", done.stdout))
        return self.helps[key]

    def check(self, words):
        """None, or what is wrong with a command. KeyError: nothing is known of such a command."""
        while words and (ASSIGNMENT.match(words[0]) or words[0] == "export"):
            words = words[1:]
        if not words:
            return None
        words = [PACKED.get(words[0], words[0]), *words[1:]]
        name = words[0].rsplit("/", 1)[-1]
        if name in self.programs:
            return self.check_program(name, words[1:])
        if name in self.tests and "/tests/" in words[0]:
            return None
        if (self.root / words[0]).is_file() and "/" in words[0]:
            return self.check_script(words)
        return {"diff": self.check_diff, "cmake": self.check_cmake, "ctest": self.check_ctest, "ninja": self.check_ninja,
                "pip": self.check_pip}[name](words)

    def check_program(self, name, arguments):
        if self.programs[name] is None:
            return f"{name} was not built"
        known = {"--help"}
        if "--" in arguments: # what follows is another program's
            arguments = arguments[:arguments.index("--")]
        if name == "maar":
            if arguments[:1] and not arguments[0].startswith("-"):
                known |= self.help_of(name, arguments[0])
                if len(known) < 3:
                    return f"maar has no command {arguments[0]}"
            known.add("--version")
        else:
            known |= self.help_of(name)
        wrong = [word for word in arguments if word.startswith("--")
                 and word.split("=")[0] not in known]
        return f"{name} has no {', '.join(wrong)}" if wrong else None

    def check_script(self, words):
        """An option that the script's text does not name is one that it does not have."""
        text = (self.root / words[0]).read_text(encoding="utf-8")
        passed_on = words[0] in ("scripts/test", "tests/fuzz/run.sh")
        wrong = [word for word in words[1:] if word.startswith("--")
                 and not passed_on and word.split("=")[0] not in text]
        return f"{words[0]} has no {', '.join(wrong)}" if wrong else None

    def check_cmake(self, words):
        for option, value in zip(words, words[1:] + [""]):
            if option == "--preset":
                kind = "buildPresets" if "--build" in words else "configurePresets"
                if value not in self.presets[kind]:
                    return f"no preset {value}"
            if option == "--target" and value not in self.targets:
                return f"no target {value}"
            if option.startswith("-D"):
                variable = re.match(r"-D(?:CMAKE_)?([A-Za-z_]+)", option)[1]
                if variable.startswith("MAAR_") and variable not in self.variables:
                    return f"nothing reads {variable}"
        return None

    def check_ctest(self, words):
        wrong = [value for option, value in zip(words, words[1:])
                 if option == "--preset" and value not in self.presets["testPresets"]]
        return f"no preset {wrong[0]}" if wrong else None

    def check_ninja(self, words):
        folder = words.index("-C") + 1 if "-C" in words else 0
        wrong = [word for at, word in enumerate(words[1:], 1)
                 if not word.startswith("-") and at != folder and word not in self.targets]
        return f"no target {wrong[0]}" if wrong else None

    def check_diff(self, words):
        wrong = [word for word in words if "/" in word and not (self.root / word).is_file()]
        return f"no file {wrong[0]}" if wrong else None

    def check_pip(self, words):
        return None if (self.root / words[-1] / "pyproject.toml").is_file() else f"{words[-1]}?"
