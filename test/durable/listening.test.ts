/** Which events of a replay its listeners get, and its log. */
import { assert, it } from "@effect/vitest"
import { type AgentEvent, Usage } from "@kintsugi/core"
import * as Interception from "@kintsugi/core/Interception"
import { Clock, Effect, Random, Scope } from "effect"
import { Lines } from "../../packages/durable/src/lines.ts"
import { listening } from "../../packages/durable/src/listening.ts"
import type { Replay } from "../../packages/durable/src/recording.ts"
import { Stop } from "../../packages/durable/src/stop.ts"

const event = (type: string, parts: object = {}): AgentEvent.AgentEvent =>
  // the fields of the type are in the parts
  ({ type, runId: "r", agent: "a", turn: 1, at: 0, ...parts }) as unknown as AgentEvent.AgentEvent
const parent = { runId: "p", callId: "c" }
const turn = event("turn-start")
const delta = event("text-delta", { text: "a" })
const end = event("run-interrupted", { usage: Usage.empty, ledger: [], transcript: [] })

/** A replay, what its log was given, and which of some events its listeners got. */
const replaying = (
  options: {
    readonly isLive?: boolean
    readonly suspended?: boolean
    readonly abandoned?: boolean
    readonly isStopped?: boolean
    readonly isTaken?: boolean
    /** What the log says of each event; without it there is no log. */
    readonly isNew?: boolean
  } = {}
) => {
  const { abandoned = false, isLive = true, isNew, isStopped = false, isTaken = false, suspended = false } = options
  const logged: Array<AgentEvent.AgentEvent> = []
  const lines = new Lines("run")
  if (isLive) lines.root.live()
  const stopping = new Stop()
  stopping.isSo = isStopped
  const parents = new Map<string, string>()
  // a replay with only what listening reads
  const replay = {
    parents,
    stopping,
    lines,
    instance: { suspended, abandoned, interrupted: false },
    taken: { isSo: isTaken },
    scope: Scope.makeUnsafe(),
    log: isNew === undefined ? undefined : { add: (one: AgentEvent.AgentEvent) => (logged.push(one), isNew) },
    clock: { currentTimeMillisUnsafe: () => 42 },
    random: { nextIntUnsafe: () => 7 }
  } as unknown as Replay
  const { handle, watch } = listening(replay)
  const heard = (...events: ReadonlyArray<AgentEvent.AgentEvent>) =>
    Effect.gen(function* () {
      const found: Array<string> = []
      for (const one of events) {
        watch(one, undefined as never)
        yield* handle(
          one,
          Effect.sync(() => void found.push(one.type))
        )
      }
      return found
    })
  return { aside: stopping.aside, handle, heard, logged, parents }
}

const ofChild = { ...end, parent }
const all = [turn, ofChild, delta, end]
const allTypes = all.map(({ type }) => type)
const allButDelta = ["turn-start", "run-interrupted", "run-interrupted"]

it.effect.each([
  { what: "runs for the first time", state: { isNew: true }, listeners: allTypes, log: all, aside: [] },
  { what: "runs for the first time without a log", state: {}, listeners: allTypes, log: [], aside: [] },
  { what: "replays", state: { isLive: false, isNew: false }, listeners: ["run-interrupted"], log: all, aside: [] },
  { what: "emits a delta that its log has", state: { isNew: false }, listeners: allButDelta, log: all, aside: [] },
  { what: "goes on elsewhere", state: { isNew: true, isTaken: true }, listeners: allButDelta, log: [], aside: [] },
  { what: "was suspended", state: { isNew: true, suspended: true }, listeners: [], log: [], aside: all },
  { what: "was abandoned", state: { isNew: true, abandoned: true }, listeners: [], log: [], aside: all },
  {
    what: "was stopped, then suspended",
    state: { isNew: true, isStopped: true, suspended: true },
    listeners: allTypes,
    log: all,
    aside: []
  },
  {
    what: "was stopped, then abandoned",
    state: { isNew: true, isStopped: true, abandoned: true },
    listeners: allTypes,
    log: all,
    aside: []
  }
])("of the events of a run that $what, its listeners and its log get what is new [P1114 P1130 P1371]", (row) =>
  Effect.gen(function* () {
    const { aside, heard, logged } = replaying(row.state)
    assert.deepStrictEqual(
      { listeners: yield* heard(...all), log: logged, aside },
      { listeners: row.listeners, log: row.log, aside: row.aside }
    )
  })
)

it.effect("the parent of each run that begins is noted [P1114]", () =>
  Effect.gen(function* () {
    const { heard, parents } = replaying({ isNew: true })
    yield* heard(
      event("run-start"),
      event("run-start", { runId: "s", parent }),
      event("turn-start", { runId: "t", parent })
    )
    assert.deepStrictEqual([...parents], [["s", "p"]])
  })
)

it.effect("a handler has the clock and the random numbers of its process, and records nothing [P1114]", () =>
  Effect.gen(function* () {
    const { handle } = replaying()
    const seen: Array<unknown> = []
    const handling = Effect.gen(function* () {
      seen.push((yield* Clock.Clock).currentTimeMillisUnsafe(), (yield* Random.Random).nextIntUnsafe())
      seen.push(yield* Interception.Current)
    })
    // nothing of the interception of the run is used
    yield* Effect.provideService(handle(turn, handling), Interception.Current, {} as never)
    assert.deepStrictEqual(seen, [42, 7, undefined])
  })
)
