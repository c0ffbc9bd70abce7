/** A message to a durable run that withdraws what the run waits for. */
import { assert, it } from "@effect/vitest"
import { Agent, Approval, Message, Recovery } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Durable } from "@kintsugi/durable"
import { Effect, Exit, Layer, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { lines as wordsOf } from "../core/run/_support/saying.ts"
import { done } from "../_support/dialogue.ts"
import { paying } from "../_support/suspension.ts"
import { type Death, process, watched } from "./_support/engines.ts"
import { lines, quiet, three, waiting } from "./_support/waits.ts"

const { call, calls } = ScriptedModel

const notCounted = <const Reason extends string>(reason: Reason) => ({ _tag: "NotCounted", reason }) as const

for (const isForgetful of [false, true])
  for (const kind of ["plain", "sub-agent"] as const) {
    const how = isForgetful ? "replayed after each step" : "in one process"
    it.effect(`a message that supersedes withdraws all that waits, ${kind}, ${how} [P1584 P1586]`, () =>
      Effect.gen(function* () {
        const { counts, end, listed, model, receiptOf, saying, endsDeferred } = yield* waiting(isForgetful, kind)
        assert.deepStrictEqual(lines((yield* listed) ?? []), three)
        yield* saying("never mind", { supersede: true })
        // it is withdrawn from the moment at which the message is stored
        assert.deepInclude(yield* receiptOf("pay"), notCounted("withdrawn"))
        assert.deepInclude(yield* receiptOf("open"), notCounted("withdrawn"))
        assert.deepInclude(yield* endsDeferred, notCounted("run-over"))
        yield* quiet
        const over = Option.getOrUndefined(yield* end)
        assert.deepStrictEqual(over?._tag === "Complete" ? over.exit : over, Exit.succeed("done"))
        assert.deepStrictEqual([counts.paid, counts.runs(), counts.cancelled], [[], 1, [1]])
        const { requests } = model
        const after = requests.flatMap(({ messages }) => messages)
        const settlements = after.flatMap((message) =>
          message.role === "assistant"
            ? message.content.flatMap((part) => (part.type === "settled-call" ? part.settlement : []))
            : []
        )
        // the call about which a person was asked had begun, and its tool is unsafe
        assert.deepStrictEqual(settlements.slice(0, 3), [Message.superseded, Message.unknown, Message.superseded])
        assert.include(wordsOf(requests.at(-1)?.messages ?? []), "user: never mind")
      })
    )
  }

// Finds out nothing of its own: its subject is what core withdraws beside a call that was decided
it.effect("what was decided before the message stays decided, and the rest is withdrawn [P1584]", () =>
  Effect.gen(function* () {
    for (const isForgetful of [false, true]) {
      const { counts, decide, end, receiptOf, saying } = yield* waiting(isForgetful, "plain")
      yield* decide("pay")
      yield* saying("never mind", { supersede: true })
      assert.deepInclude(yield* receiptOf("pay"), notCounted("already-decided"))
      yield* quiet
      const over = Option.getOrUndefined(yield* end)
      assert.deepStrictEqual(over?._tag === "Complete" ? over.exit : over, Exit.succeed("done"))
      assert.deepStrictEqual([counts.paid, counts.runs(), counts.cancelled], [[5], 1, [1]])
    }
  })
)

// Finds out nothing of its own: its subject is a message that supersedes, after the death of its process
it.effect(
  "the message that supersedes is read in another process, and said again it changes nothing [P1584 P1586]",
  () =>
    Effect.gen(function* () {
      const { counts, end, inAnotherProcess, listed, saying } = yield* waiting(false, "plain")
      yield* saying("be quick")
      yield* saying("never mind", { supersede: true })
      yield* saying("never mind", { supersede: true })
      yield* inAnotherProcess
      const over = Option.getOrUndefined(yield* end)
      assert.deepStrictEqual(over?._tag === "Complete" ? over.exit : over, Exit.succeed("done"))
      assert.deepStrictEqual([counts.paid, counts.cancelled, yield* listed], [[], [1], undefined])
    })
)

/** Two sub-agents whose calls wait for a decision, one after the other or beside each other. */
const paired = (isForgetful: boolean, death?: Death) =>
  Effect.gen(function* () {
    const { runs, tool } = paying({ validFor: "3 days", onExpiry: "refuse" })
    const inner = (name: string) =>
      Agent.asTool(Agent.make(name, { tools: [tool], budget: { maxDuration: "9 days" } }), {
        description: "Pays.",
        sideEffects: "none"
      })
    const agent = Agent.make("worker", {
      tools: [inner("first"), inner("second")],
      budget: { maxDuration: "9 days" }
    }).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))
    const model = ScriptedModel.answering(({ messages }) => {
      const said = wordsOf(messages)
      if (said.some((line) => line.startsWith("model:"))) return done
      if (said[0] === "user: go")
        return calls(call("first", { input: "one" }, "a"), call("second", { input: "two" }, "b"))
      return calls(call("pay", { cents: said[0] === "user: one" ? 1 : 2 }, "p"))
    })
    const engine = yield* watched(isForgetful, death)
    const asked: Array<Durable.DurableRequest> = []
    const durable = Durable.workflow(agent, {
      name: "pairs",
      input: Schema.String,
      output: Schema.String,
      inbox: true,
      onApproval: (one) => Effect.sync(() => void asked.push(one))
    })
    const on = Effect.provideContext(yield* Layer.build(engine.layer))
    const serve = process(durable.layer.pipe(Layer.provide(model), Layer.provide(engine.layer)))
    yield* serve
    const executionId = yield* Durable.start(durable, { id: "one", input: "go" }).pipe(on)
    yield* quiet
    const say = (id: string, options: { readonly to?: string; readonly supersede?: boolean }) =>
      Durable.say(durable, { executionId, id, message: "never mind", ...options }).pipe(on)
    const decide = (one: Durable.DurableRequest) => Durable.decide(durable, one, Approval.approve).pipe(on)
    const end = Effect.map(Durable.poll(durable, executionId).pipe(on), (found) =>
      Option.isSome(found) && found.value._tag === "Complete" ? found.value.exit : undefined
    )
    const restart = Effect.gen(function* () {
      yield* engine.kill
      yield* serve
      yield* Durable.resume(durable, executionId).pipe(on)
      yield* quiet
    })
    return { asked, decide, end, engine, restart, runs, say }
  })

