/**
 * Reads server-sent events line by line, and bare JSON between them: an answer that is not a stream, or an error that
 * is not an event.
 */
import { Pieces } from "./pieces.ts"
import * as Size from "./Size.ts"

export interface Heard {
  /** Called for each event with data; its name is `message` by default. */
  readonly event: (data: string, name: string) => void
  /** Called for bare JSON, or text that begins like JSON, that ends before the next event. */
  readonly bare: (json: string) => void
}

/** How large an event, or a whole answer, may be. */
export interface Limit {
  /** The names of events that repeat a whole answer. */
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
  /** The first data of the unfinished event. */
  #begun = ""
  #bare: Pieces | undefined

  constructor(heard: Heard, limit?: Limit) {
    this.#heard = heard
    this.#limit = limit
  }

  /** Whether a whole answer is read: JSON by itself, also if its first line has only begun, or an event that repeats one. */
  isWhole(beginning = ""): boolean {
    return this.#bare !== undefined || opening.test(beginning) || this.#limit?.whole?.has(this.#name) === true
  }

  /** The bytes of the unfinished event, or of the bare JSON, without their framing. */
  get size(): number {
    return this.#size
  }

  /** Takes a complete line without its line end. */
  line(line: string): void {
    // No line of an event begins with a brace or a bracket, apart from blanks.
    if (this.#bare !== undefined && !field.test(line)) return this.#addBare(line)
    if (this.#bare !== undefined) {
      const json = this.#bare.take()
      this.#bare = undefined
      this.#size = 0
      this.#heard.bare(json)
    } else if (opening.test(line)) {
      this.#bare = new Pieces()
      return this.#addBare(line)
    }
    if (line === "") this.#dispatch()
    else this.#field(line)
  }

  /** Ends the text with its last line. Returns the bare JSON at its end, and the data of an unfinished event. */
  end(rest: string): { readonly bare: string | undefined; readonly begun: string } {
    if (this.#bare !== undefined && !field.test(rest)) {
      this.#admits(Size.ofText(rest))
      return { bare: this.#bare.take() + rest, begun: this.#begun }
    }
    if (this.#bare !== undefined) this.line(rest)
    else if (opening.test(rest)) return { bare: rest, begun: this.#begun }
    else if (rest !== "") this.#field(rest)
    return { bare: undefined, begun: this.#begun }
  }

  #addBare(line: string): void {
    if (line.trim() === "") return
    if (!this.#admits(Size.ofText(line) + 1)) return
    this.#bare?.add(line)
    this.#bare?.add("\n")
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

  /** Whether the event is within the limit with this line. */
  #admits(bytes: number): boolean {
    this.#size += bytes
    return this.#limit?.admits(this.#size, this.isWhole()) ?? true
  }

  /** Ids, retry times and comments are ignored. */
  #field(line: string): void {
    const colon = line.indexOf(":")
    const name = colon === -1 ? line : line.slice(0, colon)
    if (name !== "data" && name !== "event") return
    const from = colon === -1 ? line.length : line.startsWith(" ", colon + 1) ? colon + 2 : colon + 1
    const value = line.slice(from)
    if (name === "event") {
      this.#name = value
      return
    }
    if (!this.#admits(Size.ofText(value) + (this.#hasData ? 1 : 0))) return
    if (this.#hasData) this.#data.add("\n")
    this.#hasData = true
    this.#data.add(value)
    this.#begun ||= value
  }
}

const opening = /^[ \t]*[{[]/

const field = /^(?:data|event|id|retry)?:/
