import { assert, it } from "@effect/vitest"
import { Agent, Message, Recovery, Skill, Tool, ToolError } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Option, Schema } from "effect"
import { describe } from "vitest"
import type { Death } from "./_support/engines.ts"
import { surviving } from "./_support/playing.ts"
import { call, reading } from "./_support/readingModel.ts"
import { Busy } from "./_support/scenarios.ts"

/** Five turns: two tools at once, an unsafe one, one that fails first, a sub-agent, and one that needs approval. */
const story = (options: { readonly isVerified: boolean }) => {
  const model = reading("outer", (turn) => {
    const said: ReadonlyArray<Message.Reply["content"]> = [
      [call("look"), call("see")],
      [call("pay")],
      [call("flaky")],
      [call("inner", { input: "go" })],
      [call("sign")]
    ]
    return said[turn] ?? [Message.text("all done")]
  })
  const innerModel = reading("inner", (turn) => (turn === 0 ? [call("look")] : [Message.text("inner done")]))
  /** What has taken effect, by the key of the call; nothing here dies with a process. */
  const effects = new Map<string, string>()
  const runs: Array<string> = []
  const made = <const Name extends string>(name: Name) => ({
    description: `The tool ${name}.`,
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: (_: {}, { attempt }: Tool.ToolContext) => Effect.sync(() => (runs.push(`${name} ${attempt}`), `${name}!`))
  })
  const verify = (key: string) => Effect.succeed(Option.fromUndefinedOr(effects.get(key)))
  const pay = Tool.make("pay", {
    ...made("pay"),
    sideEffects: "unsafe",
    ...(options.isVerified ? { verify } : {}),
    run: (_, { idempotencyKey }) =>
      Effect.sync(() => {
        runs.push("pay")
        effects.set(idempotencyKey, `paid ${effects.size + 1}`)
        return `paid ${effects.size}`
      })
  })
  const flaky = Tool.make("flaky", {
    ...made("flaky"),
    failure: Busy,
    run: (_, { attempt }) =>
      Effect.suspend(() => {
        runs.push(`flaky ${attempt}`)
        return attempt === 1 ? Effect.fail(new Busy({ message: "busy" })) : Effect.succeed("flaky!")
      })
  }).pipe(Tool.onError({ Busy: Recovery.retry({ maxAttempts: 2, initialBackoff: "90 seconds" }) }))
  const [look, see] = [Tool.make("look", made("look")), Tool.make("see", made("see"))]
  const sign = Tool.make("sign", made("sign")).pipe(Tool.requireApproval())
  const inner = Agent.make("inner", {
    model: innerModel.layer,
    // time goes on while there is no process
    budget: { maxDuration: "2 days" },
    skills: [Skill.make("work", { description: "Works.", tools: [look] })]
  })
  const tools = [look, see, pay, flaky, sign, Agent.asTool(inner, { description: "Works." })] as const
  const ledgers: Array<number> = []
  const agent = Agent.make("worker", {
    model: model.layer,
    budget: { maxDuration: "2 days" },
    skills: [Skill.make("work", { description: "Works.", tools })]
  }).pipe(
    Agent.onEvent((event) =>
      Effect.sync(() => {
        if (event.type === "run-completed" && event.parent === undefined) ledgers.push(event.usage.inputTokens)
      })
    )
  )
  return { agent, asked: () => [model.asked(), innerModel.asked()], runs, effects, ledgers }
}

/** Plays the story. A process that dies is followed by another one, an hour later. */
const play = (death: Death | undefined, options = { isVerified: true }) =>
  Effect.gen(function* () {
    const { agent, ...seen } = story(options)
    const waiting: Array<Durable.DurableRequest> = []
    const durable = Durable.workflow(agent, {
      name: "story",
      input: Schema.String,
      output: Schema.String,
      onApproval: (asked) => Effect.sync(() => void waiting.push(asked))
    })
    const outcome = yield* surviving(durable, durable.layer, death, waiting)
    return { ...seen, ...outcome }
  })

const expected = ["flaky 1", "flaky 2", "look 1", "look 1", "pay", "see 1", "sign 1"]

// Finds out nothing of its own: it counts what the deaths below are compared with
it.effect("the story without a death: each tool as often as it should, one ledger [P1115]", () =>
  Effect.gen(function* () {
    const { asked, engine, exit, ledgers, runs } = yield* play(undefined)
    assert.deepStrictEqual(exit.toJSON(), { _id: "Exit", _tag: "Success", value: "all done" })
    assert.deepStrictEqual(runs.toSorted(), expected)
    assert.deepStrictEqual(asked(), [6, 2])
    assert.deepStrictEqual(ledgers, [80])
    assert.isAtLeast(engine.started(), 19)
  })
)

const points = Array.from({ length: 19 }, (_, index) => index + 1)

describe.each(["before", "after"] as const)("a death %s what a step does", (when) => {
  // Finds out nothing of its own: its subject is the replay of all that core does, after each step
  it.effect.each(points)("at step %s: another process ends the run as if there had been none [P1115]", (at) =>
    Effect.gen(function* () {
      const { asked, effects, exit, hasDied, ledgers, runs } = yield* play({ at, when })
      assert.isTrue(hasDied)
      assert.deepStrictEqual(exit.toJSON(), { _id: "Exit", _tag: "Success", value: "all done" })
      // what takes effect once did so once
      assert.deepStrictEqual([...effects.values()], ["paid 1"])
      assert.strictEqual(runs.filter((run) => run === "pay").length, 1)
      // nothing but the one step is done again, and that only where it had been done
      const [outer = 0, inner = 0] = asked()
      const repeated = outer + inner - 8 + (runs.length - expected.length)
      assert.isAtMost(repeated, when === "before" ? 0 : 1)
      assert.isAtLeast(repeated, 0)
      assert.deepStrictEqual(ledgers, [80])
    })
  )
})

// Finds out nothing of its own: its subject is which attempts of core a death leaves without an end
it.effect(
  "an unsafe tool without a look-up that may have begun is an OutcomeUnknownError, never a second run [P1116]",
  () =>
    Effect.gen(function* () {
      let unknown = 0
      for (const at of points) {
        for (const when of ["before", "after"] as const) {
          const { effects, exit, runs } = yield* play({ at, when }, { isVerified: false })
          assert.isAtMost(runs.filter((run) => run === "pay").length, 1)
          assert.isAtMost(effects.size, 1)
          if (exit._tag === "Success") continue
          unknown++
          const [failure] = exit.cause.reasons
          assert.strictEqual(failure?._tag, "Fail")
          assert.instanceOf(failure?._tag === "Fail" ? failure.error : undefined, ToolError.OutcomeUnknownError)
        }
      }
      // after the intent was laid down: before the run, and after it
      assert.strictEqual(unknown, 2)
    })
)
