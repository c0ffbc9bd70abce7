/**
 * Reads JSON while it is being written: the value so far is available after every piece. Each character is read once.
 * A result copies the values that have changed since the last one, but never closed values.
 */
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { parseJson } from "./jsonText.ts"

/** How a value is shown: piece by piece, or only when it is complete and decodes. */
export type Growth =
  | { readonly kind: "text" }
  | { readonly kind: "object"; readonly field: (key: string) => Grown | undefined }
  | { readonly kind: "list"; readonly item: (index: number) => Grown | undefined }
  | { readonly kind: "whole"; readonly decode: (json: Schema.Json) => Result.Result<unknown, unknown> }

/** How to show a value; the answer may depend on its first character. */
export type Grown = (first: string) => Growth

type Fields = Record<string, unknown>

/** An object or a list whose end has not come. */
interface Frame {
  readonly growth: Growth | undefined
  /** The shown value, or raw JSON inside a value that is shown only when complete. */
  value: Fields | Array<unknown>
  /** Whether a caller holds this value; if so, it is copied before a change. */
  isShared: boolean
  key: string
  /** The number of values so far, hidden ones included. */
  count: number
  /** An item of a list could not be shown: no later item is shown, or it would seem to have the index of that item. */
  isStuck: boolean
}

/** What the reader expects next. With `canEnd`, the end of the innermost object or list may come instead. */
interface Expecting {
  readonly what: "value" | "key" | "colon" | "comma"
  readonly canEnd?: boolean
}
type Mode = "outside" | "between" | "string" | "token" | "done" | "broken"

const raw: Growth = { kind: "whole", decode: (json) => Result.succeed(json) }

export class PartialJson {
  readonly #root: Grown
  readonly #opening: string
  readonly #stack: Array<Frame> = []
  #mode: Mode = "outside"
  #expecting: Expecting = { what: "value" }
  /** The string or token that is being read, and whether the string is a key. */
  #text = ""
  /** The last code unit of the text. Reading it from a growing text would take time in the length of the text. */
  #last = 0
  #isKey = false
  /** The beginning of an escape sequence. */
  #escape = ""
  #growth: Growth | undefined
  #result: unknown
  #isChanged = false

  /** A reader of one value. `opening` is its first character; the text before it is skipped. */
  constructor(root: Grown, opening: string) {
    this.#root = root
    this.#opening = opening
  }

  /** Whether the value is complete. */
  get isDone(): boolean {
    return this.#mode === "done"
  }

  /** Takes the next piece; whether more is seen than before. */
  push(piece: string): boolean {
    this.#isChanged = false
    let at = 0
    while (at < piece.length && this.#mode !== "done" && this.#mode !== "broken") {
      if (this.#mode === "outside") at = this.#seek(piece)
      else if (this.#mode === "string") at = this.#inString(piece, at)
      else if (this.#mode === "token") at = this.#inToken(piece, at)
      else at = this.#between(piece, at)
    }
    return this.#isChanged
  }

  /** The value so far, which later pieces do not change; `undefined` if there is none. */
  get seen(): unknown {
    if (this.#mode === "done" || this.#mode === "broken") return this.#result
    let inner: { readonly value: unknown } | undefined =
      this.#mode === "string" && this.#isTextSeen() ? { value: this.#text.slice(0, this.#shownLength()) } : undefined
    for (let index = this.#stack.length - 1; index >= 0; index--) {
      const frame = this.#stack[index]
      if (frame === undefined || !isSeen(frame)) {
        inner = undefined
        continue
      }
      if (inner !== undefined) put(frame, inner.value)
      frame.isShared = true
      inner = { value: frame.value }
    }
    return inner?.value
  }

  #seek(piece: string): number {
    const at = piece.indexOf(this.#opening)
    if (at < 0) return piece.length
    this.#mode = "between"
    return at
  }

  #between(piece: string, start: number): number {
    const char = piece[start] ?? ""
    const next = start + 1
    if (char === " " || char === "\n" || char === "\t" || char === "\r") return next
    const { canEnd, what } = this.#expecting
    if (canEnd && (char === "]" || char === "}")) return this.#close(char, next)
    if (what === "value") return this.#begin(char, start)
    if (char !== signs[what]) return this.#break(next)
    if (what === "key") {
      this.#isKey = true
      this.#mode = "string"
    } else this.#expecting = { what: what === "comma" && !Array.isArray(this.#stack.at(-1)?.value) ? "key" : "value" }
    return next
  }

  #begin(char: string, start: number): number {
    const growth = this.#growthHere(char)
    if (char === "{" || char === "[") {
      const value = char === "{" ? {} : []
      // Mutant `"Stryker was here!"` survives: a key is read before the value that comes under it
      const frame: Frame = { growth, value, isShared: false, key: "", count: 0, isStuck: false }
      this.#stack.push(frame)
      this.#expecting = { what: char === "{" ? "key" : "value", canEnd: true }
      if (isSeen(frame)) this.#isChanged = true
      return start + 1
    }
    this.#growth = growth
    if (char === '"') {
      this.#isKey = false
      this.#mode = "string"
      if (growth?.kind === "text") this.#isChanged = true
      return start + 1
    }
    this.#mode = "token"
    return start
  }

  /** How to show the value that begins here; `undefined` to hide it. */
  #growthHere(char: string): Growth | undefined {
    const frame = this.#stack.at(-1)
    if (frame === undefined) return this.#root(char)
    const parent = frame.growth
    if (parent === undefined || frame.isStuck) return undefined
    if (parent.kind === "object") return parent.field(frame.key)?.(char)
    if (parent.kind === "list") return parent.item(frame.count)?.(char)
    return raw
  }

  #inString(piece: string, start: number): number {
    let at = start
    if (this.#escape !== "") return this.#inEscape(piece, at)
    while (at < piece.length) {
      const code = piece.charCodeAt(at)
      if (code === quote || code === backslash || code < 0x20) break
      at++
    }
    if (at > start) this.#append(piece.slice(start, at))
    if (at === piece.length) return at
    const code = piece.charCodeAt(at)
    if (code === quote) this.#endString()
    else if (code === backslash) this.#escape = "\\"
    else return this.#break(at)
    return at + 1
  }

  #inEscape(piece: string, start: number): number {
    this.#escape += piece[start] ?? ""
    const isLong = this.#escape[1] === "u"
    if (isLong && this.#escape.length < 6) return start + 1
    const read = parseJson(`"${this.#escape}"`)
    this.#escape = ""
    if (Result.isFailure(read)) return this.#break(start)
    this.#append(String(read.success))
    return start + 1
  }

  #append(text: string): void {
    const before = this.#shownLength()
    this.#text += text
    this.#last = text.charCodeAt(text.length - 1)
    if (this.#isTextSeen() && this.#shownLength() > before) this.#isChanged = true
  }

  #isTextSeen(): boolean {
    return !this.#isKey && this.#growth?.kind === "text"
  }

