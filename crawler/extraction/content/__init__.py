"""The main text of any page, as text, Markdown and HTML, and the page's metadata."""
