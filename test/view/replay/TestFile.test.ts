/** Written tests, as readers use them: red as the run was, and green once the row is written. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, Approval, LlmError, Message, type Model, Recovery, Tool, ToolError } from "@kintsugi/core"
import { RecordedEvents, ScriptedApprover, ScriptedModel } from "@kintsugi/core/testing"
import { Data, Effect, Exit, Fiber, Layer, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Recording } from "@kintsugi/view"
import { readFileSync } from "node:fs"
import * as Outcome from "../../../packages/view/src/recording/Outcome.ts"
import * as Script from "../../../packages/view/src/replay/Script.ts"
import { mid, midFile } from "../_support/recorded.ts"
import { asRecording, normalised, played, written } from "./_support/playing.ts"

class PaymentDeclined extends Data.TaggedError("PaymentDeclined")<{ readonly message: string }> {}
class StaleIndex extends Data.TaggedError("StaleIndex")<{ readonly message: string }> {}

const { call, calls, fails, reply, text } = ScriptedModel

const answering = (millis: number, content: Message.Reply["content"]) =>
  ScriptedModel.answers(() => Effect.delay(Effect.succeed(reply({ content })), millis))

/** Records a program on a clock of its own. */
const recorded = <A, E>(program: Effect.Effect<A, E>): Effect.Effect<Recording.Recording> => {
  const events = RecordedEvents.makeUnsafe()
  return Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(Effect.provide(program, events.layer), { startImmediately: true })
    yield* TestClock.adjust("2 days")
    yield* Fiber.await(fiber)
    return asRecording(events.all)
  }).pipe(Effect.provide(TestClock.layer()))
}

let lookups = 0
const lookupOrder = Tool.make("lookupOrder", {
  description: "Looks an order up.",
  parameters: Schema.Struct({ id: Schema.String }),
  success: Schema.Struct({ id: Schema.String, cents: Schema.Int }),
  run: ({ id }) =>
    Effect.delay(
      ++lookups === 1
        ? Effect.fail(new StaleIndex({ message: "replica is behind" }))
        : Effect.succeed({ id, cents: 4900 }),
      200
    )
}).pipe(Tool.onError({ StaleIndex: Recovery.retry({ retries: 2, initialBackoff: 800 }) }))

const refund = Tool.make("refund", {
  description: "Refunds.",
  parameters: Schema.Struct({ id: Schema.String, cents: Schema.Int }),
  success: Schema.String,
  run: () => Effect.delay(Effect.fail(new PaymentDeclined({ message: 'the card\'s issuer says: "no"' })), 900)
})

const replies = [
  answering(300, [Message.text("I look it up."), call("lookupOrder", '{"id": "O-1",}', "c1")]),
  answering(300, [call("refund", { id: "O-1", cents: 4900 }, "c2")])
]

const desk = Agent.make("refund-desk", { prompt: "Refund.", tools: [lookupOrder, refund] })

const failing = Effect.suspend(() => {
  lookups = 0
  const left = [...replies]
  const model = ScriptedModel.answering(() => left.shift() ?? text("too many"))
  return recorded(Effect.provide(desk("Refund O-1."), model))
})

/** Writes the suggested row where the file has it as a comment. */
const withRow = (file: string): string => {
  const changed = file.replace(/^( *)\/\/ (\w+: (?:Recovery|Backoff)\..*)$/m, "$1$2")
  assert.notStrictEqual(changed, file)
  return changed
}