it.effect("a message to a sub-agent withdraws what that sub-agent waits for, and nothing else [P1584 P1586]", () =>
  Effect.gen(function* () {
    for (const isForgetful of [false, true]) {
      const { asked, decide, end, runs, say } = yield* paired(isForgetful)
      const one = asked.find(({ request }) => request.agent === "first") ?? assert.fail("no request")
      const two = asked.find(({ request }) => request.agent === "second") ?? assert.fail("no request")
      yield* say("m1", { to: one.request.runId, supersede: true })
      yield* quiet
      assert.deepInclude(yield* decide(one), notCounted("withdrawn"))
      assert.isUndefined(yield* end)
      assert.deepInclude(yield* decide(two), { _tag: "Counted" })
      yield* quiet
      assert.deepStrictEqual([yield* end, runs], [Exit.succeed("done"), [2]])
    }
  })
)

// Finds out nothing of its own: its subject is the instant at which approvals of core expire
it.effect(
  "a message to the outermost run withdraws what its sub-agents wait for, at the instant of the expiry too [P1584]",
  () =>
    Effect.gen(function* () {
      for (const instant of ["before", "at", "after"] as const) {
        const { asked, decide, end, runs, say } = yield* paired(false)
        const at = { before: 3 * 86_400_000 - 1, at: 3 * 86_400_000, after: 3 * 86_400_000 + 1 }[instant]
        yield* TestClock.setTime(at)
        yield* say("m1", { supersede: true })
        yield* quiet
        assert.deepStrictEqual([yield* end, runs], [Exit.succeed("done"), []], instant)
        const reasons: Array<unknown> = []
        for (const one of asked) {
          const receipt = yield* decide(one)
          reasons.push(receipt._tag === "NotCounted" ? receipt.reason : receipt._tag)
        }
        const reason = instant === "after" ? "late" : "withdrawn"
        assert.deepStrictEqual(reasons, [reason, reason], instant)
        yield* TestClock.setTime(0)
      }
    })
)

// Finds out nothing of its own: its subject is what core withdraws, after a death at each step
it.effect(
  "a process may die at any step after a message that supersedes: nothing is paid, and the run ends [P1584 P1586]",
  () =>
    Effect.gen(function* () {
      for (const when of ["before", "after"] as const)
        for (let at = 1; ; at++) {
          const { end, engine, restart, runs, say } = yield* paired(false, { at, when })
          yield* say("m1", { supersede: true })
          yield* quiet
          const isDead = yield* engine.isDying
          if (isDead) yield* Effect.andThen(restart, quiet)
          // what is read before the first turn comes before the requests
          if ((yield* end) === undefined) yield* Effect.andThen(say("m2", { supersede: true }), quiet)
          yield* quiet
          assert.deepStrictEqual([yield* end, runs], [Exit.succeed("done"), []], `${when} step ${at}`)
          if (!isDead) break
        }
    })
)

it.effect("what is asked while a message that supersedes waits is withdrawn at once [P1584]", () =>
  Effect.gen(function* () {
    // the process dies when the outermost run has read what came before its first turn, and no request is made yet
    const { asked, end, restart, runs, say } = yield* paired(false, { at: 3, when: "before" })
    assert.deepStrictEqual(asked, [])
    yield* say("m1", { supersede: true })
    yield* restart
    assert.deepStrictEqual([yield* end, runs], [Exit.succeed("done"), []])
  })
)
