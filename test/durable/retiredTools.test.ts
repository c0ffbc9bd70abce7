/** A tool that an agent no longer has settles the calls of durable runs that began before. */
import { assert, it } from "@effect/vitest"
import { Agent, Approval, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Schema } from "effect"
import { assertDone, before, current, earlier, moved, quiet, saying, Seen } from "./_support/changing.ts"
import { watched } from "./_support/engines.ts"
import { call } from "./_support/readingModel.ts"

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
