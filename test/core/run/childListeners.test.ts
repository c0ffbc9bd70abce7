import { assert } from "@effect/vitest"
import { Agent, AgentEvent, Skill } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { type Duration, Effect, Exit } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, callingOnce, done, eventLog, interruptedAt, overADay, scripted } from "../../_support/dialogue.ts"
import { database, Db, now, watched } from "./_support/listening.ts"

const { make } = ScriptedModel

it.effect("the losses of child runs count with their parent; without losses there is no warning [A1205]", () =>
  Effect.gen(function* () {
    const slow = Agent.deterministic("slow", () => Effect.succeed("well")).pipe(Agent.onEvent(() => Effect.never))
    const { tool } = scripted("ask", slow("why?"))
    const lostBy = Effect.fnUntraced(function* (agent: ReturnType<typeof agentWith<[typeof tool]>>) {
      const model = yield* callingOnce("ask")
      const handle = yield* agent.start("go").pipe(Effect.provide(model.layer))
      yield* handle.outcome
      return yield* handle.lost
    })
    const { effect, seen } = watched(Effect.scoped(lostBy(agentWith(tool))))
    assert.deepStrictEqual(yield* overADay(effect), Exit.succeed(2))
    assert.deepStrictEqual(seen.warnings, [
      "Listeners of agent 'slow' were too slow, and lost 1 × run-start, 1 × run-completed"
    ])
    const log = eventLog()
    const quick = scripted("ask", Effect.succeed("well"))
    const other = watched(Effect.scoped(lostBy(agentWith(quick.tool).pipe(log.listen))))
    assert.deepStrictEqual(yield* overADay(other.effect), Exit.succeed(0))
    assert.deepStrictEqual(other.seen.warnings, [])
    assert.isTrue(log.all.some(AgentEvent.isTerminal))
  })
)

/** A sub-agent with a listener that never ends, as a tool; and an agent that asks it, twice. */
const bossWith = (maxDuration: Duration.Input) => {
  const hung = Agent.deterministic("hung", () => Effect.succeed("well")).pipe(Agent.onEvent(() => Effect.never))
  const ask = Agent.asTool(hung, { description: "Asks." })
  return Agent.make("boss", {
    budget: { maxDuration },
    skills: [Skill.make("ask", { description: "d", tools: [ask] })]
  })
}

const asked = (input: string) => ScriptedModel.calls(ScriptedModel.call("hung", { input }))

it.run("each child run waits for its own listeners, at most a second, and its parent for none of them [P1503]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* make(asked("why?"), asked("and why?"), done)
    const { effect, seen } = watched(run(bossWith("1 day").pipe(log.listen), "go").pipe(Effect.provide(model.layer)))
    assert.deepStrictEqual(yield* overADay(effect), Exit.succeed("done"))
    const ends = log.all.filter(AgentEvent.isTerminal).map(({ agent, at }) => [agent, at])
    assert.deepStrictEqual(ends, [
      ["hung", 0],
      ["hung", 1000],
      ["boss", 2000]
    ])
    assert.strictEqual(seen.endedAt, 2000)
    assert.strictEqual(seen.fibersAtEnd, 0)
  })
)

it.run("the time of the parent, and its interruption, end the wait of a child run [P1355 P1503]", (run) =>
  Effect.gen(function* () {
    const limited = yield* make(asked("why?"))
    const late = watched(run(bossWith("300 millis"), "go").pipe(Effect.provide(limited.layer)))
    assert.isTrue(Exit.isFailure(yield* overADay(late.effect)))
    assert.strictEqual(late.seen.endedAt, 300)
    assert.strictEqual(late.seen.fibersAtEnd, 0)
    const startedAt = yield* now
    const model = yield* make(asked("why?"), asked("and why?"))
    const stopped = watched(run(bossWith("1 day"), "go").pipe(Effect.provide(model.layer)))
    yield* interruptedAt(1400, stopped.effect)
    assert.strictEqual(stopped.seen.endedAt - startedAt, 1400)
    assert.strictEqual(stopped.seen.fibersAtEnd, 0)
  })
)

it.run("a listener of a child run uses what that run was given before it is closed, or never [P1355]", (run) =>
  Effect.gen(function* () {
    for (const [delay, expected] of [
      [800, ["written", "closed"]],
      [1200, ["closed"]]
    ] as const) {
      const { layer, rows } = database()
      const writing = Agent.onEvent((event) =>
        AgentEvent.isTerminal(event)
          ? Effect.delay(
              Effect.flatMap(Db, (db) => db.write("written")),
              delay
            )
          : Effect.void
      )
      const child = Agent.deterministic("child", () => Effect.succeed("well")).pipe(writing)
      const { tool } = scripted("ask", Effect.provide(child("why?"), layer))
      const model = yield* callingOnce("ask")
      const { effect } = watched(run(agentWith(tool), "go").pipe(Effect.provide(model.layer)))
      assert.deepStrictEqual(yield* overADay(effect), Exit.succeed("done"))
      assert.deepStrictEqual(rows, [...expected])
    }
  })
)

it.run("a listener is no part of a run: what it starts is a run of its own [P1503]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const own = Agent.deterministic("own", () => Effect.succeed("noted")).pipe(log.listen)
    const noting = Agent.onEvent(({ type }) =>
      type === "run-completed" ? Effect.asVoid(Effect.orDie(own("well?"))) : Effect.void
    )
    const child = Agent.deterministic("child", () => Effect.succeed("well")).pipe(noting)
    const { tool } = scripted("ask", child("why?"))
    const model = yield* callingOnce("ask")
    yield* run(agentWith(tool), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(log.types(), ["run-start", "run-completed"])
    for (const event of log.all) assert.notProperty(event, "parent")
  })
)
