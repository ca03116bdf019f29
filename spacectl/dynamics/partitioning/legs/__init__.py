"""The catalogue of legs whose loop closes in closed form (002)."""
