"""The documentation fails when it no longer fits the code."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ["pitch_env", "agents", "training"]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands():
    from typer.main import get_command

    from pitch_env.app.cli import app

    return get_command(app).commands


def tree_in_readme() -> list[str]:
    """Every path that the README's tree lists, relative to the repository."""
    block = README.split("## The tree")[1].split("```")[1]
    folder, paths = "", []
    for line in block.splitlines()[1:]:
        name = line.split()[0]
        if not line.startswith(" "):
            folder = name
        paths.append(name if name == folder else folder + name)
    return paths


def public_names(source: str) -> list[str]:
    """What a module defines, or imports from its own package, without an underscore: at the top or under an `if`."""
    names = set()
    statements = list(ast.parse(source).body)
    for node in statements:
        if isinstance(node, ast.If):
            statements += node.body
        elif isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").split(".")[0] == "pitch_env"):
            names |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return sorted(name for name in names if not name.startswith("_"))


def test_every_command_has_help():
    assert [name for name, command in commands().items() if not (command.help or "").strip()] == []


def test_every_command_has_a_readme_line_and_no_line_lacks_its_command():
    assert sorted(re.findall(r"^\| `pitch (\w+)", README, re.MULTILINE)) == sorted(commands())


def test_every_source_file_is_in_the_readme_tree():
    files = [path.relative_to(ROOT).as_posix() for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    assert sorted(set(files) - set(tree_in_readme())) == []


def test_the_readme_tree_lists_only_what_there_is():
    assert [path for path in tree_in_readme() if not (ROOT / path).exists()] == []


def test_every_line_of_the_readme_tree_says_what_the_file_is_for():
    block = README.split("## The tree")[1].split("```")[1]
    assert [line for line in block.splitlines()[1:] if line.startswith(" ") and len(line.split()) < 3] == []


def test_all_is_exactly_the_public_names():
    import pitch_env

    assert sorted(pitch_env.__all__) == public_names(Path(pitch_env.__file__).read_text(encoding="utf-8"))
    assert {"Game", "Rules", "VARIANTS", "variant"} <= set(pitch_env.__all__)
    assert [name for name in pitch_env.__all__ if not hasattr(pitch_env, name)] == []


def test_import_pitch_env_loads_neither_torch_nor_a_kernel_nor_a_screen():
    code = "import json, sys, pitch_env; print(json.dumps(sorted(sys.modules)))"
    loaded = json.loads(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, cwd=ROOT).stdout)
    heavy = {"torch", "rich", "typer", "numba", "pitch_env.engine", "stable_baselines3", "tensorboard"}
    assert sorted(heavy & set(loaded)) == []
