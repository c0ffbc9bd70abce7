/** Texts that models and developers read, word by word: what is wrong with a call, what changes when it fails again, what options say. */
import { assert, it } from "@effect/vitest"
import { Compaction, Explanation, Message, Recovery, RetryBudget, ToolError } from "@kintsugi/core"
import * as Render from "@kintsugi/core/Render"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Clock, Effect, Schedule } from "effect"
import { contextOf } from "./_support/contexts.ts"

const passing = (message = "busy") => Object.assign(new Error(message), { isRetryable: true })

const misfit = (...paths: ReadonlyArray<ReadonlyArray<string>>) =>
  ToolError.DeserializationError.make({
    tool: "fetch",
    callId: "c1",
    rawValue: {},
    targetType: "a form",
    issues: paths.map((path) => ({ path, expected: "a number", actual: '"a"' }))
  })

it("the fields that a model has to correct are named each once, ten at most, and in no more than 300 characters", () => {
  const toCorrect = (...paths: ReadonlyArray<ReadonlyArray<string>>) =>
    /; correct (.*) and call the tool again$/s.exec(Render.labelled(misfit(...paths), contextOf("none", {})))?.[1]
  assert.strictEqual(toCorrect(["a"], ["b", "c"], ["a"]), "a, b.c")
  const many = Array.from({ length: 12 }, (_, index) => `f${index}`)
  assert.strictEqual(toCorrect(...many.map((name) => [name])), many.slice(0, 10).join(", "))
  assert.strictEqual(toCorrect([]), "the arguments")
  assert.strictEqual(toCorrect(["a"], []), "the arguments")
  assert.strictEqual(toCorrect(["x".repeat(140)], ["y".repeat(158)]), `${"x".repeat(140)}, ${"y".repeat(158)}`)
  assert.strictEqual(toCorrect(["x".repeat(140)], ["y".repeat(159)]), "the arguments")
})

it("what is said besides a failure's message and the instructions is the same, however often it failed [P1332]", () => {
  const error = passing()
  const texts = [
    Render.labelled(error, contextOf("none", {})),
    Render.labelled(error, contextOf("unsafe", {})),
    Render.labelled(error, contextOf("none", { isRepeated: true })),
    Render.labelled(error, contextOf("none", { isUncertain: true })),
    Render.repeated(Render.labelled(error, contextOf("none", {}))),
    Render.withCutOff(Render.labelled(error, contextOf("unsafe", {})))
  ]
  assert.strictEqual(new Set(texts).size, texts.length)
  assert.deepStrictEqual(
    new Set(texts.map((text) => Render.saidBesides(text, error.message))),
    new Set(["transient: "])
  )
  const hard = Render.labelled(new Error("gone"), contextOf("none", {}))
  assert.strictEqual(Render.saidBesides(hard, "gone"), "permanent: ")
  // the fields to correct are an instruction too
  const wrong = [misfit(["a"]), misfit(["b", "c"], ["d"])]
  assert.deepStrictEqual(
    wrong.map((error) => Render.saidBesides(Render.labelled(error, contextOf("none", {})), Render.messageOf(error))),
    ["", ""]
  )
})

it("a failure outside of tools names no tool, also when it comes again [P202]", () => {
  const { tool: _tool, ...outside } = contextOf("none", { attempt: 3 })
  assert.strictEqual(Render.labelled(passing(), outside), "transient: busy; safe to retry")
  assert.include(
    Render.labelled(passing(), contextOf("none", { attempt: 3 })),
    "tool 'fetch' failed 3 times, at last: busy"
  )
})

it("a call of unknown outcome may pass by itself, and is not safe to repeat [P202]", () => {
  const unknown = ToolError.OutcomeUnknownError.make({ tool: "fetch", callId: "c1", idempotencyKey: "k" })
  assert.match(
    Render.labelled(unknown, contextOf("unsafe", {})),
    /^transient: .*; it may have taken effect, check before repeating$/
  )
})

it("the lines of a stack are no part of a message, whatever runtime wrote them [P202]", () => {
  const lines = [
    "    at fetchAll (/srv/app/src/main.js:120:17)",
    "    at /srv/app/src/main.js:7:3",
    "    at new Desk (file:///srv/desk.mjs:12:1)",
    "    at Array.map (<anonymous>)",
    "    at next (native)"
  ]
  for (const line of lines)
    assert.strictEqual(Render.messageOf(new Error(`broken\n${line}\nat noon`)), "broken\nat noon")
  const plain = "meet\n    at the station"
  assert.strictEqual(Render.messageOf(new Error(plain)), plain)
})

it("reasons and refusals say why [P202]", () => {
  assert.strictEqual(Render.toolsOff, "No tool can be called any more. Answer in words.")
  assert.strictEqual(
    Render.denied("pay", Render.undecided),
    "The call of tool 'pay' was denied and not run: no decision about it came in time"
  )
})

