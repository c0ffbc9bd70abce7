/**
 * Makes texts of a run safe to show: no text can become markup or script, or change the direction of the text beside it.
 *
 * @internal
 */

/** Replaces each invisible character of a text by a visible sign. Line ends and tabs stay. */
export const visible = (text: string): string => text.replaceAll("\r\n", "\n").replaceAll(unseen(), sign)

/** Matches control characters, direction marks whose effect reaches beyond the text, and halves of surrogate pairs. */
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

/** Escapes a text for the content of an element or the value of an attribute, in HTML and in SVG. */
export const markup = (text: string): string =>
  visible(text).replaceAll(/[&<>"']/g, (character) => entities[character] ?? character)

/** A value as JSON for a script element. No text in it can end the element or begin a comment. */
export const scriptJson = (value: unknown): string =>
  JSON.stringify(value)
    .replaceAll("<", "\\u003c")
    .replaceAll(">", "\\u003e")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029")
