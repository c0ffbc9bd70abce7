/** The ids of the rules and laws that a test is named after: in brackets, the last thing of its title. */

const id = "[ATKCPL]\\d{1,4}"
const range = `${id}(?:-${id})?`
const group = `\\[(${range}(?: ${range})*)\\]`

/** `A202 P902-P905`, each range spelled out. */
const spelled = (ids: string): ReadonlyArray<string> =>
  ids.split(" ").flatMap((part) => {
    const [first = "", last = first] = part.split("-")
    const from = Number(first.slice(1))
    const count = Number(last.slice(1)) - from + 1
    return Array.from({ length: count }, (_, index) => `${first.charAt(0)}${from + index}`)
  })

/** The ids of a title as a runner prints it: what is added to the title, as ` (streamed)`, may follow them. */
export const idsOfTitle = (title: string): ReadonlyArray<string> => {
  const [, ids] = new RegExp(`${group}(?: \\([^)]*\\))*$`).exec(title) ?? []
  return ids === undefined ? [] : spelled(ids)
}

/** The ids of all titles of a source: those that end a literal to which nothing is added. */
export const idsInSource = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(new RegExp(`${group}["'\`](?!\\s*\\+)`, "g"))].flatMap(([, ids = ""]) => spelled(ids))

/** The titles of a source that begin with an id, where none belongs. */
export const leadingIds = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(new RegExp(`[\\w)\\]]\\(\\s*["'\`](${id})[\\s,:/-]`, "g"))].map(([, first = ""]) => first)

/** Whether a text is the id of a rule or of a law. */
export const isId = (text: string): boolean => new RegExp(`^${id}$`).test(text)
