"""Makes the two sounds that tell a person how an order ended: `python -m checks.sounds` writes static/sounds/*.wav.

They are our own: sine waves with a soft beginning and end, 8 bits, 8,000 samples a second, under half a second, under
4 KB each. "good" rises; "bad" falls and is lower, so that people who do not hear high tones can tell them apart.
"""

import io
import math
import wave
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "static" / "sounds"
RATE, LOUDNESS = 8_000, 0.6
# Hertz and seconds of each tone, one after another.
SOUNDS = {
    "good": [(660.0, 0.12), (880.0, 0.22)],
    "bad": [(330.0, 0.18), (220.0, 0.26)],
}


def samples(tones: list[tuple[float, float]]) -> bytes:
    """The tones as unsigned bytes."""
    wave = bytearray()
    for hertz, seconds in tones:
        count = round(RATE * seconds)
        for place in range(count):
            soft = min(1.0, place / 80, (count - place) / (count / 2))
            wave.append(128 + round(127 * LOUDNESS * soft * math.sin(2 * math.pi * hertz * place / RATE)))
    return bytes(wave)


def wav(name: str) -> bytes:
    """The whole file."""
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(1)
        writer.setframerate(RATE)
        writer.writeframes(samples(SOUNDS[name]))
    return file.getvalue()


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for sound in SOUNDS:
        (FOLDER / f"{sound}.wav").write_bytes(wav(sound))
