import { assert } from "@effect/vitest"
import { Agent, LlmError, Recovery, RunError, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit } from "effect"
import { it } from "../../_support/run.ts"
import { stage, treeOf } from "../../_support/composition.ts"
import { agentWith, batch, busy, eventLog, gone, interruptedAt, play } from "../../_support/dialogue.ts"
import type { Escaped } from "../../../packages/core/src/agent/listeners.ts"

const { fails, make, text } = ScriptedModel

const echo = Agent.deterministic("echo", (input: string) => Effect.succeed(input))

const missing = LlmError.ModelNotFoundError.make({ model: "m" })
const down = LlmError.ServerError.make({ model: "m" })
const denied = LlmError.AuthenticationError.make({ model: "m", detail: "no" })
const filtered = LlmError.ContentFilteredError.make({ model: "m", detail: "no" })

it.run("the next agent runs after a failure with the advice `fallback` or `resend` [A1107 P1001]", (run) =>
  Effect.gen(function* () {
    for (const [error, goesOn] of [
      [missing, true],
      [LlmError.CapabilityMismatchError.make({ model: "m", provider: "p", capability: "vision" }), true],
      [down, true],
      [LlmError.RateLimitError.make({ service: "s" }), true],
      [denied, false],
      [filtered, false],
      [LlmError.InvalidRequestError.make({ model: "m", detail: "no" }), false]
    ] as const) {
      const log = eventLog()
      const [first, second] = [yield* make(fails(error)), yield* make(...(goesOn ? [text("spare")] : []))]
      const one = Agent.make("one", { model: first.layer })
      const two = Agent.make("two", { model: second.layer })
      const exit = yield* Effect.exit(run(Agent.fallback(one, two).pipe(log.listen), "go"))
      if (goesOn) assert.deepStrictEqual(exit, Exit.succeed("spare"))
      else assert.strictEqual(Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined, error)
      assert.deepStrictEqual(
        treeOf(log.all),
        goesOn
          ? ["fallback run-completed", "  one run-failed", "  two run-completed"]
          : ["fallback run-failed", "  one run-failed"]
      )
      const end = log.end()
      assert(end?.type === "run-failed" || end?.type === "run-completed")
      assert.strictEqual(end.ledger.length, goesOn ? 2 : 1)
    }
  })
)

it.run("a success is the answer, and no other agent is started [A1107]", (run) =>
  Effect.gen(function* () {
    const { actor, lines } = stage()
    const order = Agent.fallback(
      actor("a", 0, Effect.succeed),
      actor("b", 0, () => Effect.die("no"))
    )
    assert.strictEqual(yield* run(order, "go"), "go")
    assert.strictEqual(lines.length, 2)
  })
)

it.run(
  "the guard `when` decides, and gets the agent that failed; without it failures of tools are not admitted [A1107]",
  (run) =>
    Effect.gen(function* () {
      const { actor } = stage()
      const failing = actor("a", 0, () => Effect.fail(busy()))
      assert.strictEqual((yield* Effect.flip(run(Agent.fallback(failing, failing), "go")))._tag, "Busy")
      const seen: Array<unknown> = []
      const second = actor("b", 0, () => Effect.fail(gone()))
      const order = Agent.fallback(failing, second, echo, {
        when: (error, tried) => {
          seen.push([error._tag, tried])
          return error._tag === "Busy"
        }
      })
      assert.strictEqual((yield* Effect.flip(run(order, "go")))._tag, "Gone")
      assert.deepStrictEqual(seen, [
        ["Busy", { agent: "a", tried: 1 }],
        ["Gone", { agent: "b", tried: 2 }]
      ])
    })
)

it.run("if all agents fail, listeners get the last failure, and every reason in order [A1107 P1001]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const escaped: Array<Escaped> = []
    const { actor } = stage()
    const inner = Agent.fallback(
      actor("a", 0, () => Effect.fail(missing)),
      actor("b", 0, () => Effect.fail(down))
    )
    const order = Agent.fallback(
      Agent.map(inner, String),
      actor("c", 0, () => Effect.fail(denied))
    ).pipe(
      log.listen,
      Agent.onFailure((one) => Effect.sync(() => escaped.push(one)).pipe(Effect.asVoid))
    )
    const exit = yield* Effect.exit(run(order, "go"))
    assert.strictEqual(Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined, denied)
    const end = log.end()
    assert(end?.type === "run-failed")
    assert.deepStrictEqual(end.reasons, [missing, down, denied])
    assert.deepStrictEqual(escaped[0]?.reasons, end.reasons)
  })
)

