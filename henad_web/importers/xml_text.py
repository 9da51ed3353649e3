"""Reading XML that nobody vouches for: elements with their lines, and no entity ever expanded.

Owns safety: a text that declares or uses an entity is refused, external documents are never fetched, depth is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

__all__ = ["Element", "XmlTextError", "read_xml"]

_MAX_DEPTH = 64


class XmlTextError(ValueError):
    """A text that is not XML, or not XML that is read here. `line` counts from 1."""

    def __init__(self, wrong: str, line: int) -> None:
        self.line = line
        super().__init__(wrong)


@dataclass(slots=True)
class Element:
    """One element.

    Attributes:
        tag: Its name.
        attributes: Its attributes.
        line: Line it starts in, from 1.
        text: The text directly in it.
        children: The elements directly in it, in order.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def walk(self) -> Iterator[Element]:
        """Yield this element and everything below it, in the order of the text."""
        yield self
        for child in self.children:
            yield from child.walk()


def read_xml(text: str, *, first_line: int = 1) -> Element:
    """Return the root element of `text`, whose first line is `first_line` of a file.

    Raises:
        XmlTextError: It is not well-formed, names an entity, or is nested too deeply.
    """
    parser = expat.ParserCreate("utf-8")
    open_elements: list[Element] = []
    roots: list[Element] = []

    def line() -> int:
        return int(parser.CurrentLineNumber) + first_line - 1

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, line())
        if len(open_elements) >= _MAX_DEPTH:
            raise XmlTextError(f"more than {_MAX_DEPTH} elements inside one another", line())
        (open_elements[-1].children if open_elements else roots).append(element)
        open_elements.append(element)

    def end(tag: str) -> None:
        open_elements.pop()

    def characters(data: str) -> None:
        if open_elements:
            open_elements[-1].text += data

    def entity(*named: object) -> None:
        raise XmlTextError(f"the entity '{named[0]}', which experiments never need", line())

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = characters
    parser.EntityDeclHandler = parser.SkippedEntityHandler = entity
    parser.buffer_text = True
    try:
        parser.Parse(text.encode(), True)
    except expat.ExpatError as error:
        wrong = f"not well-formed XML: {expat.ErrorString(error.code)}"
        raise XmlTextError(wrong, error.lineno + first_line - 1) from error
    return roots[0]
