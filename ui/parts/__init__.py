"""What several pages draw: headers, tables, highlighted text, the sidebar."""
