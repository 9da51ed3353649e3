"""The benchmark page measures every case and prints a table and JSON. No figure is judged here."""

from __future__ import annotations

import json
import re

from playwright.sync_api import Page, expect

from henad_native.site import ServedFolder


def test_the_benchmark_prints_every_case_bare_and_in_a_sweep(page: Page, server: ServedFolder) -> None:
    page.goto(f"{server.address}bench.html")
    expect(page.locator("#boot")).to_have_attribute("data-stage", "ready")
    page.get_by_label("Stepping time of a sweep, seconds").fill("0.1")
    page.get_by_role("button", name="Measure").click()
    expect(page.locator("#bench-state")).to_have_attribute("data-phase", "ended", timeout=240_000)

    expect(page.locator("#bench-body tr")).to_have_count(3)
    printed = json.loads(page.locator("#bench-json").inner_text())
    assert [(item["model"], item["side"]) for item in printed["results"]] == [
        ("game_of_life", 256),
        ("game_of_life", 1024),
        ("sir", 256),
    ]
    for item in printed["results"]:
        assert item["bare_cell_updates_per_s"] > 0
        for sweep in (item["handle_stats_every_100"], item["handle_stats_every_1"]):
            assert sweep["rate"] > 0
            assert sweep["frames"] > 1
            assert sweep["stepping_ms"] <= sweep["pump_ms"]


def test_the_pages_lead_to_each_other(page: Page, server: ServedFolder) -> None:
    page.goto(server.address)
    for link, address in [
        ("Benchmarks of this browser", r"/bench\.html$"),
        ("Back to the sweeps", r"/index\.html$"),
    ]:
        # Whoever leaves earlier has the browser give up what the page still asks for.
        expect(page.locator("#boot")).to_have_attribute("data-stage", "ready")
        page.get_by_role("link", name=link).click()
        expect(page).to_have_url(re.compile(address))
    expect(page.locator("#boot")).to_have_attribute("data-stage", "ready")
