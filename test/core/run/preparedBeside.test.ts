/** `Agent.prepareTurn` beside what else a turn may have: replies that go on, compactions, guardrails, results that are put aside. */
import { assert } from "@effect/vitest"
import { Agent, Compaction, Message, Model } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Layer } from "effect"
import { stopped } from "../../../packages/core/src/recovery/Render.ts"
import { it } from "../../_support/run.ts"
import { agentWith, batch, done, eventLog, read, scripted } from "../../_support/dialogue.ts"
import { digits, pages, reads } from "../tool/_support/aside.ts"
import { cut, goingOn } from "./_support/continued.ts"
import { reading } from "./_support/guarded.ts"
import { spending } from "./_support/spending.ts"

const { make, text } = ScriptedModel

const clerk = Agent.make("clerk", {})

it.run("whether a reply goes on is asked of the model of the turn [P1552 P1560 P1563]", (run) =>
  Effect.gen(function* () {
    const from = [Message.user("go"), cut("all is ")]
    for (const isAble of [true, false]) {
      const chosen = yield* isAble ? goingOn(text("well")) : make(text("well"))
      const own = yield* isAble ? make() : goingOn()
      const agent = clerk.pipe(Agent.prepareTurn(() => Effect.succeed({ model: chosen.layer })))
      const resumed = run(Agent.resume(agent), { from, incomplete: "continue" })
      assert.strictEqual(yield* resumed.pipe(Effect.provide(own.layer)), isAble ? "all is well" : "well")
      assert.deepStrictEqual(
        chosen.requests.map(({ messages }) => messages),
        [isAble ? [Message.user("go"), cut("all is")] : [...from, Message.user(stopped)]]
      )
    }
  })
)

it.run("the window is that of the model which has answered last, the model of a turn too [P1552 P1570]", (run) =>
  Effect.gen(function* () {
    const declaring = (layer: Layer.Layer<Model.Model>, name: string, contextWindow: number) =>
      Layer.effect(
        Model.Model,
        Effect.map(Model.Model, (model) => ({ ...model, name, contextWindow }))
      ).pipe(Layer.provide(layer))
    for (const isSmall of [true, false]) {
      const look = scripted("look", Effect.succeed("s".repeat(300)), Effect.succeed("seen"))
      const script = [spending(1, 1, "look"), spending(790, 10, "look")]
      const chosen = yield* make(...script)
      const own = yield* make(done)
      const [of, other] = isSmall ? [1000, 9000] : [9000, 1000]
      const small = declaring(chosen.layer, "chosen", of)
      const log = eventLog()
      const agent = agentWith(look.tool).pipe(
        Agent.prepareTurn(({ turn }) => Effect.succeed(turn < 3 ? { model: small } : {})),
        Agent.compactAt({ with: Compaction.shrinkLargestResult({ maxLength: 10 }) }),
        log.listen
      )
      yield* run(agent, "go").pipe(Effect.provide(declaring(own.layer, "own", other)))
      assert.deepStrictEqual(
        log.of("compacted").map(({ ahead }) => ahead?.window),
        isSmall ? [1000] : []
      )
    }
  })
)

it.run("words that are blocked before a turn begins prepare none [P1551 P1595]", (run) =>
  Effect.gen(function* () {
    let asked = 0
    const agent = clerk.pipe(
      Agent.guardInput(() => Agent.guard.block("no"), { mode: "before" }),
      Agent.prepareTurn(() => Effect.sync(() => ({ prompt: `${asked++}` })))
    )
    const model = yield* make()
    const { events, exit } = yield* reading(run(agent, "hi"), model.layer)
    assert.isTrue(Exit.isFailure(exit))
    assert.strictEqual(asked, 0)
    assert.deepStrictEqual(
      events.map(({ type }) => type),
      ["run-start", "guardrail", "run-failed"]
    )
  })
)

it.run("read_result stays beside the tools that are left, and is left out with all of them [P1536 P1552]", (run) =>
  Effect.gen(function* () {
    const other = scripted("other")
    const agent = agentWith(pages("look", digits(500)), other.tool).pipe(
      Agent.prepareTurn(({ turn }) => Effect.succeed({ tools: turn < 3 ? ["look"] : [] }))
    )
    const model = yield* make(batch("look"), reads({ from: 490 }), reads({ from: 495 }), done)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(
      model.requests.map(({ tools }) => tools.map(({ name }) => name).join(" ")),
      ["look read_result", "look read_result", "", ""]
    )
    assert.deepStrictEqual(read(model).slice(1), [
      "result: 0123456789\n\n[Characters 490 to 500 of 500. This is the end.]",
      "denied: Tool 'read_result' is not available in this turn. Try another way."
    ])
  })
)
