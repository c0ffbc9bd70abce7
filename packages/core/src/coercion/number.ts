/** Converts numbers to texts and back without loss. */

/** The longest spelling of a plain number. */
const maxLength = 32

/** The number of a text in JSON's syntax, if a number has exactly that value. */
export const numberOf = (text: string): number | undefined => {
  if (text.length > maxLength) return undefined
  const number = Number(text)
  const said = digitsOf(text)
  return said !== undefined && said === digitsOf(String(number)) ? number : undefined
}

/** Sign, significant digits and exponent: the same for `1.50` and `15e-1`. `undefined` for a text that is no JSON number. */
const digitsOf = (text: string): string | undefined => {
  const parts = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text)
  if (parts === null) return undefined
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = parts
  const digits = `${whole}${fraction}`.replace(/^0+/, "")
  let end = digits.length
  while (digits[end - 1] === "0") end--
  const significant = digits.slice(0, end)
  if (significant === "") return `${sign}0`
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`
}

/** The spellings of the numbers in JSON texts; `undefined` for a number with two spellings. */
export type Spellings = ReadonlyMap<number, string | undefined>

export const spellingsIn = (texts: ReadonlyArray<string>): Spellings => {
  const spellings = new Map<number, string | undefined>()
  for (const text of texts) {
    for (const [from, to] of numbersIn(text)) {
      const spelled = text.slice(from, to)
      const number = Number(spelled)
      spellings.set(number, spellings.has(number) && spellings.get(number) !== spelled ? undefined : spelled)
    }
  }
  return spellings
}

/** The JSON text with some numbers as strings, in their original spelling; `undefined` if no number changes. */
export const quoted = (json: string, isQuoted: (spelled: string) => boolean): string | undefined => {
  let text = ""
  let done = 0
  for (const [from, to] of numbersIn(json)) {
    const spelled = json.slice(from, to)
    if (!isQuoted(spelled)) continue
    text += `${json.slice(done, from)}"${spelled}"`
    done = to
  }
  return done === 0 ? undefined : text + json.slice(done)
}

/** Where the numbers of a JSON text are, outside of strings. */
function* numbersIn(json: string): Generator<readonly [from: number, to: number]> {
  for (let i = 0; i < json.length; i++) {
    const char = json[i] ?? ""
    if (char === '"') i = endOfString(json, i)
    else if (isOfNumber.test(char)) {
      const start = i
      while (isOfNumber.test(json[i + 1] ?? "")) i++
      // `e` also occurs in `true` and `false`
      if (char !== "e") yield [start, i + 1]
    }
  }
}

const isOfNumber = /[\d.eE+-]/

/** The index of the quotation mark that ends a JSON string. */
export const endOfString = (json: string, start: number): number => {
  let i = start + 1
  while (i < json.length && json[i] !== '"') i += json[i] === "\\" ? 2 : 1
  return i
}

/**
 * The text of a number in the model's spelling, so `1.10` stays `1.10`. `undefined` if the spelling is uncertain. A number that came in an
 * object has no spelling, so only its plain form is certain.
 */
export const textOf = (number: number, spellings: Spellings, isSpelled: boolean): string | undefined => {
  const spelled = spellings.get(number)
  if (isSpelled) return spelled
  const isPlain = Number.isFinite(number) && (Number.isSafeInteger(number) || !Number.isInteger(number))
  const plain = String(number)
  if (!isPlain || Object.is(number, -0)) return undefined
  return spelled === plain || !spellings.has(number) ? plain : undefined
}
