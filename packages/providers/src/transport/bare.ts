/** Takes JSON that stands by itself out of a stream of events: an answer that is none, or an error that is no event. */

export interface Events {
  /** Text as it came, without the JSON between. */
  readonly text: (text: string) => void
  /** JSON, or what begins like it, that ended before another event. */
  readonly bare: (json: string) => void
}

/** No line of an event begins with a brace or a bracket; blanks before it do not count. */
export class Bare {
  readonly #events: Events
  #isLineStart = true
  /** Blanks at the start of a line of which nothing else has come. */
  #held = ""
  /** Pieces of what has begun like JSON. */
  #open: Array<string> | undefined
  /** Its last characters, where a line may have begun. */
  #tail = ""

  constructor(events: Events) {
    this.#events = events
  }

  feed(text: string): void {
    let left = text
    while (left !== "")
      left = this.#open === undefined ? this.#outside(this.#held + left) : this.#within(left, this.#open)
  }

  /** What has begun like JSON and goes to the end of the text. */
  end(): string | undefined {
    return this.#open?.join("")
  }

  /** Gives out events, up to a line that begins like JSON; what is left from there. */
  #outside(text: string): string {
    const isAtOnce = this.#isLineStart && opening.test(text)
    const start = isAtOnce ? 0 : openingIn(text) + 1
    const isFound = isAtOnce || start > 0
    if (isFound) {
      this.#open = []
      this.#tail = ""
    }
    this.#held = isFound ? "" : heldOf(text, this.#isLineStart)
    const events = isFound ? text.slice(0, start) : text.slice(0, text.length - this.#held.length)
    if (events !== "") {
      this.#events.text(events)
      this.#isLineStart = /[\r\n]$/.test(events)
    }
    return isFound ? text.slice(start) : ""
  }

  /** Collects JSON, up to a line that is of an event again; what is left from there. */
  #within(text: string, open: Array<string>): string {
    const seen = this.#tail + text
    const end = seen.search(eventLine) + 1
    open.push(text)
    this.#tail = seen.slice(-longestField)
    if (end === 0) return ""
    const all = open.join("")
    const cut = all.length - seen.length + end
    this.#open = undefined
    this.#isLineStart = true
    this.#events.bare(all.slice(0, cut))
    return all.slice(cut)
  }
}

const opening = /^[ \t]*[{[]/

const openingLine = /[\r\n][ \t]*[{[]/

/** Where a line ends before one that begins like JSON, or -1. Long streams have line feeds alone, and are read quickly. */
const openingIn = (text: string): number => {
  if (text.includes("\r")) return text.search(openingLine)
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", end + 1)) {
    let at = end + 1
    while (text[at] === " " || text[at] === "\t") at++
    if (text[at] === "{" || text[at] === "[") return end
  }
  return -1
}

const eventLine = /[\r\n](?:data|event|id|retry)?:/

/** A line end, the longest name of a field and its colon, less one character. */
const longestField = 6

/** The blanks at the end of a text, if they begin a line. */
const heldOf = (text: string, isLineStart: boolean): string => {
  let at = text.length
  while (text[at - 1] === " " || text[at - 1] === "\t") at--
  const begins = at === 0 ? isLineStart : text[at - 1] === "\n" || text[at - 1] === "\r"
  return begins ? text.slice(at) : ""
}
