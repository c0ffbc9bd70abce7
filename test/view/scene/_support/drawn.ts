/** Recordings of drawn agents under drawn faults, as the soak plays them, and what may happen to a file of them. */
import { AgentEvent } from "@kintsugi/core"
import { Recording } from "@kintsugi/view"
import { Effect, Schema } from "effect"
import fc from "fast-check"
import type { Recorded } from "../../../../packages/view/src/recording/Recorded.ts"
import { playAll } from "../../../../tools/soak/src/play.ts"
import { scenarioOf } from "../../../../tools/soak/src/scenario.ts"
import { others, references } from "../../_support/references.ts"

/** How many scenarios are played: each is some eight runs. */
const scenarios = 60

const encode = Schema.encodeSync(AgentEvent.AgentEvent)

/** The events of all runs of these scenarios, one list each, with those of the references. */
const played: Effect.Effect<ReadonlyArray<ReadonlyArray<Recorded>>> = Effect.gen(function* () {
  const all: Array<ReadonlyArray<Recorded>> = []
  for (const reference of Object.values(references)) all.push((yield* reference).events)
  const { events } = yield* others
  all.push(events, slowly(events))
  for (let seed = 1; seed <= scenarios; seed++)
    yield* playAll(scenarioOf(seed), {
      collects: ({ events }) => {
        all.push(Recording.fromEvents(events.map((event) => encode(event))).events)
        return []
      }
    })
  return all
})

/** The same, played once for all files of tests. */
export const drawnRuns = Effect.runSync(Effect.cached(played))

/** As a reader writes them down who was too slow just after the first one. */
const slowly = ([first, ...rest]: ReadonlyArray<Recorded>): ReadonlyArray<Recorded> => {
  if (first === undefined) return []
  const { agent, at, runId, turn } = first
  return [first, { runId, agent, turn, at, type: "events-lost", transcript: [], text: "so far" }, ...rest]
}

/** What may happen to a file. */
export type Damage =
  | { readonly kind: "none" }
  | { readonly kind: "cut"; readonly from: number; readonly to: number }
  | { readonly kind: "lost" | "twice" | "torn"; readonly seed: number }
  | { readonly kind: "shuffled"; readonly seed: number }
  /** The same again, so many hours later, by other runs. */
  | { readonly kind: "repeated"; readonly hours: number }

const share = fc.double({ min: 0, max: 1, noNaN: true })

export const damage: fc.Arbitrary<Damage> = fc.oneof(
  fc.constant({ kind: "none" as const }),
  fc.record({ kind: fc.constant("cut" as const), from: share, to: share }),
  fc.record({ kind: fc.constant("repeated" as const), hours: fc.constantFrom(1, 5, 500) }),
  fc.record({
    kind: fc.constantFrom("lost" as const, "twice" as const, "torn" as const, "shuffled" as const),
    seed: fc.nat()
  })
)

/** Numbers from 0 to 1, always the same ones for a seed. */
const numbers = (seed: number) => {
  let state = seed % 2147483646 || 1
  return () => {
    state = (state * 48271) % 2147483647
    return state / 2147483647
  }
}

/** Whether each run is there as it was. */
export const isComplete = ({ kind }: Damage): boolean => kind === "none" || kind === "repeated"

/** The events as they are found in a damaged file. */
export const damaged = (events: ReadonlyArray<Recorded>, damage: Damage): Recording.Recording => {
  if (damage.kind === "none") return Recording.fromEvents(events)
  if (damage.kind === "cut") {
    const [from, to] = [damage.from, damage.to].toSorted((one, other) => one - other)
    return Recording.fromEvents(
      events.slice(Math.floor((from ?? 0) * events.length), Math.ceil((to ?? 1) * events.length))
    )
  }
  if (damage.kind === "repeated") {
    const later = events.map((event): Recorded => ({
      ...event,
      runId: `${event.runId} again`,
      at: event.at + damage.hours * 3_600_000,
      ...(event.parent === undefined ? {} : { parent: { ...event.parent, runId: `${event.parent.runId} again` } })
    }))
    return Recording.fromEvents([...events, ...later])
  }
  const next = numbers(damage.seed)
  switch (damage.kind) {
    case "lost":
      return Recording.fromEvents(events.filter(() => next() > 0.2))
    case "twice":
      return Recording.fromEvents(events.flatMap((event) => (next() > 0.2 ? [event] : [event, event])))
    case "shuffled":
      return Recording.fromEvents(
        events
          .map((event) => [next(), event] as const)
          .toSorted(([one], [other]) => one - other)
          .map(([, event]) => event)
      )
    case "torn":
      // fields are lost, but for what makes an event of it
      return Recording.fromEvents(
        events.map((event) =>
          Object.fromEntries(
            Object.entries(event).filter(
              ([key]) => ["type", "runId", "agent", "turn", "at"].includes(key) || next() > 0.3
            )
          )
        )
      )
  }
}
