"""The pages, one folder each: what they draw, and the state that only they have.

Not called `pages`: Streamlit would take a folder of that name for its older kind of app.
"""
