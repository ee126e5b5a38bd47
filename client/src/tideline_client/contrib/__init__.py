"""Parts for frameworks. Each needs an extra of the package."""
