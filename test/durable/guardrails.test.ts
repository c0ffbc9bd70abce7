/** Guardrails of a durable run: their verdicts are steps, which no replay and no other process asks for once more. */
import { assert, it } from "@effect/vitest"
import { Agent, Message, Model, Skill, Tool, Usage } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Exit, Layer, Schema, Stream } from "effect"
import { process, watched } from "./_support/engines.ts"
import { passing, reading as readingLog } from "./_support/logs.ts"
import { surviving } from "./_support/playing.ts"
import { call, reading } from "./_support/readingModel.ts"

/** A run with a check of the input and one of the answer, and how often each was asked. */
const play = (death?: { readonly at: number; readonly when: "before" | "after" }) =>
  Effect.gen(function* () {
    const asked: Array<string> = []
    const model = reading("outer", (turn) => (turn === 0 ? [call("look")] : [Message.text("all done")]))
    const look = Tool.make("look", {
      description: "Looks.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      sideEffects: "none",
      run: () => Effect.succeed("seen")
    })
    const check = ({ side, text }: Agent.Checked) =>
      Effect.sync(() => {
        asked.push(`${side}: ${text}`)
        return Agent.guard.pass
      })
    const agent = Agent.make("worker", { model: model.layer, tools: [look], budget: { maxDuration: "2 days" } }).pipe(
      Agent.guardInput(check),
      Agent.guardInput(check, { mode: "before" }),
      Agent.guardOutput(check)
    )
    const durable = Durable.workflow(agent, { name: "guarded", input: Schema.String, output: Schema.String })
    const { exit } = yield* surviving(durable, durable.layer, death)
    return { asked, exit }
  })

// Finds out nothing of its own: it plays a death at each step of a run that core checks
it.effect("whenever the process dies, a verdict that was recorded is asked for once [P1599]", () =>
  Effect.gen(function* () {
    const whole = ["input: go", "input: go", "output: all done"]
    assert.deepStrictEqual((yield* play()).asked, whole)
    for (let at = 1; at <= 6; at++) {
      for (const when of ["before", "after"] as const) {
        const { asked, exit } = yield* play({ at, when })
        assert.deepStrictEqual(exit, Exit.succeed("all done"))
        // the one that was under way is asked once more
        assert.isAtMost(asked.length, whole.length + 1, `${at} ${when}`)
        assert.includeMembers(asked, whole)
      }
    }
  })
)

// Finds out nothing of its own: its subject is how core checks a function, after a death at each step
it.effect("the checks of a function, and one that interrupts itself, are steps as any other [P1378 P1596 P1599]", () =>
  Effect.gen(function* () {
    for (let at = 0; at <= 4; at++) {
      for (const when of ["before", "after"] as const) {
        const inputs: Array<string> = []
        const skill = Skill.deterministic("echo", {
          description: "Echoes.",
          run: (input: string) => Effect.sync(() => (inputs.push(input), `did ${input}`))
        })
        const agent = Agent.make("worker", { skills: [skill], budget: { maxDuration: "2 days" } }).pipe(
          Agent.guardInput(() => Agent.guard.replace("gone"), { mode: "before" }),
          Agent.guardInput(() => Effect.interrupt, { onFailure: "pass" }),
          Agent.guardOutput(({ text }) => Agent.guard.replace(`${text}!`))
        )
        const durable = Durable.workflow(agent, { name: "guarded", input: Schema.String, output: Schema.String })
        const { exit } = yield* surviving(durable, durable.layer, at === 0 ? undefined : { at, when })
        assert.deepStrictEqual(exit, Exit.succeed("did gone!"), `${at} ${when}`)
        assert.deepStrictEqual([...new Set(inputs)], ["gone"], `${at} ${when}`)
      }
    }
  })
)

const said = "one two three four five six seven eight nine ten eleven twelve"

