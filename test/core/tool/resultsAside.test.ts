/** Where long results are: in their run and its snapshots, in a conversation, in a store of the program. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Message, Recovery, Snapshot, Tool } from "@kintsugi/core"
import * as Factories from "@kintsugi/core/Factories"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  agentWith,
  batch,
  calm,
  done,
  eventLog,
  lastTranscript,
  read,
  scripted,
  settlements
} from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { deciding, outcomeOf, snapshotOf } from "../../_support/suspension.ts"

import { digits, handleIn, notice, pages, putAside, reads } from "./_support/aside.ts"

const { answers, call, calls, make, text } = ScriptedModel

it.effect("a run that goes on reads what was put aside before, by the same handle [P1535 P1537]", () =>
  Effect.gen(function* () {
    const asked = scripted("ask", Effect.succeed("yes")).tool.pipe(Tool.requireApproval({ validFor: "1 day" }))
    const tool = pages("look", digits(500))
    const agent = Agent.make("worker", { tools: [tool, asked] }).pipe(Agent.withRunId("run-1"))
    const model = yield* make(batch("look", "ask"), reads({ from: 490 }), done)
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
    const [first, ...others] = from.putAside ?? []
    assert.deepStrictEqual([first?.text, others], [digits(500), []])
    assert.deepInclude(yield* outcomeOf(Agent.resume(agent), deciding(from), model), { output: "done" })
    const [head, , page] = read(model)
    assert.strictEqual(handleIn(head), first?.handle)
    assert.strictEqual(page, "result: 0123456789\n\n[Characters 490 to 500 of 500. This is the end.]")

    // the same call of the same run has the same bytes
    const other = yield* make(batch("look"), done)
    yield* outcomeOf(
      Agent.make("worker", { tools: [pages("look", digits(500))] }).pipe(Agent.withRunId("run-1")),
      "go",
      other
    )
    assert.deepStrictEqual(read(other), [head ?? ""])
  })
)

it.effect(
  "a snapshot has the texts of the newest results, up to 1 MiB; of the others it is told that they were removed [P1537]",
  () =>
    Effect.gen(function* () {
      const asked = scripted("ask", Effect.succeed("yes")).tool.pipe(Tool.requireApproval({ validFor: "1 day" }))
      const agent = Agent.make("worker", { tools: [pages("look", digits(300_000), digits(400_000)), asked] })
      const seen: Array<string> = []
      const model = yield* make(
        batch("look"),
        batch("look", "ask"),
        answers(({ messages }) => {
          seen.push(
            ...settlements(messages)
              .map(handleIn)
              .filter((one) => one !== "none")
          )
          const content = seen.map((handle, index) => call("read_result", { handle, length: 1 }, `r${index}`))
          return Effect.succeed(ScriptedModel.reply({ content }))
        }),
        done
      )
      const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model))
      assert.deepStrictEqual(
        from.putAside?.map(({ text }) => text?.length),
        [undefined, 400_000]
      )
      yield* outcomeOf(Agent.resume(agent), deciding(from), model)
      const [first, second] = read(model).slice(-2)
      assert.include(first, `told: The result with handle "${seen[0]}" was removed: when there is no room for more`)
      assert.strictEqual(second, "result: 0\n\n[Characters 0 to 1 of 400000. Read on with from: 1.]")
    })
)

it.run("a run keeps 64 MiB: the oldest results go, and one that is longer is cut [P1537]", (run) =>
  Effect.gen(function* () {
    const unit = 1024 * 1024
    const model = yield* make(
      batch("look"),
      batch("look"),
      answers(({ messages }) => {
        const content = settlements(messages).map((one, index) =>
          call("read_result", { handle: handleIn(one), length: 1 }, `r${index}`)
        )
        return Effect.succeed(ScriptedModel.reply({ content }))
      }),
      batch("look"),
      done
    )
    const log = eventLog()
    const tool = pages("look", "a".repeat(20 * unit), "b".repeat(13 * unit), "c".repeat(32 * unit + 1))
    yield* run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    const [, , first, second, third = ""] = read(model)
    assert.include(first, "was removed")
    assert.include(second, "result: b")
    assert.strictEqual(third, `result: ${"c".repeat(97)}...`)
    const [event, ...others] = log.of("result-cut")
    assert.deepInclude(event, { tool: "look", characters: 32 * unit + 1 })
    assert.deepStrictEqual(others, [])
  })
)

it.run("a sub-agent and a fixer read what their parent has put aside, and no parent reads theirs [P1536]", (run) =>
  Effect.gen(function* () {
    const inner = yield* make(
      batch("see"),
      // the handle that the parent has given it
      answers(({ messages }) => {
        const said =
          JSON.stringify(messages)
            .match(/handle [\w-]+/)?.[0]
            .slice(7) ?? ""
        const own = settlements(messages).map((one) => handleIn(one))[0] ?? ""
        const content = [said, own].map((handle, index) => call("read_result", { handle, length: 3 }, `r${index}`))
        return Effect.succeed(ScriptedModel.reply({ content }))
      }),
      text("read")
    )
    const child = Agent.make("child", { tools: [pages("see", `own ${digits(500)}`)], model: inner.layer })
    const tool = Agent.asTool(child, { description: "Asks." })
    let handle = ""
    const model = yield* make(
      batch("look"),
      answers(({ messages }) => {
        handle = handleIn(settlements(messages)[0])
        return Effect.succeed(ScriptedModel.reply({ content: [call("child", { input: `handle ${handle}` }, "c2")] }))
      }),
      answers(() => {
        const own = handleIn(settlements(inner.requests[1]?.messages ?? [])[0])
        return Effect.succeed(ScriptedModel.reply({ content: [call("read_result", { handle: own }, "c3")] }))
      }),
      done
    )
    yield* run(agentWith(pages("look", `all ${digits(500)}`), tool), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(
      settlements(inner.requests[2]?.messages ?? [])
        .slice(1)
        .map((one) => one.slice(0, 11)),
      ["result: all", "result: own"]
    )
    assert.include(read(model).at(-1), "There is no result with handle")

    const fixing = yield* make(
      answers(() =>
        Effect.succeed(ScriptedModel.reply({ content: [call("read_result", { handle, length: 3 }, "f")] }))
      ),
      text('{"n":2}')
    )
    const mender = Agent.make("mender", { tools: [pages("see")], model: fixing.layer })
    const broken = scripted("fetch", Effect.succeed("page")).tool.pipe(
      Tool.onError({ InvalidArgs: Recovery.fix(mender) })
    )
    const outer = yield* make(
      batch("look"),
      answers(({ messages }) => {
        handle = handleIn(settlements(messages)[0])
        return Effect.succeed(ScriptedModel.reply({ content: [call("fetch", '{"n":"x",}', "c2")] }))
      }),
      done
    )
    yield* run(agentWith(pages("look", `all ${digits(500)}`), broken), "go").pipe(Effect.provide(outer.layer))
    assert.include(settlements(fixing.requests[1]?.messages ?? [])[0], "result: all")
  })
)

it.run("later runs of a conversation read what its earlier runs have put aside, and no others do [P1536]", (run) =>
  Effect.gen(function* () {
    const agent = agentWith(pages("look", digits(500)))
    const first = yield* make(batch("look"), done)
    const of = (conversation: string) => Effect.provideService(Approval.Conversation, conversation)
    yield* run(agent, "go").pipe(Effect.provide(first.layer), of("mine"))
    const handle = handleIn(read(first)[0])
    for (const [conversation, found] of [
      ["mine", "result: 0"],
      ["other", "told: There is no result"]
    ] as const) {
      const next = yield* make(calls(call("read_result", { handle, length: 1 })), done)
      yield* run(agent, "go on").pipe(Effect.provide(next.layer), of(conversation))
      assert.include(read(next)[0], found)
    }
  })
)

/** A store in a map, which fails where it is told to. */
const storeOf = () => {
  const texts = new Map<string, string>()
  const failing = { put: false, get: false }
  const store: Tool.ResultStore = {
    put: ({ handle, owner, text }) =>
      failing.put ? Effect.fail(new Error("disk full")) : Effect.sync(() => void texts.set(`${owner}/${handle}`, text)),
    get: ({ handle, owner }) =>
      failing.get ? Effect.fail(new Error("disk lost")) : Effect.sync(() => texts.get(`${owner}/${handle}`))
  }
  return { store, texts, failing, provided: Effect.provideService(Tool.ResultStore, store) }
}