describe("a written test", () => {
  it.live("is red with the recorded failure, and green once the suggested row is written [P1270]", () =>
    Effect.gen(function* () {
      const recording = yield* failing
      const file = written(recording)
      const red = yield* played(file)
      assert.isFalse(red.isGreen)
      assert.include(String(Exit.isFailure(red.exit) ? red.exit.cause : ""), "PaymentDeclined")
      assert.deepStrictEqual(normalised(red.recording), normalised(recording))
      assert.include(file, "// PaymentDeclined: Recovery.tell()")
      const green = yield* played(withRow(file))
      assert.isTrue(green.isGreen)
      // the JSON of the first call was repaired, and its failure retried, as recorded
      const types = green.recording.events.map(({ type }) => type)
      assert.includeMembers(types, ["arguments-coerced", "verdict", "run-completed"])
    })
  )

  it.live("plays a long run with parallel calls, a sub-agent and a person who took hours [P1270]", () =>
    Effect.gen(function* () {
      const recording = mid("mid-fail")
      const file = written(recording)
      const red = yield* played(file)
      assert.isFalse(red.isGreen)
      assert.deepStrictEqual(normalised(red.recording), normalised(recording))
      assert.isTrue((yield* played(withRow(file))).isGreen)
      const completed = yield* played(written(mid("mid-ok")))
      assert.isTrue(completed.isGreen)
    })
  )

  it.live("becomes green by any row that goes on: an answer, or one more attempt [P1270]", () =>
    Effect.gen(function* () {
      const file = written(yield* failing)
      for (const row of ['Recovery.respondWith("refunded")', "Recovery.retry({ retries: 1 })", "Recovery.escalate()"]) {
        const changed = file.replace("// PaymentDeclined: Recovery.tell()", `PaymentDeclined: ${row}`)
        assert.isTrue((yield* played(changed)).isGreen, row)
      }
      const other = file.replace("// PaymentDeclined: Recovery.tell()", "PaymentDeclined: Recovery.raise")
      assert.isFalse((yield* played(other)).isGreen)
    })
  )

  it.live("has the row for a failing model in the table of its agent [P1270]", () =>
    Effect.gen(function* () {
      const down = LlmError.RateLimitError.make({ service: "the model" })
      const model = ScriptedModel.answering(() => fails(down))
      const recording = yield* recorded(Effect.provide(Agent.make("clerk", {})("Hi"), model))
      const file = written(recording)
      const red = yield* played(file)
      assert.isFalse(red.isGreen)
      assert.deepStrictEqual(normalised(red.recording), normalised(recording))
      assert.isTrue((yield* played(withRow(file))).isGreen)
    })
  )

  it.live(
    "names the row that a report names, also where a row has given up, and never a retry of an unsafe tool [P1270]",
    () =>
      Effect.gen(function* () {
        const error = () =>
          ToolError.ExecutionError.make({ tool: "search", kind: "local", category: "network", message: "reset" })
        const search = Tool.make("search", {
          description: "Searches.",
          parameters: Schema.Struct({}),
          success: Schema.String,
          sideEffects: "none",
          run: () => Effect.fail(error())
        })
        const unsafe = Tool.make("search", {
          description: "Buys.",
          parameters: Schema.Struct({}),
          success: Schema.String,
          sideEffects: "unsafe",
          run: () => Effect.fail(error())
        })
        const retried = Tool.onError(search, { ExecutionError: Recovery.retry({ retries: 1 }) })
        const model = ScriptedModel.answering(() => calls(call("search", {}, "s1")))
        for (const [tool, line] of [
          [search, "// ExecutionError: Recovery.retry(Backoff.suggested())"],
          [retried, "// ExecutionError: Recovery.ladder(Recovery.retry(Backoff.suggested()), Recovery.tell())"],
          [unsafe, '// ExecutionError: Recovery.respondWith("…")']
        ] as const) {
          const recording = yield* recorded(Effect.provide(Agent.make("clerk", { tools: [tool] })("Hi"), model))
          const file = written(recording)
          assert.include(file, line)
          assert.strictEqual(file.includes("Instead of the row for ExecutionError"), tool === retried)
          const row = Outcome.outcomeOf(recording)?.fatal?.row
          assert.strictEqual(row?.entry, tool === unsafe ? undefined : line.slice(3))
          assert.isFalse((yield* played(file)).isGreen)
          const alone = file.replace(/^ *ExecutionError: Recovery\.retry.*\n/m, "")
          assert.strictEqual(alone === file, tool !== retried)
          assert.isTrue((yield* played(withRow(alone))).isGreen, line)
        }
      })
  )

  it.live("says that another model helps where no row does [P1270]", () =>
    Effect.gen(function* () {
      const model = ScriptedModel.answering(() => fails(LlmError.QuotaExhaustedError.make({ model: "m" })))
      const file = written(yield* recorded(Effect.provide(Agent.make("clerk", {})("Hi"), model)))
      assert.include(file, "// Model.fallback(first, second)")
      assert.isFalse((yield* played(file)).isGreen)
      const fallback = file.replace("model: clerkModel", "model: Model.fallback(clerkModel, play())")
      assert.isTrue((yield* played(fallback)).isGreen)
    })
  )

  it.live("plays sub-agents, and a row in the sub-agent lets the whole run go on [P1270]", () =>
    Effect.gen(function* () {
      const search = Tool.make("search", {
        description: "Searches.",
        parameters: Schema.Struct({ q: Schema.String }),
        success: Schema.String,
        run: () => Effect.delay(Effect.fail(new StaleIndex({ message: "no index" })), 40)
      })
      const expert = Agent.make("expert", { prompt: "Know.", tools: [search] })
      const ask = Agent.asTool(expert, { name: "ask", description: "Asks." })
      const steps = [
        answering(10, [call("ask", { input: "why?" }, "a1")]),
        answering(20, [call("search", { q: "why" }, "s1")])
      ]
      const model = ScriptedModel.answering(() => steps.shift() ?? text("too many"))
      const recording = yield* recorded(Effect.provide(Agent.make("desk", { tools: [ask] })("Why?"), model))
      const file = written(recording)
      const red = yield* played(file)
      assert.deepStrictEqual(normalised(red.recording), normalised(recording))
      assert.isFalse(red.isGreen)
      assert.include(file, "the tool 'search' of 'expert'")
      const green = yield* played(withRow(file))
      assert.isTrue(green.isGreen)
      assert.deepStrictEqual(
        green.recording.events.filter(({ type }) => type === "run-completed").map(({ agent }) => agent),
        ["expert", "desk"]
      )
    })
  )

  it.live("plays the decisions of persons after the recorded time [P1270]", () =>
    Effect.gen(function* () {
      const pay = Tool.make("pay", {
        description: "Pays.",
        parameters: Schema.Struct({ cents: Schema.Int }),
        success: Schema.String,
        run: ({ cents }) => Effect.succeed(`paid ${cents}`)
      }).pipe(Tool.requireApproval())
      const clerk = Agent.make("clerk", { tools: [pay], budget: { maxDuration: "1 day" } })
      const model = yield* ScriptedModel.make(
        calls(call("pay", { cents: 5 }, "p1"), call("pay", { cents: 6 }, "p2")),
        text("Paid one of two.")
      )
      const approver = yield* ScriptedApprover.make(
        ScriptedApprover.after("2 hours", Approval.approveWith({ cents: 4 })),
        ScriptedApprover.after("3 hours", Approval.refuse("not today"))
      )
      const recording = yield* recorded(Effect.provide(clerk("Pay."), Layer.merge(model.layer, approver.layer)))
      const { isGreen, recording: replay } = yield* played(written(recording))
      assert.isTrue(isGreen)
      assert.deepStrictEqual(normalised(replay), normalised(recording))
      assert.include(JSON.stringify(replay.events.map((event) => event["use"])), "paid 4")
    })
  )

  it.live("streams what was streamed, with the text of broken attempts [P1270]", () =>
    Effect.gen(function* () {
      const part = (text: string): Model.Part => ({ type: "text-delta", text })
      const overloaded = LlmError.ModelOverloadedError.make({ model: "scripted" })
      const model = yield* ScriptedModel.make(fails(overloaded, part("Good "), part("mor")), text("Good morning."))
      const clerk = Agent.make("clerk", {}).pipe(
        Agent.onLlmError({ ModelOverloadedError: Recovery.retry({ retries: 1 }) }, { onPartial: "restart" })
      )
      const recording = yield* recorded(Effect.provide(Stream.runDrain(clerk.stream("Hi")), model.layer))
      const { isGreen, recording: replay } = yield* played(written(recording))
      assert.isTrue(isGreen)
      assert.deepStrictEqual(normalised(replay), normalised(recording))
      const streamed = ({ events }: Recording.Recording) =>
        events
          .map(({ type, ...event }) => (type === "text-delta" || type === "attempt-discarded" ? event["text"] : ""))
          .join("")
      assert.strictEqual(streamed(replay), streamed(recording))
      assert.include(streamed(replay), "Good mor")
    })
  )

  it.live("is red at the recorded limit, and green with a larger one [P1270]", () =>
    Effect.gen(function* () {
      const model = ScriptedModel.answering(() => calls(call("nope", {}, "n")))
      const recording = yield* recorded(Effect.provide(Agent.make("clerk", { budget: { maxTurns: 2 } })("Hi"), model))
      const file = written(recording)
      const red = yield* played(file)
      assert.isFalse(red.isGreen)
      assert.deepStrictEqual(normalised(red.recording), normalised(recording))
      assert.include(file, "// The run has reached this limit.\n  budget: { maxTurns: 2 }")
      assert.isTrue((yield* played(file.replace("maxTurns: 2", "maxTurns: 3"))).isGreen)
    })
  )

  it.live("quotes names and texts of any form [P1270]", () =>
    Effect.gen(function* () {
      const evil = "*/ `${process.exit(1)}` ' \" \\ \n \u2028 </script>"
      class Weird extends Error {
        override readonly name = "1 weird-tag; throw 1"
      }
      const tool = Tool.make("delete", {
        description: "d",
        parameters: Schema.Struct({ "a-b": Schema.String }),
        success: Schema.String,
        run: () => Effect.fail(new Weird(evil))
      })
      const model = ScriptedModel.answering(() => calls(call("delete", { "a-b": evil }, evil)))
      const agent = Agent.make("class 2; agent", { prompt: evil, tools: [tool] })
      const recording = yield* recorded(Effect.provide(agent(evil), model))
      const red = yield* played(written(recording))
      assert.isFalse(red.isGreen)
      assert.deepStrictEqual(normalised(red.recording), normalised(recording))
    })
  )

  it.live("runs no text of a foreign recording, neither in a comment nor in a literal [P1270]", () =>
    Effect.gen(function* () {
      const file = readFileSync(midFile("mid-fail"), "utf8")
      const code = "process.emit('foreign')"
      const texts = [
        `*/ ${code} /*`,
        `\n${code}\n//`,
        `\u2028${code}\u2028`,
        `"; ${code}; "`,
        `'; ${code}; '`,
        "__proto__"
      ]
      let runs = 0
      const count = () => void runs++
      yield* Effect.addFinalizer(() => Effect.sync(() => process.off("foreign", count)))
      process.on("foreign", count)
      // an agent, a tool, the tag of a failure, and the name of an argument
      for (const name of ["refund-desk", "refund", "PaymentDeclined", "cents"]) {
        for (const text of texts) {
          const foreign = file.replaceAll(JSON.stringify(name), JSON.stringify(text))
          assert.notStrictEqual(foreign, file)
          const test = written(Recording.parse(foreign))
          // no tool has such a name, so the test ends early, but not before its head
          yield* Effect.exit(played(test))
          assert.strictEqual(runs, 0, `${name}: ${text}`)
        }
      }
    }).pipe(Effect.scoped)
  )

  it("has no character that a terminal obeys, or that hides code from its reader [P1270]", () => {
    const file = readFileSync(midFile("mid-fail"), "utf8")
    for (const text of ["\u001b]0;title\u0007", "\u009b2J", "\u202e cod", "\u2066 x", "line\u2028line"]) {
      for (const name of ["refund-desk", "refund", "PaymentDeclined", "O-50"]) {
        const test = written(Recording.parse(file.replaceAll(JSON.stringify(name), JSON.stringify(text))))
        // oxlint-disable-next-line no-control-regex -- these are what it looks for
        assert.notMatch(test, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/, `${name}: ${text}`)
      }
    }
  })

  it("says of a time beyond all dates that it is unknown [P1270]", () => {
    const file = readFileSync(midFile("mid-fail"), "utf8").replaceAll(/"at":\d+/g, '"at":1e16')
    assert.include(written(Recording.parse(file)), "of an unknown time, which")
  })
})

