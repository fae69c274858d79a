"""The sign-in form for the shared password: plain HTML, sent before Streamlit answers anything."""

from html import escape

# The colors of ui/.streamlit/config.toml, which the page cannot read.
_STYLE = """
:root { color-scheme: light dark; }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.5rem;
  font: 1rem/1.5 "Source Sans", "Source Sans 3", system-ui, sans-serif;
  color: light-dark(#1c2733, #e4e9ee); background: light-dark(#f2f5f7, #14191f); }
main { width: 100%; max-width: 24rem; padding: 2rem; border-radius: .75rem;
  background: light-dark(#ffffff, #1f262e);
  border: 1px solid color-mix(in srgb, currentColor 15%, transparent); }
h1 { margin: 0 0 .25rem; font-size: 1.75rem; line-height: 1.2; letter-spacing: -.01em; }
p { margin: 0 0 1.25rem; }
label { display: block; margin-bottom: .3rem; font-size: .875rem; }
input, button { width: 100%; padding: .55rem .75rem; font: inherit; border-radius: .5rem; }
input { color: inherit; background: light-dark(#f2f5f7, #14191f);
  border: 1px solid color-mix(in srgb, currentColor 45%, transparent); }
button { margin-top: 1rem; border: 0; font-weight: 600; cursor: pointer;
  color: light-dark(#ffffff, #0b1218); background: light-dark(#1f5f8b, #5095cc); }
:focus-visible { outline: 2px solid light-dark(#1f5f8b, #5095cc); outline-offset: 2px; }
.problem { margin: .6rem 0 0; font-size: .9rem; color: light-dark(#a32020, #ff9a94); }
"""


def form_page(problem: str = "") -> str:
    """Return the page with the form and, after a failed attempt, what was wrong."""
    said = f'<p class="problem" role="alert" id="problem">{escape(problem)}</p>' if problem else ""
    described = ' aria-describedby="problem" aria-invalid="true"' if problem else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Sign in · Glossa</title><style>{_STYLE}</style></head><body><main>"
        "<h1>Glossa</h1><p>Sign in to see the projects.</p>"
        '<form method="post"><label for="password">Password</label>'
        '<input id="password" name="password" type="password" required autofocus '
        f'autocomplete="current-password"{described}>{said}'
        '<button type="submit">Sign in</button></form></main></body></html>'
    )
