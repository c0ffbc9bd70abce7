/** What `kintsugi serve` makes of a choice of a person: from where a run goes on, its model, its results, and what it says of problems. */
import { Agent, Approval, Budget, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Schema, Stream } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { setImmediate } from "node:timers/promises"
import type { Playground } from "../../../packages/view/src/serve/Playground.ts"
import { madeUp } from "../../../packages/view/src/serve/running.ts"
import { recordedIn } from "../../../packages/view/src/serve/summary.ts"
import { auditor, desk, Ledger, Bank, Locked, lookUp, refunds } from "./_support/desk.ts"
import { choice, folder, type Module, playgroundIn, until } from "./_support/serving.ts"

const playing = (module: Module, said: Array<string> = []) =>
  Effect.flatMap(folder, (path) => Effect.map(playgroundIn(path, module, said), (playground) => ({ path, playground })))

const eventsOf = (playground: Playground, id: string) => recordedIn(playground.lines(id) ?? [])

/** What a run began with. */
const transcriptOf = (playground: Playground, id: string) => eventsOf(playground, id)[0]?.["transcript"]

/** Answers a run's request for approval. */
const approved = (playground: Playground, id: string) =>
  Effect.suspend(() => {
    const asked = eventsOf(playground, id).findLast(({ type }) => type === "approval-requested")
    return playground.decide(id, Object(asked?.["request"])["digest"], { type: "approve" })
  })

const user = (text: string) => ({ role: "user", content: [{ type: "text", text }] })

describe("a run from a turn", () => {
  it.live(
    "begins with what was before the turn, and another input replaces the one that no turn has answered [P1285]",
    () =>
      Effect.gen(function* () {
        const { path, playground } = yield* playing({ found: { agent: Agent.make("plain", {}) } })
        const first = yield* playground.start(choice({ input: "one" }))
        yield* until(playground, first, "completed")
        assert.notProperty(JSON.parse(readFileSync(join(path, "runs", `${first}.json`), "utf8")), "error")
        const same = yield* playground.from(first, { turn: 1 })
        yield* until(playground, same, "completed")
        assert.deepStrictEqual(transcriptOf(playground, same), [user("one")])
        const other = yield* playground.from(first, { turn: 1, input: "two" })
        yield* until(playground, other, "completed")
        assert.deepStrictEqual(transcriptOf(playground, other), [user("two")])
        for (const turn of [0, 9]) {
          const refused = yield* Effect.flip(playground.from(first, { turn }))
          assert.strictEqual(refused.message, `the run has no turn ${turn}`)
        }
      }).pipe(Effect.scoped)
  )

  it.live("begins without the word of the library with which an answer at a limit begins [P1285]", () =>
    Effect.gen(function* () {
      const agent = Agent.make("brief", { tools: [lookUp], budget: { maxTurns: 1 } }).pipe(
        Agent.onBudgetExceeded(() => Budget.answer)
      )
      const { playground } = yield* playing({ found: { agent } })
      const first = yield* playground.start(choice({ input: "one" }))
      assert.strictEqual((yield* until(playground, first, "completed")).turns, 2)
      const second = yield* playground.from(first, { turn: 2 })
      yield* until(playground, second, "completed")
      const transcript = transcriptOf(playground, second)
      assert(Array.isArray(transcript))
      assert.deepStrictEqual(
        transcript.map(({ role }) => role),
        ["user", "assistant"]
      )
    }).pipe(Effect.scoped)
  )
})

