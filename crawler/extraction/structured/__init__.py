"""What a page states for machines, as raw fields: JSON-LD, microdata, RDFa, Open Graph."""
