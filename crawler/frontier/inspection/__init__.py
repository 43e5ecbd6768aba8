"""What the frontier holds, and what holds it back: read for operators, figures and the end of a crawl."""
