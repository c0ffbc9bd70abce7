/** The listeners of one run: what may interrupt it, and which events reach whom. */
import { assert, it } from "@effect/vitest"
import { type AgentEvent, Usage } from "@kintsugi/core"
import { Context, Effect, Fiber } from "effect"
import { type Audience, heard, joined } from "../../../packages/core/src/event/Listening.ts"

const listener: Audience["listeners"][number] = { reach: "tree", handle: () => Effect.void }

const audience = (more: Partial<Audience>): Audience => ({
  agent: "a",
  runId: "r",
  observers: [],
  listeners: [],
  tree: { lost: 0, begun: undefined, inbox: undefined },
  isForked: false,
  ...more
})

/** Whether a body is interrupted by an interruption that comes while it works. */
const isInterruptible = (heardWith: (body: Effect.Effect<void>) => Effect.Effect<void>) =>
  Effect.gen(function* () {
    let isThrough = false
    const working = Effect.andThen(
      Effect.forEach([1, 2, 3, 4], () => Effect.yieldNow, { discard: true }),
      Effect.sync(() => {
        isThrough = true
      })
    )
    const fiber = yield* Effect.forkChild(heardWith(working))
    yield* Effect.yieldNow
    yield* Fiber.interrupt(fiber)
    return !isThrough
  })

it.effect("a run that is heard cannot be interrupted until it allows it, unless it has a fiber of its own", () =>
  Effect.gen(function* () {
    const observer = () => undefined
    for (const [more, expected] of [
      [{}, true],
      [{ observers: [observer] }, false],
      [{ listeners: [listener] }, false],
      [{ observers: [observer], listeners: [listener] }, false]
    ] as const) {
      const alone = audience(more)
      assert.strictEqual(yield* isInterruptible((body) => heard(alone, () => body)), expected)
      assert.isTrue(yield* isInterruptible((body) => heard(alone, (_, restore) => restore(body))))
      const forked = audience({ ...more, isForked: true })
      assert.isTrue(
        yield* isInterruptible((body) => Effect.uninterruptible(heard(forked, (_, restore) => restore(body))))
      )
      assert.isFalse(yield* isInterruptible((body) => Effect.uninterruptible(heard(forked, () => body))))
    }
  })
)

it.effect("a run without events ends, and no listener hears of it", () =>
  Effect.gen(function* () {
    const heardOf: Array<unknown> = []
    const noting = { ...listener, handle: (event: unknown) => Effect.sync(() => heardOf.push(event)) }
    assert.strictEqual(yield* heard(audience({ listeners: [noting] }), () => Effect.succeed(1)), 1)
    assert.deepStrictEqual(heardOf, [])
  })
)

it("after its terminal event a run is not heard any more, and descendants reach the observers above it alone", () => {
  const seen: Array<string> = []
  const observer = (name: string) => (event: AgentEvent.AgentEvent) =>
    void seen.push(`${name} ${event.runId} ${event.type}`)
  const emit = joined("r", [observer("above"), observer("own")], 1)
  const context = Context.empty()
  const origin = { agent: "a", turn: 1, at: 0 }
  const delta = (runId: string): AgentEvent.AgentEvent => ({ ...origin, runId, type: "text-delta", text: "x" })
  emit?.(delta("r"), context)
  emit?.(delta("child"), context)
  emit?.({ ...origin, runId: "r", type: "run-interrupted", transcript: [], usage: Usage.empty, ledger: [] }, context)
  emit?.(delta("r"), context)
  emit?.(delta("child"), context)
  assert.deepStrictEqual(seen, [
    "above r text-delta",
    "own r text-delta",
    "above child text-delta",
    "own child text-delta",
    "above r run-interrupted",
    "own r run-interrupted",
    "above child text-delta"
  ])
  assert.isUndefined(joined("r", [], 0))
})
