/** The number of cases of laws and other properties: how many they have to draw, and how many the laws drew. */
import { isCi } from "./report.ts"
import { idsOfTitle } from "./ruleIds.ts"

type Environment = Readonly<Record<string, string | undefined>>

const numberIn = (value: string | undefined, otherwise: number): number => {
  const number = Number(value ?? otherwise)
  return Number.isSafeInteger(number) && number > 0 ? number : otherwise
}

/** How many cases a property draws: `KINTSUGI_CASES`; without it 100, and 300 where `CI` is set. */
export const casesIn = (environment: Environment): number =>
  numberIn(environment["KINTSUGI_CASES"], isCi(environment) ? 300 : 100)

/** Where they start: `KINTSUGI_SEED`. */
export const seedIn = (environment: Environment): number => numberIn(environment["KINTSUGI_SEED"], 4_711)

/** The report of the test of a law. */
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

/** One line: how many laws there were, and the fewest cases of a property. */
export const least = (all: ReadonlyArray<Drawn>): string => {
  const [first, ...others] = all
  if (first === undefined) return "no laws"
  const fewest = others.reduce((few, one) => (one.cases < few.cases ? one : few), first)
  const laws = new Set(all.flatMap(({ title }) => lawsOf(title))).size
  return `${laws} laws in ${all.length} properties, each on at least ${fewest.cases} cases, seed ${fewest.seed}`
}

/** Which laws drew fewer cases than they had to, one line each. */
export const tooFew = (all: ReadonlyArray<Drawn>, required = casesIn(process.env)): ReadonlyArray<string> =>
  all
    .filter(({ cases }) => cases < required)
    .map(({ cases, title }) => `${cases} cases instead of ${required}: ${title}`)

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
