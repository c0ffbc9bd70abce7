/** Reads texts whose characters a server has written as escapes of JSON, HTML, a URL or a log. */

/** A text without its escapes. */
interface Unescaped {
  readonly text: string
  /** The index in the original text. It has to be asked in ascending order. */
  readonly original: (index: number) => number
}

/** A text without these is not read twice: the forms of a secret cover its other escapes. */
const telling = /\\[ux/]|[&%]/

/** An escape: of JSON or a log, also within a text of JSON; of HTML; a byte in a URL, also of one within another URL. */
const escapes =
  /\\{1,8}(?:u([\da-f]{4})|x([\da-f]{2})|(["/]))|&(?:#x([\da-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));|%(?:25)?([\da-f]{2})/gi

const characters: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

/** The text without escapes; `undefined` if it has none that matter. */
export const unescaped = (text: string): Unescaped | undefined => {
  if (!telling.test(text)) return undefined
  /** For each escape: the index behind its character, and how many more characters all escapes so far had. */
  const shifts: Array<readonly [index: number, shift: number]> = []
  let shift = 0
  const plain = text.replaceAll(
    escapes,
    (
      all,
      unit?: string,
      logged?: string,
      same?: string,
      hex?: string,
      decimal?: string,
      name?: string,
      byte?: string,
      at = 0
    ) => {
      // Mutant `"Stryker was here!"` survives: no number either
      const digits = unit ?? logged ?? hex ?? byte ?? ""
      const code = decimal === undefined ? Number.parseInt(digits, 16) : Number(decimal)
      const character =
        same ?? characters[name?.toLowerCase() ?? ""] ?? (code <= 0x10ffff ? String.fromCodePoint(code) : " ")
      shift += all.length - character.length
      shifts.push([at + all.length - shift, shift])
      return character
    }
  )
  let next = 0
  return {
    text: plain,
    original: (index) => {
      while ((shifts[next]?.[0] ?? Infinity) <= index) next++
      return index + (shifts[next - 1]?.[1] ?? 0)
    }
  }
}
