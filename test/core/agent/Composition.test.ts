import { assert } from "@effect/vitest"
import { Agent, Message, RunError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Layer, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { overAMinute, stage, treeOf } from "../../_support/composition.ts"
import { busy, eventLog, gone, interruptedAt } from "../../_support/dialogue.ts"

const { make, text } = ScriptedModel

/** An agent with a model of its own that answers with these texts. */
const speaker = (name: string, ...texts: ReadonlyArray<string>) =>
  Effect.map(make(...texts.map(text)), (model) => ({ model, agent: Agent.make(name, { model: model.layer }) }))

const inputsOf = (model: ScriptedModel.ScriptedModel) =>
  model.requests.map(({ messages }) => {
    const last = messages.at(-1)
    return last?.role === "user" ? Message.textOf(last) : ""
  })

it.run("the second agent gets what the first one gives: one run of its own, with both below it [A1101]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const writer = yield* speaker("writer", "a draft")
    const editor = yield* speaker("editor", "a page")
    const both = Agent.andThen(writer.agent, editor.agent).pipe(log.listen)
    assert.strictEqual(yield* run(both, "a topic"), "a page")
    assert.deepStrictEqual(inputsOf(writer.model), ["a topic"])
    assert.deepStrictEqual(inputsOf(editor.model), ["a draft"])
    assert.deepStrictEqual(treeOf(log.all), [
      "andThen run-completed",
      "  writer run-completed",
      "  editor run-completed"
    ])
    assert.deepInclude(log.all[0], { type: "run-start", input: "a topic" })
    const end = log.end()
    assert(end?.type === "run-completed")
    assert.strictEqual(end.output, "a page")
    assert.deepStrictEqual(
      end.ledger.map(({ agent }) => agent),
      ["writer", "editor"]
    )
    assert.strictEqual(end.usage.inputTokens, 20)
    // its parts are asked as it is asked
    assert.deepStrictEqual(
      [writer, editor].map(({ model }) => model.requests[0]?.isStreamed),
      [run.isStreamed, run.isStreamed]
    )
  })
)

it.run("a failure of the first is the failure, the same object, and the second is not started [A1101]", (run) =>
  Effect.gen(function* () {
    const failure = busy()
    const { actor, lines } = stage()
    const both = actor("a", 0, () => Effect.fail(failure)).pipe(Agent.andThen(actor("b", 0, Effect.succeed)))
    const exit = yield* Effect.exit(run(both, "go"))
    assert(Exit.isFailure(exit))
    assert.strictEqual(Cause.squash(exit.cause), failure)
    assert.deepStrictEqual(lines, ["a: start at 0", "a: failure at 0"])
  })
)

it.run("an interruption stops every part at work, and each run emits its end [A1101 A111]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const { actor, lines } = stage()
    const both = Agent.andThen(actor("a", 10, Effect.succeed), actor("b", 10, Effect.succeed)).pipe(log.listen)
    const exit = yield* interruptedAt(15, run(both, "go"))
    assert(Exit.hasInterrupts(exit))
    assert.deepStrictEqual(lines.slice(2), ["b: start at 10", "b: failure at 15"])
    assert.deepStrictEqual(treeOf(log.all), ["andThen run-interrupted", "  a run-completed", "  b run-interrupted"])
  })
)

it.run("a composition is lazy: nothing runs before it is called, and each call is a fresh run [A1101]", (run) =>
  Effect.gen(function* () {
    const { actor, lines } = stage()
    const twice = Agent.andThen(actor("a", 0, Effect.succeed), actor("b", 0, Effect.succeed))
    const effect = run(twice, "go")
    assert.deepStrictEqual(lines, [])
    yield* effect
    yield* effect
    assert.strictEqual(lines.length, 8)
  })
)