describe("a module that cannot be shown", () => {
  it.live("is explained at the terminal and refuses all runs, until it is mended [P1287]", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      let isBroken = true
      const module: Module = {
        get found() {
          if (isBroken) throw new Error("no such table")
          return { agent: desk }
        }
      }
      const { playground } = yield* playing(module, said)
      assert.deepStrictEqual(playground.state().problem, {
        title: "The agent cannot be shown",
        found: "Error: no such table",
        missing: [],
        paste: ""
      })
      assert.deepStrictEqual(said, ["The agent cannot be shown\nError: no such table"])
      for (const refused of [Effect.asVoid(playground.start(choice())), Effect.asVoid(playground.replay)])
        assert.strictEqual((yield* Effect.flip(refused)).message, "the agent cannot run now")
      assert.strictEqual((yield* Effect.flip(playground.stop("r"))).message, "the run is not at work")
      isBroken = false
      yield* playground.reload
      assert.isUndefined(playground.state().problem)
      assert.strictEqual(playground.state().agent?.where, "agent.ts#agent")
      assert.deepStrictEqual(yield* playground.changes(0).pipe(Stream.take(2), Stream.runCollect), [
        { number: 1, line: '{"what":"agent"}' },
        { number: 2, line: '{"what":"agent"}' }
      ])
    }).pipe(Effect.scoped)
  )

  it.live("has a layer that fails, or that misses services of a service [P1287]", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const failing = yield* playing(
        { found: { agent: auditor, layer: Layer.effect(Bank, Effect.fail(new Error("no money"))) } },
        said
      )
      const { problem } = failing.playground.state()
      assert.strictEqual(problem?.found, "Its layer fails: Error: no money")
      assert.deepStrictEqual(said, [[problem?.title, problem?.found, "", problem?.paste].join("\n")])
      class Safe extends Context.Service<Safe, { readonly unlock: () => Promise<string> }>()("desk/Safe") {}
      const layer = Layer.effect(
        Bank,
        Effect.gen(function* () {
          const safe = yield* Safe
          yield* Effect.promise(async () => void (await safe.unlock()))
          yield* Ledger
          return { pay: () => Effect.succeed("") }
        })
      )
      const missing = yield* playing({ found: { agent: auditor, layer } })
      assert.deepStrictEqual(missing.playground.state().problem?.missing, ["desk/Safe", "desk/Ledger"])
    }).pipe(Effect.scoped)
  )

  it.live("is named by its file alone if it is the default export [P1281]", () =>
    Effect.gen(function* () {
      const { playground } = yield* playing({ found: { agent: desk, name: "default" } })
      assert.strictEqual(playground.state().agent?.where, "agent.ts")
    }).pipe(Effect.scoped)
  )
})

describe("services of a module", () => {
  it.live("are released when it is loaded anew, unless a run needs them [P1282]", () =>
    Effect.gen(function* () {
      const { tool } = refunds()
      let released = 0
      const layer = Layer.effect(
        Bank,
        Effect.acquireRelease(Effect.succeed({ pay: () => Effect.succeed("") }), () =>
          Effect.sync(() => void released++)
        )
      )
      const { playground } = yield* playing({ found: { agent: Agent.make("desk", { tools: [tool] }), layer } })
      yield* playground.reload
      assert.strictEqual(released, 1)
      const id = yield* playground.start(choice())
      yield* until(playground, id, "waiting")
      yield* playground.reload
      assert.strictEqual(released, 1)
    }).pipe(Effect.scoped)
  )
})

describe("a made-up result", () => {
  it.effect("looks like what its field is called [P1282]", () =>
    Effect.gen(function* () {
      const tool = Tool.make("place", {
        description: "A place.",
        parameters: Schema.Struct({}),
        success: Schema.Struct({ city: Schema.String }),
        run: () => Effect.never
      })
      assert.deepStrictEqual(yield* madeUp(tool.definition, 1), { city: "Paris" })
    })
  )
})

describe("the model of a run", () => {
  it.live("is the agent's own one, with the faults that were chosen [P1282]", () =>
    Effect.gen(function* () {
      const model = (text: string) => ScriptedModel.answering(() => ScriptedModel.text(text))
      const agent = Agent.make("own", { model: model("my own words") })
      const { playground } = yield* playing({ found: { agent } })
      for (const [faults, failures] of [
        [[], 0],
        [["server-error"], 1]
      ] as const) {
        const id = yield* playground.start(choice({ model: "own", faults }))
        yield* playground.changes(0).pipe(
          Stream.filter(() => ["completed", "failed"].includes(playground.state().runs[0]?.status ?? "")),
          Stream.runHead
        )
        const text = (playground.lines(id) ?? []).join("\n")
        assert.strictEqual(text.includes("my own words"), failures === 0)
        assert.lengthOf(text.match(/"type":"model-failed"/g) ?? [], failures)
      }
    }).pipe(Effect.scoped)
  )

  it.live("is that of each agent, where nothing is to fail, and not that of the module [P1282]", () =>
    Effect.gen(function* () {
      const answering = (text: string) => ScriptedModel.answering(() => ScriptedModel.text(text))
      const agent = Agent.andThen(
        Agent.make("first", { model: answering("first words") }),
        Agent.make("second", { model: answering("second words") })
      )
      const { playground } = yield* playing({ found: { agent, layer: answering("other words") } })
      const id = yield* playground.start(choice({ model: "own" }))
      yield* until(playground, id, "completed")
      const text = (playground.lines(id) ?? []).join("\n")
      assert.include(text, "first words")
      assert.include(text, "second words")
    }).pipe(Effect.scoped)
  )
})

