/** What the idempotency key of a call is derived from, and what keeps it. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Budget, LlmError, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import {
  agentWith,
  batch,
  type Busy,
  busy,
  done,
  type Gone,
  gone,
  overADay,
  play,
  scripted
} from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { deciding, outcomeOf, snapshotOf } from "../../_support/suspension.ts"
import { till } from "./_support/till.ts"

const { call, calls, make } = ScriptedModel

const ada = { to: "Ada", cents: 5 }
const paying = (...args: ReadonlyArray<Schema.Json>) => calls(...args.map((args, at) => call("pay", args, `c${at}`)))

/** The digest and the count of each key. */
const parts = (keys: ReadonlyArray<string>) => keys.map((key) => key.split("-"))

it.run("a call keeps its key in another position: of the run, and of its reply [P1502]", (run) =>
  Effect.gen(function* () {
    const { keys, pay } = till()
    const look = play("look", {}, [Effect.succeed("a"), Effect.succeed("b")])
    const agent = agentWith(pay, look.tool).pipe(Agent.withRunId("order-7"))
    const model = yield* make(
      batch("look"),
      calls(call("look", {}, "c1"), call("pay", ada, "c2")),
      done,
      calls(call("pay", ada, "c9")),
      done
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    yield* run(agent, "go again").pipe(Effect.provide(model.layer))
    assert.strictEqual(keys.length, 2)
    assert.strictEqual(keys[0], keys[1])
    // nothing of the arguments, and nothing that a server would find too long
    assert.match(keys[0] ?? "", /^[\da-f]{32}-0$/)
  })
)

it.run(
  "equal calls are counted in their order, within a reply and over turns; the form of the JSON does not matter [P1502]",
  (run) =>
    Effect.gen(function* () {
      const { keys, pay } = till()
      const forms = [ada, { cents: 5, to: "Ada" }, '{"to":"Ada","cents":5}', ' { "cents": 5.0,\n"to": "\\u0041da" }']
      const model = yield* make(paying(...forms), paying(ada), done)
      yield* run(agentWith(pay), "go").pipe(Effect.provide(model.layer))
      const found = parts(keys)
      assert.strictEqual(new Set(found.map(([digest]) => digest)).size, 1)
      assert.deepStrictEqual(
        found.map(([, count]) => count),
        ["0", "1", "2", "3", "4"]
      )
    })
)

it.run("another tool, another argument, another run or another id is another key [P1502]", (run) =>
  Effect.gen(function* () {
    const { keys, pay } = till()
    const settle = till("settle")
    const one = calls(call("pay", ada, "c1"), call("pay", { ...ada, cents: 6 }, "c1"), call("settle", ada, "c1"))
    const model = yield* make(one, done, one, done, one, done, one, done)
    const agent = agentWith(pay, settle.pay)
    for (const each of [agent, agent, agent.pipe(Agent.withRunId("a")), agent.pipe(Agent.withRunId("b"))]) {
      yield* run(each, "go").pipe(Effect.provide(model.layer))
    }
    const all = [...keys, ...settle.keys]
    assert.strictEqual(all.length, 12)
    assert.strictEqual(new Set(parts(all).map(([digest]) => digest)).size, 12)
  })
)

it.run(
  "text that is no JSON counts as it is; a repair and its attempts keep the key of what was written [P1502]",
  (run) =>
    Effect.gen(function* () {
      const seen: Array<readonly [n: string, key: string]> = []
      const act = Tool.make("act", {
        description: "Acts.",
        parameters: Schema.Struct({ n: Schema.String }),
        success: Schema.String,
        coercion: [],
        run: ({ n }, { attempt, idempotencyKey }): Effect.Effect<string, Busy | Gone> => {
          seen.push([n, idempotencyKey])
          return attempt === 1 ? Effect.fail(busy()) : attempt === 2 ? Effect.fail(gone()) : Effect.succeed("done")
        }
      }).pipe(
        Tool.onError({
          InvalidArgs: Recovery.fix(() => Effect.succeed('{"n":"mended"}')),
          Busy: Recovery.retry({ retries: 1 }),
          Gone: Recovery.fix(() => Effect.succeed('{"n":"other"}'))
        })
      )
      const broken = ['{"n":1,}', '{"n":1, }', '{"n":1,}', '"{"'].map((args) => call("act", args, "c"))
      const model = yield* make(calls(...broken), done)
      yield* overADay(run(agentWith(act), "go").pipe(Effect.provide(model.layer)))
      assert.strictEqual(seen.length, 12)
      const keys = new Set(seen.map(([, key]) => key))
      assert.strictEqual(keys.size, 4)
      for (const key of keys) {
        assert.deepStrictEqual(
          seen.filter(([, other]) => other === key).map(([n]) => n),
          ["mended", "mended", "other"]
        )
      }
      // the third is the first once more
      const digests = parts([...keys])
      assert.strictEqual(new Set(digests.map(([digest]) => digest)).size, 3)
      assert.deepStrictEqual(digests.map(([, count]) => count).toSorted(), ["0", "0", "0", "1"])
    })
)

it.effect("a resumption and an edit keep the key, and the calls before a suspension are counted after it [P1502]", () =>
  Effect.gen(function* () {
    const { keys, pay } = till()
    const signed = pay.pipe(Tool.requireApproval({ when: ({ cents }) => cents > 50 }))
    const much = { ...ada, cents: 90 }
    const script = [paying(ada, much), paying(ada, much), done]
    const agent = agentWith(signed).pipe(Agent.withRunId("order-7"))
    const first = yield* make(...script)
    const edits: Approval.Decision = { type: "approve", arguments: { to: "Bob", cents: 80 } }
    let outcome = yield* outcomeOf(agent, "go", first)
    while (outcome._tag === "Suspended") {
      const from = yield* snapshotOf(outcome)
      const decisions = from.unfinished?.calls.flatMap((call) =>
        call.type === "decision" ? [{ digest: call.request.digest, decision: edits }] : []
      )
      assert.deepStrictEqual(
        from.unfinished?.calls.flatMap((call) => (call.type === "decision" ? [call.request.key] : [])),
        from.unfinished?.keys.slice(1)
      )
      outcome = yield* outcomeOf(Agent.resume(agent), { from, decisions: decisions ?? [] }, first)
    }
    const suspended = keys.splice(0)
    const second = yield* make(...script)
    yield* agent("go").pipe(Effect.provide(Approval.layer(() => Effect.succeed(edits))), Effect.provide(second.layer))
    assert.strictEqual(keys.length, 4)
    assert.deepStrictEqual(suspended.toSorted(), keys.toSorted())
    assert.strictEqual(new Set(keys).size, 4)
  })
)

it.effect(
  "what follows a checkpoint has the keys that it has in an uninterrupted run, also under a new word [P1502]",
  () =>
    Effect.gen(function* () {
      const { keys, pay } = till()
      const agent = Agent.make("worker", { budget: { maxTurns: 1 }, tools: [pay] }).pipe(
        Agent.onBudgetExceeded(() => Budget.checkpoint)
      )
      const model = yield* make(paying(ada), paying(ada), done, paying(ada), done)
      const suspended = yield* outcomeOf(agent, "go", model)
      const from = yield* snapshotOf(suspended)
      const budget = { maxTurns: 9 }
      yield* outcomeOf(Agent.resume(agent), { from, budget }, model)
      yield* outcomeOf(Agent.resume(agent), { from, budget, input: "and again", repeat: true }, model)
      assert.deepStrictEqual(
        parts(keys).map(([, count]) => count),
        ["0", "1", "1"]
      )
      assert.strictEqual(new Set(parts(keys).map(([digest]) => digest)).size, 1)
    })
)

/** A boss whose tool is an agent that pays: once, in each of its runs. */
const family = (pay: ReturnType<typeof till>["pay"]) => {
  const clerk = Agent.make("clerk", { tools: [pay] })
  return { clerk, boss: agentWith(Agent.asTool(clerk, { description: "Pays." })) }
}

it.run("the calls around a sub-agent distinguish its calls; a second run derives the same keys [P1502]", (run) =>
  Effect.gen(function* () {
    const { keys, pay } = till()
    const boss = family(pay).boss.pipe(Agent.withBudget({ maxTurns: 20 }), Agent.withRunId("order-7"))
    const asked = (...inputs: ReadonlyArray<string>) =>
      calls(...inputs.map((input, at) => call("clerk", { input }, `c${at}`)))
    const each = [paying(ada), done]
    const script = [asked("one"), ...each, asked("two"), ...each, asked("one"), ...each, done]
    const model = yield* make(...script, ...script)
    yield* run(boss, "go").pipe(Effect.provide(model.layer))
    yield* run(boss, "go").pipe(Effect.provide(model.layer))
    assert.strictEqual(keys.length, 6)
    assert.deepStrictEqual(keys.slice(0, 3), keys.slice(3))
    assert.strictEqual(new Set(keys).size, 3)
  })
)

it.effect("a sub-agent that is suspended with its parent goes on with its keys [P1502]", () =>
  Effect.gen(function* () {
    const { keys, pay } = till()
    const signed = pay.pipe(Tool.requireApproval({ when: ({ cents }) => cents > 50 }))
    // a sub-agent that goes on has no input
    const clerk = Agent.make("clerk", { tools: [signed] }).pipe(Agent.withRunId((input) => input.toUpperCase()))
    const agent = agentWith(Agent.asTool(clerk, { description: "Pays." })).pipe(Agent.withRunId("order-7"))
    const script = [
      calls(call("clerk", { input: "go" }, "c")),
      paying(ada, { ...ada, cents: 90 }),
      paying(ada),
      done,
      done
    ]
    const model = yield* make(...script, ...script)
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const [waiting] = from.unfinished?.calls ?? []
    assert(waiting?.type === "agent")
    const decisions = waiting.snapshot.unfinished?.calls.flatMap((call) =>
      call.type === "decision" ? [{ digest: call.request.digest, decision: Approval.approve }] : []
    )
    const end = yield* outcomeOf(Agent.resume(agent), { from, decisions: decisions ?? [] }, model)
    assert.strictEqual(end._tag, "Completed")
    const suspended = keys.splice(0)
    const decider = Approval.layer(() => Effect.succeed(Approval.approve))
    yield* agent("go").pipe(Effect.provide(decider), Effect.provide(model.layer))
    assert.strictEqual(keys.length, 3)
    assert.deepStrictEqual(suspended, keys)
  })
)

it.run("the attempts of a sub-agent derive the same keys, and a fixer that pays has keys of its own [P1502]", (run) =>
  Effect.gen(function* () {
    const { keys, pay } = till()
    const { clerk } = family(pay)
    const flaky = Agent.asTool(clerk, { description: "Pays." }).pipe(
      Tool.onError({ ModelOverloadedError: Recovery.retry({ retries: 1 }), orElse: Recovery.tell() })
    )
    const mender = Agent.make("mender", { tools: [pay] })
    const { tool } = scripted("look", Effect.fail(gone()), Effect.fail(gone()), Effect.succeed("seen"))
    const looks = tool.pipe(Tool.onError({ Gone: Recovery.fix(mender, { retries: 2 }) }))
    const overloaded = ScriptedModel.fails(LlmError.ModelOverloadedError.make({ model: "scripted" }))
    const model = yield* make(
      calls(call("clerk", { input: "go" }, "c")),
      paying(ada),
      overloaded,
      paying(ada),
      done,
      batch("look"),
      paying(ada),
      ScriptedModel.text('{"n":1}'),
      paying(ada),
      ScriptedModel.text('{"n":2}'),
      done
    )
    const boss = agentWith(flaky, looks).pipe(Agent.withBudget({ maxTurns: 20 }))
    yield* overADay(run(boss, "go").pipe(Effect.provide(model.layer)))
    assert.strictEqual(keys.length, 4)
    assert.strictEqual(keys[0], keys[1])
    assert.strictEqual(new Set(keys).size, 3)
  })
)

it.run(
  "parts of a composition, and agents within functions, have keys of their own, equal in a second run [P1502]",
  (run) =>
    Effect.gen(function* () {
      const { keys, pay } = till()
      const { clerk } = family(pay)
      const twice = Agent.deterministic("twice", (input: string) => Effect.andThen(clerk(input), clerk(input)))
      const all = clerk.pipe(Agent.andThen(clerk), Agent.andThen(twice), Agent.withRunId("order-7"))
      const each = [paying(ada), done]
      const model = yield* make(...Array.from({ length: 8 }, () => each).flat())
      yield* run(all, "go").pipe(Effect.provide(model.layer))
      yield* run(all, "go").pipe(Effect.provide(model.layer))
      assert.strictEqual(keys.length, 8)
      assert.deepStrictEqual(keys.slice(0, 4), keys.slice(4))
      assert.strictEqual(new Set(keys).size, 4)
    })
)

it.effect("a run that begins within a tool keeps its keys where it is resumed outside of it [P1502]", () =>
  Effect.gen(function* () {
    const { keys, pay } = till()
    const agent = Agent.make("inner", { budget: { maxTurns: 1 }, tools: [pay] }).pipe(
      Agent.onBudgetExceeded(() => Budget.checkpoint)
    )
    const model = yield* make(paying(ada), paying(ada), done)
    let suspended: Agent.Outcome<unknown> | undefined
    const desk = scripted(
      "desk",
      Effect.map(outcomeOf(agent, "go", model), (outcome) => {
        suspended = outcome
        return "waits"
      })
    )
    const outer = yield* make(batch("desk"), done)
    yield* agentWith(desk.tool)("go").pipe(Effect.provide(outer.layer), Effect.scoped)
    assert(suspended !== undefined)
    const from = yield* snapshotOf(suspended)
    yield* outcomeOf(Agent.resume(agent), { from, budget: { maxTurns: 9 } }, model)
    assert.deepStrictEqual(
      parts(keys).map(([, count]) => count),
      ["0", "1"]
    )
    assert.strictEqual(new Set(parts(keys).map(([digest]) => digest)).size, 1)
  })
)

it.effect("a fixer has new keys in a later repair, with a suspension in between [P1502]", () =>
  Effect.gen(function* () {
    const { keys, pay } = till()
    const mender = Agent.make("mender", { tools: [pay] })
    const look = scripted("look", Effect.fail(gone()), Effect.fail(gone()), Effect.succeed("seen"))
    const looks = look.tool.pipe(Tool.onError({ Gone: Recovery.fix(mender, { retries: 2 }) }), Tool.requireApproval())
    const agent = agentWith(looks)
    const mended = (n: number) => [paying(ada), ScriptedModel.text(`{"n":${n}}`)]
    const model = yield* make(batch("look"), ...mended(1), ...mended(2), done)
    let outcome = yield* outcomeOf(agent, "go", model)
    let suspensions = 0
    while (outcome._tag === "Suspended") {
      suspensions++
      outcome = yield* outcomeOf(Agent.resume(agent), deciding(yield* snapshotOf(outcome)), model)
    }
    assert.strictEqual(suspensions, 3)
    assert.strictEqual(keys.length, 2)
    assert.strictEqual(new Set(keys).size, 2)
  })
)

it.effect("an agent that decides about a limit has new keys the next time, after a suspension too [P1502]", () =>
  Effect.gen(function* () {
    const { keys, pay } = till()
    const look = scripted("look", Effect.succeed("a"), Effect.succeed("b"))
    const forDecider = yield* make(paying(ada), done, paying(ada), done)
    const decider = Agent.make("decider", { tools: [pay] })
    const decided = decider("go").pipe(Effect.provide(forDecider.layer), Effect.orDie)
    const agent = Agent.make("worker", { budget: { maxTurns: 1 }, tools: [look.tool] }).pipe(
      Agent.onBudgetExceeded(() => Effect.as(decided, Budget.checkpoint))
    )
    const model = yield* make(batch("look"), batch("look"))
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const end = yield* outcomeOf(Agent.resume(agent), { from, budget: { maxTurns: 2 } }, model)
    assert.strictEqual(end._tag, "Suspended")
    assert.strictEqual(keys.length, 2)
    assert.strictEqual(new Set(keys).size, 2)
  })
)
