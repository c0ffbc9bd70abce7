/** What a run hears at its safe points and at its end, and which of its calls it withdraws. */
import { assert, it } from "@effect/vitest"
import { Message, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { atEnd, cancelled, hearNow, withdraw } from "../../../packages/core/src/run/hearing.ts"
import type { Looping } from "../../../packages/core/src/run/running.ts"

/** A run of which the functions under test read these parts alone. */
const runWith = (parts: {
  readonly run?: object
  readonly state?: object
  readonly mode?: object
  readonly toolset?: object
}) =>
  ({
    mode: { isSuspendable: false },
    toolset: { entries: new Map() },
    ...parts,
    run: { tree: {}, meter: {}, ...parts.run },
    state: { messages: [], slots: [], ...parts.state }
  }) as unknown as Looping

const paused: Message.Message = { ...Message.assistant("wait"), paused: true }

it.effect("a paused reply keeps messages waiting, unless one ends the model call [P1581]", () =>
  Effect.gen(function* () {
    const heardBehind = (last: Message.Message, ends: boolean) =>
      Effect.gen(function* () {
        const log: Array<string> = []
        const inbox = {
          ends: (_: unknown, what: string) => what === "model" && ends,
          read: () => Effect.sync(() => log.push("said"))
        }
        const found = hearNow(
          runWith({ run: { tree: { inbox } }, state: { messages: [Message.user("go"), Message.user("so"), last] } })
        )
        if (found !== undefined) yield* found
        return log
      })
    for (const ends of [true, false]) {
      assert.deepStrictEqual(yield* heardBehind(Message.user("more"), ends), ["said"])
      assert.deepStrictEqual(yield* heardBehind(Message.assistant("done"), ends), ["said"])
      assert.deepStrictEqual(yield* heardBehind(paused, ends), ends ? ["said"] : [])
    }
    // nothing can be said to this run
    assert.isUndefined(hearNow(runWith({ state: { messages: [paused] } })))
    assert.isUndefined(hearNow(runWith({ state: { messages: [] } })))
  })
)

const end = { value: "done" }

it.effect("at its end a run waits for deferred calls; one that has an answer and can wait is suspended", () =>
  Effect.gen(function* () {
    const asked = Message.settle(
      { content: [ScriptedModel.call("look", {})], finish: "tool-calls", usage: Usage.empty },
      [{ kind: "deferred", text: "" }]
    )
    const endOf = (last: Message.Message | undefined, isSuspendable: boolean, mayBeLeft = false) =>
      Effect.gen(function* () {
        const log: Array<string> = []
        const late = {
          isEmpty: false,
          mayBeLeft,
          isDue: Effect.succeed(false),
          suspend: () => log.push("suspended"),
          detach: Effect.sync(() => {
            log.push("left")
            return []
          }),
          wait: () =>
            Effect.sync(() => {
              log.push("waited")
              late.isEmpty = true
            })
        }
        const state = { messages: last === undefined ? [] : [last], late, snapshot: () => ({}) }
        const run = runWith({ mode: { isSuspendable }, state, run: { tree: {}, agent: "a" } })
        yield* atEnd({ ...run, start: { kind: "input", input: "go" } }, end)
        return log.join()
      })
    const answer = Message.assistant("done")
    assert.strictEqual(yield* endOf(answer, true), "suspended")
    assert.strictEqual(yield* endOf(answer, false), "waited")
    assert.strictEqual(yield* endOf(asked, true), "waited")
    assert.strictEqual(yield* endOf(Message.user("go"), true), "waited")
    assert.strictEqual(yield* endOf(undefined, true), "waited")
    for (const isSuspendable of [true, false]) assert.strictEqual(yield* endOf(answer, isSuspendable, true), "left")
  })
)

const slotThat = (waiting: object | undefined, checkpoint?: object) => ({
  waiting,
  checkpoint: checkpoint && (() => checkpoint),
  settlementBy: (by: string): Message.Settlement => ({ kind: "interrupted", text: by }),
  settlement: undefined as Message.Settlement | undefined,
  from: undefined as unknown
})

it.effect("calls that wait are withdrawn; a sub-agent that waits withdraws its own, if the run goes on [P1584]", () =>
  Effect.gen(function* () {
    const agent = { type: "agent", snapshot: {} }
    const withdrawnFrom = (slots: ReadonlyArray<ReturnType<typeof slotThat>>, meter: object = {}) =>
      withdraw(runWith({ run: { tree: {}, meter }, state: { slots } }))
    const [idle, decision, inner] = [slotThat(undefined), slotThat({ type: "decision", request: {} }), slotThat(agent)]
    assert.isFalse(yield* withdrawnFrom([idle, decision]))
    assert.deepStrictEqual([idle.settlement, decision.settlement?.text], [undefined, "supersede"])
    assert.isTrue(yield* withdrawnFrom([idle, inner, slotThat({ type: "decision", request: {} })]))
    assert.strictEqual(inner.from, agent)
    assert.isUndefined(inner.settlement)
    const over = slotThat(agent)
    assert.isFalse(yield* withdrawnFrom([over], { ended: {}, withdraws: true }))
    assert.strictEqual(over.settlement?.text, "run")
  })
)

it.effect("the work of a deferred call is cancelled by any tool that looks up tokens", () =>
  Effect.gen(function* () {
    const asked: Array<string> = []
    const deferral = {
      withdraw: (token: string) =>
        Effect.sync(() => {
          asked.push(token)
          return true
        })
    }
    const toolset = {
      entries: new Map([
        ["plain", { tool: {} }],
        ["slow", { tool: { deferral } }]
      ])
    }
    const run = runWith({ toolset })
    const by = (checkpoint: object | undefined, running = run) =>
      cancelled(running, slotThat(undefined, checkpoint) as never)
    assert.isTrue(yield* by({ type: "deferred", token: "t1" }))
    assert.isFalse(yield* by({ type: "decision", token: "t2" }))
    assert.isFalse(yield* by(undefined))
    assert.isFalse(yield* by({ type: "deferred", token: "t3" }, runWith({})))
    assert.deepStrictEqual(asked, ["t1"])
    // a call whose tool has confirmed it reads as withdrawn, by the run or by the user
    for (const [meter, settlement] of [
      [{}, Message.superseded],
      [{ ended: {}, withdraws: true }, Message.interrupted]
    ] as const) {
      const slot = slotThat({ type: "deferred" }, { type: "deferred", token: "t4" })
      yield* withdraw(runWith({ toolset, run: { tree: {}, meter }, state: { slots: [slot] } }))
      assert.strictEqual(slot.settlement, settlement)
    }
  })
)