/** A model that calls a tool, and then says this, a few characters each `pause`. */
const writing = (said: string, pause: number) =>
  Layer.succeed(Model.Model, {
    name: "writing",
    provider: "test",
    generate: () => Effect.die(new Error("the model of a durable run streams")),
    stream: ({ messages }) => {
      const usage = Usage.make({ inputTokens: 10, outputTokens: 5 })
      const isFirst = !messages.some(({ role }) => role === "assistant")
      const pieces = (isFirst ? "let me look" : said).match(/.{1,6}/g) ?? []
      const deltas = pieces.map((text): Model.Part => ({ type: "text-delta", text }))
      const parts: ReadonlyArray<Model.Part> = isFirst
        ? [...deltas, { ...call("look"), type: "tool-call" }, { type: "finish", finish: "tool-calls", usage }]
        : [...deltas, { type: "finish", finish: "stop", usage }]
      return Stream.mapEffect(Stream.fromIterable(parts), (part) => Effect.delay(Effect.succeed(part), pause))
    }
  })

const worker = (layer: Layer.Layer<Model.Model>) => {
  const look = Tool.make("look", {
    description: "Looks.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    sideEffects: "none",
    run: () => Effect.succeed("seen")
  })
  return Agent.make("worker", { model: layer, tools: [look], budget: { maxDuration: "2 days" } })
}

it.effect(
  "a check of a text that goes on is no step, in another process too, and has the time of its process [P1596 P1597 P1599]",
  () =>
    Effect.gen(function* () {
      for (let at = 0; at <= 12; at++) {
        const asked: Array<string> = []
        const judge = reading("judge", () => [Message.text("fine")])
        const judging = Agent.make("judge", { model: judge.layer })
        const agent = worker(writing(said, 1000)).pipe(
          Agent.guardOutput(
            ({ text }) => {
              asked.push(text)
              return Effect.delay(Effect.as(judging(text), Agent.guard.pass), "1 second")
            },
            { hold: 5 }
          )
        )
        const durable = Durable.workflow(agent, { name: "guarded", input: Schema.String, output: Schema.String })
        const death = at === 0 ? undefined : ({ at, when: at % 2 === 0 ? "before" : "after" } as const)
        const { engine, exit } = yield* surviving(durable, durable.layer, death)
        assert.deepStrictEqual(exit, Exit.succeed(said), `${at}`)
        // no wait of a check divides the step of the model call
        assert.lengthOf(
          engine.done.filter((name) => name.includes("/model/")),
          2
        )
        assert.strictEqual(judge.asked(), asked.length)
        assert.include(asked, said)
      }
    })
)

// Finds out nothing of its own: its subject is what core holds back from its events
it.effect("nothing of a blocked answer is in the log of events, with any kind of check [P1597 P1543]", () =>
  Effect.gen(function* () {
    for (const hold of ["all", 5] as const) {
      const judge = reading("judge", () => [Message.text("It says eleven")])
      const judging = Agent.make("judge", { model: judge.layer })
      const agent = worker(writing(said, 100)).pipe(
        Agent.guardOutput(
          ({ text }) => Effect.as(judging(text), text.includes("eleven") ? Agent.guard.block("no") : Agent.guard.pass),
          { hold }
        )
      )
      const durable = Durable.workflow(agent, { name: "guarded", input: Schema.String, output: Schema.String })
      const engine = yield* watched(false)
      yield* Effect.gen(function* () {
        yield* process(durable.layer)
        const id = yield* Durable.start(durable, { id: "one", input: "go" })
        const { events, exit } = yield* readingLog(Durable.events(durable, id))
        yield* passing(60)
        yield* exit
        assert.strictEqual(events.at(-1)?.type, "run-failed")
        assert.notInclude(JSON.stringify(events), "eleven")
        const after = { after: events[3]?.cursor ?? "" }
        assert.notInclude(JSON.stringify(yield* Stream.runCollect(Durable.events(durable, id, after))), "eleven")
      }).pipe(Effect.provide(engine.layer))
    }
  })
)
