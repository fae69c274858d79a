"""What the app remembers: the open project, each user's choices, and cached results.

Only this package uses st.session_state, st.query_params and caches; one file per topic.
"""
