"""The spec editor: a text area with line numbers, and the problems of its text beside it.

Owns those elements. What a text means is decided by the callback it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dom import Element, Event, by_id, child_at, document, drop_last, enclosing, make, window, write
from handlers import lasting, listen
from study import problem_texts

from henad_web.errors import Problem

__all__ = ["Editor"]

QUIET_MS = 200
"""How long typing must rest before the text is read."""

INDENT = "  "


class Editor:
    """The text of a spec, its line numbers and its problems.

    `on_text` is called with the text once typing rests, and at once after `load`.
    """

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._area, self._gutter = by_id("editor"), by_id("gutter")
        self._list, self._plan_line = by_id("problems"), by_id("plan-line")
        self._read_later = lasting(self._read)
        self._timer: int | None = None
        self._leaving = False
        self._numbered = 0
        self._wrong_lines: set[int] = set()
        self._lines: list[int | None] = []
        listen(self._area, "input", self._typed)
        listen(self._area, "scroll", self._scrolled)
        listen(self._area, "keydown", self._key)
        listen(self._list, "click", self._problem_clicked)

    @property
    def text(self) -> str:
        """The text as it stands."""
        return str(self._area.value)

    def load(self, text: str) -> None:
        """Replace the text and read it at once."""
        self._area.disabled = False
        self._area.value = text
        self._area.setSelectionRange(0, 0)
        self._area.scrollTop = 0
        self._number()
        self._read()

    def flush(self) -> None:
        """Read the text now if reading it is still due."""
        if self._timer is not None:
            self._read()

    def show_plan(self, sentence: str, *, wrong: bool) -> None:
        """Show the plan line, or the sentence that stands in for it while the spec is `wrong`."""
        self._plan_line.toggleAttribute("data-wrong", wrong)
        write(self._plan_line, sentence)

    def show_problems(self, problems: Iterable[Problem], warnings: Iterable[str]) -> None:
        """List `problems` with their places, then `warnings`, and mark the lines that are wrong."""
        shown = list(problems)
        self._lines = [problem.place.line for problem in shown]
        items = [self._problem_item(index, problem) for index, problem in enumerate(shown)]
        items += [make("li", warning, "warning") for warning in warnings]
        self._list.replaceChildren(*items)
        self._mark({line for line in self._lines if line is not None})

    def _problem_item(self, index: int, problem: Problem) -> Element:
        place, sentence = problem_texts(problem)
        item = make("li")
        if problem.place.line is None:
            item.append(make("strong", place), document.createTextNode(f": {sentence}"))
            return item
        button = make("button", place)
        button.type = "button"
        button.dataset.problem = str(index)
        button.title = "Go to this line"
        item.append(button, document.createTextNode(sentence))
        return item

    def _number(self) -> None:
        count = self.text.count("\n") + 1
        for number in range(self._numbered + 1, count + 1):
            self._gutter.append(make("span", str(number)))
        for _ in range(count, self._numbered):
            drop_last(self._gutter)
        self._numbered = count
        self._scrolled()

    def _mark(self, wrong: set[int]) -> None:
        for line in self._wrong_lines ^ wrong:
            number = child_at(self._gutter, line - 1)
            if number is not None:
                number.classList.toggle("wrong", line in wrong)
        self._wrong_lines = wrong

    def _typed(self, _event: Event) -> None:
        self._number()
        if self._timer is not None:
            window.clearTimeout(self._timer)
        self._timer = window.setTimeout(self._read_later, QUIET_MS)

    def _read(self, *_: object) -> None:
        if self._timer is not None:
            window.clearTimeout(self._timer)
        self._timer = None
        self._on_text(self.text)

    def _scrolled(self, *_: object) -> None:
        self._gutter.scrollTop = self._area.scrollTop

    def _key(self, event: Event) -> None:
        if event.key == "Tab" and not self._leaving and not event.shiftKey:
            event.preventDefault()
            # The only way to insert text that undo takes back.
            document.execCommand("insertText", False, INDENT)
        self._leaving = event.key == "Escape"

    def _problem_clicked(self, event: Event) -> None:
        button = enclosing(event, "button[data-problem]")
        if button is None:
            return
        line = self._lines[int(button.dataset.problem)]
        if line is not None:
            self._go_to(line)

    def _go_to(self, line: int) -> None:
        lines = self.text.split("\n")
        start = sum(len(text) + 1 for text in lines[: line - 1])
        self._area.focus()
        self._area.setSelectionRange(start, start + len(lines[line - 1]))
        height = self._area.scrollHeight / max(1, len(lines))
        self._area.scrollTop = max(0.0, (line - 1) * height - self._area.clientHeight / 2)