describe("a replay", () => {
  it.live("gives the recorded results, and needs no decision [P1286]", () =>
    Effect.gen(function* () {
      // no value that is made up fits
      const success = Schema.String.check(Schema.makeFilter((text: string) => text === "the one"))
      const only = Tool.make("only", {
        description: "Finds the one.",
        parameters: Schema.Struct({}),
        success,
        sideEffects: "unsafe",
        run: () => Effect.succeed("the one")
      }).pipe(Tool.requireApproval({ reason: "rare" }))
      // a person answers on the page alone
      const approver = Approval.layer(() => Effect.die(new Error("a person is asked")))
      const module: Module = { found: { agent: Agent.provide(Agent.make("finder", { tools: [only] }), approver) } }
      const { playground } = yield* playing(module)
      const healthy = yield* playground.start(choice())
      yield* until(playground, healthy, "waiting")
      yield* approved(playground, healthy)
      yield* until(playground, healthy, "completed")
      assert.deepStrictEqual(yield* playground.replay, { runs: 0, before: 0, now: 0, each: [] })
      const id = yield* playground.start(choice({ faults: ["server-error"] }))
      yield* until(playground, id, "waiting")
      assert.strictEqual((yield* playground.replay).runs, 0)
      yield* approved(playground, id)
      yield* until(playground, id, "completed")
      assert.deepStrictEqual(yield* playground.replay, {
        runs: 1,
        before: 1,
        now: 1,
        each: [{ id, before: true, now: true }]
      })
      module.found = { agent: desk }
      yield* playground.reload
      assert.strictEqual((yield* playground.replay).runs, 0)
    }).pipe(Effect.scoped)
  )

  it.live("goes on where a row asks a person, as if each had approved [P1286]", () =>
    Effect.gen(function* () {
      let tries = 0
      const unlock = Tool.make("unlock", {
        description: "Opens the door.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: () => (tries++ === 0 ? Effect.fail(new Locked({ by: "a key" })) : Effect.succeed("open"))
      }).pipe(Tool.onError({ Locked: Recovery.ask({ reason: "once more?" }) }))
      const { playground } = yield* playing({ found: { agent: Agent.make("desk", { tools: [unlock] }) } })
      const id = yield* playground.start(choice())
      yield* until(playground, id, "waiting")
      yield* approved(playground, id)
      yield* until(playground, id, "completed")
      assert.deepStrictEqual((yield* playground.replay).each, [{ id, before: true, now: true }])
    }).pipe(Effect.scoped)
  )

  it.live("takes no time for work of the module that leaves its fiber for some turns of the event loop [P1286]", () =>
    Effect.gen(function* () {
      const slow = Agent.deterministic("first", (text: string) =>
        Effect.promise(async () => {
          for (let turn = 0; turn < 4; turn++) await setImmediate()
          return text
        }).pipe(Effect.timeout("30 minutes"))
      )
      const { playground } = yield* playing({ found: { agent: Agent.andThen(slow, Agent.make("second", {})) } })
      const id = yield* playground.start(choice({ faults: ["server-error"] }))
      yield* until(playground, id, "completed")
      assert.deepStrictEqual((yield* playground.replay).each, [{ id, before: true, now: true }])
    }).pipe(Effect.scoped)
  )
})

describe("a fault", () => {
  it.live("happens once, also where a person decides about it [P1282]", () =>
    Effect.gen(function* () {
      const tool = Tool.onError(lookUp, { StaleIndex: Recovery.ask(), Locked: Recovery.tell() })
      const { playground } = yield* playing({ found: { agent: Agent.make("desk", { tools: [tool] }) } })
      const id = yield* playground.start(choice({ faults: ["tool lookUp StaleIndex"] }))
      yield* until(playground, id, "waiting")
      yield* approved(playground, id)
      yield* until(playground, id, "completed")
      assert.lengthOf(
        eventsOf(playground, id).filter(({ type }) => type === "run-suspended"),
        1
      )
    }).pipe(Effect.scoped)
  )
})
