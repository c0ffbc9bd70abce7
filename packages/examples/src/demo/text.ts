/** Text for one line of a terminal: nothing in it moves the cursor, and nothing is endless. */
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as Predicate from "effect/Predicate"

/** Control characters and line ends made visible. */
export const plain = (text: string): string => {
  let shown = ""
  for (const character of text) shown += visible(character)
  return shown
}

const names = new Map([
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"]
])

const visible = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  const isControl = code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x2028 && code <= 0x202e)
  return isControl ? (names.get(character) ?? `\\x${code.toString(16).padStart(2, "0")}`) : character
}

/** Of a text, as much as fits on a line. */
export const clip = (text: string, width = 100): string => {
  const characters = Array.from(plain(text.slice(0, 4 * width)))
  return characters.length <= width && text.length <= 4 * width
    ? characters.join("")
    : `${characters.slice(0, width).join("")}…`
}

/** An error on one line: its tag and what it says. */
export const describeError = (error: unknown): string => {
  const { message, name } = ErrorCause.summarise(error)
  return message === "" ? name : `${name}: ${clip(message)}`
}

/** The same for a failed request: its status and the server's own words, where it answered at all. */
export const describeSend = (error: unknown): string => {
  if (!Predicate.hasProperty(error, "status")) return describeError(error)
  const words = Predicate.hasProperty(error, "detail") && Predicate.isString(error.detail) ? error.detail : ""
  return `HTTP ${String(error.status)}${words === "" ? "" : `, ${clip(words, 70)}`}`
}
