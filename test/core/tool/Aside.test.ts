/** The edges of what is put aside: handles, pages, room and stores. */
import { assert } from "@effect/vitest"
import { Agent, Approval, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { agentWith, batch, done, read, settlements } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { digits, handleIn, pages, reads } from "./_support/aside.ts"

const { answers, call, calls, make, reply, text } = ScriptedModel

it.run("a handle is short, and a longer one of a model is quoted in part [P1535 P1536]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(batch("look"), calls(call("read_result", { handle: `h"${"x".repeat(200)}` })), done)
    yield* run(agentWith(pages("look", digits(500))), "go").pipe(Effect.provide(model.layer))
    const [head, unknown] = read(model)
    assert.match(handleIn(head), /^[\da-z]{12}-\d+$/)
    assert.strictEqual(
      unknown,
      `told: There is no result with handle "h\\"${"x".repeat(98)}" here. Take the handle from a result that was put aside.`
    )
  })
)

it.run("a half of a character that stands alone is a character of its own [P1536]", (run) =>
  Effect.gen(function* () {
    const odd = `${"x".repeat(100)}a\uD83Dbc\uDE00d\u{1F600}`
    const model = yield* make(batch("look"), ...[102, 104, 107].map((from) => reads({ from, length: 1 })), done)
    yield* run(agentWith(pages("look", odd)), "go").pipe(Effect.provide(model.layer))
    const page = (part: string, from: number, end: number) =>
      `result: ${part}\n\n[Characters ${from} to ${end} of 108.${end === 108 ? " This is the end." : ` Read on with from: ${end}.`}]`
    assert.deepStrictEqual(read(model).slice(1), [
      page("b", 102, 103),
      page("\uDE00", 104, 105),
      page("\u{1F600}", 106, 108)
    ])
  })
)

const mebi = 1024 * 1024

it.run("a result that fills all of the room stays [P1537]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(batch("look"), reads({ length: 1 }), done)
    yield* run(agentWith(pages("look", "a".repeat(32 * mebi))), "go").pipe(Effect.provide(model.layer))
    assert.strictEqual(read(model)[1], `result: a\n\n[Characters 0 to 1 of ${32 * mebi}. Read on with from: 1.]`)
  })
)

it.run("a result that a conversation gets once more takes no more room [P1536 P1537]", (run) =>
  Effect.gen(function* () {
    const inTalk = Effect.provideService(Approval.Conversation, `twice ${String(run.isStreamed)}`)
    const once = (runId: string, letter: string) =>
      Effect.gen(function* () {
        const agent = agentWith(pages("look", letter.repeat(12 * mebi))).pipe(Agent.withRunId(runId))
        const model = yield* make(batch("look"), done)
        yield* run(agent, "go").pipe(Effect.provide(model.layer), inTalk)
        return handleIn(read(model)[0])
      })
    const first = yield* once("one", "a")
    const second = yield* once("two", "b")
    assert.strictEqual(yield* once("two", "b"), second)
    const model = yield* make(calls(call("read_result", { handle: first, length: 1 })), done)
    yield* run(agentWith(pages("look")), "go").pipe(Effect.provide(model.layer), inTalk)
    assert.include(read(model)[0], "result: a\n")
  })
)

/** A store in a map. */
const stored = () => {
  const texts = new Map<string, string>()
  const store: Tool.ResultStore = {
    put: ({ handle, owner, text }) => Effect.sync(() => void texts.set(`${owner} ${handle}`, text)),
    get: ({ handle, owner }) => Effect.sync(() => texts.get(`${owner} ${handle}`))
  }
  return Effect.provideService(Tool.ResultStore, store)
}

it.run("a store has the results of the conversation, of the run and of its parents [P1536 P1537]", (run) =>
  Effect.gen(function* () {
    const inStore = stored()
    const inTalk = Effect.provideService(Approval.Conversation, "talk")
    const first = yield* make(batch("look"), done)
    const agent = agentWith(pages("look", digits(500)))
    yield* run(agent, "go").pipe(Effect.provide(first.layer), inStore, inTalk)
    const handle = handleIn(read(first)[0])
    const next = yield* make(calls(call("read_result", { handle, from: 499 })), done)
    yield* run(agent, "go on").pipe(Effect.provide(next.layer), inStore, inTalk)
    assert.deepStrictEqual(read(next), ["result: 9\n\n[Characters 499 to 500 of 500. This is the end.]"])

    const inner = yield* make(
      answers(({ messages }) => {
        const said = /handle ([\w-]+)/.exec(JSON.stringify(messages))?.[1] ?? ""
        return Effect.succeed(reply({ content: [call("read_result", { handle: said, from: 498 }, "r")] }))
      }),
      text("read")
    )
    const child = Agent.make("child", { tools: [pages("see")], model: inner.layer })
    const outer = yield* make(
      batch("look"),
      answers(({ messages }) => {
        const input = `handle ${handleIn(settlements(messages)[0])}`
        return Effect.succeed(reply({ content: [call("child", { input }, "c2")] }))
      }),
      done
    )
    const parent = agentWith(pages("look", digits(500)), Agent.asTool(child, { description: "Asks." }))
    yield* run(parent, "go").pipe(Effect.provide(outer.layer), inStore)
    assert.deepStrictEqual(read(inner), ["result: 89\n\n[Characters 498 to 500 of 500. This is the end.]"])
  })
)
