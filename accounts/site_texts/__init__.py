"""What the people who run the site say about it: who they are, the rules, the privacy policy."""
