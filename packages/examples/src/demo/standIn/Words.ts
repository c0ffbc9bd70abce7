/** Words, as far as they tell what a text is about. */

const empty = new Set(
  "a an and are as at be by for from get has have how i if in into is it its me my of on one or please that the them this to use using was what which with you your".split(
    " "
  )
)

/** The words of a text in lower case and singular, identifiers taken apart, without those that say nothing. */
export const of = (text: string): ReadonlySet<string> => {
  const words = new Set<string>()
  for (const word of spaced(text).match(/[\p{L}\d]+/gu) ?? []) if (!empty.has(word)) words.add(singular(word))
  return words
}

/** Identifiers taken apart: `getWeather_now` is `get weather now`. */
export const spaced = (text: string): string =>
  text
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2")
    .replaceAll("_", " ")
    .toLowerCase()

const singular = (word: string): string => (word.length > 3 && /[^s]s$/.test(word) ? word.slice(0, -1) : word)

/** How many words two texts share. */
export const shared = (self: ReadonlySet<string>, that: ReadonlySet<string>): number => {
  let count = 0
  for (const word of self) if (that.has(word)) count++
  return count
}

/** Whether two names are the same but for case and separators. */
export const sameName = (self: string, that: string): boolean => plain(self) === plain(that)

const plain = (name: string): string => name.toLowerCase().replace(/[^\p{L}\d]/gu, "")
