"""Ready trees without constraints."""