it.run("interruption stops the chain [A1107 A111]", (run) =>
  Effect.gen(function* () {
    const { actor, lines } = stage()
    const order = Agent.fallback(actor("a", 50, Effect.succeed), actor("b", 0, Effect.succeed), { when: () => true })
    assert(Exit.hasInterrupts(yield* interruptedAt(10, run(order, "go"))))
    assert.strictEqual(lines.length, 2)
  })
)

it.run("no further agent runs once an unsafe tool has started, unless the program acknowledges it [P1003]", (run) =>
  Effect.gen(function* () {
    const acknowledge = { acknowledge: "may run twice" } as const
    for (const [how, options] of [
      ["direct", {}],
      ["nested", {}],
      ["refused", {}],
      ["acknowledged", acknowledge]
    ] as const) {
      const model = yield* make(batch("pay"), fails(down))
      const { runs, tool } = play("pay", { sideEffects: "unsafe" }, [Effect.succeed("paid")])
      const worker = agentWith(tool).pipe(Agent.withModel(model.layer))
      const policy = Agent.toolPolicy(() => ({ type: "deny", reason: "no" }))
      const paying = how === "refused" ? worker.pipe(policy) : worker
      const first = how === "nested" ? Agent.andThen(Agent.map(paying, String), paying) : paying
      const { actor, lines } = stage()
      const order = Agent.fallback(first, actor("spare", 0, Effect.succeed), { when: () => true, ...options })
      const exit = yield* Effect.exit(run(order, "go"))
      assert.strictEqual(runs.length, how === "refused" ? 0 : 1)
      const goesOn = how === "refused" || how === "acknowledged"
      assert.strictEqual(lines.length > 0, goesOn)
      if (!goesOn) assert.strictEqual(Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined, down)
    }
  })
)

it.run("a fallback around a fallback stops too once an unsafe tool has started [P1003]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(batch("pay"), fails(down))
    const { tool } = play("pay", { sideEffects: "unsafe" }, [Effect.succeed("paid")])
    const { actor, lines } = stage()
    const inner = Agent.fallback(agentWith(tool).pipe(Agent.withModel(model.layer)))
    const outer = Agent.fallback(inner, actor("spare", 0, Effect.succeed))
    assert.strictEqual((yield* Effect.flip(run(outer, "go")))._tag, "ServerError")
    assert.deepStrictEqual(lines, [])
  })
)

it.run("a limit around the fallback, or of its depth, ends it; a limit of an agent may go on [A1107 A908]", (run) =>
  Effect.gen(function* () {
    const own = yield* make(batch("look"))
    const { tool } = play("look", {}, [Effect.succeed("seen")])
    const one = agentWith(tool).pipe(Agent.withModel(own.layer), Agent.withBudget({ maxTurns: 1 }))
    const order = Agent.fallback(one, echo, {
      when: (error) => error instanceof RunError.BudgetExceededError
    })
    assert.strictEqual(yield* run(order, "go"), "go")
    const ask = Agent.asTool(order, { name: "ask", description: "d" }).pipe(Tool.onError({ orElse: Recovery.tell() }))
    const outer = yield* make(ScriptedModel.calls(ScriptedModel.call("ask", { input: "x" }, "c1")))
    const caller = agentWith(ask).pipe(Agent.withModel(outer.layer), Agent.withBudget({ maxTurns: 1 }))
    assert.deepInclude(yield* Effect.flip(run(caller, "go")), { agent: "worker", reason: "maxTurns", limit: 1 })
  })
)

it.run("a limit of the fallback itself ends it: no further agent runs, and `when` is not called [A1107 A904]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(batch("look"))
    const { tool } = play("look", {}, [Effect.succeed("seen")])
    const { actor, lines } = stage()
    const spare = actor("spare", 0, Effect.succeed)
    const first = agentWith(tool).pipe(Agent.withModel(model.layer))
    const asked: Array<number> = []
    const when = (_error: unknown, { tried }: { readonly tried: number }) => asked.push(tried) > 0
    const order = Agent.fallback(first, spare, { when }).pipe(Agent.withBudget({ maxTurns: 1 }))
    assert.deepInclude(yield* Effect.flip(run(order, "go")), { agent: "fallback", reason: "maxTurns", limit: 1 })
    assert.deepStrictEqual([lines, asked], [[], []])
  })
)
