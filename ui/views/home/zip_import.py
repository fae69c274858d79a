"""The card that imports a project: a process of its own unpacks and checks the zip."""

import streamlit as st

from engine.settings import LIMITS
from ui.parts import elements, reading
from ui.state import current, uploads
from ui.state.visitor import visitor

UPLOADER = "home_zip"


def show() -> str:
    """Draw the card; return the id of the project once it is imported, else nothing."""
    key = current.uploader_key(UPLOADER)
    with st.container(border=True):
        st.subheader("Import a project", anchor=False)
        file = st.file_uploader(
            "Zip file of a project", type="zip", max_upload_size=LIMITS.file_mb, key=key
        )
        if process := uploads.saving(key):
            made = reading.show_saving(process, key, UPLOADER, doing="Importing")
            if made:
                current.empty_uploader(UPLOADER)
                return str(made["project"])
        elif file and st.button("Import project", key="home_import"):
            with elements.explained():
                uploads.start_importing(file, visitor(), key)
                st.rerun()
    return ""
