"""Opens reports on every kind of input in headless Chromium and checks what a reader would see.

    browser/check      installs what it needs into .venv-browser; IGN_BINARY overrides target/release/ign

No console message, no request, every figure with title, axes and caption, hovering shows the example, tables are saved as
CSV, and the page says the same without its script.
"""

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, TimeoutError, sync_playwright

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


def tables(page: Page, name: str) -> None:
    """Every table of numbers has a button that saves it, with numbers that other programs read."""
    shown, buttons = page.locator("table.metrics"), page.locator("button.csv")
    expect(f"{name}: every table has a CSV button", shown.count() == buttons.count(), f"{shown.count()} and {buttons.count()}")
    if not buttons.count():
        return
    # One inside of what is folded is not visible.
    button = page.locator("button.csv:visible").first
    with page.expect_download() as download:
        button.click()
    with open(download.value.path(), newline="", encoding="utf-8-sig") as file:
        lines = list(csv.reader(file))
    table = button.locator("xpath=preceding-sibling::div[1]/table")
    rows = table.locator("tr").count()
    expect(f"{name}: the CSV file has the table's rows", len(lines) == rows and len({len(line) for line in lines}) == 1, lines[:2])
    odd = [cell for line in lines for cell in line if any(sign in cell for sign in "−\u00a0")]
    expect(f"{name}: its numbers are plain", not odd, odd[:3])


def thresholds(page: Page, name: str) -> None:
    """The slider says what becomes of the rows, and marks the place on both curves."""
    for box in page.locator(".threshold").all():
        says = box.locator("output")
        values = lambda: dict(zip(says.locator("dt").all_inner_texts(), says.locator("dd").all_inner_texts()))
        whole = lambda key: int(values()[key].replace(",", ""))
        slider = box.locator("input")
        slider.evaluate("e => { e.value = e.min; e.dispatchEvent(new Event('input')); }")
        expect(f"{name}: the lowest threshold finds all", values()["Recall"] == "100\u00a0%" and whole("False negatives") == 0, values())
        before = whole("True positives") + whole("False positives")
        slider.evaluate("e => { e.value = e.max; e.dispatchEvent(new Event('input')); }")
        after = whole("True positives") + whole("False positives")
        expect(f"{name}: the highest flags fewer rows", after < before, f"{before} and {after}")
        counts = ["True positives", "False positives", "False negatives", "True negatives"]
        expect(f"{name}: no row is lost at a threshold", sum(map(whole, counts)) == before, values())
        marks = page.locator(f"[id='{box.get_attribute('data-of')}'] svg .at[visibility=visible]").count()
        expect(f"{name}: both curves mark the threshold", marks == 2, marks)


def folded(page: Page, name: str) -> None:
    """What is for experts is folded, and a link to it opens it."""
    experts = page.locator("details.experts").first
    expect(f"{name}: what is for experts is folded", not experts.evaluate("e => e.open"))
    section = experts.locator("section").first.get_attribute("id")
    page.locator(f"nav a[href='#{section}']").click()
    expect(f"{name}: a link opens it", appears(page.locator(f"[id='{section}'] figure").first))
    page.evaluate("document.querySelectorAll('details.experts').forEach(e => { e.open = true; })")


def without_script(browser: Browser, name: str, path: Path) -> None:
    """The text and the figures are there, and nothing that needs the script."""
    context = browser.new_context(java_script_enabled=False, viewport={"width": 800, "height": 800})
    page = context.new_page()
    page.goto(path.as_uri())
    seen = page.locator(".verdict:visible, figure:visible").count()
    expect(f"{name}: readable without the script", seen >= 4, seen)
    expect(f"{name}: shows no control that needs it", page.locator(".js:visible").count() == 0)
    context.close()


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

    verdict = " ".join(page.locator(".verdict").all_inner_texts())
    expect(f"{name}: a verdict comes first", verdict.startswith("On ") and " rows" in verdict, verdict)
    expect(f"{name}: no replacement character", "\ufffd" not in page.locator("body").inner_text())
    tables(page, name)
    thresholds(page, name)
    folded(page, name)

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
    for heading in ["Summary", "Uncertainty and calibration", "For experts", "Training"]:
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
            without_script(browser, name, path)
        browser.close()
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