it.run("a long sequence is one run, however it was written; a part with a listener stays a run [A1101]", (run) =>
  Effect.gen(function* () {
    const { actor } = stage()
    const one = (name: string) => actor(name, 0, (input) => Effect.succeed(`${input}${name}`))
    for (const [all, isHeard] of [
      [Agent.andThen(Agent.andThen(one("a"), one("b")), Agent.andThen(one("c"), one("d"))), false],
      [one("a").pipe(Agent.andThen(one("b")), Agent.andThen(one("c")), Agent.andThen(one("d"))), false],
      [
        one("a").pipe(Agent.andThen(one("b")), eventLog().listen, Agent.andThen(one("c")), Agent.andThen(one("d"))),
        true
      ]
    ] as const) {
      const log = eventLog()
      assert.strictEqual(yield* run(log.listen(all), ">"), ">abcd")
      const ends = (depth: number, ...names: ReadonlyArray<string>) =>
        names.map((name) => `${"  ".repeat(depth)}${name} run-completed`)
      assert.deepStrictEqual(
        treeOf(log.all),
        isHeard
          ? [...ends(0, "andThen"), ...ends(1, "andThen"), ...ends(2, "a", "b"), ...ends(1, "c", "d")]
          : [...ends(0, "andThen"), ...ends(1, "a", "b", "c", "d")]
      )
    }
  })
)

it.run("a sequence with a name of its own stays a run within another sequence [A1101]", (run) =>
  Effect.gen(function* () {
    const { actor } = stage()
    const one = (name: string) => actor(name, 0, (input) => Effect.succeed(`${input}${name}`))
    const inner = Agent.named(Agent.andThen(one("a"), one("b")), "inner")
    const log = eventLog()
    assert.strictEqual(yield* run(Agent.andThen(inner, one("c")).pipe(log.listen), ">"), ">abc")
    assert.deepStrictEqual(treeOf(log.all), [
      "andThen run-completed",
      "  inner run-completed",
      "    a run-completed",
      "    b run-completed",
      "  c run-completed"
    ])
  })
)

it.run("an output with a tag that no agent has is a defect that names the tag [A1103]", (run) =>
  Effect.gen(function* () {
    for (const [output, tag] of [
      [{ _tag: "Other" }, "Other"],
      ["text", "none"]
    ] as const) {
      // as programs without types make it
      const odd = Agent.deterministic("odd", (_input: string) =>
        Effect.succeed(output as unknown as { readonly _tag: "A" })
      )
      const sorted = Agent.branch(odd, {
        A: Agent.deterministic("a", (_input: { readonly _tag: "A" }) => Effect.succeed(1))
      })
      const exit = yield* Effect.exit(run(sorted, "go"))
      assert(Exit.isFailure(exit) && Exit.hasDies(exit))
      const says = `TypeError: Agent.branch: there is no agent for an output with the tag '${tag}'`
      assert.strictEqual(String(Cause.squash(exit.cause)), says)
    }
  })
)

it.run("a part whose layer cannot be built fails with the failure of the layer [A1101]", (run) =>
  Effect.gen(function* () {
    const { actor, lines } = stage()
    const failure = busy()
    const first = Agent.provide(actor("a", 0, Effect.succeed), Layer.effectDiscard(Effect.fail(failure)))
    const exit = yield* Effect.exit(run(Agent.andThen(first, actor("b", 0, Effect.succeed)), "go"))
    assert(Exit.isFailure(exit))
    assert.deepStrictEqual<unknown>(exit, Exit.fail(failure))
    assert.deepStrictEqual(lines, [])
  })
)

it.run("all get the same input at the same time, and the answers have their names [A1102]", (run) =>
  Effect.gen(function* () {
    const { actor, lines } = stage()
    const all = Agent.parallel({
      slow: actor("slow", 20, (input) => Effect.succeed(`${input}!`)),
      quick: actor("quick", 10, (input) => Effect.succeed(input.length))
    })
    assert.deepStrictEqual(yield* overAMinute(run(all, "go")), Exit.succeed({ slow: "go!", quick: 2 }))
    assert.deepStrictEqual(lines, [
      "slow: start at 0",
      "quick: start at 0",
      "quick: success at 10",
      "slow: success at 20"
    ])
  })
)

