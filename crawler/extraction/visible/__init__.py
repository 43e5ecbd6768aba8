"""What a page shows a reader: prices, stock, brand, buttons, identifiers. Judged without a browser."""
