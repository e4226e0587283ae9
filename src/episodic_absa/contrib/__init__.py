"""Parts that few users need. They import public names of the package; the package knows them by name alone.

A part is a folder. Whatever calls one asks `contrib_parts.contrib_part` for it, and only then is it imported.
"""
