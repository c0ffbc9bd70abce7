/**
 * One process of the demo: `clerk.ts folder ledger name [approve]`. It starts the run of an order, or goes on with it, and says on its
 * standard output what happens. What the tools do to the world is a line of the ledger.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { Agent, Approval, Message, Model, Recovery, Skill, Tool, Usage } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Duration, Effect, Layer, Option, Schema } from "effect"
import { streaming } from "../streams.ts"

const [folder = "", ledger = "", name = "", word = ""] = process.argv.slice(2)

const say = (what: string): void => void process.stdout.write(`${what}\n`)

/** What happens to the world, and in which process. */
const enter = (what: string): void => appendFileSync(ledger, `${name} ${what}\n`)

const ledgerHas = (what: string): boolean =>
  existsSync(ledger) &&
  readFileSync(ledger, "utf8")
    .split("\n")
    .some((line) => line.endsWith(what))

class Busy extends Schema.TaggedError<Busy>()("Busy", { message: Schema.String }) {}

/** What it says follows from what it reads, so that any process may ask it. */
const said = ["stock", "charge", "ship", "refund"]
const model = Layer.succeed(
  Model.Model,
  streaming({
    name: "scripted",
    provider: "demo",
    generate: ({ messages }) =>
      Effect.sync(() => {
        const turn = messages.filter(({ role }) => role === "assistant").length
        const tool = said[turn]
        enter(`model ${turn + 1}`)
        const call: Message.ToolCall = { type: "tool-call", id: "call", name: tool ?? "", arguments: {} }
        return {
          content: [tool === undefined ? Message.text("Order 17 is shipped, and its postage paid back.") : call],
          finish: tool === undefined ? "stop" : "tool-calls",
          usage: Usage.make({ inputTokens: 100, outputTokens: 20 })
        } satisfies Message.Reply
      })
  })
)

const about = { parameters: Schema.Struct({}), success: Schema.String } as const

const stock = Tool.make("stock", {
  ...about,
  description: "Looks whether a kettle is left.",
  run: () =>
    Effect.gen(function* () {
      say("stock is at work")
      yield* Effect.sleep(1500)
      enter("stock looked up")
      return "one kettle is left"
    })
})

const charge = Tool.make("charge", {
  ...about,
  description: "Takes the money.",
  sideEffects: "unsafe",
  verify: (key) => Effect.succeed(ledgerHas(`charge ${key}`) ? Option.some("charged") : Option.none()),
  run: (_, { idempotencyKey }) =>
    Effect.sync(() => {
      enter(`charge ${idempotencyKey}`)
      return "charged"
    })
})

const ship = Tool.make("ship", {
  ...about,
  description: "Hands the parcel over.",
  failure: Busy,
  run: (_, { attempt }) =>
    Effect.suspend(() => {
      enter(`ship, attempt ${attempt}`)
      return attempt === 1 ? Effect.fail(new Busy({ message: "no courier is there" })) : Effect.succeed("shipped")
    })
}).pipe(Tool.onError({ Busy: Recovery.retry({ retries: 1, initialBackoff: "4 seconds" }) }))

const refund = Tool.make("refund", {
  ...about,
  description: "Pays the postage back.",
  sideEffects: "unsafe",
  run: (_, { idempotencyKey }) =>
    Effect.sync(() => {
      enter(`refund ${idempotencyKey}`)
      return "paid back"
    })
}).pipe(Tool.requireApproval({ reason: "money leaves the house", validFor: "7 days" }))

const agent = Agent.make("clerk", {
  model,
  budget: { maxDuration: "30 days" },
  skills: [Skill.make("orders", { description: "Works on orders.", tools: [stock, charge, ship, refund] })]
}).pipe(
  Agent.onEvent((event) =>
    Effect.sync(() => {
      if (event.type === "tool-end") say(`${event.tool}: ${event.use.settlement.text}`)
      if (event.type === "verdict") {
        say(`${event.tag}: ${event.verdict} ${event.gaveUp ? "gave up" : `in ${Duration.format(event.delay)}`}`)
      }
      if (event.type === "run-completed") say(`${event.usage.inputTokens} tokens read in all`)
    })
  )
)

/** What a person has to decide waits in a file here, in a table elsewhere. */
const inbox = `${ledger}.inbox`
const Letter = Schema.fromJsonString(Durable.DurableRequest)

const clerks = Durable.workflow(agent, {
  name: "clerk",
  version: "1",
  input: Schema.String,
  output: Schema.String,
  onApproval: (asked) =>
    Effect.sync(() => {
      writeFileSync(inbox, Schema.encodeSync(Letter)(asked))
      say(`a person is asked: ${asked.request.tool}, for ${asked.request.reason}`)
    })
})

const main = Effect.gen(function* () {
  const order = { id: "order-17", input: "Work on order 17" }
  const id = yield* Durable.start(clerks, order)
  if (word === "approve") {
    const asked = yield* Schema.decodeUnknownEffect(Letter)(readFileSync(inbox, "utf8"))
    say("the person says yes")
    yield* Durable.decide(clerks, asked, Approval.approve)
  }
  let wasWaiting = false
  while (true) {
    const result = Option.getOrUndefined(yield* Durable.poll(clerks, id))
    if (result?._tag === "Complete") return yield* result.exit
    if (result?._tag === "Suspended" && existsSync(inbox) && word === "" && !wasWaiting) {
      wasWaiting = true
      say("the run waits, without a fiber")
    }
    yield* Effect.sleep(100)
  }
}).pipe(Effect.provide(clerks.layer.pipe(Layer.provideMerge(Durable.layerPglite({ folder })))))

say(`answer: ${await Effect.runPromise(main)}`)
process.exit(0)
