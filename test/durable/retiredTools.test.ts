/** A tool that an agent no longer has settles the calls of durable runs that began before. */
import { assert, it } from "@effect/vitest"
import { Agent, Approval, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Option, Schema } from "effect"
import { assertDone, before, current, earlier, moved, quiet, saying, Seen } from "./_support/changing.ts"
import { watched } from "./_support/engines.ts"
import { call } from "./_support/readingModel.ts"

// Finds out nothing of its own: its subject is how core treats a retired tool
it.effect("a tool that was removed settles its earlier calls, and no model is offered it [P1715]", () =>
  Effect.gen(function* () {
    for (const isAtWork of [false, true]) {
      const { layer } = yield* watched(false)
      yield* Effect.gen(function* () {
        const contents = [[call("look", { id: "A" })], [call("sign", { id: "A" })]]
        const seen = new Seen()
        const asked: Array<Durable.DurableRequest> = []
        const gone = Tool.retired(earlier(seen, "look", Effect.succeed("there is no look any more")))
        const agent = Agent.make("clerk", {
          model: saying(seen, contents),
          budget: { maxDuration: "30 days" },
          tools: [gone, earlier(seen, "sign").pipe(Tool.requireApproval({ validFor: "9 days" })), current(seen, "find")]
        })
        const durable = Durable.workflow(agent, {
          name: "clerk",
          input: Schema.String,
          output: Schema.String,
          migrations: [{}],
          onApproval: (one) => Effect.sync(() => void asked.push(one))
        })
        const first = before(contents, isAtWork ? Effect.never : undefined)
        const id = yield* moved(first, { durable })
        // a request that the first process has made stays, because its tool is as it was
        assert.deepStrictEqual([first.seen.asked.length, asked.length], isAtWork ? [0, 1] : [1, 0])
        const [request] = [...asked, ...first.seen.asked]
        assert.isDefined(request)
        yield* Durable.decide(durable, request, Approval.approve)
        yield* quiet
        yield* assertDone({ durable }, id)
        const names = seen.ran.map(({ tool }) => tool)
        assert.deepStrictEqual(names, isAtWork ? ["look", "sign"] : ["sign"])
        const last = seen.requests.at(-1)
        assert.strictEqual(JSON.stringify(last?.messages).includes("there is no look any more"), isAtWork)
        assert.deepStrictEqual(
          last?.tools.map(({ name }) => name),
          ["sign", "find"]
        )
      }).pipe(Effect.provide(layer))
    }
  })
)

/** A clerk whose only tool on demand pays, and one that has retired this tool. */
const payer = (isEarlier: boolean) => {
  const seen = new Seen()
  const looked: Array<string> = []
  const pay = Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({ id: Schema.String }),
    success: Schema.String,
    sideEffects: "unsafe",
    verify: (key) => Effect.sync(() => (looked.push(key), Option.some("it was paid"))),
    run: (params, { idempotencyKey: key }) =>
      Effect.andThen(
        Effect.sync(() => seen.ran.push({ tool: "pay", params, key })),
        Effect.never
      )
  })
  const model = saying(seen, [[call("call_tool", { name: "pay", arguments: { id: "A" } })]])
  const options = { name: "clerk", input: Schema.String, output: Schema.String } as const
  const durable = isEarlier
    ? Durable.workflow(Agent.make("clerk", { model, tools: Tool.onDemand([pay]) }), options)
    : Durable.workflow(Agent.make("clerk", { model, tools: [Tool.retired(pay)] }), { ...options, migrations: [{}] })
  return { durable, looked, seen }
}

// Finds out nothing of its own: its subject is how core finds a retired tool by `call_tool`
it.effect("an unsafe call by call_tool is looked up, also if its agent has no tool on demand any more [P1715]", () =>
  Effect.gen(function* () {
    const { layer } = yield* watched(false)
    const [first, second] = [payer(true), payer(false)]
    yield* Effect.provide(
      Effect.flatMap(moved(first, second), (id) => assertDone(second, id)),
      layer
    )
    assert.deepStrictEqual(second.seen.ran, [])
    assert.deepStrictEqual(
      second.looked,
      first.seen.ran.map(({ key }) => key)
    )
    assert.include(JSON.stringify(second.seen.requests.at(-1)?.messages), "it was paid")
  })
)