  /** The text without a trailing half of a surrogate pair. */
  #shownLength(): number {
    const isHalf = this.#text !== "" && this.#last >= 0xd800 && this.#last <= 0xdbff
    return this.#text.length - (isHalf ? 1 : 0)
  }

  #endString(): void {
    const text = this.#text
    // the second half is missing for good: the first half is shown as it is
    if (this.#isTextSeen() && this.#shownLength() < text.length) this.#isChanged = true
    this.#text = ""
    this.#mode = "between"
    const frame = this.#stack.at(-1)
    if (this.#isKey && frame !== undefined) {
      frame.key = text
      this.#expecting = { what: "colon" }
    } else this.#end(text, this.#growth)
  }

  #inToken(piece: string, start: number): number {
    let at = start
    while (at < piece.length && !isDelimiter(piece.charCodeAt(at))) at++
    this.#text += piece.slice(start, at)
    if (at === piece.length) return at
    const read = parseJson(this.#text)
    this.#text = ""
    if (Result.isFailure(read)) return this.#break(at)
    this.#mode = "between"
    this.#end(read.success, this.#growth)
    return at
  }

  #close(char: string, next: number): number {
    const frame = this.#stack.at(-1)
    if (frame === undefined || char !== (Array.isArray(frame.value) ? "]" : "}")) return this.#break(next)
    this.#stack.pop()
    // inside a value that is shown as a whole, JSON stays raw
    this.#end(frame.value, frame.growth)
    return next
  }

  /** A value is complete. */
  #end(value: unknown, growth: Growth | undefined): void {
    this.#expecting = { what: "comma", canEnd: true }
    const frame = this.#stack.at(-1)
    const isRaw = frame?.growth?.kind === "whole"
    // what is decoded is JSON that was read here
    const decoded = growth?.kind === "whole" && !isRaw ? growth.decode(value as Schema.Json) : undefined
    const isLost = growth === undefined || (decoded !== undefined && Result.isFailure(decoded))
    const seen = decoded !== undefined && Result.isSuccess(decoded) ? decoded.success : value
    if (frame === undefined) {
      this.#mode = "done"
      if (isLost) return
      this.#result = seen
      this.#isChanged ||= growth.kind === "whole"
      return
    }
    if (isLost) frame.isStuck ||= Array.isArray(frame.value)
    else {
      put(frame, seen)
      if (!isRaw && growth.kind === "whole") this.#isChanged = true
    }
    frame.count++
  }

  #break(at: number): number {
    // what was seen of a text stays
    this.#result = this.seen
    this.#mode = "broken"
    return at
  }
}

const signs = { key: '"', colon: ":", comma: "," } as const

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const endOfList = 0x5d
const endOfObject = 0x7d

const isDelimiter = (code: number): boolean =>
  code <= 0x20 || code === comma || code === endOfList || code === endOfObject

const isSeen = ({ growth }: Frame): boolean => growth?.kind === "object" || growth?.kind === "list"

/** Puts a value at the current place of the frame. */
const put = (frame: Frame, value: unknown): void => {
  if (frame.isShared) {
    frame.value = Array.isArray(frame.value) ? [...frame.value] : { ...frame.value }
    frame.isShared = false
  }
  if (Array.isArray(frame.value)) frame.value[frame.count] = value
  else if (frame.key !== "__proto__") frame.value[frame.key] = value
  else Object.defineProperty(frame.value, frame.key, { value, writable: true, enumerable: true, configurable: true })
}
