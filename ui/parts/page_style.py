"""The style sheet of all pages; it uses the theme's colors, so it fits the light and dark theme."""

PAGE_STYLE = """<style>
.stMainBlockContainer { max-width: 74rem; padding: 3rem clamp(2rem, 4vw, 4rem) 4rem; }
.stMainBlockContainer h1 { font-size: 2.1rem; padding: 0 0 .25rem; }
.stMainBlockContainer h3 { font-size: 1.15rem; padding: .75rem 0 .5rem; }
/* Streamlit's white is too faint on the dark theme's lighter primary color. */
[data-testid^="stBaseButton-primary"]:not(:disabled) {
  color: light-dark(#ffffff, #0b1218) !important;
}
[data-testid^="stBaseButton-primary"] kbd { opacity: .85; }
/* As high as the inputs and buttons beside it, so that they stand on one line. */
button[data-variant="segmented_control"] { min-height: 2.5rem; }
.st-key-labels_matching [data-testid="stCaptionContainer"] { padding-bottom: .55rem; }
.gl-purpose { padding-bottom: .4rem; max-width: 46rem; }
.gl-chips { display: flex; flex-wrap: wrap; gap: .35rem .5rem; padding-bottom: .6rem; }
.gl-chip { font-size: .82rem; padding: .1rem .6rem; border-radius: 1rem; overflow-wrap: anywhere;
  border: 1px solid color-mix(in srgb, currentColor 25%, transparent); }
.gl-empty { max-width: 46rem; }
.gl-explanation { max-width: 48rem; }
.gl-explanation p { margin: 0 0 .35rem; }
/* Clipped, so that there is no arrow before the first step of a second row. */
.gl-path { display: grid; overflow: clip;
  grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .8rem 1.9rem;
  margin: .9rem 0 1.2rem; max-width: 62rem; }
.gl-step { position: relative; display: flex; flex-direction: column; gap: .15rem;
  padding: .8rem .9rem; border-radius: .6rem;
  background: color-mix(in srgb, currentColor 5%, transparent); }
.gl-step img { width: 96px; height: 34px; margin-bottom: .4rem; }
.gl-step span { font-size: .85rem; opacity: .8; line-height: 1.35; }
.gl-step + .gl-step::before { content: "→"; position: absolute; left: -1.5rem; top: 38%;
  opacity: .6; }
.st-key-home_cards > * { flex: 1 1 16rem; min-width: 16rem; }
[class*="st-key-pair_"] > * { flex: 1 1 23rem; min-width: min(23rem, 100%); }
.gl-next { font-size: 1.25rem; font-weight: 600; line-height: 1.35; padding-bottom: .3rem; }
.st-key-home_guide { margin-top: .6rem; }
.st-key-home_steps button { min-height: 1.9rem; padding-block: 0; text-align: left; }
.gl-story { max-width: 62rem; padding: .7rem .9rem; border-radius: .6rem; line-height: 1.5;
  background: color-mix(in srgb, currentColor 6%, transparent); }
.gl-caution { opacity: .8; }
.gl-hint { font-size: .875rem; opacity: .8; overflow-wrap: anywhere; }
.gl-hint code { font-size: .8rem; }
.gl-project-name { font-weight: 600; overflow-wrap: anywhere; }
.gl-project-line { font-size: .875rem; opacity: .75; overflow-wrap: anywhere; }
.gl-brand { font-size: 1.5rem; font-weight: 700; letter-spacing: -.01em; }
.gl-group { font-size: .78rem; font-weight: 600; opacity: .75; padding: .5rem 0 .1rem .5rem; }
.gl-sign-out { font-size: .875rem; color: inherit; }
.gl-job { font-size: .875rem; line-height: 1.4; }
.gl-job b { font-weight: 600; }
</style>"""
