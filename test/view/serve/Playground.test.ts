/** The logic of `kintsugi serve`, without HTTP: runs with a stand-in, faults, decisions, and what is done with runs afterwards. */
import { Agent, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Schema, Stream } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Playground } from "../../../packages/view/src/serve/Playground.ts"
import { Store } from "../../../packages/view/src/serve/store.ts"
import { recordedIn } from "../../../packages/view/src/serve/summary.ts"
import { auditor, bank, bankOnLedger, buyer, desk, mended, refunds } from "./_support/desk.ts"
import { choice, folder, type Module, playgroundIn, until } from "./_support/serving.ts"

/** A playground in a folder of its own. */
const playing = (module: Module, said: Array<string> = []) =>
  Effect.flatMap(folder, (path) => Effect.map(playgroundIn(path, module, said), (playground) => ({ path, playground })))

/** The events of a run that has ended. */
const eventsOf = (lines: ReadonlyArray<string> | undefined) => recordedIn(lines ?? [])

/** An agent whose tool waits until it is opened. */
const gated = Effect.map(Deferred.make<string>(), (gate) => ({
  agent: Agent.make("waiter", {
    tools: [
      Tool.make("waits", {
        description: "Waits.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: () => Deferred.await(gate)
      })
    ]
  }),
  release: Deferred.succeed(gate, "open")
}))

/** Waits until a tool of the run is at work. */
const begunTool = (playground: Playground, id: string) =>
  (playground.events(id, 0) ?? Stream.empty).pipe(
    Stream.filter(({ line }) => line.includes('"type":"tool-start"')),
    Stream.runHead
  )

describe("before anything runs", () => {
  it.live("shows each tool with its rows, and its errors without a row [P1281]", () =>
    Effect.gen(function* () {
      const { playground } = yield* playing({ found: { agent: desk } })
      const { agent } = playground.state()
      const [tool] = agent?.tools ?? []
      assert.deepStrictEqual(tool?.rows, [{ key: "StaleIndex", verdicts: "retry 2" }])
      assert.deepStrictEqual(tool?.tags, ["StaleIndex", "Locked"])
      assert.deepStrictEqual(tool?.missing, ["Locked", "InvalidArgs"])
      assert.include(agent?.worst ?? "", "8 turns")
      assert.include(agent?.model.missing ?? [], "RateLimitError")
      assert.deepStrictEqual(agent?.budget[0], ["turns", "8"])
      assert.strictEqual(agent?.prompt, "You are the desk of a shop.")
    }).pipe(Effect.scoped)
  )

  it.live("offers each own tag of a tool as a fault, and chooses two faults that heal [P1282]", () =>
    Effect.gen(function* () {
      const { playground } = yield* playing({ found: { agent: desk } })
      const { faults } = playground.state()
      assert.includeMembers(
        faults.map(({ name }) => name),
        ["tool lookUp StaleIndex", "tool lookUp Locked", "all"]
      )
      assert.deepStrictEqual(
        faults.filter(({ isPreset }) => isPreset).map(({ name }) => name),
        ["server-error", "broken-json"]
      )
    }).pipe(Effect.scoped)
  )

  it.live("knows the tags of the last ten runs [P1281]", () =>
    Effect.gen(function* () {
      const path = yield* folder
      const store = new Store(path)
      for (let number = 1; number <= 11; number++) {
        const id = `run-${String(number).padStart(2, "0")}`
        store.keep({ ...choice(), id, agent: "desk", at: number })
        const event = { runId: id, agent: "desk", turn: 1, at: number, type: "tool-failed", tool: "lookUp" }
        store.append(id, JSON.stringify({ ...event, error: { _tag: `Failed${number}` } }))
      }
      const playground = yield* playgroundIn(path, { found: { agent: desk } })
      const tags = playground.state().agent?.tools[0]?.tags ?? []
      const numbers = [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]
      assert.deepStrictEqual(tags, ["StaleIndex", "Locked", ...numbers.map((number) => `Failed${number}`)])
    }).pipe(Effect.scoped)
  )

  it.live("has the JSON Schema of an input that is no text [P1281]", () =>
    Effect.gen(function* () {
      const { playground } = yield* playing({ found: { agent: buyer } })
      const properties: unknown = Object(playground.state().agent?.input)["properties"]
      assert.deepStrictEqual(Object.keys(Object(properties)), ["item", "many", "isGift", "size"])
    }).pipe(Effect.scoped)
  )
})

