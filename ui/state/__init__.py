"""What the app remembers: the open project, each person's choices, results kept by content.

The only package with st.session_state, st.query_params and caches; one file a topic.
"""
