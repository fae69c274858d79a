"""Ask whether an imported run may use files and models that are no part of the project."""

from collections.abc import Callable, Sequence

import streamlit as st

from engine.text import InputError
from ui.parts import elements


def show_permission(
    names: Callable[[], Sequence[str]], allow: Callable[[], None], key: str
) -> bool:
    """Draw the question, if there is one; return whether the run may be used."""
    try:
        asked = names()
    except InputError as error:  # a card that cannot be read
        elements.show_input_error(error)
        return False
    if not asked:
        return True
    listed = " and ".join(f'"{name[:80]}"' for name in asked)
    st.warning(
        elements.plain(
            f"This run was imported. It uses {listed}, which is no part of it and has not been "
            "opened. Use it only if you know what it is."
        ),
        icon=":material/warning:",
    )
    if st.button("Use it anyway", key=key):
        allow()
        st.rerun()
    return False
