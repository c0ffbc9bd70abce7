/** What is recorded of the steps of a run, and which lines of a script its models say. */
import { assert, it } from "@effect/vitest"
import { LlmError, type Model, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Option, Stream } from "effect"
import type { FaultStep } from "../../../packages/core/src/testing/faults.ts"
import { Recorder } from "../../../packages/core/src/testing/recorder.ts"

/** A step with the parts that are read. */
const stepOf = (of: object | undefined) => ({ runId: "r", turn: 2, of }) as unknown as FaultStep

const call = { tool: "pay", callId: "c1", idempotencyKey: "k" }
const attempt = { type: "tool attempt", isUnsafe: true, ...call }

/** The steps, in order, with how each of them ends. */
const recorded = Effect.fnUntraced(function* (
  ...steps: ReadonlyArray<readonly [of: object, self: Effect.Effect<unknown, unknown>]>
) {
  const recorder = new Recorder({}, () => 0)
  for (const [of, self] of steps) yield* Effect.exit(recorder.substitute(stepOf(of), self))
  return recorder.starts
})

const start = { tool: "pay", runId: "r", turn: 2, callId: "c1", key: "k", lookedUp: undefined }

it.effect("the start of an unsafe tool has how it ended: only a failure of its own is one [P602 P1105]", () =>
  Effect.gen(function* () {
    const endOf = (self: Effect.Effect<unknown, unknown>) => recorded([attempt, self])
    const ends: ReadonlyArray<readonly [Effect.Effect<unknown, unknown>, Recorder["starts"][number]["end"]]> = [
      [Effect.succeed(1), "success"],
      [Effect.fail("no"), "failure"],
      [Effect.die("no"), "cut off"],
      [Effect.interrupt, "cut off"],
      [Effect.failCause(Cause.combine(Cause.fail("no"), Cause.interrupt(1))), "cut off"],
      [Effect.failCause(Cause.combine(Cause.fail("no"), Cause.fail("nor"))), "failure"]
    ]
    for (const [self, end] of ends) assert.deepStrictEqual(yield* endOf(self), [{ ...start, end }])
    assert.deepStrictEqual(yield* recorded([{ ...attempt, isUnsafe: false }, Effect.void]), [])
  })
)

it.effect("a lookup says of the last start with its key what it found out [P602 P1105]", () =>
  Effect.gen(function* () {
    const lookUp = (found: unknown, key = "k") =>
      [{ type: "look-up", idempotencyKey: key }, Effect.succeed(found)] as const
    const cut = [attempt, Effect.interrupt] as const
    const lookedUp = (...steps: Parameters<typeof recorded>) =>
      Effect.map(recorded(...steps), (starts) => starts.map((one) => one.lookedUp))
    assert.deepStrictEqual(yield* lookedUp(cut, lookUp(Option.some("paid"))), ["took effect"])
    assert.deepStrictEqual(yield* lookedUp(cut, lookUp(Option.none())), ["took none"])
    assert.deepStrictEqual(yield* lookedUp(cut, lookUp("paid")), ["took none"])
    assert.deepStrictEqual(yield* lookedUp(cut, lookUp(Option.some("paid"), "other")), [undefined])
    assert.deepStrictEqual(yield* lookedUp(cut, cut, lookUp(Option.none())), [undefined, "took none"])
    assert.deepStrictEqual(yield* lookedUp(cut, [{ type: "poll", idempotencyKey: "k" }, Effect.succeed(1)]), [
      undefined
    ])
  })
)

it("steps that were intercepted count until they end, waits do not, and the first interruption counts [P1105]", () => {
  let events = 3
  const recorder = new Recorder({}, () => events)
  assert.deepStrictEqual(recorder.steps, [])
  recorder.reached(stepOf(attempt))
  recorder.reached(stepOf(undefined))
  recorder.reached(stepOf(attempt))
  assert.deepStrictEqual([recorder.steps.length, recorder.unfinished], [3, 2])
  recorder.ended()
  recorder.ended()
  assert.strictEqual(recorder.unfinished, 0)
  recorder.interrupted(5)
  events = 7
  recorder.interrupted(9)
  assert.deepStrictEqual(recorder.interruption, { at: 5, events: 3 })
})

const request: Model.Request = { messages: [], tools: [], toolChoice: "auto" }

it.effect("a model outside of runs says the lines of no agent, the last one as often as it is asked [P1105]", () =>
  Effect.gen(function* () {
    const { reply, text } = ScriptedModel
    const recorder = new Recorder({ "no agent": [text("first"), text("second")] }, () => 0)
    assert.deepStrictEqual([recorder.model.name, recorder.model.provider], ["scripted", "scripted"])
    const first = reply({ content: [{ type: "text", text: "first" }] })
    assert.deepStrictEqual(yield* recorder.model.generate(request), first)
    assert.deepStrictEqual([...recorder.asked], [["no agent", 1]])
    const exit = yield* Effect.exit(new Recorder({}, () => 0).model.generate(request))
    assert(Exit.isFailure(exit))
    assert.strictEqual(String(Cause.squash(exit.cause)), "Error: the script has no lines for the agent 'no agent'")
  })
)

it.effect("what a model has sent is its usage: of each reply, and of each failure that reports one [P703 P1105]", () =>
  Effect.gen(function* () {
    const usage = Usage.make({ inputTokens: 3 })
    const failed = LlmError.ServerError.make({ model: "m", usage })
    const silent = LlmError.ServerError.make({ model: "m" })
    const sentBy = (step: ScriptedModel.ScriptedStep, isStreamed: boolean) =>
      Effect.gen(function* () {
        const recorder = new Recorder({ "no agent": [step] }, () => 0)
        const { generate, stream } = recorder.model
        yield* Effect.exit(isStreamed ? Stream.runDrain(stream(request)) : generate(request))
        return recorder.sent
      })
    for (const isStreamed of [true, false]) {
      const said = ScriptedModel.replies(ScriptedModel.reply({ content: [], usage }))
      assert.deepStrictEqual(yield* sentBy(said, isStreamed), [usage])
      assert.deepStrictEqual(yield* sentBy(ScriptedModel.fails(failed), isStreamed), [usage])
      assert.deepStrictEqual(yield* sentBy(ScriptedModel.fails(silent), isStreamed), [])
    }
    // a run that is cut off before it has the last part has not received the usage
    const recorder = new Recorder({}, () => 0)
    recorder.sent.push(usage)
    const finish = stepOf({ type: "stream part", part: { type: "finish", usage } })
    yield* Effect.exit(recorder.substitute(finish, Effect.interrupt))
    assert.deepStrictEqual(recorder.sent, [])
    yield* recorder.substitute(finish, Effect.void)
    assert.deepStrictEqual(recorder.sent, [usage])
  })
)
