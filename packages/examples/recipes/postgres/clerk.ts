/**
 * A durable agent on a PostgreSQL server. Kill the process at any time and start the same line again: the next process goes on with the run, and
 * a refund that the first one had begun is looked up, not made twice.
 *
 *   node scripts/launch.mjs --install packages/examples/recipes/postgres
 *   DATABASE_URL=postgres://… BANK_URL=http://… OPENAI_API_KEY=… node scripts/launch.mjs packages/examples/recipes/postgres/clerk.ts ticket-4 'Refund order 17'
 */
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { OpenAi } from "@kintsugi/providers"
import { Config, Effect, Layer, Option, Schema } from "effect"

class BankDown extends Schema.TaggedError<BankDown>()("BankDown", { message: Schema.String }) {}

/** Asks the bank about the refund with this key: whether there is one, if the method is GET. */
const bank = (method: "GET" | "PUT", key: string) =>
  Effect.gen(function* () {
    const url = yield* Effect.orDie(Config.String("BANK_URL"))
    const { ok, status } = yield* Effect.tryPromise({
      try: (signal) => fetch(`${url}/refunds/${key}`, { method, signal }),
      catch: (cause) => new BankDown({ message: String(cause) })
    })
    if (!ok && (method === "PUT" || status !== 404)) return yield* new BankDown({ message: `status ${status}` })
    return ok
  })

const refund = Tool.make("refund", {
  description: "Pays an order back.",
  parameters: Schema.Struct({ order: Schema.Int }),
  success: Schema.String,
  failure: BankDown,
  sideEffects: "unsafe",
  run: ({ order }, { idempotencyKey }) => Effect.as(bank("PUT", idempotencyKey), `order ${order} is paid back`),
  // the next process asks this when one has died in the middle of `run`
  verify: (key) =>
    Effect.map(bank("GET", key), (isPaid) => (isPaid ? Option.some("the order is paid back") : Option.none()))
}).pipe(Tool.onError({ BankDown: Recovery.tell() }))

const clerk = Agent.make("clerk", {
  prompt: "Do what the ticket asks.",
  budget: { maxDuration: "30 days" },
  tools: [refund]
})

const clerks = Durable.workflow(clerk, { name: "clerk", version: "1", input: Schema.String, output: Schema.String })

const missing = ["DATABASE_URL", "OPENAI_API_KEY"].filter((name) => !process.env[name])
if (missing.length > 0) {
  console.error(`set ${missing.join(" and ")}`)
  process.exit(1)
}

const engine = Layer.unwrap(Effect.map(Config.Redacted("DATABASE_URL"), (url) => Durable.layerPostgres({ url })))

const live = clerks.layer.pipe(Layer.provide(OpenAi.model("gpt-5.6-sol")), Layer.provideMerge(engine))

const [id = "", input = ""] = process.argv.slice(2)
// there is one run for each id, however often it is started
const answer = clerks.workflow.execute({ id, input }).pipe(Effect.provide(live))
console.log(
  await Effect.runPromise(answer).catch((error) => {
    console.error(error.message)
    process.exit(1)
  })
)
