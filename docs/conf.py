"""How Sphinx builds the documentation site: `make docs`. Pages are Markdown; no build step needs the network."""

from importlib.metadata import version as installed_version

import episodic_absa

# autodoc imports what is missing with TYPE_CHECKING set, which pydantic's models do not survive.
for name in episodic_absa.__all__:
    getattr(episodic_absa, name)

project = "episodic_absa"
author = "The authors of episodic_absa"
version = release = installed_version("episodic-absa")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build"]
default_role = "code"  # docstrings put names into single backticks

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True, "undoc-members": False, "show-inheritance": False}
autodoc_preserve_defaults = True

html_theme = "furo"
html_title = f"episodic_absa {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "tango"
pygments_dark_style = "github-dark"