it.run(
  "the store of the program has results by run or by conversation; one that fails leaves a cut, with an event [P1537]",
  (run) =>
    Effect.gen(function* () {
      const { failing, provided, texts } = storeOf()
      const agent = agentWith(pages("look", digits(500), digits(300))).pipe(Agent.withRunId("run-1"))
      const log = eventLog()
      const fails = <A>(which: "put" | "get", value: A) => Effect.sync(() => ((failing[which] = true), value))
      const model = yield* make(
        batch("look"),
        reads({ from: 498 }),
        answers(({ messages }) => {
          const content = [call("read_result", { handle: handleIn(settlements(messages)[0]) }, "r")]
          return fails("get", ScriptedModel.reply({ content }))
        }),
        answers(() => fails("put", ScriptedModel.reply({ content: [call("look", {}, "c9")] }))),
        done
      )
      yield* run(agent.pipe(log.listen), "go").pipe(Effect.provide(model.layer), provided)
      const [head, page, unreadable, cut] = read(model)
      assert.deepStrictEqual([...texts.keys()], [`run-1/${handleIn(head)}`])
      assert.include(page, "result: 89")
      assert.include(unreadable, "cannot be read just now")
      assert.strictEqual(cut, `result: ${digits(97)}...`)
      assert.deepStrictEqual(
        log.of("result-cut").map(({ characters, error }) => [characters, error instanceof Error && error.message]),
        [[300, "disk full"]]
      )
      failing.put = false
      const other = yield* make(batch("look"), done)
      const said = agentWith(pages("look", digits(500)))
      yield* run(said, "go").pipe(
        Effect.provide(other.layer),
        provided,
        Effect.provideService(Approval.Conversation, "talk")
      )
      assert.strictEqual([...texts.keys()].at(-1), `talk/${handleIn(read(other)[0])}`)
    })
)

