/**
 * Server-sent events, line by line, and JSON that stands by itself between them: an answer that is no stream, or an error that is
 * no event.
 */
import { Pieces } from "./pieces.ts"

export interface Heard {
  /** An event that has data, and its name: `message` where it has none. */
  readonly event: (data: string, name: string) => void
  /** JSON, or what begins like it, that ended before another event. */
  readonly bare: (json: string) => void
}

export class Events {
  readonly #heard: Heard
  #name = ""
  #hasData = false
  readonly #data = new Pieces()
  /** The first data of the event that has not ended. */
  #begun = ""
  #bare: Pieces | undefined

  constructor(heard: Heard) {
    this.#heard = heard
  }

  /** Takes a line that has ended, without its end. */
  line(line: string): void {
    // no line of an event begins with a brace or a bracket; blanks before it do not count
    if (this.#bare !== undefined && !field.test(line)) return this.#addBare(line)
    if (this.#bare !== undefined) {
      const json = this.#bare.take()
      this.#bare = undefined
      this.#heard.bare(json)
    } else if (opening.test(line)) {
      this.#bare = new Pieces()
      return this.#addBare(line)
    }
    if (line === "") this.#dispatch()
    else this.#field(line)
  }

  /** What has begun like JSON and goes to the end of the text, and the data of an event that has not ended; with the last line. */
  end(rest: string): { readonly bare: string | undefined; readonly begun: string } {
    if (this.#bare !== undefined && !field.test(rest)) return { bare: this.#bare.take() + rest, begun: this.#begun }
    if (this.#bare !== undefined) this.line(rest)
    else if (opening.test(rest)) return { bare: rest, begun: this.#begun }
    else if (rest !== "") this.#field(rest)
    return { bare: undefined, begun: this.#begun }
  }

  #addBare(line: string): void {
    this.#bare?.add(line)
    this.#bare?.add("\n")
  }

  #dispatch(): void {
    const name = this.#name === "" ? "message" : this.#name
    this.#name = ""
    this.#begun = ""
    if (!this.#hasData) return
    this.#hasData = false
    this.#heard.event(this.#data.take(), name)
  }

  /** Ids, times and comments say nothing here. */
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
    if (this.#hasData) this.#data.add("\n")
    this.#hasData = true
    this.#data.add(value)
    this.#begun ||= value
  }
}

const opening = /^[ \t]*[{[]/

const field = /^(?:data|event|id|retry)?:/
