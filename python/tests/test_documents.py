"""What the documents show runs: the page of the package word by word, the tutorial, every docstring, the types."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PYTHON = Path(__file__).parents[1]


def run(*words: str | Path, **environment: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error::SyntaxWarning", *map(str, words)],
        capture_output=True,
        text=True,
        cwd=PYTHON.parent,
        env={**os.environ, **environment},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_page_of_the_package_runs_word_by_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", (PYTHON / "README.md").read_text(encoding="utf-8"), re.S | re.M)
    assert len(blocks) >= 8
    program = tmp_path / "readme.py"
    program.write_text("\n".join(blocks), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(r"(8|9)\d% of the test rows lie in their intervals", done.stdout), done.stdout


def test_the_tutorial_runs() -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.read(PYTHON / "examples" / "tutorial.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    pages = [
        output["data"]["text/html"]
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if "text/html" in output.get("data", {})
    ]
    assert any("<iframe srcdoc=" in page for page in pages)


def test_the_tutorial_is_kept_without_outputs() -> None:
    notebook = json.loads((PYTHON / "examples" / "tutorial.ipynb").read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None


@pytest.mark.parametrize("folder", ["inducing"])
def test_examples_in_docstrings_run(folder: str) -> None:
    words = ["-m", "pytest", "--doctest-modules", "-q", "-p", "no:cacheprovider", "--pyargs", folder]
    run(*words, "--ignore-glob", "*torch*", "-W", "ignore")  # these are with torch's own tests


def test_types_are_sound_for_mypy() -> None:
    pytest.importorskip("mypy")
    run("-m", "mypy")  # as pyproject.toml says


def test_types_are_sound_for_pyright(tmp_path: Path) -> None:
    pytest.importorskip("pyright")
    settings = {
        "include": [os.path.relpath(PYTHON / "inducing", tmp_path)],
        "exclude": [os.path.relpath(PYTHON / "inducing" / name, tmp_path) for name in ("adapters", "*torch*", "distributed.py")],
        "stubPath": os.path.relpath(PYTHON / "typings", tmp_path),
        "typeCheckingMode": "strict",
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    run("-m", "pyright", "-p", tmp_path, "--pythonpath", sys.executable)