describe("a run", () => {
  it.live("heals the preset faults with the stand-in [P1282]", () =>
    Effect.gen(function* () {
      const { playground } = yield* playing({ found: { agent: desk } })
      const id = yield* playground.start(choice({ faults: ["server-error", "broken-json"] }))
      const run = yield* until(playground, id, "completed")
      const events = eventsOf(playground.lines(id))
      assert.strictEqual(run.healed, 2)
      assert.isNotEmpty(events.filter(({ type }) => type === "arguments-coerced"))
      assert.deepStrictEqual(
        events.flatMap(({ tag, type, verdict }) => (type === "verdict" ? [[tag, verdict]] : [])),
        [["ServerError", "retry"]]
      )
    }).pipe(Effect.scoped)
  )

  it.live("fails with a tag of its tool that has no row, and heals one that has [P1282]", () =>
    Effect.gen(function* () {
      const { playground } = yield* playing({ found: { agent: desk } })
      const healed = yield* playground.start(choice({ faults: ["tool lookUp StaleIndex"] }))
      assert.strictEqual((yield* until(playground, healed, "completed")).healed, 1)
      const lost = yield* playground.start(choice({ faults: ["tool lookUp Locked"] }))
      assert.match((yield* until(playground, lost, "failed")).error ?? "", /^Locked/)
    }).pipe(Effect.scoped)
  )

  it.live("is kept with its choices in a folder that a repository ignores, until it is cleared [P1285]", () =>
    Effect.gen(function* () {
      const { path, playground } = yield* playing({ found: { agent: desk } })
      const id = yield* playground.start(choice({ seed: 3 }))
      yield* until(playground, id, "completed")
      assert.include(readFileSync(join(path, ".gitignore"), "utf8").split("\n"), "*")
      const lines = readFileSync(join(path, "runs", `${id}.jsonl`), "utf8")
        .trimEnd()
        .split("\n")
      assert.deepStrictEqual(lines, [...(playground.lines(id) ?? [])])
      const other = yield* playgroundIn(path, { found: { agent: desk } })
      assert.strictEqual(other.state().runs[0]?.seed, 3)
      yield* playground.clear
      assert.deepStrictEqual(playground.state().runs, [])
      assert.isFalse(existsSync(join(path, "runs", `${id}.jsonl`)))
    }).pipe(Effect.scoped)
  )

  it.live("is read from any event on, by any number of readers [P1284]", () =>
    Effect.gen(function* () {
      const { playground } = yield* playing({ found: { agent: desk } })
      const id = yield* playground.start(choice())
      const reading = (after: number) => Stream.runCollect(playground.events(id, after) ?? Stream.empty)
      const [all, rest] = yield* Effect.all([reading(0), reading(4)], { concurrency: "unbounded" })
      assert.deepStrictEqual(rest, all.slice(4))
      assert.deepStrictEqual(yield* reading(all.length - 1), all.slice(-1))
      assert.deepStrictEqual(
        all.map(({ number }) => number),
        all.map((_, index) => index + 1)
      )
    }).pipe(Effect.scoped)
  )

  it.live("is stopped [P1284]", () =>
    Effect.gen(function* () {
      const { agent } = yield* gated
      const { playground } = yield* playing({ found: { agent } })
      const id = yield* playground.start(choice())
      yield* begunTool(playground, id)
      yield* playground.stop(id)
      const run = yield* until(playground, id, "interrupted")
      assert.strictEqual(run.status, "interrupted")
      assert.strictEqual((yield* Effect.flip(playground.stop(id))).status, 409)
    }).pipe(Effect.scoped)
  )

  it.live("reads what a person says to it [P1284]", () =>
    Effect.gen(function* () {
      const { agent, release } = yield* gated
      const { playground } = yield* playing({ found: { agent } })
      const id = yield* playground.start(choice())
      yield* begunTool(playground, id)
      yield* playground.say(id, "and order B-4")
      yield* release
      yield* until(playground, id, "completed")
      const read = eventsOf(playground.lines(id)).filter(({ type }) => type === "message-read")
      assert.include(JSON.stringify(read), "and order B-4")
      assert.strictEqual((yield* Effect.flip(playground.say(id, "too late"))).status, 409)
    }).pipe(Effect.scoped)
  )

  it.live("makes results up, if tools are not to run [P1282]", () =>
    Effect.gen(function* () {
      const { playground } = yield* playing({ found: { agent: auditor } })
      const id = yield* playground.start(choice({ tools: "made up" }))
      const run = yield* until(playground, id, "completed")
      assert.deepStrictEqual(run.missing, [])
    }).pipe(Effect.scoped)
  )
})

