"""Opens reports on every kind of input in headless Chromium and checks what a reader would see.

    browser/check      installs what it needs into .venv-browser; IGN_BINARY overrides target/release/ign

No console message, no request, every figure with title, axes and caption, and hovering shows the example.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Locator, Page, TimeoutError, sync_playwright

import sets

ROOT = Path(__file__).resolve().parent.parent
IGN = os.environ.get("IGN_BINARY", ROOT / "target/release/ign")
# Tiny models: what they learn does not matter here.
TINY = ["train.pretrain_epochs=3", "train.pretrain_min_steps=0", "train.epochs=3", "gp.inducing=12", "encoder.members=1",
        "encoder.hidden=[16]", "encoder.features=8"]
LARGEST = 3_000_000

passed, failed = 0, 0


def expect(name: str, holds: bool, why: object = "") -> None:
    global passed, failed
    passed, failed = passed + holds, failed + (not holds)
    print(f"{'ok     ' if holds else 'FAILED '} {name}{'' if holds else f': {why}'}", flush=True)


def ign(*arguments: object) -> str:
    run = subprocess.run([IGN, *map(str, arguments)], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"ign {' '.join(map(str, arguments))}\n{run.stdout}{run.stderr}")
    return run.stdout


def train(data: object, out: Path, *more: object) -> Path:
    tiny = [part for setting in TINY for part in ("--set", setting)]
    ign("train", data, "--out", out, "--quiet", *tiny, *more)
    return out


def reports(folder: Path) -> dict[str, Path]:
    """One page for every kind of input, one for several models, one written by training."""
    sets.table(folder / "prices.csv", 600, 0)
    sets.table(folder / "test.csv", 10_000, 1)
    sets.classes(folder / "kinds.csv", 500, 0)
    sets.images(folder / "images", 60, 0)
    sets.texts(folder / "texts.jsonl", 300, 0)
    sets.graphs(folder / "graphs.jsonl", 200, 0)
    price = train(folder / "prices.csv", folder / "price.ign", "--target", "price", "--test-share", 0.3)
    other = train(folder / "prices.csv", folder / "<i>other.ign", "--target", "price", "--seed", 5)
    kind = train(folder / "kinds.csv", folder / "kind.ign", "--target", "kind")
    one_vs_rest = train(folder / "kinds.csv", folder / "one-vs-rest.ign", "--target", "kind", "--multiclass", "independent")
    softmax = train(folder / "kinds.csv", folder / "softmax.ign", "--target", "kind", "--head", "softmax")
    image = train(folder / "images", folder / "image.ign")
    text = train(folder / "texts.jsonl", folder / "text.ign", "--target", "label", "--text", "text")
    graph = train(folder / "graphs.jsonl", folder / "graph.ign")
    asked = {
        "table, regression": ([price], "test.csv", "prices.csv"),
        "table, classification": ([kind], "kinds.csv", None),
        "table, one-vs-rest": ([one_vs_rest], "kinds.csv", None),
        "table, softmax layer": ([softmax], "kinds.csv", None),
        "images": ([image], "images", "images"),
        "texts": ([text], "texts.jsonl", "texts.jsonl"),
        "graphs": ([graph], "graphs.jsonl", "graphs.jsonl"),
        "models side by side": ([price, other], "test.csv", None),
    }
    pages = {"written by training": folder / "price.report.html"}
    for number, (name, (models, test, data)) in enumerate(asked.items()):
        pages[name] = folder / f"page-{number}.html"
        near = ["--data", folder / data] if data else []
        began = time.monotonic()
        ign("report", *models, "--test", folder / test, *near, "-o", pages[name])
        if test == "test.csv":
            print(f"        {name}: {time.monotonic() - began:.1f} s for 10,000 rows")
    return pages


def appears(locator: Locator) -> bool:
    """Whether it is visible within two seconds: a page answers an event in a later frame."""
    try:
        locator.wait_for(state="visible", timeout=2000)
    except TimeoutError:
        return False
    return True


def check(page: Page, name: str, path: Path) -> None:
    messages, requests = [], []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("dialog", lambda dialog: (messages.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: requests.append(request.url[:80]))
    page.goto(path.as_uri(), wait_until="load")
    drawn = page.evaluate("""() => new Promise(done => requestAnimationFrame(() => setTimeout(() => {
        const paint = performance.getEntriesByName("first-contentful-paint")[0];
        done(Math.max(performance.timing.loadEventEnd - performance.timing.navigationStart, paint ? paint.startTime : 0));
    })))""") / 1000
    # Printed, not checked: it depends on how busy the machine is.
    print(f"        {name}: rendered in {drawn:.2f} s, {path.stat().st_size / 1e6:.2f} MB")
    expect(f"{name}: below 3 MB", path.stat().st_size < LARGEST, path.stat().st_size)

    lacking = page.evaluate("""() => [...document.querySelectorAll("figure")].flatMap(figure => {
        const says = cls => [...figure.querySelectorAll("svg ." + cls)].some(e => e.textContent.trim());
        const lacks = ["title", "x-title", "y-title", "tick"].filter(cls => !says(cls));
        const wants = figure.id.endsWith("gallery") ? lacks.filter(cls => cls !== "tick") : lacks;
        if (!figure.querySelector("svg[aria-label], svg[aria-labelledby], svg title")) wants.push("accessible label");
        if (!figure.querySelector("figcaption")?.textContent.trim()) wants.push("caption");
        return wants.map(what => figure.id + " has no " + what);
    })""")
    figures = page.locator("figure").count()
    expect(f"{name}: {figures} figures with title, axes, ticks and caption", figures >= 4 and not lacking, lacking)

    plots = json.loads(page.locator("#data").text_content())["plots"]
    expect(f"{name}: at least one interactive figure", len(plots) >= 1, plots.keys())
    for plot in plots:
        svg = page.locator(f"[id='{plot}'] .plot svg")
        tooltip = page.locator("#tip")
        # Chromium may still lay the page out while the mouse moves, so the place is looked up again.
        for _ in range(3):
            svg.evaluate("svg => svg.scrollIntoView({ block: 'center', behavior: 'instant' })")
            place = svg.evaluate("""svg => new Promise(resolve => requestAnimationFrame(() => {
                const d = svg.querySelector("[data-marks]").getAttribute("d").match(/M(\\S+?) ([-\\d.]+)/);
                const point = new DOMPoint(+d[1], +d[2]).matrixTransform(svg.getScreenCTM());
                resolve([point.x, point.y]);
            }))""")
            page.mouse.move(1, 1)
            page.mouse.move(*place)
            if appears(tooltip):
                break
        shown = tooltip.is_visible() and tooltip.locator("table.cells td, .pic, svg.graph").count() > 0
        expect(f"{name}: hovering over {plot} shows the example", shown, tooltip.inner_text() if tooltip.is_visible() else "no tooltip")
        page.mouse.move(1, 1)
        svg.locator("xpath=ancestor-or-self::*[@tabindex][1]").focus()
        page.keyboard.press("ArrowRight")
        expect(f"{name}: so do the arrow keys on {plot}", appears(tooltip), "no tooltip")
        page.keyboard.press("Escape")
        expect(f"{name}: Escape hides it on {plot}", not tooltip.is_visible(), "a tooltip")

    headings = page.locator("h2, h3").all_inner_texts()
    for heading in ["Summary", "Uncertainty and calibration", "Training"]:
        expect(f"{name}: has the section {heading}", heading in headings, headings)
    nan = page.evaluate("""() => [...document.querySelectorAll("svg *")].flatMap(e =>
        [...e.attributes].filter(a => a.name !== "href" && /NaN|Infinity/.test(a.value)).map(a => e.tagName + " " + a.name + "=" + a.value.slice(0, 80)))""")
    expect(f"{name}: every coordinate is a number", not nan, nan[:3])
    scripts = page.evaluate("document.querySelectorAll('script').length")
    expect(f"{name}: scripts in names are shown, not run", scripts == 2 and "alert" not in "".join(messages), scripts)
    for scheme in ["light", "dark"]:
        page.emulate_media(color_scheme=scheme)
        for width in [360, 1280]:
            page.set_viewport_size({"width": width, "height": 800})
            beyond = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            expect(f"{name}: no horizontal scrolling at {width} px, {scheme}", beyond <= 0, f"{beyond} px")
            if shots := os.environ.get("SCREENSHOTS"):
                page.screenshot(path=f"{shots}/{name}-{width}-{scheme}.png", full_page=True)
    page.emulate_media(media="print", color_scheme="light")
    expect(f"{name}: prints", len(page.pdf()) > 10_000)
    expect(f"{name}: nothing on the console", not messages, messages)
    outside = [url for url in requests if not url.startswith(("data:", path.as_uri()))]
    expect(f"{name}: no request leaves the page", not outside, outside)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        pages = reports(Path(folder))
        chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name, path in pages.items():
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            check(page, name, path)
            page.close()
        browser.close()
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
