"""Strangers' words and large records on the page about a folder, in a browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simgap.records.kept import write_record
from simgap.report.explorer import write_explorer
from tests.report import explorer_cases as cases
from tests.report.browsing import Watched, needs_a_browser, rows_of
from tests.report.sweep_cases import strange_sweep

pytestmark = needs_a_browser

HURT = "window.hurt=1"
PAYLOADS = (
    f"<script>{HURT}</script>",
    f"</script><script>{HURT}</script>",
    f"</title><script>{HURT}</script>",
    f"</style><script>{HURT}</script>",
    f"</textarea><script>{HURT}</script>",
    f"</noscript><script>{HURT}</script>",
    f"</svg><script>{HURT}</script>",
    f"]]><script>{HURT}</script>",
    f"--><script>{HURT}</script>",
    f"<!--<script>{HURT}",
    f"<img src=x onerror={HURT}>",
    f"<img src=x onerror='{HURT}'>",
    f'<img src=x onerror="{HURT}">',
    f"<IMG/SRC=x/ONERROR={HURT}>",
    f"<svg onload={HURT}>",
    f"<svg><script>{HURT}</script></svg>",
    f"<svg><animate onbegin={HURT} attributeName=x>",
    f"<body onload={HURT}>",
    f"<iframe srcdoc='<script>parent.{HURT}</script>'>",
    f"<iframe src=javascript:parent.{HURT}>",
    f"<object data=javascript:{HURT}>",
    f"<embed src=javascript:{HURT}>",
    f"<a href=javascript:{HURT}>click</a>",
    f"<a href='javascript:{HURT}'>click</a>",
    f'<a href="data:text/html,<script>{HURT}</script>">x</a>',
    "<a href='https://example.org/'>away</a>",
    "<b>bold</b><br><sub>low</sub>",
    f"<span style='background:url(javascript:{HURT})'>x</span>",
    "<style>*{display:none}</style>",
    "<link rel=stylesheet href=//example.org/x.css>",
    "<meta http-equiv=refresh content=0;url=https://example.org/>",
    "<base href=https://example.org/>",
    f"<form action=javascript:{HURT}><button>x</button></form>",
    f"<details open ontoggle={HURT}>",
    f"<input autofocus onfocus={HURT}>",
    f"<marquee onstart={HURT}>",
    f"<video><source onerror={HURT}></video>",
    f"' onmouseover='{HURT}",
    f'" onmouseover="{HURT}',
    f"` onmouseover=`{HURT}",
    f"javascript:{HURT}",
    f"&lt;script&gt;{HURT}&lt;/script&gt;",
    f"&#60;img src=x onerror={HURT}&#62;",
    "{{ 7 * 7 }}{% raw %}",
    "%{customdata} %{x} %{y:$,.2f}",
    "$\\href{javascript:alert(1)}{x}$",
    "__proto__",
    "=HYPERLINK(1,2)",
    f"\\u003cimg src=x onerror={HURT}\\u003e",
    "2020-01-01",
    "1e5",
)


# strangers


@pytest.fixture(scope="module")
def hostile(
    browser: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("hostile") / "<img src=x onerror=window.hurt=1>"
    (folder / "claims").mkdir(parents=True)
    for at, text in enumerate(PAYLOADS):
        record = cases.refuted(
            text,
            title=text,
            statement=text,
            source=text,
            summary=text,
            errata=[text],
            key_number={"name": text, "value": cases.certified(1.0)},
            checks=[cases.claim()["checks"][0] | {"name": text}],
            command=text,
            versions={text: text},
        )
        write_record(record, folder / "claims" / f"a{at:02}.json")
    figure = {
        "title": PAYLOADS[10],
        "x": PAYLOADS[22],
        "y": PAYLOADS[23],
        "note": PAYLOADS[11],
        "marks": [[float(at), text] for at, text in enumerate(PAYLOADS[:3], start=1)],
        "curves": [
            cases.curve(
                text, [cases.point(1, at + 1), cases.point(2, at + 2)], "certified"
            )
            for at, text in enumerate(PAYLOADS)
        ],
    }
    table = {
        "title": PAYLOADS[0],
        "columns": list(PAYLOADS[:3]),
        "rows": [[text, text, 1.0] for text in PAYLOADS],
    }
    record = cases.claim("figures", figures=[figure], tables=[table])
    write_record(record, folder / "claims" / "z.json")
    write_record(
        cases.gap(*PAYLOADS, policies=PAYLOADS, left_out={PAYLOADS[1]: PAYLOADS[2]}),
        folder / "gap.json",
    )
    write_record(
        cases.run(
            *PAYLOADS,
            policy=PAYLOADS[12],
            notes=[{"code": text, "text": text} for text in PAYLOADS],
        ),
        folder / "run.json",
    )
    write_record(
        cases.oracle(
            *PAYLOADS,
            solver=PAYLOADS[3],
            outcome=PAYLOADS[4],
            baselines={text: {"average_gap": 1.0, "note": text} for text in PAYLOADS},
        ),
        folder / "oracle.json",
    )
    strange_sweep(folder, *PAYLOADS)
    for at, text in enumerate(PAYLOADS):
        if "/" not in text:
            (folder / f"{text}.json").write_text("{}", encoding="utf-8")
        (folder / f"run-{at}.json").write_text(json.dumps({text: text}))
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_explorer(folder, path)
    opened = Watched(browser, path, viewport={"width": 1000, "height": 900})
    yield opened
    opened.page.close()


def unharmed(hostile: Watched) -> None:
    assert hostile.page.evaluate("window.hurt") is None
    assert hostile.page.evaluate("window.broken") == []
    assert hostile.complaints == []
    assert {url for url in hostile.asked if not url.startswith("blob:")} == {
        hostile.page.url
    }


def test_hostile_words_run_nothing_and_load_nothing(hostile: Watched) -> None:
    assert len(PAYLOADS) >= 40
    page = hostile.page
    unharmed(hostile)
    assert page.locator("[data-state=failed]").count() == 0
    assert (
        page.locator("[data-state=drawn]").count()
        == page.locator("[data-figure]").count()
    )
    strange = page.evaluate(
        "document.querySelectorAll('img, iframe, object, embed, form, input, video,"
        " marquee, base, link, svg a, [onload], [onerror], [onmouseover], [onfocus],"
        ' a:not([href^="#"]), body style, body meta\').length'
    )
    assert strange == 0
    assert page.locator("script").count() == 5
    assert "&lt;" not in page.locator("h1").inner_text()
    assert "<img src=x onerror=window.hurt=1>" in page.locator("h1").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= 1000


def test_hostile_cells_of_a_file_are_no_formulas(hostile: Watched) -> None:
    page = hostile.page
    table = page.locator(".sheet").filter(has_text="HYPERLINK").last
    rows = rows_of(page, table.locator("[data-csv]"))
    assert len(rows) == 1 + len(PAYLOADS)
    assert [row[0] for row in rows[1:]] == [
        f"'{text}" if text[0] in "=-" else text for text in PAYLOADS
    ]
    unharmed(hostile)


def test_the_policy_stops_what_would_run_or_leave(hostile: Watched) -> None:
    """The control: a script and a request that the page does not know are refused."""
    page = hostile.page
    page.evaluate(
        "() => { const s = document.createElement('script');"
        "s.textContent = 'window.hurt = 2'; document.body.append(s); s.remove();"
        "fetch('https://example.org/').catch(() => 0);"
        "const i = new Image(); i.src = 'https://example.org/x.png'; }"
    )
    page.wait_for_function("() => window.broken.length >= 3")
    broken = page.evaluate("window.broken")
    for directive in ("script-src", "connect-src", "img-src"):
        assert any(each.startswith(directive) for each in broken), broken
    assert page.evaluate("window.hurt") is None
    page.evaluate("window.broken = []")
    hostile.complaints.clear()
    hostile.asked[:] = [page.url]


# size


def test_a_thousand_models_stay_usable(browser: Any, tmp_path: Path) -> None:
    names = [f"friction={at / 1000:.3f}" for at in range(1000)]
    policies = tuple(f"policy {at}" for at in range(9))
    write_record(cases.gap(*names, policies=policies), tmp_path / "gap.json")
    size = write_explorer(tmp_path, tmp_path / "page.html")
    assert size < 2_000_000
    opened = Watched(
        browser, tmp_path / "page.html", viewport={"width": 1200, "height": 900}
    )
    page = opened.page
    assert page.locator("[data-state=drawn]").count() == 1
    drawn = page.locator(".canvas")
    assert 10 <= drawn.locator(".xtick text").count() <= 80
    drawn.focus()
    page.keyboard.press("End")
    assert (
        page.locator(".reading").inner_text().startswith("policy 0; 0.999; gap: 0.999")
    )
    page.keyboard.press("ArrowDown")
    assert "policy 1; 0.999" in page.locator(".reading").inner_text()
    drawn.locator(".hovertext", has_text="0.999").wait_for()
    page.evaluate(
        "Plotly.relayout(document.querySelector('.canvas'),"
        " {'xaxis.range': [99.5, 109.5]})"
    )
    box = drawn.bounding_box()
    where = drawn.evaluate(
        "c => { const l = c._fullLayout; return [l._size.l + l.xaxis.d2p(104),"
        " l._size.t + l.yaxis.d2p(3)]; }"
    )
    page.mouse.move(box["x"] + where[0], box["y"] + where[1])
    page.mouse.move(box["x"] + where[0] + 1, box["y"] + where[1])
    drawn.locator(".hovertext", has_text="0.104").wait_for()
    assert page.locator(".sheet").nth(1).locator("tbody tr").count() == 60
    assert "940 more rows are in the CSV file." in page.text_content("main")
    rows = rows_of(page, page.locator("figure [data-csv]"))
    assert len(rows) == 9001
    page.locator(".numbers tr").first.wait_for()
    assert page.locator(".numbers tr").count() == 501
    assert page.evaluate("document.documentElement.scrollWidth") <= 1200
    assert opened.complaints == []
    page.close()
