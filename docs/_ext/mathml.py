"""Formulas as MathML, which every browser draws by itself: no script, no network."""

import re

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

# Bars and primes arrive as binary operators, spaced; bars as high as the row, primes typewritten.
BAR_OR_PRIME = re.compile(r"<mo[^>]*>([‖|'])</mo>")


def draw(text: str, *, as_block: bool) -> str:
    def as_letter(found: re.Match[str]) -> str:
        sign = "\u2032" if found[1] == "'" else found[1]
        return f'<mo stretchy="false" lspace="0em" rspace="0em">{sign}</mo>'

    return BAR_OR_PRIME.sub(as_letter, tex2mathml(text, as_block=as_block))


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
