/** A run keeps the texts of results that were cut or put aside, when a new process cuts them otherwise. */
import { assert, it } from "@effect/vitest"
import { Agent, Approval, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Schema } from "effect"
import { assertDone, failureOf, moved, quiet, saying, Seen } from "./_support/changing.ts"
import { watched } from "./_support/engines.ts"
import { call } from "./_support/readingModel.ts"

const long = "0123456789".repeat(1000)

/** A clerk who reads two long results, and has something signed. `length`: how much of each result the model reads. */
const clerk = (length: number) => {
  const seen = new Seen()
  const asked: Array<Durable.DurableRequest> = []
  const about = { description: "Works.", parameters: Schema.Struct({}), success: Schema.String } as const
  const cut = Tool.make("cut", { ...about, maxResultChars: length, run: () => Effect.succeed(long) })
  const log = Tool.make("log", {
    ...about,
    putAside: Tool.putAside({ above: length }),
    run: () => Effect.succeed(long)
  })
  const sign = Tool.make("sign", { ...about, run: () => Effect.succeed("signed") }).pipe(Tool.requireApproval())
  const contents = [[call("cut"), call("log")], [call("sign")]]
  const agent = Agent.make("clerk", { model: saying(seen, contents), tools: [cut, log, sign] })
  const durable = Durable.workflow(agent, {
    name: "clerk",
    input: Schema.String,
    output: Schema.String,
    onApproval: (one) => Effect.sync(() => void asked.push(one))
  })
  return { asked, durable, seen }
}

/** The texts of the results in the latest request. */
const resultsOf = ({ requests }: Seen): ReadonlyArray<string> =>
  (requests.at(-1)?.messages ?? []).flatMap((message) =>
    message.role === "assistant"
      ? message.content.flatMap((part) => (part.type === "settled-call" ? part.settlement.text : []))
      : []
  )

it.effect("a run keeps the texts of results that were cut or put aside [P1711]", () =>
  Effect.gen(function* () {
    const { layer } = yield* watched(false)
    yield* Effect.gen(function* () {
      const [first, second] = [clerk(100), clerk(200)]
      const id = yield* moved(first, second)
      const before = resultsOf(first.seen)
      assert.lengthOf(before, 2)
      for (const text of before) assert.isBelow(text.length, 400)
      const [request] = first.asked
      assert.isDefined(request)
      yield* Durable.decide(second.durable, request, Approval.approve)
      yield* quiet
      yield* assertDone(second, id)
      assert.deepStrictEqual(resultsOf(second.seen), [...before, "signed"])
    }).pipe(Effect.provide(layer))
  })
)

// Finds out nothing of its own: its subject is a run of an earlier release, whose results core shortens
it.effect("a run of format 2 does not keep them: it ends with ChangedAgentError, and nothing runs [P1712]", () =>
  Effect.gen(function* () {
    for (const length of [100, 200]) {
      // this engine replays the run after each step, and each replay reads that the run is one of format 2
      const { layer } = yield* watched(true, undefined, (name, stored) => {
        if (name !== "begin") return stored
        // cast: the row with which a run begins
        const row = stored as { readonly value: { readonly format: number } }
        return { ...row, value: { ...row.value, format: 2 } }
      })
      yield* Effect.gen(function* () {
        const [first, second] = [clerk(100), clerk(length)]
        const id = yield* moved(first, second)
        if (length === 200) {
          assert.strictEqual((yield* failureOf(second, id))._tag, "ChangedAgentError")
          return assert.deepStrictEqual(second.seen.requests, [])
        }
        const [request] = first.asked
        assert.isDefined(request)
        yield* Durable.decide(second.durable, request, Approval.approve)
        yield* quiet
        yield* assertDone(second, id)
      }).pipe(Effect.provide(layer))
    }
  })
)