it.run("the first failure interrupts the others, which are awaited [A1102]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const { actor, lines, note } = stage()
    const failure = gone()
    const tidy = Agent.deterministic("tidy", (_input: string) =>
      Effect.onInterrupt(Effect.never, () => Effect.andThen(Effect.sleep(5), note("tidy: tidied")))
    )
    const all = Agent.parallel({ x: tidy, y: actor("y", 10, () => Effect.fail(failure)) }).pipe(log.listen)
    const exit = yield* overAMinute(Effect.onExit(run(all, "go"), () => note("over")))
    assert(Exit.isFailure(exit))
    assert.strictEqual(Cause.squash(exit.cause), failure)
    assert.deepStrictEqual(lines, ["y: start at 0", "y: failure at 10", "tidy: tidied at 15", "over at 15"])
    assert.deepStrictEqual(treeOf(log.all), ["parallel run-failed", "  tidy run-interrupted", "  y run-failed"])
    const end = log.end()
    assert(end?.type === "run-failed")
    assert.strictEqual(end.error, failure)
  })
)

class Short extends Schema.TaggedClass<Short>()("Short", { text: Schema.String }) {}
class Long extends Schema.TaggedClass<Long>()("Long", { pages: Schema.Finite }) {}

const sorting = Agent.deterministic("sorting", (input: string) =>
  Effect.succeed(input.length < 3 ? new Short({ text: input }) : new Long({ pages: input.length }))
)

it.run("the tag of the output chooses the agent that gets it; no other agent runs [A1103]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const sorted = Agent.branch(sorting, {
      Short: Agent.deterministic("short", ({ text: said }: Short) => Effect.succeed(said)),
      Long: Agent.deterministic("long", ({ pages }: Long) => (pages > 9 ? Effect.fail(busy()) : Effect.succeed(pages)))
    }).pipe(log.listen)
    assert.strictEqual(yield* run(sorted, "ab"), "ab")
    assert.deepStrictEqual(treeOf(log.all), [
      "branch run-completed",
      "  sorting run-completed",
      "  short run-completed"
    ])
    assert.strictEqual(yield* run(sorted, "abcd"), 4)
    assert.strictEqual((yield* Effect.flip(run(sorted, "abcdefghij")))._tag, "Busy")
  })
)

it.run("the participants answer at the same time; the captain reads the question and all answers [A1104]", (run) =>
  Effect.gen(function* () {
    const { actor, lines } = stage()
    const captain = yield* speaker("captain", "yes")
    const deciding = Agent.mapInput(
      captain.agent,
      ({ answers, input }: { input: string; answers: { pro: string; contra: string } }) =>
        `${input} pro: ${answers.pro} contra: ${answers.contra}`
    )
    const pro = actor("pro", 10, () => Effect.succeed("cheap"))
    const contra = actor("contra", 10, () => Effect.succeed("ugly"))
    const forum = Agent.forum({ pro, contra }, deciding)
    assert.deepStrictEqual(yield* overAMinute(run(forum, "Buy it?")), Exit.succeed("yes"))
    assert.deepStrictEqual(inputsOf(captain.model), ["Buy it? pro: cheap contra: ugly"])
    assert.deepStrictEqual(lines.slice(0, 2), ["pro: start at 0", "contra: start at 0"])
  })
)

it.run("a participant's failure is the forum's failure, and the captain does not run [A1104]", (run) =>
  Effect.gen(function* () {
    const { actor, lines } = stage()
    const captain = Agent.deterministic("captain", () => Effect.die("no run may ask"))
    const forum = Agent.forum(
      { x: actor("x", 1, Effect.succeed), y: actor("y", 5, () => Effect.fail(gone())) },
      captain
    )
    const exit = yield* overAMinute(Effect.flip(run(forum, "go")))
    assert.strictEqual(Exit.isSuccess(exit) ? exit.value._tag : "", "Gone")
    assert.strictEqual(lines.at(-1), "y: failure at 5")
  })
)

