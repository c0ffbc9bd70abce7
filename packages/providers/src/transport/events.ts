/**
 * Reads server-sent events line by line, and the bare JSON between them: an answer that is not a stream, or an error that is not an event.
 */
import { Pieces } from "./pieces.ts"
import * as Size from "./Size.ts"

export interface Heard {
  /** Called with the data and the name of each event that has data. The name is `message` by default. */
  readonly event: (data: string, name: string) => void
  /** Called with the text of bare JSON, or of text that begins like JSON, when the next event begins. */
  readonly bare: (json: string) => void
}

/** The size limits of an event and of a whole answer. */
export interface Limit {
  /** The names of the events that repeat a whole answer. */
  readonly whole?: ReadonlySet<string> | undefined
  readonly admits: (bytes: number, isWhole: boolean) => boolean
}

export class Events {
  readonly #heard: Heard
  readonly #limit: Limit | undefined
  #size = 0
  #name = ""
  #hasData = false
  readonly #data = new Pieces()
  /** The first data line of the event that is not complete yet. */
  #begun = ""
  #bare: Pieces | undefined

  constructor(heard: Heard, limit?: Limit) {
    this.#heard = heard
    this.#limit = limit
  }

  /**
   * Whether the present text is a whole answer: bare JSON, a line with this beginning that begins like JSON, or an event that repeats the
   * whole answer.
   */
  isWhole(beginning = ""): boolean {
    return this.#bare !== undefined || opening.test(beginning) || this.#limit?.whole?.has(this.#name) === true
  }

  /** The bytes of the event, or of the bare JSON, that is not complete yet, without framing. */
  get size(): number {
    return this.#size
  }

  /** Reads a complete line, which is given without its line end, and has so many bytes. */
  line(line: string, bytes = Size.ofText(line)): void {
    // No line of an event begins with a brace or a bracket, blanks aside.
    if (this.#bare !== undefined && !field.test(line)) return this.#addBare(this.#bare, line, bytes)
    if (this.#bare !== undefined) {
      const json = this.#bare.take()
      this.#bare = undefined
      this.#size = 0
      this.#heard.bare(json)
    } else if (opening.test(line)) {
      this.#bare = new Pieces()
      return this.#addBare(this.#bare, line, bytes)
    }
    if (line === "") this.#dispatch()
    else this.#field(line, bytes)
  }

  /**
   * Reads the last line of the text, and ends. Returns the bare JSON at the end of the text, and the data of an event that is not complete.
   */
  end(rest: string): { readonly bare: string | undefined; readonly begun: string } {
    if (this.#bare !== undefined && !field.test(rest)) {
      this.#admits(Size.ofText(rest))
      return { bare: this.#bare.take() + rest, begun: this.#begun }
    }
    if (this.#bare !== undefined) this.line(rest)
    else if (opening.test(rest)) return { bare: rest, begun: this.#begun }
    else if (rest !== "") this.#field(rest, Size.ofText(rest))
    return { bare: undefined, begun: this.#begun }
  }

  #addBare(bare: Pieces, line: string, bytes: number): void {
    if (line.trim() === "") return
    if (!this.#admits(bytes + 1)) return
    bare.add(line)
    bare.add("\n")
  }

  #dispatch(): void {
    const name = this.#name === "" ? "message" : this.#name
    this.#name = ""
    this.#begun = ""
    this.#size = 0
    if (!this.#hasData) return
    this.#hasData = false
    this.#heard.event(this.#data.take(), name)
  }

  /** Adds the bytes of a line to the event. Returns whether the event is still within the limit. */
  #admits(bytes: number): boolean {
    this.#size += bytes
    return this.#limit?.admits(this.#size, this.isWhole()) ?? true
  }

  /** Reads a line of an event. Only `data` and `event` count; ids, retry times and comments are ignored. */
  #field(line: string, bytes: number): void {
    const colon = line.indexOf(":")
    const name = colon === -1 ? line : line.slice(0, colon)
    if (name !== "data" && name !== "event") return
    const from = colon === -1 ? line.length : line.startsWith(" ", colon + 1) ? colon + 2 : colon + 1
    const value = line.slice(from)
    if (name === "event") {
      this.#name = value
      return
    }
    // the name and the colon take one byte for each character
    if (!this.#admits(bytes - from + (this.#hasData ? 1 : 0))) return
    if (this.#hasData) this.#data.add("\n")
    this.#hasData = true
    this.#data.add(value)
    this.#begun ||= value
  }
}

const opening = /^[ \t]*[{[]/

const field = /^(?:data|event|id|retry)?:/
