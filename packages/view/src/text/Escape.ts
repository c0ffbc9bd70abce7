/**
 * Makes texts of a run safe to show: none of them can become markup or script, or turn around what stands beside them.
 *
 * @internal
 */

/** A text with a visible sign for each invisible character. Line ends and tabs stay. */
export const visible = (text: string): string => text.replaceAll("\r\n", "\n").replaceAll(unseen(), sign)

/** Controls, directions that reach beyond their text, and halves of characters. */
const unseen = () =>
  // oxlint-disable-next-line no-control-regex -- these are what it looks for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]|\p{Cs}/gu

const sign = (character: string): string => {
  const code = character.charCodeAt(0)
  if (code === 0x0d || code === 0x2028 || code === 0x2029) return "\n"
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  if (code === 0x7f) return "\u2421"
  if (code >= 0xd800 && code <= 0xdfff) return "\ufffd"
  return `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

/** A text as the content of an element or the value of an attribute, in HTML and in SVG. */
export const markup = (text: string): string =>
  visible(text).replaceAll(/[&<>"']/g, (character) => entities[character] ?? character)

/** A value as JSON that may stand in a script element: what is in it can neither end that nor begin a comment. */
export const scriptJson = (value: unknown): string =>
  JSON.stringify(value)
    .replaceAll("<", "\\u003c")
    .replaceAll(">", "\\u003e")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029")
