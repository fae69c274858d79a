"""Measure how often the tagger that transformers loads agrees with `glossa predict`.

    glossa train sample_data/train.jsonl --dictionary sample_data/dictionary --preset quick \
        --encoder transformer --methods mpn --set epochs=2 --out runs
    python -m bench.portable runs/mpn-seed0 sample_data/score.jsonl

The run needs a fine-tuned transformer. It is exported, and the pipeline of transformers gets one
sentence at a time, as the README of the export says. Per aggregation strategy: which share of the
entities that either side finds both find, with the same offsets and type, and in which share of the
sentences nothing differs.
"""

import argparse
import tempfile
from pathlib import Path

import glossa
from bench import environment
from engine.text import make_document

STRATEGIES = ("simple", "first", "average", "max")


def measure(run: Path, corpus: glossa.Corpus) -> list[dict]:
    """Return one row per aggregation strategy."""
    from transformers import pipeline

    texts = [sentence.text for document in corpus.documents for sentence in document.sentences]
    sentences = glossa.Corpus(tuple(make_document(str(i), text) for i, text in enumerate(texts)))
    ours = glossa.predict(glossa.load_run(run), sentences).entities
    expected = [{(e.start, e.end, e.entity_type) for e in ours[str(i)]} for i in range(len(texts))]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        exported = Path(folder) / "exported"
        glossa.export_model(run, "transformers", exported)
        for strategy in STRATEGIES:
            tagger = pipeline(
                "token-classification", str(exported), aggregation_strategy=strategy, device="cpu"
            )
            found = [
                {(e["start"], e["end"], e["entity_group"]) for e in entities}
                for entities in tagger(texts)
            ]
            pairs = list(zip(expected, found, strict=True))
            both = sum(len(ours & theirs) for ours, theirs in pairs)
            either = sum(len(ours | theirs) for ours, theirs in pairs)
            rows.append(
                {
                    "strategy": strategy,
                    "entities": sum(map(len, expected)),
                    "found": sum(map(len, found)),
                    "both": both,
                    "agreement": round(both / either, 4) if either else None,
                    "same_sentences": round(sum(o == t for o, t in pairs) / len(pairs), 4),
                }
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path, help="folder of a run with a fine-tuned transformer")
    parser.add_argument("text", nargs="+", help="text files")
    options = parser.parse_args()
    corpus = glossa.read_corpus(options.text)
    rows = measure(options.run, corpus)
    for row in rows:
        print(
            f"{row['strategy']:8}  agreement {100 * row['agreement']:5.1f} %  "
            f"sentences without a difference {100 * row['same_sentences']:5.1f} %  "
            f"({row['both']:,} of {row['entities']:,} and {row['found']:,} entities)"
        )
    environment.finish({"benchmark": "portable", "run": options.run.name, "rows": rows})


if __name__ == "__main__":
    main()
