/**
 * Makes JSON of a text that is nearly JSON, in one pass from its beginning to its end. Quotes, commas, comments, names without
 * quotes and the like are mended. A value, a bracket or the end of a text that is missing is not: such a text was cut off, and half
 * an argument is not what the model meant.
 */
import * as Result from "effect/Result"
import { type Quoted, readString } from "./quoted.ts"

/** What may be JSON now; nothing where the text cannot be mended. */
export const repair = (text: string): string | undefined => {
  const plain = escaped.test(text) ? unescaped(text) : text
  return plain === undefined ? undefined : new Repair(plain).run()
}

/** A text that stands within a JSON string, but for its quotes. */
const escaped = /^\s*[{[](?:\s|\\[nrt])*\\"/

const unescaped = (text: string): string | undefined => {
  const line = text.replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t")
  return Result.getOrElse(
    Result.try(() => String(JSON.parse(`"${line}"`))),
    () => undefined
  )
}

type Expecting = "root" | "key" | "colon" | "value" | "item" | "next" | "end"

class Repair {
  readonly #text: string
  #at = 0
  readonly #out: Array<string> = []
  /** The brackets that are open. */
  readonly #open: Array<string> = []
  #expecting: Expecting = "root"
  /** Where the comma stands, if nothing has come after it. */
  #comma: number | undefined
  /** Whether nothing has come after the innermost bracket. */
  #isFirst = false

  constructor(text: string) {
    this.#text = text
  }

  run(): string | undefined {
    for (;;) {
      this.#skipBlanks()
      const char = this.#text[this.#at]
      if (char === undefined) return this.#expecting === "end" ? this.#out.join("") : undefined
      if (!this.#step(char)) return undefined
    }
  }

  /** Reads what begins here; whether it can be. */
  #step(char: string): boolean {
    switch (this.#expecting) {
      case "root":
        return this.#begin(char) || this.#skip(fence)
      case "key":
        return this.#none(char, "}") || this.#key(char)
      case "item":
        return this.#none(char, "]") || this.#value(char)
      case "value":
        return this.#value(char)
      case "colon":
        if (char === ":") this.#at++
        else if (!startOfValue.test(char)) return false
        return this.#emit(":", "value")
      case "next":
        return this.#next(char)
      case "end":
        return this.#skip(tooMuch)
    }
  }

  /** The end, or what stands in the place of a key or an item and is none. */
  #none(char: string, close: string): boolean {
    if (char === close) return this.#close(close)
    if (char !== "," || !this.#isFirst) return this.#skip(ellipsis)
    this.#isFirst = false
    this.#at++
    return true
  }

  #next(char: string): boolean {
    const isObject = this.#open.at(-1) === "{"
    const [close, start, expecting] = isObject
      ? (["}", startOfKey, "key"] as const)
      : (["]", startOfValue, "item"] as const)
    if (char === close) return this.#close(close)
    if (char === ",") {
      this.#at++
      return this.#emit(",", expecting)
    }
    return this.#skip(ellipsis) || (start.test(char) && this.#emit(",", expecting))
  }

  #begin(char: string): boolean {
    if (char !== "{" && char !== "[") return false
    this.#at++
    this.#open.push(char)
    return this.#emit(char, char === "{" ? "key" : "item")
  }

  #close(close: string): boolean {
    // a comma that nothing follows
    if (this.#comma !== undefined) this.#out[this.#comma] = ""
    this.#at++
    this.#open.pop()
    return this.#emit(close, this.#open.length === 0 ? "end" : "next")
  }

  #key(char: string): boolean {
    const read = readString(this.#text, this.#at)
    if (read !== undefined) return this.#take(read, "colon")
    if (!startOfKey.test(char)) return false
    const word = this.#upTo(endOfKey).trimEnd()
    // only its first quote is missing
    if (this.#find(quotedKeyEnd) !== undefined) this.#at++
    return this.#emit(JSON.stringify(word), "colon")
  }

  #value(char: string): boolean {
    if (this.#begin(char)) return true
    const read = readString(this.#text, this.#at)
    if (read !== undefined) return this.#take(this.#joined(read), "next")
    const name = this.#find(literal)
    if (name !== undefined) {
      this.#at += name.length
      return this.#emit(literals.get(name) ?? name, "next")
    }
    const number = this.#find(numeral)
    if (number !== undefined && endOfNumber.test(this.#text.charAt(this.#at + number.length))) {
      this.#at += number.length
      return this.#emit(numberOf(number), "next")
    }
    const word = this.#upTo(endOfText).trimEnd()
    if (word === "") return false
    // only its first quote is missing
    if (this.#text[this.#at] === '"' && !this.#skip(quotedTextEnd)) return false
    return this.#emit(JSON.stringify(word), "next")
  }

  /** A text with those that are added to it by a plus. */
  #joined(first: Quoted | "cut"): Quoted | "cut" {
    if (first === "cut") return first
    const parts = [first.content]
    let { end } = first
    for (;;) {
      const plus = this.#find(addition, end)
      const more = plus === undefined ? undefined : readString(this.#text, end + plus.length)
      if (more === undefined) return { content: parts.join(""), end }
      if (more === "cut") return more
      parts.push(more.content)
      end = more.end
    }
  }

  #take(read: Quoted | "cut", expecting: Expecting): boolean {
    if (read === "cut") return false
    this.#at = read.end
    return this.#emit(`"${read.content}"`, expecting)
  }

  #emit(json: string, expecting: Expecting): boolean {
    this.#comma = json === "," ? this.#out.length : undefined
    this.#isFirst = json === "{" || json === "["
    this.#out.push(json)
    this.#expecting = expecting
    return true
  }

  #upTo(end: RegExp): string {
    end.lastIndex = this.#at
    const word = this.#text.slice(this.#at, end.exec(this.#text)?.index)
    this.#at += word.length
    return word
  }

  #skipBlanks(): void {
    for (;;) {
      const blank = this.#find(blanks)
      if (blank !== undefined) {
        this.#at += blank.length
        this.#out.push(blank.replaceAll(/[^ \t\r\n]/g, " "))
      } else if (this.#text.startsWith("//", this.#at)) this.#skipTo("\n", 0)
      else if (this.#text.startsWith("/*", this.#at)) this.#skipTo("*/", 2)
      else return
    }
  }

  #skipTo(end: string, length: number): void {
    const at = this.#text.indexOf(end, this.#at + 2)
    this.#at = at === -1 ? this.#text.length : at + length
  }

  #skip(what: RegExp): boolean {
    const found = this.#find(what)
    this.#at += found?.length ?? 0
    return found !== undefined
  }

  #find(what: RegExp, at = this.#at): string | undefined {
    what.lastIndex = at
    return what.exec(this.#text)?.[0]
  }
}

