"""Signing in at another site by OpenID Connect: this site is a client of one provider."""
