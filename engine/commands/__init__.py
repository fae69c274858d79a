"""The commands: files in, tables on the screen, a file out."""
