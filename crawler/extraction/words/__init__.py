"""What a text means, wherever it stands: phrases, labels, currencies, values, addresses. No page is needed."""
