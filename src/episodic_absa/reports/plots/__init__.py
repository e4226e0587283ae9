"""The plots of the report: inline SVG, 340 units wide, so that they fit a phone without scaling."""
