"""What a row is: arrays, tables and frames, read, checked and told apart by content."""
