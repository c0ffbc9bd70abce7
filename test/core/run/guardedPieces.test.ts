/** Guardrails with a number to hold back: which pieces readers get of an answer, when it is checked, and for how long. */
import { assert } from "@effect/vitest"
import { Agent, Message, Model, Usage } from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Layer, Stream } from "effect"
import { it } from "../../_support/run.ts"
import { inPieces, reading } from "./_support/guarded.ts"

const { make, reply, text } = ScriptedModel
const { pass } = Agent.guard

const clerk = Agent.make("clerk", {})

it.effect("a number splits no character of a text or a thought in two [P1597]", () =>
  Effect.gen(function* () {
    const smiles = "\u{1f600}".repeat(40)
    const said = reply({ content: [{ type: "reasoning", text: smiles }, Message.text(smiles)] })
    for (const hold of [1, 2, 3, 4, 5]) {
      const agent = clerk.pipe(Agent.guardOutput(() => pass, { hold }))
      const seen = yield* reading(Stream.runDrain(agent.stream("hi")), inPieces(said, 4))
      const pieces = seen.events.flatMap((event) =>
        event.type === "text-delta" || event.type === "reasoning-delta" ? [event.text] : []
      )
      assert.strictEqual(pieces.join(""), smiles + smiles)
      assert.isAbove(pieces.length, 4)
      for (const piece of pieces) assert.match(piece, /^\u{1f600}+$/u)
    }
  })
)

it.effect("a text is checked again when it has grown by the number, or by a sixteenth if that is more [P1597]", () =>
  Effect.gen(function* () {
    const words = "x".repeat(600)
    for (const hold of [1, 10]) {
      const checked: Array<number> = []
      const agent = clerk.pipe(
        Agent.guardOutput(
          ({ isWhole, text }) => {
            if (!isWhole) checked.push(text.length)
            return pass
          },
          { hold }
        )
      )
      yield* reading(Stream.runDrain(agent.stream("hi")), inPieces(reply({ content: [Message.text(words)] }), 1))
      const expected: Array<number> = []
      for (let at = hold; at <= words.length; at += Math.max(hold, Math.ceil(at / 16))) expected.push(at)
      assert.deepStrictEqual(checked, expected)
    }
  })
)

it.run("a check has 30 seconds by default [P1596]", (run) =>
  Effect.gen(function* () {
    const forever = () => Effect.never
    const guarded = [
      { agent: clerk.pipe(Agent.guardInput(forever)), steps: [text("hello")] },
      { agent: clerk.pipe(Agent.guardInput(forever, { mode: "before" })), steps: [] },
      { agent: clerk.pipe(Agent.guardOutput(forever)), steps: [text("hello")] }
    ]
    for (const { agent, steps } of guarded) {
      const model = yield* make(...steps)
      const seen = yield* reading(run(agent, "hi"), model.layer)
      assert.match(Exit.isFailure(seen.exit) ? String(Cause.squash(seen.exit.cause)) : "", /within 30s/)
      assert.strictEqual(seen.instants[seen.events.findIndex(({ type }) => type === "guardrail")], 30_000)
    }
  })
)

/** A model that streams these parts, one each millisecond. */
const streaming = (...parts: ReadonlyArray<Model.Part>) =>
  Layer.succeed(Model.Model, {
    name: "parts",
    provider: "p",
    generate: () => Effect.die(new Error("it is streamed")),
    stream: () => Stream.mapEffect(Stream.fromIterable(parts), (part) => Effect.delay(Effect.succeed(part), 1))
  })

const said = (text: string): Model.Part => ({ type: "text-delta", text })

const thought = (text: string): Model.Part => ({ type: "reasoning-delta", text })

const finish: Model.Part = { type: "finish", finish: "stop", usage: Usage.empty }

it.effect("pieces without a character hold nothing back, and thoughts are no part of the text [P1597]", () =>
  Effect.gen(function* () {
    const checked: Array<readonly [string, string, boolean]> = []
    const agent = clerk.pipe(
      Agent.guardOutput(
        ({ isWhole, reasoning, text }) => {
          checked.push([text, reasoning, isWhole])
          return pass
        },
        { hold: 2 }
      )
    )
    const parts = [thought("so"), thought(""), said("fine"), said(""), said("ly"), finish]
    const seen = yield* reading(Stream.runDrain(agent.stream("hi")), streaming(...parts))
    assert.deepStrictEqual(checked, [
      ["", "so", false],
      ["fine", "so", false],
      ["finely", "so", false],
      ["finely", "so", true]
    ])
    assert.deepStrictEqual(
      seen.events.flatMap((event) =>
        event.type === "text-delta" || event.type === "reasoning-delta" ? [`${event.type} ${event.text}`] : []
      ),
      ["reasoning-delta so", "text-delta fi", "text-delta ne", "text-delta ly"]
    )
  })
)

it.effect("a part of a reply that adds no words asks no check [P1597]", () =>
  Effect.gen(function* () {
    const checked: Array<boolean> = []
    const agent = clerk.pipe(
      Agent.guardInput(() => Effect.delay(Effect.succeed(pass), 2)),
      Agent.guardOutput(({ isWhole }) => (checked.push(isWhole), pass), { hold: 2 })
    )
    const usage: Model.Part = { type: "usage", usage: Usage.empty }
    yield* reading(Stream.runDrain(agent.stream("hi")), streaming(said("finely"), usage, usage, usage, finish))
    assert.deepStrictEqual(checked, [true])
  })
)

it.run("each check has a key of its own within the turn, by which a durable run finds it [P1597]", (run) =>
  Effect.gen(function* () {
    const keys: Array<string> = []
    const noting = () =>
      Effect.map(RunContext.Current, (current) => {
        keys.push(`${current?.callKey?.replace(current.runId, "run")}`)
        return pass
      })
    const agent = clerk.pipe(Agent.guardOutput(noting, { name: "a" }), Agent.guardOutput(noting, { name: "b" }))
    const model = yield* make(text("fine"))
    yield* reading(run(agent, "hi"), model.layer)
    assert.deepStrictEqual(keys, ["run/1/guardrail-output-0", "run/1/guardrail-output-1"])
  })
)
