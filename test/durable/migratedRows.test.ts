/** What a migrated run reads of its rows: the conversation still has to be the recorded one, in sub-agents too. */
import { assert, it } from "@effect/vitest"
import { Agent, Approval, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Schema } from "effect"
import {
  after,
  assertDone,
  before,
  current,
  earlier,
  failureOf,
  moved,
  Old,
  quiet,
  saying,
  Seen,
  usual
} from "./_support/changing.ts"
import { type Reads, watched } from "./_support/engines.ts"
import { call } from "./_support/readingModel.ts"

const contents = [[call("look", { id: "A" })], [call("sign", { id: "A" })]]

/** The rows of model calls, changed. */
const ofModel =
  (change: (row: Record<string, unknown>) => object): Reads =>
  (name, stored) =>
    // cast: the row of a model call is an object
    name.includes("/model/") ? change(stored as Record<string, unknown>) : stored

/** The row of a release without the digest of the conversation. */
const old = (row: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(row).filter(([key]) => key !== "conversationDigest"))

const rows: ReadonlyArray<readonly [string, boolean, Reads]> = [
  ["with another conversation", true, ofModel((row) => ({ ...row, conversationDigest: "another" }))],
  ["with another number of texts", true, ofModel((row) => ({ ...old(row), words: ["more"] }))],
  ["without a digest of the conversation", false, ofModel(old)]
]

// Finds out nothing of its own: its subject is how core goes on with a conversation of earlier rows
it.effect.each(rows)("a migrated run reads rows %s; refuses them: %s [P1714]", ([, isRefused, reads]) =>
  Effect.gen(function* () {
    const { layer } = yield* watched(false, undefined, reads)
    yield* Effect.gen(function* () {
      const [first, second] = [before(contents), after(contents, usual)]
      const id = yield* moved(first, second)
      assert.strictEqual(second.seen.asked.length, isRefused ? 0 : 1)
      if (isRefused) assert.strictEqual((yield* failureOf(second, id))._tag, "ChangedAgentError")
    }).pipe(Effect.provide(layer))
  })
)

/** A clerk whose helper looks, before and after the change of the helper's tool. */
const helped = (isEarlier: boolean) => {
  const seen = new Seen()
  const asked: Array<Durable.DurableRequest> = []
  const model = saying(seen, [[call(isEarlier ? "look" : "find", isEarlier ? { id: "A" } : { ids: ["A"] })]])
  const find = current(seen, "find").pipe(Tool.requireApproval({ validFor: "9 days" }))
  const look = earlier(seen, "look").pipe(Tool.requireApproval({ validFor: "9 days" }))
  const budget = { maxDuration: "30 days" } as const
  const helper = Agent.make("helper", { budget, model, tools: isEarlier ? [look] : [find] })
  const agent = Agent.make("clerk", {
    budget,
    model: saying(seen, [[call("helper", { input: "go" })]]),
    tools: [Agent.asTool(helper, { description: "Helps." })]
  })
  const moving = Durable.migrateCall({ from: { tool: "look", parameters: Old }, to: find, migrate: usual })
  const durable = Durable.workflow(agent, {
    name: "clerk",
    input: Schema.String,
    output: Schema.String,
    migrations: isEarlier ? [] : [{ calls: [moving] }],
    onApproval: (one) => Effect.sync(() => void asked.push(one))
  })
  return { asked, durable, seen }
}

// Finds out nothing of its own: its subject is how core hands recorded calls to the tools of a sub-agent
it.effect("calls of a sub-agent are migrated too, and its parent goes on [P1714]", () =>
  Effect.gen(function* () {
    const { layer } = yield* watched(false)
    yield* Effect.gen(function* () {
      const [first, second] = [helped(true), helped(false)]
      const id = yield* moved(first, second)
      const [request] = second.asked
      assert.isDefined(request)
      assert.strictEqual(request.request.key, first.asked[0]?.request.key)
      yield* Durable.decide(second.durable, request, Approval.approve)
      yield* quiet
      yield* assertDone(second, id)
      assert.deepStrictEqual(
        second.seen.ran.map(({ params, tool }) => [tool, params]),
        [["find", { ids: ["A"] }]]
      )
    }).pipe(Effect.provide(layer))
  })
)