it("the names of an unknown tool are shown, with the nearest one behind any prefix [P202]", () => {
  const near = (name: string) => Render.unknownTool(name, ["look", "pay"])
  for (const name of ["lok", "functions.look", "a.b:look", "server__look", "a\n/look"])
    assert.strictEqual(near(name), `unknown tool: ${name}; available tools: look, pay; did you mean look?`)
  assert.strictEqual(near("quite else"), "unknown tool: quite else; available tools: look, pay")
})

it("the options of a retry budget say which of them is wrong", () => {
  const refused = (options: RetryBudget.Options, rule: string) =>
    assert.throws(() => RetryBudget.makeUnsafe(options), RangeError, `RetryBudget: ${rule}`)
  // an untyped program may say anything
  for (const window of ["nonsense" as never, Number.NaN, 0, "Infinity"] as const)
    refused({ window }, `window must be a finite duration of at least 1 ms, got ${window}`)
  for (const ratio of [-1, Number.NaN, Infinity])
    refused({ ratio }, `ratio must be a finite number of at least 0, got ${ratio}`)
  for (const reserve of [-1, Number.NaN, Infinity])
    refused({ reserve }, `reserve must be a finite number of at least 0, got ${reserve}`)
})

it.effect("a retry takes from a shared budget if it begins at the last instant, and not if it is later [L806]", () =>
  Effect.gen(function* () {
    for (const [latest, isTaken] of [
      [1000, true],
      [999, false]
    ] as const) {
      const budget = RetryBudget.makeUnsafe({ ratio: 0, reserve: 1, window: "1 day" })
      const step = yield* Schedule.toStep(RetryBudget.sharing(Schedule.spaced("1 second"), budget))
      yield* Effect.provideService(step(yield* Clock.currentTimeMillis, undefined), RetryBudget.Latest, latest)
      assert.strictEqual(yield* budget.withdraw, !isTaken)
    }
  })
)

it("six waits are shown, and a sign that there are more; waits of nothing are not shown [P1102]", () => {
  const shown = (retries: number, initialBackoff = "1 second") =>
    Explanation.format(
      Recovery.explain(Recovery.retry({ retries, initialBackoff: initialBackoff as "1 second", factor: 1 }))
    )
      .split("\n")[1]
      ?.split(/ {2,}/)[3]
  assert.strictEqual(shown(6), Array(6).fill("1s").join(", "))
  assert.strictEqual(shown(7), [...Array(6).fill("1s"), "…"].join(", "))
  assert.strictEqual(shown(2, "0 seconds"), undefined)
  assert.throws(
    () => Explanation.timeline([{ name: "a" }], { maxAttempts: 0 }),
    RangeError,
    "Explanation.timeline: maxAttempts must be a whole number of at least 1, got 0"
  )
})

it("a conversation as a text has each part on its own line, and says what is no text [P1005]", () => {
  const image = { type: "image", mediaType: "image/png", data: "AAAA" } as const
  const user: Message.User = { role: "user", content: [Message.text("see"), image, Message.text("this")] }
  assert.strictEqual(
    Compaction.toText([Message.system("Be brief."), user, Message.assistant("so")]),
    "System: Be brief.\nUser: see\n[image]\nthis\nAssistant: so"
  )
})

it.effect("a result that is cut keeps its pictures, and loses the texts for which no room is left [P1005]", () =>
  Effect.gen(function* () {
    const image = { type: "image", mediaType: "image/png", data: "AAAA" } as const
    const settlement: Message.Settlement = {
      kind: "result",
      text: "a".repeat(12),
      parts: [Message.text("b".repeat(8)), image, Message.text("c".repeat(8)), Message.text("d")]
    }
    const call: Message.SettledCall = { type: "settled-call", call: ScriptedModel.call("look", {}, "c1"), settlement }
    const compaction = Compaction.shrinkLargestResult({ maxLength: 10 })
    assert.strictEqual(compaction.name, "shrinkLargestResult")
    const [message] = yield* compaction.compact({
      transcript: [{ role: "assistant", content: [call] }],
      error: undefined as never
    })
    assert(message?.role === "assistant")
    const [cut] = message.content
    assert(cut?.type === "settled-call")
    assert.deepStrictEqual(cut.settlement, {
      kind: "result",
      text: `${"a".repeat(7)}...`,
      parts: [Message.text("b".repeat(8)), image, Message.text("cc")]
    })
  })
)

it.effect("a summary stands before the replies that stay, so none of them goes for want of a question [P1005]", () =>
  Effect.gen(function* () {
    const transcript: Message.Transcript = [
      Message.user("one"),
      Message.assistant("first"),
      Message.assistant("second"),
      Message.user("two")
    ]
    const summarise = Compaction.summarise(() => Effect.succeed("short"), { keepLast: 2 })
    const messages = yield* summarise.compact({ transcript, error: undefined as never })
    assert.deepStrictEqual(messages.slice(1), transcript.slice(2))
    assert.include(JSON.stringify(messages[0]), "short")
  })
)
