/** How many cases the laws drew: what their tests say of themselves, as lines for people. */
import { idsOfTitle } from "./ruleIds.ts"

/** What the test of a law says. */
export interface Cases {
  /** How many cases it went through. */
  readonly cases: number
  readonly seed: number
}

/** A property that was checked, under the title of its test. */
export interface Drawn extends Cases {
  readonly title: string
}

/** The laws that a title names. */
const lawsOf = (title: string): ReadonlyArray<string> => idsOfTitle(title).filter((id) => id.startsWith("L"))

/** One line: how many laws there were, and the fewest cases that one of their properties drew. */
export const least = (all: ReadonlyArray<Drawn>): string => {
  const [first, ...others] = all
  if (first === undefined) return "no laws"
  const fewest = others.reduce((few, one) => (one.cases < few.cases ? one : few), first)
  const laws = new Set(all.flatMap(({ title }) => lawsOf(title))).size
  return `${laws} laws in ${all.length} properties, each on at least ${fewest.cases} cases, seed ${fewest.seed}`
}

/** The cases that each property of a law goes through at least, where nobody asked for fewer. */
export const REQUIRED = 1_000

/** Which laws drew too few cases, one line each; none where the environment asks for fewer itself. */
export const tooFew = (all: ReadonlyArray<Drawn>, asked = process.env["KINTSUGI_CASES"]): ReadonlyArray<string> =>
  asked !== undefined && Number(asked) < REQUIRED
    ? []
    : all
        .filter(({ cases }) => cases < REQUIRED)
        .map(({ cases, title }) => `${cases} cases instead of ${REQUIRED}: ${title}`)

/** One line for each law, in their order: in how many properties, and the fewest cases and all cases of these. */
export const table = (all: ReadonlyArray<Drawn>): ReadonlyArray<string> => {
  const byLaw = new Map<string, Array<number>>()
  for (const { cases, title } of all) {
    for (const law of lawsOf(title)) byLaw.set(law, [...(byLaw.get(law) ?? []), cases])
  }
  const rows = [...byLaw].toSorted(([one], [other]) => Number(one.slice(1)) - Number(other.slice(1)))
  return [
    "law     properties  cases each       all",
    ...rows.map(([law, cases]) =>
      [
        law.padEnd(6),
        String(cases.length).padStart(12),
        String(Math.min(...cases)).padStart(12),
        String(cases.reduce((sum, one) => sum + one, 0)).padStart(10)
      ].join("")
    )
  ]
}
