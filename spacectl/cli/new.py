"""The command ``new``: a study or a model to start from, which runs at once."""

from __future__ import annotations

import keyword
from pathlib import Path
from typing import Annotated

import typer

from spacectl.cli.app import Debug, Json, app, say, say_json
from spacectl.core.errors import ModelError

__all__ = ["new_model_command", "new_study_command"]

TEMPLATES = Path(__file__).with_name("templates")
group = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Write a study or a model to start from, which runs at once."
)
app.add_typer(group, name="new")

Name = Annotated[str, typer.Argument(help="Letters, digits and _.")]
Into = Annotated[Path, typer.Option("--into", help="Folder to write into.")]


@group.command("study")
def new_study_command(name: Name, into: Into = Path("studies"), as_json: Json = False, debug: Debug = False) -> None:
    """Write studies/NAME with study.py and README.md."""
    _check(name)
    folder = into / name
    if folder.exists():
        raise ModelError(f"new study '{name}': '{folder}' exists already; choose another name")
    folder.mkdir(parents=True)
    for file in ("study.py", "README.md"):
        (folder / file).write_text(_filled(f"{file}.txt", name), encoding="utf-8")
    command = f"spacectl run {folder if into != Path('studies') else name} --out out/{name}"
    if as_json:
        return say_json({"files": [str(folder / "study.py"), str(folder / "README.md")], "next": command})
    say(f"wrote {folder / 'study.py'} and {folder / 'README.md'}")
    say(f"next: {command}")


@group.command("model")
def new_model_command(name: Name, into: Into = Path(), as_json: Json = False, debug: Debug = False) -> None:
    """Write NAME.py: a system, its equations, a law, a simulation and a report."""
    _check(name)
    file = into / f"{name}.py"
    if file.exists():
        raise ModelError(f"new model '{name}': '{file}' exists already; choose another name")
    into.mkdir(parents=True, exist_ok=True)
    file.write_text(_filled("model.py.txt", name), encoding="utf-8")
    if as_json:
        return say_json({"files": [str(file)], "next": f"python {file}"})
    say(f"wrote {file}")
    say(f"next: python {file}, then open {name}.html and try: spacectl check {name}.toml")


def _check(name: str) -> None:
    if not name.isidentifier() or keyword.iskeyword(name) or not name.isascii():
        raise ModelError(
            f"name '{name}': expected letters, digits and _, not beginning with a digit, such as 'docking'"
        )


def _filled(file: str, name: str) -> str:
    return (TEMPLATES / file).read_text(encoding="utf-8").replace("@NAME@", name)
