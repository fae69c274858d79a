"""Ask visitors to sign in before any page is drawn, and let them sign out again."""

from html import escape

import streamlit as st

from engine.text import InputError
from ui import access
from ui.parts import elements
from ui.state.visitor import is_signed_in, visitor


def is_let_in() -> bool:
    """Return whether the visitor may see the pages; if not, draw how to sign in."""
    if not is_signed_in():
        _show_sign_in()
        return False
    try:
        visitor()
    except InputError as error:
        elements.show_input_error(error)
        st.button("Sign out", on_click=st.logout)
        return False
    return True


def show_sign_out() -> None:
    """Draw who is signed in, if anyone has to be, and the way out."""
    if access.sign_in() == access.PASSWORD:
        st.html('<a class="gl-sign-out" href="sign-out" target="_self">Sign out</a>')
    elif access.sign_in() == access.OIDC:
        # HTML, because Markdown would make a link of the address.
        st.html(f'<div class="gl-hint">Signed in as {escape(visitor() or "")}</div>')
        st.button("Sign out", key="sign_out", on_click=st.logout)


def _show_sign_in() -> None:
    with st.container(width=420):
        st.title("Glossa", anchor=False)
        if access.sign_in() == access.PASSWORD:
            st.write("Reload the page to sign in. If that does not help, start Glossa with:")
            st.code("glossa app", language=None)
            return
        st.write("Sign in to see the projects.")
        for name in access.providers():
            label = f"Sign in with {elements.plain(name)}" if name else "Sign in"
            arguments = (name,) if name else ()
            st.button(
                label, key=f"sign_in_{name}", type="primary", on_click=st.login, args=arguments
            )