const blanks = /[\s\u180e\u200b]+/y
const fence = /```\w*/y
const ellipsis = /\.\.\.(?:\s*,)?/y
/** After the end: brackets that nothing has opened, a comma, the end of a fence. */
const tooMuch = /[}\],]|```/y

const startOfKey = /[\p{L}\d_$"'“”‘’`´]/u
const startOfValue = /[\p{L}\d_$"'“”‘’`´[{-]/u

const endOfKey = /[:,[\]{}"'\r\n]|\/[/*]/g
const quotedKeyEnd = /"\s*:/y
/** An address has slashes after a colon. */
const endOfText = /[,[\]{}"\r\n]|\/\*|(?<!:)\/\//g
const quotedTextEnd = /"(?=\s*[,\]}])/y
const addition = /\s*\+\s*/y

const literal = /(?:true|false|null|True|False|None|undefined)(?![\w$])/y
const literals: ReadonlyMap<string, string> = new Map([
  ["True", "true"],
  ["False", "false"],
  ["None", "null"],
  ["undefined", "null"]
])

const numeral = /-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d*)?/y
const endOfNumber = /^$|[\s,:[\]{}()+/]/

/** As JSON wants it; one that begins with zeros is a text: a code, not an amount. */
const numberOf = (text: string): string =>
  /^-?0\d/.test(text)
    ? `"${text}"`
    : text
        .replace(/^(-?)\./, (_, sign: string) => `${sign}0.`)
        .replace(/\.(?=[eE]|$)/, ".0")
        .replace(/[eE][+-]?$/, (exponent) => `${exponent}0`)
