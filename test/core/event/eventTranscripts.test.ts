/** What was said, from the events alone. */
import { assert } from "@effect/vitest"
import { Agent, AgentEvent, Approval, Budget, Message, type Model, Router, Skill, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { it, type Runnable } from "../../_support/run.ts"
import { agentWith, batch, type Busy, busy, done, eventLog, lastTranscript, scripted } from "../../_support/dialogue.ts"
import { batches, constantFrom } from "../../_support/laws.ts"
import { deciding, only, snapshotOf } from "../../_support/suspension.ts"

const { calls, make } = ScriptedModel

const { transcriptOf } = AgentEvent

const tool = <const Name extends string>(name: Name, run: () => Effect.Effect<string, Busy> = ok) =>
  Tool.make(name, { description: "d", parameters: Schema.Struct({}), success: Schema.String, run })

const ok = () => Effect.succeed("fine")

/** Starts a run, and gives how it ended, its events and what was said. */
const started = <I, O, E, R>(
  agent: { readonly start: (input: I) => Effect.Effect<Agent.Run<O, E>, never, R> },
  input: I
) =>
  Effect.gen(function* () {
    const run = yield* agent.start(input)
    const exit = yield* Effect.exit(run.outcome)
    const events = yield* Stream.runCollect(run.events)
    return { exit, events, transcript: yield* run.transcript }
  })

it.effect("a suspended turn begins once and ends once, and is in both transcripts [A1201]", () =>
  Effect.gen(function* () {
    const pay = tool("pay").pipe(Tool.requireApproval())
    const agent = agentWith(tool("look"), pay)
    const model = yield* make(batch("look", "pay"), done)
    const one = yield* started(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(transcriptOf(one.events), one.transcript)
    assert.deepStrictEqual(
      one.events.filter(({ type }) => type === "turn-end"),
      []
    )
    const from = yield* snapshotOf(yield* one.exit)
    const two = yield* started(Agent.resume(agent), deciding(from)).pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(only(two.events, "run-start")[0]?.transcript, [Message.user("go")])
    assert.deepStrictEqual(transcriptOf(two.events), two.transcript)
    const both = [...one.events, ...two.events]
    assert.deepStrictEqual(transcriptOf(both), two.transcript)
    assert.strictEqual(only(both, "turn-start").length, 2)
    assert.strictEqual(only(both, "turn-end").length, 2)
  })
)

it.run("a skill that is chosen brings its prompt, of which its event tells [A1201]", (run) =>
  Effect.gen(function* () {
    for (const [prompt, expected] of [
      ["Be brief.", "Be kind.\n\nBe brief."],
      [undefined, "Be kind."]
    ] as const) {
      const log = eventLog()
      const skills = [
        Skill.make("one", { description: "d", ...(prompt === undefined ? {} : { prompt }) }),
        Skill.make("two", { description: "d", prompt: "Be long." })
      ]
      const agent = Agent.make("worker", { prompt: "Be kind.", skills }).pipe(
        Agent.route(Router.byRule(() => "one")),
        log.listen
      )
      const model = yield* make(done)
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      assert.deepInclude(log.of("skill-chosen")[0], { skill: "one", prompt: expected })
      const said = transcriptOf(log.all)
      assert.deepStrictEqual(said.slice(0, -1), model.requests[0]?.messages)
      assert.deepStrictEqual(said[0], Message.system(expected))
    }
  })
)

it.run("transcriptOf takes the first run, or the run with `runId` [A1201]", (run) =>
  Effect.gen(function* () {
    const child = Agent.make("below", {})
    const log = eventLog()
    const agent = agentWith(Agent.asTool(child, { description: "d" })).pipe(log.listen)
    const model = yield* make(calls(ScriptedModel.call("below", { input: "why?" })), ScriptedModel.text("so"), done)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(transcriptOf(log.all).slice(0, -1), model.requests.at(-1)?.messages)
    const [, inner] = log.of("run-start")
    assert.deepStrictEqual(transcriptOf(log.all, inner?.runId), [
      Message.user("why?"),
      { role: "assistant", content: [Message.text("so")] }
    ])
    assert.deepStrictEqual(transcriptOf(log.all, "absent"), [])
    assert.deepStrictEqual(transcriptOf([]), [])
  })
)

it.run("the transcript is complete if the run ends by a failure, a limit or a misfit answer [A1201]", (run) =>
  Effect.gen(function* () {
    const broken = scripted("break", Effect.fail(busy()))
    const bounded = (budget: Budget.Limits) =>
      Agent.make("worker", { budget, skills: [Skill.make("s", { description: "d", tools: [tool("look")] })] })
    const typed = Agent.make("worker", { output: Schema.Struct({ n: Schema.Finite }) })
    const failing = Effect.fnUntraced(function* (
      listened: (log: ReturnType<typeof eventLog>) => Runnable<string, unknown, unknown, Model.Model>,
      ...steps: ReadonlyArray<ScriptedModel.ScriptedStep>
    ) {
      const log = eventLog()
      const model = yield* make(...steps)
      yield* Effect.exit(run(listened(log), "go").pipe(Effect.provide(model.layer)))
      assert.strictEqual(log.end()?.type, "run-failed")
      assert.isAbove(lastTranscript(log.end()).length, 1)
      assert.deepStrictEqual(transcriptOf(log.all), lastTranscript(log.end()))
    })
    yield* failing(({ listen }) => agentWith(broken.tool, tool("look")).pipe(listen), batch("look", "break"))
    yield* failing(({ listen }) => bounded({ maxToolCalls: 1 }).pipe(listen), batch("look", "look"))
    yield* failing(({ listen }) => bounded({ maxTokens: 1 }).pipe(listen), done)
    yield* failing(({ listen }) => typed.pipe(listen), done, done)
  })
)

const kinds = ["look", "look", "pay", "pay", "break", "nope"] as const

interface Story {
  readonly turns: ReadonlyArray<ReadonlyArray<(typeof kinds)[number]>>
  readonly isRouted: boolean
  readonly maxTurns: number
  readonly decisions: ReadonlyArray<boolean>
}

const story: fc.Arbitrary<Story> = fc.record({
  turns: batches(constantFrom(...kinds)),
  isRouted: fc.boolean(),
  maxTurns: fc.integer({ min: 1, max: 5 }),
  decisions: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 })
})