describe("an approval", () => {
  it.live("goes on with edited arguments, also after a new start of the program [P1284]", () =>
    Effect.gen(function* () {
      const { made, tool } = refunds()
      const agent = Agent.make("desk", { tools: [tool] })
      const { path, playground } = yield* playing({ found: { agent } })
      const id = yield* playground.start(choice())
      yield* until(playground, id, "waiting")
      assert.deepStrictEqual(made, [])
      const later = yield* playgroundIn(path, { found: { agent } })
      const asked = eventsOf(later.lines(id)).find(({ type }) => type === "approval-requested")
      const { digest } = Object(asked?.["request"])
      const edited = { orderId: "B-4", cents: 12 }
      yield* later.decide(id, digest, { type: "approve", arguments: edited })
      yield* until(later, id, "completed")
      assert.deepStrictEqual(made, [edited])
    }).pipe(Effect.scoped)
  )

  it.live("refuses with a reason that the model reads, and takes no decision that was not asked for [P1284]", () =>
    Effect.gen(function* () {
      const { made, tool } = refunds()
      const { playground } = yield* playing({ found: { agent: Agent.make("desk", { tools: [tool] }) } })
      const id = yield* playground.start(choice())
      yield* until(playground, id, "waiting")
      const stale = yield* Effect.flip(playground.decide(id, "another digest", { type: "approve" }))
      assert.strictEqual(stale.status, 409)
      const { digest } = Object(
        eventsOf(playground.lines(id)).find(({ type }) => type === "approval-requested")?.["request"]
      )
      yield* playground.decide(id, digest, { type: "refuse", reason: "not this one" })
      // the stand-in calls a tool that has failed once more
      yield* until(playground, id, "waiting")
      assert.include((playground.lines(id) ?? []).join("\n"), "not this one")
      assert.deepStrictEqual(made, [])
    }).pipe(Effect.scoped)
  )
})

describe("two approvals of one turn", () => {
  it.live("are decided one by one, in any order [P1284]", () =>
    Effect.gen(function* () {
      const { made, tool } = refunds()
      const { call, calls, text } = ScriptedModel
      const orders = [1, 2].map((cents) => ({ orderId: `A-${cents}`, cents }))
      const both = calls(...orders.map((order) => call("refund", order, `c${order.cents}`)))
      const model = ScriptedModel.answering(({ messages }) => (messages.length > 1 ? text("done") : both))
      const { playground } = yield* playing({ found: { agent: Agent.make("desk", { model, tools: [tool] }) } })
      const id = yield* playground.start(choice({ model: "own" }))
      yield* until(playground, id, "waiting")
      const digests = eventsOf(playground.lines(id)).flatMap((event) =>
        event.type === "approval-requested" ? [Object(event["request"])["digest"]] : []
      )
      assert.lengthOf(digests, 2)
      yield* playground.decide(id, digests[1], { type: "approve" })
      yield* until(playground, id, "waiting")
      assert.deepStrictEqual(made, [orders[1]])
      yield* playground.decide(id, digests[0], { type: "approve" })
      yield* until(playground, id, "completed")
      assert.deepStrictEqual(made, [orders[1], orders[0]])
    }).pipe(Effect.scoped)
  )
})

