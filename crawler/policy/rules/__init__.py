"""Rules that people write: sites in `domains.toml`, the scope of a crawl, patterns; and what all crawls leave out."""