/** Tells a story with all its suspensions. */
const tell = Effect.fnUntraced(function* ({ decisions, isRouted, maxTurns, turns }: Story) {
  const tools = [tool("look"), tool("pay").pipe(Tool.requireApproval()), tool("break", () => Effect.fail(busy()))]
  const work = Skill.make("work", { description: "d", prompt: "Work.", tools })
  const options = { prompt: "Be kind.", budget: { maxTurns } }
  const plain = isRouted
    ? Agent.make("worker", { ...options, skills: [work, Skill.make("rest", { description: "d" })] }).pipe(
        Agent.route(Router.byRule(() => "work"))
      )
    : Agent.make("worker", { ...options, skills: [work] })
  // the two differ in their types alone
  const agent = (plain as Agent.Agent<string, string, unknown, never, never, {}, {}, {}>).pipe(
    Agent.onBudgetExceeded(() => Budget.checkpoint)
  )
  const steps = turns.map((names) => batch(...names))
  // a scope that stays open: steps that the story does not reach are no mistake
  const model = yield* Scope.provide(make(...steps, done), yield* Scope.make())
  const resumed = Agent.resume(agent)
  const segments = [yield* started(agent, "go").pipe(Effect.provide(model.layer))]
  for (const isApproved of decisions) {
    const exit = segments.at(-1)?.exit
    if (exit?._tag !== "Success" || exit.value._tag !== "Suspended") break
    const from = yield* snapshotOf(exit.value)
    const decided = deciding(from, isApproved ? Approval.approve : Approval.refuse("no"))
    const input = Snapshot.requestsOf(from).length > 0 ? decided : { from, budget: { maxTurns: 10 } }
    segments.push(yield* started(resumed, input).pipe(Effect.provide(model.layer)))
  }
  return segments
})

it("folding the events of a run gives its transcript: routed, suspended or resumed, however the run ends [A1201]", async () => {
  const ends = new Set<string | undefined>()
  await fc.assert(
    fc.asyncProperty(story, async (story) => {
      const segments = await Effect.runPromise(tell(story).pipe(Effect.scoped, Effect.provide(TestClock.layer())))
      for (const { events, transcript } of segments) {
        assert.deepStrictEqual(transcriptOf(events), transcript)
        ends.add(events.at(-1)?.type)
      }
      const all = segments.flatMap(({ events }) => events)
      assert.deepStrictEqual(transcriptOf(all), segments.at(-1)?.transcript)
      const isWaiting = segments
        .at(-1)
        ?.events.some((event) => event.type === "run-suspended" && event.message !== undefined)
      assert.strictEqual(only(all, "turn-start").length, only(all, "turn-end").length + (isWaiting === true ? 1 : 0))
    })
  )
  assert.deepStrictEqual([...ends].toSorted(), ["run-completed", "run-failed", "run-suspended"])
})
