/** A text in quotes of any kind, in which quotes and line ends may stand that are not escaped. Each character is looked at a few times. */

export interface Quoted {
  /** As it stands in JSON, without the quotes. */
  readonly content: string
  /** Where what follows begins. */
  readonly end: number
}

const doubles = '"“”'
const singles = "'‘’`´"

/** Which quotes end a text that begins with this one. */
const endsOf = (quote: string): string | undefined => {
  if (quote === "") return undefined
  if (quote === '"' || quote === "'") return quote
  if (doubles.includes(quote)) return doubles
  return singles.includes(quote) ? singles : undefined
}

const isQuote = (char: string): boolean => doubles.includes(char) || singles.includes(char)

/** What stands before or after a text. */
const delimiters = ",:[]/{}()\n+"

const opens = "([{"
const closes = ")]}"

/** A text that begins here: nothing where none does, and `cut` where its end is missing. */
export const readString = (text: string, at: number): Quoted | "cut" | undefined => {
  const ends = endsOf(text.charAt(at))
  if (ends === undefined) return undefined
  const parts: Array<string> = []
  /** How many brackets of each kind are open within the text. */
  const open = [0, 0, 0]
  /** Where the last comma stands, and what came before it. */
  let comma = { at: 0, start: 0, parts: 0 }
  /** The last character that is no blank. */
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
    if (run > i) {
      const word = text.slice(i, run).trimEnd()
      if (word !== "") solid = word.slice(-1)
      i = run
      continue
    }
    const char = text.charAt(i)
    if (ends.includes(char)) {
      if (isEnd(text, i, open)) return { content: parts.join("") + text.slice(start, i), end: i + 1 }
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
        // one that JSON does not know means the character itself
        put("", 1)
        i++
      }
    } else if (char === '"') put('\\"', 1)
    else if (char < " ") put(JSON.stringify(char).slice(1, -1), 1)
    else {
      if (opens.includes(char)) open[opens.indexOf(char)]! += 1
      else if (closes.includes(char)) open[closes.indexOf(char)]! -= 1
      if (char === ",") comma = { at: i, start, parts: parts.length }
      i++
    }
    // what is left are control characters, some of which are blanks
    if (char.trim() !== "") solid = char
  }
  return "cut"
}

/** Whether a quote is the end of its text, by what follows it. */
const isEnd = (text: string, at: number, open: ReadonlyArray<number>): boolean => {
  const next = after(text, at + 1, blanks)
  const char = text.charAt(next)
  const bracket = char === "" ? -1 : closes.indexOf(char)
  if (bracket !== -1) return (open[bracket] ?? 0) <= 0
  if (char === "" || delimiters.includes(char) || /\d/.test(char)) return true
  if (!isQuote(char)) return false
  // the next quote is the end, where nothing but the end can follow it
  const following = text.charAt(after(text, next + 1, blanksAndLines))
  return following !== "" && !delimiters.includes(following)
}

const blanks = /[^\S\n]*/y
const blanksAndLines = /\s*/y

/** What means nothing in a text. */
const ordinary = /[^"“”'‘’`´\\()[\]{},\p{Cc}]*/uy

const after = (text: string, at: number, what: RegExp): number => {
  what.lastIndex = at
  what.test(text)
  return what.lastIndex
}

/** 1 for an escape that JSON does not know, nothing for one that is broken off. */
const lengthOfEscape = (text: string, at: number): number | undefined => {
  const char = text.charAt(at + 1)
  if (char === "") return undefined
  if (char === "u") return /^[\da-f]{4}$/i.test(text.slice(at + 2, at + 6)) ? 6 : undefined
  return '"\\/bfnrt'.includes(char) ? 2 : 1
}