it.run(
  "a store has 5 seconds: then the result is cut, or cannot be read just now, and the run goes on [P1537]",
  (run) =>
    Effect.gen(function* () {
      for (const [put, get] of [
        [4999, 5000],
        [4999, 5001],
        [5001, 0],
        [Infinity, 0],
        [0, Infinity]
      ] as const) {
        const { store } = storeOf()
        const slow: Tool.ResultStore = {
          put: (result) => Effect.andThen(put === Infinity ? Effect.never : Effect.sleep(put), store.put(result)),
          get: (key) => Effect.andThen(get === Infinity ? Effect.never : Effect.sleep(get), store.get(key))
        }
        const log = eventLog()
        const model = yield* make(batch("look"), reads({ from: 498 }), done)
        const agent = agentWith(pages("look", digits(500))).pipe(log.listen)
        const running = run(agent, "go").pipe(
          Effect.provide(model.layer),
          Effect.provideService(Tool.ResultStore, slow)
        )
        const fiber = yield* Effect.forkChild(running)
        yield* calm
        yield* TestClock.adjust("5 seconds")
        if (put <= 5000) yield* TestClock.adjust("5 seconds")
        assert.strictEqual(yield* Fiber.join(fiber), "done")
        const [head = "", page = ""] = read(model)
        const events = log.of("result-cut").map(({ characters, error }) => [characters, String(error)])
        if (put > 5000) {
          assert.strictEqual(head, `result: ${digits(97)}...`)
          assert.deepStrictEqual(events, [[500, "Error: The put of Tool.ResultStore took longer than 5s"]])
        } else {
          assert.match(head, notice)
          assert.deepStrictEqual(events, [])
          assert.include(page, get > 5000 ? "told: The result with handle" : "result: 89")
          if (get > 5000) assert.include(page, "cannot be read just now")
        }
      }
    })
)

it.effect("with a store, a snapshot has no results [P1537]", () =>
  Effect.gen(function* () {
    const { provided } = storeOf()
    const asked = scripted("ask", Effect.succeed("yes")).tool.pipe(Tool.requireApproval({ validFor: "1 day" }))
    const model = yield* make(batch("look", "ask"))
    const agent = Agent.make("worker", { tools: [pages("look", digits(500)), asked] })
    const from = yield* snapshotOf(yield* outcomeOf(agent, "go", model).pipe(provided))
    assert.isUndefined(from.putAside)
    assert.lengthOf(Snapshot.requestsOf(from), 1)
  })
)

it.run("what is told, and the result of an agent that is a tool, are put aside as well [P1535]", (run) =>
  Effect.gen(function* () {
    const child = Agent.deterministic("child", () => Effect.succeed(digits(500)))
    const tool = Agent.asTool(child, { description: "Asks.", putAside })
    const model = yield* make(
      calls(call("child", { input: "go" })),
      reads({ from: 499 }),
      ScriptedModel.fails(Factories.serverError("scripted", 1))
    )
    const log = eventLog()
    yield* Effect.flip(run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer)))
    assert.match(settlements(lastTranscript(log.end()))[0] ?? "", notice)
    assert.include(settlements(lastTranscript(log.end()))[1], "result: 9")
  })
)

it.run("the late result of a deferred call whose run goes on is put aside as well [P1535]", (run) =>
  Effect.gen(function* () {
    const order = Tool.deferred("order", {
      description: "Orders.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      putAside,
      start: (_, { token }) => Effect.as(Tool.settle(token, Exit.succeed(digits(500))), { job: 1 }),
      wait: "continue",
      deadline: "1 hour"
    })
    const model = yield* make(
      batch("order"),
      answers(({ messages }) => {
        const handle = /with handle: \\?"([\w-]+)/.exec(JSON.stringify(messages))?.[1] ?? ""
        return Effect.succeed(ScriptedModel.reply({ content: [call("read_result", { handle, from: 498 }, "r")] }))
      }),
      done
    )
    const log = eventLog()
    yield* run(agentWith(order).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    assert.match(log.of("tool-result")[0]?.settlement.text ?? "", notice)
    assert.deepInclude(log.of("result-put-aside")[0], { tool: "order", callId: "c1", characters: 500 })
    assert.include(read(model).at(-1), "result: 89")
  })
)

it.run("of a result with parts, the texts are put aside, and images stay [P1535]", (run) =>
  Effect.gen(function* () {
    const tool = pages("look", digits(500)).pipe(
      Tool.parts((text) => [Message.text(text), Message.image("image/png", { data: "AAAA" })])
    )
    const model = yield* make(batch("look"), done)
    const log = eventLog()
    yield* run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    const settlement = log.of("tool-end")[0]?.use.settlement
    assert.match(settlement?.text ?? "", notice)
    assert.deepStrictEqual(
      settlement?.parts?.map((part) => (part.type === "text" ? notice.test(part.text) : part.type)),
      [true, "image"]
    )
  })
)
