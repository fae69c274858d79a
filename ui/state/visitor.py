"""Who is at the browser: the address of someone who signed in with OpenID Connect."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from engine.projects import clean_address
from engine.text import InputError
from ui import access


def visitor() -> str | None:
    """Return the visitor's address; None where projects have no owners: without OpenID Connect.

    InputError if the visitor has not signed in, or has no address that the provider confirms.
    """
    if access.sign_in() != access.OIDC:
        return None
    claims = _claims()
    if not claims.get("is_logged_in"):
        raise InputError("sign in first")
    # Some providers leave the second claim out; those that send it know.
    if not claims.get("email") or claims.get("email_verified") in (False, "false"):
        raise InputError(
            "your account has no confirmed e-mail address, by which projects find their owner. "
            "Sign in with another account"
        )
    address = clean_address(str(claims["email"]))
    if not access.may_sign_in(address):
        raise InputError(f"{address} may not use this server. Ask whoever runs it")
    return address


def is_signed_in() -> bool:
    """Return whether this browser may see pages; OpenID Connect may lack an address even then."""
    if access.sign_in() == access.PASSWORD:
        # The gate has checked it, unless the app was started without the gate.
        return access.SESSIONS.holds(st.context.cookies.get(access.COOKIE))
    return access.sign_in() == access.NOBODY or bool(_claims().get("is_logged_in"))


def _claims() -> Mapping[str, Any]:
    return st.user.to_dict()
