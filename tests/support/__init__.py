"""What several tests share: small projects, corpora, pages of the app, and waiting."""