describe("a run that cannot be played again", () => {
  const start = { runId: "r", agent: "a", turn: 0, at: 0 }
  const begin = { ...start, type: "run-start", input: "Hi", transcript: [] }
  const asked = { ...start, turn: 1, type: "model-start", model: "m", provider: "p", attempt: 1 }
  const end = { ...start, type: "run-completed", output: "o", usage: {}, ledger: [] }
  const refusal = (...events: ReadonlyArray<object>) => {
    const made = Script.of({ events: events as Recording.Recording["events"], problems: [] })
    return Script.isScript(made) ? "a script" : `${made.index}: ${made.message}`
  }

  it.each([
    ["compacted", "the conversation was shortened"],
    ["skill-chosen", "a router has chosen a skill"],
    ["tool-waiting", "a deferred call waits for its settlement"],
    ["output-rejected", "the answer did not fit the output schema"],
    ["message-queued", "a person has said something to the run at work"],
    ["guardrail", "a guardrail has decided"],
    ["run-suspended", "the run was suspended"]
  ])("names the event '%s' and its reason [P1271]", (type, why) => {
    assert.strictEqual(
      refusal(begin, asked, { ...start, turn: 3, type }, end),
      `2: event 3 (${type} of 'a', turn 3): ${why}`
    )
  })

  it("names what is missing, and what no agent of a script can do [P1271]", () => {
    assert.strictEqual(refusal(), "-1: the events have no beginning of a run without a parent")
    assert.strictEqual(refusal(begin, end), "0: event 1 (run-start of 'a', turn 0): the run has asked no model")
    assert.include(refusal(begin, asked), "1: event 2 (model-start of 'a', turn 1): the run has no end")
    const unread = "2: event 3 (model-end of 'a', turn 1): a reply of its model cannot be read"
    const replied = { ...asked, type: "model-end" }
    assert.strictEqual(refusal(begin, asked, replied, end), unread)
    assert.strictEqual(refusal(begin, asked, { ...replied, reply: { content: [null] } }, end), unread)
    const image = { role: "user", content: [{ type: "image", mediaType: "image/png", url: "https://example.com" }] }
    assert.include(refusal({ ...begin, input: {}, transcript: [image] }, asked, end), "has images or files")
    const child = { ...begin, runId: "c", agent: "b", parent: { runId: "r" } }
    assert.include(
      refusal(begin, asked, child, end),
      "2: event 3 (run-start of 'b', turn 0): the run was not started by a tool"
    )
  })
})
