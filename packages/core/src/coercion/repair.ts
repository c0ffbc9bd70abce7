/**
 * Makes JSON of a text that is nearly JSON, in one pass from its beginning to its end. Quotes, commas, comments, names without
 * quotes and the like are mended. A value, a bracket or the end of a text that is missing is not: such a text was cut off, and half
 * an argument is not what the model meant.
 */
import { quietly } from "../data/Foreign.ts"

/** A text that may be JSON; `undefined` if the text cannot be mended. */
export const repair = (text: string): string | undefined => {
  const plain = escaped.test(text) ? unescaped(text) : text
  return plain === undefined ? undefined : new Repair(plain).run()
}

/** The content of a JSON string, without the quotes. */
const escaped = /^\s*[{[](?:\s|\\[nrt])*\\"/

const unescaped = (text: string): string | undefined => {
  const line = text.replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t")
  return quietly<string | undefined>(() => String(JSON.parse(`"${line}"`)), undefined)
}

type Expecting = "root" | "key" | "colon" | "value" | "item" | "next" | "end"

class Repair {
  readonly #text: string
  #at = 0
  readonly #out: Array<string> = []
  /** The brackets that are open. */
  readonly #brackets: Array<string> = []
  #expecting: Expecting = "root"
  /** The index of a trailing comma. */
  #comma: number | undefined
  /** Whether the innermost bracket has no content yet. */
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

  /** Reads the token that begins here; `false` if that is impossible. */
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

  /** Reads the end of the text, or a token that is neither a key nor an item. */
  #none(char: string, close: string): boolean {
    if (char === close) return this.#close(close)
    if (char !== "," || !this.#isFirst) return this.#skip(ellipsis)
    this.#isFirst = false
    this.#at++
    return true
  }

  #next(char: string): boolean {
    const isObject = this.#brackets.at(-1) === "{"
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
    this.#brackets.push(char)
    return this.#emit(char, char === "{" ? "key" : "item")
  }

  #close(close: string): boolean {
    // a comma that nothing follows
    if (this.#comma !== undefined) this.#out[this.#comma] = ""
    this.#at++
    this.#brackets.pop()
    return this.#emit(close, this.#brackets.length === 0 ? "end" : "next")
  }

  #key(char: string): boolean {
    const read = readString(this.#text, this.#at)
    if (read !== undefined) return this.#take(read, "colon")
    if (!startOfKey.test(char)) return false
    const word = this.#upTo(endOfKey).trimEnd()
    // the text lacks only its first quote
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
      return this.#emit(literals[name] ?? name, "next")
    }
    const number = this.#find(numeral)
    if (number !== undefined && endOfNumber.test(this.#text.charAt(this.#at + number.length))) {
      this.#at += number.length
      return this.#emit(numberOf(number), "next")
    }
    const word = this.#upTo(endOfText).trimEnd()
    if (word === "") return false
    // the text lacks only its first quote
    if (this.#text[this.#at] === '"' && !this.#skip(quotedTextEnd)) return false
    return this.#emit(JSON.stringify(word), "next")
  }

  /** A text, joined with texts that follow a plus sign. */
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
      } else if (!this.#skip(comment)) return
    }
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

/** The end of a comment; an unclosed comment ends with the text. */
const comment = /\/\/[^\n]*|\/\*(?:[^]*?\*\/|[^]*)/y
const blanks = /[\s\u180e\u200b]+/y
const fence = /```\w*/y
const ellipsis = /\.\.\.(?:\s*,)?/y
/** Skips leftovers after the value: unopened brackets, a comma, the end of a code fence. */
const tooMuch = /[}\],]|```/y

const startOfKey = /[\p{L}\d_$"'“”‘’`´]/u
const startOfValue = /[\p{L}\d_$"'“”‘’`´[{-]/u

const endOfKey = /[:,[\]{}"'\r\n]|\/[/*]/g
const quotedKeyEnd = /"\s*:/y
/** Whether `//` begins a comment: in a URL it follows a colon. */
const endOfText = /[,[\]{}"\r\n]|\/\*|(?<!:)\/\//g
const quotedTextEnd = /"(?=\s*[,\]}])/y
const addition = /\s*\+\s*/y

const literal = /(?:true|false|null|True|False|None|undefined)(?![\w$])/y
const literals: Readonly<Record<string, string>> = { True: "true", False: "false", None: "null", undefined: "null" }

const numeral = /-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d*)?/y
const endOfNumber = /^$|[\s,:[\]{}()+/]/

/** A number in JSON's form. Leading zeros make it a text, because it is then a code and no amount. */
const numberOf = (text: string): string =>
  /^-?0\d/.test(text)
    ? `"${text}"`
    : text
        .replace(/^(-?)\./, (_, sign: string) => `${sign}0.`)
        .replace(/\.(?=[eE]|$)/, ".0")
        .replace(/[eE][+-]?$/, (exponent) => `${exponent}0`)

/** A text in quotes of any kind, in which quotes and line ends may stand that are not escaped. Each character is looked at a few times. */
interface Quoted {
  /** The text in its JSON form, without the quotes. */
  readonly content: string
  /** The index after the text. */
  readonly end: number
}

const doubles = '"“”'
const singles = "'‘’`´"

/** Which quotes end a text that begins with this one. */
const endsOf = (quote: string): string | undefined => {
  if (quote === '"' || quote === "'") return quote
  if (doubles.includes(quote)) return doubles
  return singles.includes(quote) ? singles : undefined
}

const isQuote = (char: string): boolean => doubles.includes(char) || singles.includes(char)

/** The characters before or after a text. */
const delimiters = ",:[]/{}()\n+"

const opens = "([{"
const closes = ")]}"

/** Reads the text that begins here: `undefined` if none does, `cut` if its end is missing. */
const readString = (text: string, at: number): Quoted | "cut" | undefined => {
  const ends = endsOf(text.charAt(at))
  if (ends === undefined) return undefined
  const parts: Array<string> = []
  /** How many brackets of each kind are open within the text. */
  const nesting = [0, 0, 0]
  /** The index of the last comma, and the state before it. */
  let comma = { at: 0, start: 0, parts: 0 }
  /** The index of the last character that is not a blank. */
  let solid = ""
  let start = at + 1
  let i = at + 1
  const put = (instead: string, length: number) => {
    parts.push(text.slice(start, i), instead)
    i += length
    start = i
  }
  while (i < text.length) {
    const run = after(text, i, ordinary)
    // Mutant `false` survives: speed only. Each of these characters is passed over alone
    if (run > i) {
      const word = text.slice(i, run).trimEnd()
      if (word !== "") solid = word.slice(-1)
      i = run
      continue
    }
    const char = text.charAt(i)
    if (ends.includes(char)) {
      if (isEnd(text, i, nesting)) return { content: parts.join("") + text.slice(start, i), end: i + 1 }
      if (solid === ",") {
        // a quote after a comma begins the next text: the end of this one is missing
        const before = parts.slice(0, comma.parts).join("") + text.slice(comma.start, comma.at)
        return { content: before.trimEnd(), end: comma.at }
      }
      if (solid !== "" && delimiters.includes(solid)) return "cut"
      put(char === '"' ? '\\"' : char, 1)
    } else if (char === "\\") {
      const escape = lengthOfEscape(text, i)
      if (escape === undefined) return "cut"
      if (escape > 1) i += escape
      else if (text[i + 1] === "\n") put("\\n", 2)
      else {
        // an escape that JSON does not know means the character itself
        put("", 1)
        i++
      }
    } else if (char === '"') put('\\"', 1)
    else if (char < " ") put(JSON.stringify(char).slice(1, -1), 1)
    else {
      if (opens.includes(char)) nesting[opens.indexOf(char)]! += 1
      // Mutant `true` survives: a character that is no bracket counts at an index that nothing reads
      else if (closes.includes(char)) nesting[closes.indexOf(char)]! -= 1
      // Mutant `true` survives: the comma counts only as the last of these characters
      if (char === ",") comma = { at: i, start, parts: parts.length }
      i++
    }
    // only control characters are left; some of them are blanks
    if (char.trim() !== "") solid = char
  }
  return "cut"
}

/** Whether a quote is the end of its text, by what follows it. */
const isEnd = (text: string, at: number, nesting: ReadonlyArray<number>): boolean => {
  const next = after(text, at + 1, blanksInLine)
  const char = text.charAt(next)
  const bracket = closes.indexOf(char)
  if (bracket !== -1) return (nesting[bracket] ?? 0) <= 0
  if (delimiters.includes(char) || /\d/.test(char)) return true
  if (!isQuote(char)) return false
  // the next quote is the end if only an end can follow it
  const following = text.charAt(after(text, next + 1, blanksAndLines))
  return !delimiters.includes(following)
}

const blanksInLine = /[^\S\n]*/y
const blanksAndLines = /\s*/y

/** Characters without a meaning in a text. */
const ordinary = /[^"“”'‘’`´\\()[\]{},\p{Cc}]*/uy

const after = (text: string, at: number, what: RegExp): number => {
  what.lastIndex = at
  what.test(text)
  return what.lastIndex
}

/** The length of an escape: 1 if JSON does not know it, `undefined` if it is cut off. Whether `\u` has four digits is seen when JSON is read. */
const lengthOfEscape = (text: string, at: number): number | undefined => {
  const char = text.charAt(at + 1)
  if (char === "") return undefined
  if (char === "u") return 6
  return '"\\/bfnrt'.includes(char) ? 2 : 1
}
