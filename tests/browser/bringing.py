"""Files that a person drops on the form of a post or pastes into it, and their descriptions."""

import json
from typing import Literal

from tests.browser.tab import Tab

# Whether the page takes them. If not, the browser does what it does on any page.
BRING = """async (event, names, text) => {
  const data = new DataTransfer();
  const canvas = new OffscreenCanvas(90, 60);
  canvas.getContext("2d").fillRect(0, 0, 60, 40);
  const image = await canvas.convertToBlob();
  for (const name of names) {
    data.items.add(new File([image], name, {type: name.endsWith(".png") ? "image/png" : "text/csv"}));
  }
  if (text) data.setData("text/plain", text);
  const options = {bubbles: true, cancelable: true, dataTransfer: data, clipboardData: data};
  const made = event === "paste" ? new ClipboardEvent(event, options) : new DragEvent(event, options);
  return !document.querySelector(".compose textarea").dispatchEvent(made);
}"""  # noqa: E501


def bring(
    tab: Tab, event: Literal["dragover", "drop", "paste"], *names: str, text: str = ""
) -> bool:
    """Files with these names, and a text with them. Whether the page takes them."""
    values = ", ".join(json.dumps(value) for value in (event, names, text))
    return bool(tab.run(f"({BRING})({values})"))


def describe(tab: Tab, number: int, text: str) -> None:
    """In the window that the photo opens."""
    tab.press(f"Describe photo {number}")
    tab.fill("Describe it for people who cannot see it", text)
    tab.press("Done")
