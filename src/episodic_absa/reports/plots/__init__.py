"""The pictures of the report: inline SVG, drawn for a column of 340 units so that phones need no scaling."""
