"""A sentence in each language that we know, and one that English splits differently."""

TEXTS = {
    "en": "The patient had a cold and took aspirin for three days, but it did not help him.",
    "de": "Der Patient hatte eine Erkältung und nahm drei Tage Aspirin, aber es half ihm nicht.",
    "fr": "Le patient avait un rhume et a pris de l'aspirine pendant trois jours, sans effet.",
    "es": "El paciente tenía un resfriado y tomó aspirina durante tres días, pero no le ayudó.",
    "it": "Il paziente aveva un raffreddore e ha preso aspirina per tre giorni, ma non è servito.",
    "pt": "O paciente tinha um resfriado e tomou aspirina por três dias, mas isso não ajudou.",
    "nl": "De patiënt had een verkoudheid en nam drie dagen aspirine, maar het hielp hem niet.",
}
GERMAN = "Er nahm z.B. Aspirin bzw. ca. 5 mg davon. Dann ging er."
