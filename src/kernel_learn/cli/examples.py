"""``kernel-learn example``: tables to try the other commands on."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from kernel_learn.cli.session import Session, put
from kernel_learn.rows.frames import Frame
from kernel_learn.streams.readers import TableError, need_pandas
from kernel_learn.tables.writing import TABLE_SUFFIXES, check_output, write_table


def wine() -> tuple[Frame, str]:
    """Chemical analysis of 178 wines of three cultivars."""
    from sklearn.datasets import load_wine

    data = load_wine(as_frame=True)
    frame = data.data.rename(columns={"od280/od315_of_diluted_wines": "od280_od315"})
    frame["cultivar"] = np.array(["barolo", "grignolino", "barbera"])[data.target]
    return frame, "cultivar"


def cancer() -> tuple[Frame, str]:
    """Shapes of nuclei in 569 biopsies."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer(as_frame=True)
    frame = data.data.rename(columns=lambda name: name.replace(" ", "_"))
    frame["diagnosis"] = np.array(["malignant", "benign"])[data.target]
    return frame, "diagnosis"


def patients(n: int = 400) -> tuple[Frame, str]:
    """Invented patients: numbers, categories, dates, notes, holes, and an identifier."""
    rng = np.random.default_rng(0)
    age = rng.normal(55, 14, n).clip(18, 95).round()
    smoker = rng.choice(["never", "former", "current"], n, p=[0.5, 0.3, 0.2])
    marker = rng.lognormal(1.0, 0.5, n)
    ward = rng.choice(["north", "south", "west"], n)
    admitted = np.datetime64("2023-01-01") + rng.integers(0, 730, n).astype("timedelta64[D]")
    risk = (age - 55) / 14 + 1.2 * (smoker == "current") + 1.5 * np.log(marker / 2.7)
    sick = risk + rng.logistic(0, 0.7, n) > 0.6
    complaints = ["short of breath on stairs", "chest pain at night", "cough since weeks"]
    others = [
        "routine check without complaints",
        "back pain after lifting",
        "headache in the morning",
    ]
    note = [
        f"Patient reports {rng.choice(complaints if s ^ (rng.random() < 0.3) else others)}, "
        f"{rng.choice(['stable', 'worse', 'better'])} for {rng.integers(2, 30)} days"
        for s in sick
    ]
    frame = need_pandas().DataFrame(
        {
            "patient_id": [f"P{i:04d}" for i in rng.permutation(n)],
            "admitted": admitted.astype(str),
            "age": age,
            "smoker": smoker,
            "marker": marker.round(3),
            "ward": ward,
            "note": note,
            "diagnosis": np.where(sick, "disease", "healthy"),
        }
    )
    for name in ("age", "smoker", "marker"):
        frame.loc[rng.random(n) < 0.08, name] = None
    return frame, "diagnosis"


def houses(n: int = 300) -> tuple[Frame, str]:
    """Invented sales: numbers, categories, holes, an identifier, and prices that vary in shares."""
    rng = np.random.default_rng(0)
    area = rng.gamma(9, 13, n).clip(35, 320).round()
    rooms = (area / 32 + rng.normal(0, 0.7, n)).clip(1, 9).round()
    built = rng.integers(1900, 2024, n)
    place = rng.choice(["centre", "north", "harbour", "hills", "outskirts"], n)
    factor = {"centre": 1.35, "north": 1.0, "harbour": 1.2, "hills": 1.1, "outskirts": 0.75}
    state = rng.choice(["good", "fair", "poor"], n, p=[0.4, 0.4, 0.2])
    distance = rng.gamma(2, 2.5, n).round(1)
    log_price = (
        np.log(2400 * area * np.array([factor[name] for name in place]))
        - 0.02 * distance
        + 0.1 * np.cos((built - 1900) / 20)
        + np.array([{"good": 0.08, "fair": 0.0, "poor": -0.15}[name] for name in state])
        + rng.normal(0, 0.12, n)
    )
    frame = need_pandas().DataFrame(
        {
            "sale_id": [f"S{i:05d}" for i in rng.permutation(n)],
            "area": area,
            "rooms": rooms,
            "built": built,
            "place": place,
            "state": state,
            "distance": distance,
            "price": np.exp(log_price).round(-2).astype(int),
        }
    )
    for name in ("rooms", "state"):
        frame.loc[rng.random(n) < 0.06, name] = None
    return frame, "price"


SETS: dict[str, Callable[[], tuple[Frame, str]]] = {
    "wine": wine,
    "cancer": cancer,
    "patients": patients,
    "houses": houses,
}


def example_command(run: Session, output: str) -> None:
    """Write the table that the file is called after."""
    name = Path(output).stem.lower()
    if name not in SETS:
        names = " or ".join(f"{known}.csv" for known in SETS)
        raise TableError(f"There is no example {name!r}; call the file {names}.")
    check_output(output, *TABLE_SUFFIXES)
    frame, target = SETS[name]()
    write_table(iter([frame]), output)
    values = {"output": output, "rows": len(frame), "target": target}
    run.result(values, lambda: put(f"{output}: {len(frame)} rows; predict column {target!r}."))
