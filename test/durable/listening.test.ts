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

const all = [turn, delta, end]
const types = all.map(({ type }) => type)

it.effect("listeners of a run that does something for the first time get all events, and so does its log [P1114]", () =>
  Effect.gen(function* () {
    const { aside, heard, logged } = replaying({ isNew: true })
    assert.deepStrictEqual([yield* heard(...all), logged, aside], [types, all, []])
    assert.deepStrictEqual(yield* replaying().heard(...all), types)
  })
)

it.effect("listeners of a replay get the end of the outermost run alone [P1114]", () =>
  Effect.gen(function* () {
    const { heard, logged } = replaying({ isLive: false, isNew: false })
    const ofChild = { ...end, parent }
    assert.deepStrictEqual(yield* heard(turn, ofChild, delta, end), ["run-interrupted"])
    assert.deepStrictEqual(logged, [turn, ofChild, delta, end])
  })
)

it.effect("a delta that the log has already is not heard a second time [P1114 P1371]", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* replaying({ isNew: false }).heard(...all), ["turn-start", "run-interrupted"])
  })
)

it.effect.each([{ suspended: true }, { abandoned: true }])(
  "events of a run that its engine has put aside reach neither listeners nor log: %j [P1114]",
  (state) =>
    Effect.gen(function* () {
      const { aside, heard, logged } = replaying({ isNew: true, ...state })
      assert.deepStrictEqual([yield* heard(...all), logged, aside], [[], [], all])
      // they do, if the run was stopped
      const stopped = replaying({ isNew: true, isStopped: true, ...state })
      assert.deepStrictEqual([yield* stopped.heard(...all), stopped.logged, stopped.aside], [types, all, []])
    })
)

it.effect("the log of a run that goes on in another process gets none of its events here [P1130]", () =>
  Effect.gen(function* () {
    const { aside, heard, logged } = replaying({ isNew: true, isTaken: true })
    assert.deepStrictEqual([yield* heard(...all), logged, aside], [["turn-start", "run-interrupted"], [], []])
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
    yield* handle(
      turn,
      Effect.gen(function* () {
        seen.push((yield* Clock.Clock).currentTimeMillisUnsafe(), (yield* Random.Random).nextIntUnsafe())
        seen.push(yield* Interception.Current)
      })
    )
    assert.deepStrictEqual(seen, [42, 7, undefined])
  })
)
