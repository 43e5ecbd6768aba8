"""State in a page's scripts as Python values: JSON, literals, server components. Nothing is executed."""
