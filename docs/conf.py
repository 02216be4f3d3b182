"""How the documentation site is built: `make docs`. Nothing is fetched, here or by the reader."""

import json
import os
import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

import kernel_learn  # noqa: E402

project = "kernel-learn"
author = "The kernel-learn developers"
copyright = "The kernel-learn developers, BSD-3-Clause"
release = version = kernel_learn.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "plain_docstrings",  # norms and fitted attributes are not markup
    "mathml",  # formulas without JavaScript
    "joss_paper",  # paper/paper.md as a page
    "repository_links",  # links to files beside docs/, and to scikit-learn
]
exclude_patterns = ["_build", "auto_examples/**/*.ipynb", "**/README.rst"]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]  # the gallery's sorting function cannot be pickled
nitpicky = False
smartquotes = False  # x'y is a product

# Pages: Markdown with formulas, cards and links to headings.
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

# Reference: one page per public name.
autosummary_generate = True
autodoc_typehints = "none"  # the tables of parameters say it in words
toc_object_entries_show_parents = "hide"  # a narrow list of headings
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# Gallery: every examples/plot_*.py is run.
sphinx_gallery_conf = {
    "examples_dirs": str(DOCS.parent / "examples"),
    "gallery_dirs": "auto_examples",
    "filename_pattern": "/plot_",
    "ignore_pattern": r"(pictures|dask_cluster)\.py",
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "min_reported_time": 10,
    "show_memory": False,
    "write_computation_times": False,  # a page that loads scripts from elsewhere
    "download_all_examples": False,
    "show_signature": False,
    "within_subsection_order": "gallery_order.order",
}

# What the top of every page leads to. The workflow of a release names its repository
# (KERNEL_LEARN_REPOSITORY); versions.json lists the versions whose pages stand beside these.
html_context = {
    "repository": os.environ.get("KERNEL_LEARN_REPOSITORY", ""),
    "site_versions": [
        (name, "" if name == version else address)
        for name, address in json.loads((DOCS / "versions.json").read_text()).items()
    ],
}

html_theme = "pydata_sphinx_theme"
html_title = "kernel-learn"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "kernel-learn"},
    "navbar_align": "left",
    "navbar_end": ["version-switch", "repository-link", "theme-switcher"],
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "mathematics": []}

# Prompts and continuation lines are not copied.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
