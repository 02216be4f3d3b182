"""Formulas as MathML, which every browser draws by itself: no script, no network."""

import re

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

# Bars arrive as binary operators, spaced and as high as the whole row; a prime as an apostrophe.
BAR = re.compile(r"<mo[^>]*>([‖|])</mo>")
PRIME = re.compile(r"(?<!\^)'")


def draw(text: str, *, as_block: bool) -> str:
    found = tex2mathml(PRIME.sub(r"^{\\prime}", text), as_block=as_block)
    return BAR.sub(r'<mo stretchy="false" lspace="0em" rspace="0em">\1</mo>', found)


def inline(self, node: nodes.math) -> None:
    self.body.append(draw(node.astext(), as_block=False))
    raise nodes.SkipNode


def block(self, node: nodes.math_block) -> None:
    self.body.append(f'<div class="math-block">{draw(node.astext(), as_block=True)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer(
        "mathml", inline_renderers=(inline, None), block_renderers=(block, None)
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
