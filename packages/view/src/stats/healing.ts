/**
 * What healed failures, and at what price; and the failures for which there was no row.
 *
 * @internal
 */
import { type Incident, noVerdict } from "../recording/Incidents.ts"

/** The incidents of an error, healed by verdicts of a kind. */
export type Healing = {
  readonly layer: string
  readonly tag: string
  readonly verdict: string
  /** Whether the failure was told to the model, which was then called again. */
  readonly byModel: boolean
  readonly incidents: number
  /** How many attempts failed before the good end. */
  readonly attempts: number
  /** The time from the first failure to the good end, in milliseconds: how many incidents took at most as long. */
  readonly took: ReadonlyArray<{ readonly upTo: number; readonly count: number }>
  /** The known cost of failed attempts and fixers, in US dollars. */
  readonly cost: number
  /** How many of these attempts have no known cost. */
  readonly unpriced: number
}

/** The incidents of one error about which no verdict was given. */
export type Unhandled = {
  readonly layer: string
  readonly tag: string
  readonly agent: string
  readonly tool?: string
  readonly incidents: number
  /** The row that would have gone on; absent if the error advises against that. */
  readonly row?: { readonly code: string; readonly page: string }
}

export const healingOf = (incident: Incident, rounded: (cost: number) => number): ReadonlyArray<Healing> => {
  const { byModel, cost, failures: attempts, isHealed, layer, millis, tag, unpriced, verdict } = incident
  if (!isHealed) return []
  const took = [{ upTo: stepOf(millis), count: 1 }]
  return [{ layer, tag, verdict, byModel, incidents: 1, attempts, took, cost: rounded(cost), unpriced }]
}

export const unhandledOf = ({ agent, layer, row, tag, tool, verdict }: Incident): ReadonlyArray<Unhandled> =>
  verdict !== noVerdict
    ? []
    : [
        {
          layer,
          tag,
          agent,
          ...(tool === undefined ? {} : { tool }),
          incidents: 1,
          ...(row === undefined ? {} : { row })
        }
      ]

/** The step of a scale in which each is a fifth longer than the one before, so that counts per step add up. */
const stepOf = (millis: number): number => (millis < 1 ? 0 : Math.round(2 ** (Math.ceil(4 * Math.log2(millis)) / 4)))

/** A percentile of the time, from 0 to 1, in milliseconds: at most a fifth too long. */
export const percentile = ({ incidents, took }: Healing, share: number): number => {
  let counted = 0
  for (const { count, upTo } of took) {
    counted += count
    if (counted >= share * incidents) return upTo
  }
  return took.at(-1)?.upTo ?? 0
}

export const healingKey = ({ byModel, layer, tag, verdict }: Healing): string =>
  JSON.stringify([layer, tag, verdict, byModel])

export const addHealing =
  (rounded: (cost: number) => number) =>
  (a: Healing, b: Healing): Healing => {
    const counts = new Map<number, number>()
    for (const { count, upTo } of [...a.took, ...b.took]) counts.set(upTo, (counts.get(upTo) ?? 0) + count)
    return {
      ...a,
      incidents: a.incidents + b.incidents,
      attempts: a.attempts + b.attempts,
      took: [...counts].toSorted(([one], [other]) => one - other).map(([upTo, count]) => ({ upTo, count })),
      cost: rounded(a.cost + b.cost),
      unpriced: a.unpriced + b.unpriced
    }
  }

export const unhandledKey = ({ agent, layer, tag, tool }: Unhandled): string =>
  JSON.stringify([layer, tag, agent, tool])

export const addUnhandled = (a: Unhandled, b: Unhandled): Unhandled => {
  const [row] = [a.row, b.row]
    .filter((one) => one !== undefined)
    // Mutant `one.code <= other.code` survives: equal rows are the same
    .toSorted((one, other) => (one.code < other.code ? -1 : 1))
  return { ...a, incidents: a.incidents + b.incidents, ...(row === undefined ? {} : { row }) }
}
