"""What several tests share: small projects, corpora, pages of the app, ways to wait."""
