/** Reads texts whose characters a server has written as escapes of JSON, HTML or a URL. */

/** A text without its escapes. */
interface Unescaped {
  readonly text: string
  /** The index in the original text. It has to be asked in ascending order. */
  readonly original: (index: number) => number
}

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

/** What no other form of a secret covers; a text without these is not read twice. */
const telling = /\\u[\da-f]{4}|\\\/|&(?:#|amp;|lt;|gt;|quot;|apos;)|%[\da-f]{2}/i

/** An escape: of JSON, also within a text of JSON; of HTML; a byte in a URL. */
const escapes =
  /\\{1,8}(?:u([\da-f]{4})|(["/]))|&(?:#(\d{1,7});|#x([\da-f]{1,6});|(amp|lt|gt|quot|apos);)|%([\da-f]{2})/gi

/** The text without escapes; `undefined` if it has none that matter. */
export const unescaped = (text: string): Unescaped | undefined => {
  if (!telling.test(text)) return undefined
  /** For each escape: the index behind its character, and how many more characters all escapes so far had. */
  const shifts: Array<readonly [index: number, shift: number]> = []
  let shift = 0
  const plain = text.replaceAll(
    escapes,
    (
      all: string,
      json?: string,
      same?: string,
      decimal?: string,
      hex?: string,
      name?: string,
      byte?: string,
      at = 0
    ) => {
      const code = json ?? hex ?? byte
      const character =
        same ??
        named[name?.toLowerCase() ?? ""] ??
        characterOf(code === undefined ? Number(decimal) : Number.parseInt(code, 16))
      const index = at - shift + character.length
      shift += all.length - character.length
      shifts.push([index, shift])
      return character
    }
  )
  let next = 0
  let current = 0
  return {
    text: plain,
    original: (index) => {
      for (; (shifts[next]?.[0] ?? Infinity) <= index; next++) current = shifts[next]![1]
      return index + current
    }
  }
}

const characterOf = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : " ")
