"""Draw the pictures of the pages of the methods anew: examples/plot_X.py to docs/images/X.png.

python examples/pictures.py [FOLDER]
"""

import runpy
import sys
from pathlib import Path

import matplotlib

EXAMPLES = Path(__file__).parent
PAGES = EXAMPLES.parent / "docs" / "methods"


def draw(script, folder):
    """Run a script and keep the last figure that it drew."""
    import matplotlib.pyplot as plt

    plt.close("all")
    runpy.run_path(str(script), run_name="__main__")
    path = folder / (script.stem.removeprefix("plot_") + ".png")
    plt.gcf().savefig(path, dpi=110, pil_kwargs={"optimize": True})
    print(f"Drawn: {path}")


if __name__ == "__main__":
    matplotlib.use("template")  # show() shows nothing, and nothing warns
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else EXAMPLES.parent / "docs" / "images"
    folder.mkdir(parents=True, exist_ok=True)
    for page in sorted(PAGES.glob("*.md")):
        draw(EXAMPLES / f"plot_{page.stem}.py", folder)
