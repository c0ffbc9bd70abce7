/** Models that break their contract: what they give and fail with is booked, and each event can be written down. */
import { assert } from "@effect/vitest"
import { AgentEvent, Model } from "@kintsugi/core"
import { Effect, Exit, Layer, Schema, Stream } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, eventLog, play, settlements } from "../../_support/dialogue.ts"
import { only } from "../../_support/suspension.ts"

const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }

/** A model that gives these replies in order, whole or in parts. */
const replying = (...contents: ReadonlyArray<ReadonlyArray<unknown>>): Model.Service => {
  let asked = 0
  const next = () => {
    // what no type lets pass
    const content = (contents[asked++] ?? []) as Model.Part[]
    return { content, end: { finish: asked < contents.length ? "tool-calls" : "stop", usage } as const }
  }
  return {
    name: "broken",
    provider: "test",
    generate: () =>
      Effect.sync(() => {
        const { content, end } = next()
        return { content: content as never, ...end }
      }),
    stream: () =>
      Stream.suspend(() => {
        const { content, end } = next()
        const parts = content.map((part) =>
          (part as { type: string }).type === "text" ? { ...part, type: "text-delta" } : part
        )
        return Stream.fromIterable([...parts, { type: "finish", ...end }] as ReadonlyArray<Model.Part>)
      })
  }
}

const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

const cyclic: Record<string, unknown> = {}
cyclic["n"] = cyclic

const deep = (): unknown => {
  let value: unknown = 1
  for (let level = 0; level < 20_000; level++) value = { n: value }
  return value
}

const codec = Schema.fromJsonString(AgentEvent.AgentEvent)

/** Writes every event down, and reads it back. */
const written = (events: ReadonlyArray<AgentEvent.AgentEvent>) =>
  Effect.forEach(events, (event) =>
    Effect.orDie(Effect.flatMap(Schema.encodeEffect(codec)(event), Schema.decodeEffect(codec)))
  )

it.run("arguments of a model that are no JSON are denied, never run, and every event is written down [L1007]", (run) =>
  Effect.gen(function* () {
    const odd: Readonly<Record<string, readonly [args: unknown, why: string]>> = {
      cyclic: [cyclic, "are nested too deeply"],
      deep: [deep(), "are nested too deeply"],
      "a bigint": [1n, "are no JSON"],
      "a bigint within": [{ n: 1n }, "are no JSON"],
      "a revoked proxy": [revoked(), "are no JSON"],
      "a function": [{ n: () => 1 }, "are no JSON"],
      "a symbol": [{ n: Symbol("n") }, "are no JSON"],
      "no number": [{ n: Number.NaN }, "are no JSON"]
    }
    for (const [kind, [args, why]] of Object.entries(odd)) {
      const log = eventLog()
      const { runs, tool } = play("look", {}, [])
      const model = replying(
        [{ type: "tool-call", id: "c", name: "look", arguments: args }],
        [{ type: "text", text: "done" }]
      )
      const agent = agentWith(tool).pipe(log.listen)
      const exit = yield* Effect.exit(run(agent, "go").pipe(Effect.provide(Layer.succeed(Model.Model, model))))
      assert.deepStrictEqual(exit, Exit.succeed("done"), kind)
      assert.strictEqual(runs.length, 0)
      assert.deepStrictEqual(settlements(AgentEvent.transcriptOf(yield* written(log.all))), [
        `denied: The call of tool 'look' was denied and not run: the arguments ${why}`
      ])
    }
  })
)

it.run("fields without a value are left out of arguments, and absent arguments are empty [L1007]", (run) =>
  Effect.gen(function* () {
    for (const args of [{ n: undefined }, undefined]) {
      const log = eventLog()
      const { runs, tool } = play("look", {}, [Effect.succeed("seen")])
      const model = replying(
        [{ type: "tool-call", id: "c", name: "look", arguments: args }],
        [{ type: "text", text: "done" }]
      )
      const agent = agentWith(tool).pipe(log.listen)
      yield* run(agent, "go").pipe(Effect.provide(Layer.succeed(Model.Model, model)))
      assert.deepStrictEqual(
        runs.map(({ params }) => params),
        [{}]
      )
      yield* written(log.all)
    }
  })
)

it.run(
  "a model that fails with, or dies of, what cannot be looked at leaves its entry in the ledger, and one end [P703]",
  (run) =>
    Effect.gen(function* () {
      const throwing = Object.defineProperty({}, "_tag", {
        enumerable: true,
        get: () => {
          throw new Error("not for you")
        }
      })
      for (const error of [revoked(), throwing, Symbol("odd"), null, cyclic]) {
        // what no type lets pass
        const failure = error as never
        for (const [generate, stream] of [
          [() => Effect.fail(failure), () => Stream.fail(failure)],
          [() => Effect.die(failure), () => Stream.die(failure)]
        ] as const) {
          const log = eventLog()
          const model: Model.Service = { name: "broken", provider: "test", generate, stream }
          const agent = agentWith().pipe(log.listen)
          yield* Effect.exit(run(agent, "go").pipe(Effect.provide(Layer.succeed(Model.Model, model))))
          const read = yield* written(log.all)
          assert.strictEqual(only(read, "model-failed").length, 1)
          const ends = only(read, "run-failed")
          assert.deepStrictEqual(
            ends.map(({ ledger }) => ledger.map(({ outcome }) => outcome)),
            [["failed"]]
          )
          assert.strictEqual(read.at(-1), ends[0])
        }
      }
    })
)