describe("afterwards", () => {
  it.live("runs again with the same seed and the same faults [P1285]", () =>
    Effect.gen(function* () {
      const { playground } = yield* playing({ found: { agent: desk } })
      const first = yield* playground.start(choice({ faults: ["tool lookUp StaleIndex"], seed: 11 }))
      yield* until(playground, first, "completed")
      const second = yield* playground.repeat(first)
      yield* until(playground, second, "completed")
      const calls = (id: string) =>
        eventsOf(playground.lines(id)).flatMap(({ type, ...event }) =>
          type === "tool-start" ? [event["arguments"]] : []
        )
      assert.notStrictEqual(first, second)
      assert.isNotEmpty(calls(first))
      assert.deepStrictEqual(calls(second), calls(first))
    }).pipe(Effect.scoped)
  )

  it.live("goes on before a turn, with another prompt and without the turns before [P1285]", () =>
    Effect.gen(function* () {
      const { playground } = yield* playing({ found: { agent: desk } })
      const first = yield* playground.start(choice())
      const { turns } = yield* until(playground, first, "completed")
      const id = yield* playground.from(first, { turn: turns, prompt: "You are a pirate." })
      yield* until(playground, id, "completed")
      const events = eventsOf(playground.lines(id))
      const [system] = Object(events[0]?.["transcript"])
      assert.deepStrictEqual(system, { role: "system", text: "You are a pirate." })
      assert.lengthOf(
        events.filter(({ type }) => type === "tool-start"),
        0
      )
      assert.deepStrictEqual(playground.state().runs.find((run) => run.id === id)?.of, { id: first, turn: turns })
      const none = yield* Effect.flip(playground.from(first, { turn: 99 }))
      assert.strictEqual(none.status, 404)
    }).pipe(Effect.scoped)
  )

  it.live("replays recorded failures against an edited table without a model [P1286]", () =>
    Effect.gen(function* () {
      const module: Module = { found: { agent: desk } }
      const { playground } = yield* playing(module)
      const lost = yield* playground.start(choice({ faults: ["tool lookUp Locked"] }))
      yield* until(playground, lost, "failed")
      const healed = yield* playground.start(choice({ faults: ["tool lookUp StaleIndex"] }))
      yield* until(playground, healed, "completed")
      const same = yield* playground.replay
      assert.deepStrictEqual([same.runs, same.before, same.now], [2, 1, 1])
      assert.match(same.each.find(({ id }) => id === lost)?.error ?? "", /^Locked/)
      module.found = { agent: mended }
      yield* playground.reload
      assert.notInclude(playground.state().agent?.tools[0]?.missing ?? [], "Locked")
      const edited = yield* playground.replay
      assert.deepStrictEqual([edited.runs, edited.before, edited.now], [2, 1, 2])
    }).pipe(Effect.scoped)
  )
})

describe("an agent that cannot start", () => {
  it.live("names the services that its layer misses, and what to paste [P1287]", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const { playground } = yield* playing({ found: { agent: auditor, layer: bankOnLedger } }, said)
      const { agent, problem } = playground.state()
      assert.isUndefined(agent)
      assert.deepStrictEqual(problem?.missing, ["desk/Ledger"])
      assert.include(problem?.paste ?? "", "Layer.succeed(Ledger")
      assert.include(said.join("\n"), "desk/Ledger")
    }).pipe(Effect.scoped)
  )

  it.live("names a service that a run does not find [P1287]", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const module: Module = { found: { agent: auditor } }
      const { playground } = yield* playing(module, said)
      const id = yield* playground.start(choice())
      const run = yield* until(playground, id, "failed")
      assert.deepStrictEqual(run.missing, ["desk/Bank"])
      assert.include(said.join("\n"), "desk/Bank")
      module.found = { agent: auditor, layer: bank }
      yield* playground.reload
      const next = yield* playground.start(choice())
      assert.deepStrictEqual((yield* until(playground, next, "completed")).missing, [])
    }).pipe(Effect.scoped)
  )

  it.live("refuses an input that does not fit, with the reason [P1284]", () =>
    Effect.gen(function* () {
      const { playground } = yield* playing({ found: { agent: buyer } })
      const refused = yield* Effect.flip(playground.start(choice({ input: { item: 1 } })))
      assert.strictEqual(refused.status, 400)
      assert.include(refused.message, "item")
      const id = yield* playground.start(choice({ input: { item: "a", many: 1, isGift: false, size: "s" } }))
      yield* until(playground, id, "completed")
    }).pipe(Effect.scoped)
  )
})
