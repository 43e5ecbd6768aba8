"""What commands show: looked up, and laid out for 80 columns."""