it.run("loopUntil runs until an output is accepted; feedback makes the next input of a refused output [A1105]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const { agent, model } = yield* speaker("writer", "bad", "better", "good")
    const asked: Array<string> = []
    const loop = Agent.loopUntil(
      agent,
      (output, iteration) => {
        asked.push(`${iteration} ${output}`)
        return iteration === 1 ? false : Effect.succeed(output === "good")
      },
      { maxIterations: 5, feedback: (output) => (output === "bad" ? "not bad" : Effect.succeed(`not ${output}`)) }
    ).pipe(log.listen)
    assert.strictEqual(yield* run(loop, "write"), "good")
    assert.deepStrictEqual(inputsOf(model), ["write", "not bad", "not better"])
    assert.deepStrictEqual(asked, ["1 bad", "2 better", "3 good"])
    assert.deepStrictEqual(treeOf(log.all), ["loopUntil run-completed", ...Array(3).fill("  writer run-completed")])
  })
)

it.run(
  "after its last iteration the loop fails with its last output, and calls neither `accept` nor `feedback` [A1105]",
  (run) =>
    Effect.gen(function* () {
      const { agent, model } = yield* speaker("writer", "one", "two")
      let feedbacks = 0
      const feedback = () => `again ${++feedbacks}`
      const loop = Agent.map(agent, (said) => ({ said })).pipe(
        Agent.loopUntil(() => false, { maxIterations: 2, feedback })
      )
      const error = yield* Effect.flip(run(loop, "go"))
      assert.instanceOf(error, RunError.LoopExhaustedError)
      assert.deepInclude(error, { _tag: "LoopExhaustedError", iterations: 2, last: { said: "two" } })
      assert.deepStrictEqual([model.requests.length, feedbacks], [2, 1])
      for (const maxIterations of [0, 1.5, Number.NaN, Infinity]) {
        assert.throws(() => Agent.loopUntil(agent, () => true, { maxIterations, feedback }), RangeError)
      }
    })
)

it.run("an agent that fails ends the loop [A1105]", (run) =>
  Effect.gen(function* () {
    const { actor, lines } = stage()
    const loop = Agent.loopUntil(
      actor("a", 0, () => Effect.fail(busy())),
      () => true,
      {
        maxIterations: 3,
        feedback: () => ""
      }
    )
    assert.strictEqual((yield* Effect.flip(run(loop, "go")))._tag, "Busy")
    assert.strictEqual(lines.length, 2)
  })
)

it.run("map and mapInput change what comes out and goes in; the agent's name stays [A1101]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const { agent, model } = yield* speaker("writer", "42")
    const counting = agent.pipe(
      Agent.map(Number),
      Agent.mapInput((n: number) => "?".repeat(n)),
      Agent.map((n) => n / 2),
      log.listen
    )
    assert.strictEqual(yield* run(counting, 3), 21)
    assert.deepStrictEqual(inputsOf(model), ["???"])
    assert.deepStrictEqual(treeOf(log.all), ["writer run-completed", "  writer run-completed"])
    assert.strictEqual(Agent.named("desk")(counting).name, "desk")
  })
)

it.run("provide gives all parts what they need, and withModel another model to one [A1101]", (run) =>
  Effect.gen(function* () {
    const shared = yield* make(text("from shared"), text("from shared again"))
    const other = yield* make(text("from other"))
    const plain = Agent.make("plain", {})
    const both = Agent.andThen(plain, plain).pipe(Agent.provide(shared.layer))
    assert.strictEqual(yield* run(both, "go"), "from shared again")
    const own = yield* speaker("own")
    assert.strictEqual(yield* run(own.agent.pipe(Agent.withModel(other.layer)), "go"), "from other")
  })
)

it.effect("a defect in a part, or in a function between two, is a defect of the composition [A1101]", () =>
  Effect.gen(function* () {
    const { actor } = stage()
    const bug = Agent.map(actor("a", 0, Effect.succeed), (): string => {
      throw new Error("bug")
    })
    const exit = yield* Effect.exit(Agent.fallback(bug, actor("b", 0, Effect.succeed), { when: () => true })("go"))
    assert(Exit.hasDies(exit))
  })
)
