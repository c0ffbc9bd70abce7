/** The program behind the picture of the README: three of its errors have a row, and one has none. */
import { Agent, AgentEvent, Recovery, Tool } from "@kintsugi/core"
import { RecordedEvents, ScriptedModel } from "@kintsugi/core/testing"
import { Recording } from "@kintsugi/view"
import { Data, Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"

export class StaleIndex extends Data.TaggedError("StaleIndex")<{ readonly message: string }> {}
export class CardDeclined extends Data.TaggedError("CardDeclined")<{ readonly message: string }> {}
export class Locked extends Data.TaggedError("Locked")<{ readonly message: string }> {}

const { fix, ladder, retry, tell } = Recovery

/** The tools of one run. */
const tools = () => {
  let isStale = true
  const lookUp = Tool.make("lookUp", {
    description: "Looks an order up.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    sideEffects: "none",
    run: () => {
      if (!isStale) return Effect.succeed("an order")
      isStale = false
      return Effect.fail(new StaleIndex({ message: "the index is behind" }))
    }
  })
  const pay = Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({ sum: Schema.Int }),
    success: Schema.String,
    sideEffects: "unsafe",
    run: ({ sum }) => (sum > 0 ? Effect.succeed("paid") : Effect.fail(new Locked({ message: "the account is locked" })))
  })
  const charge = Tool.make("charge", {
    description: "Charges a card.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    sideEffects: "unsafe",
    run: () => Effect.fail(new CardDeclined({ message: "the bank declines" }))
  })
  return [lookUp, pay, charge] as const
}

const waits = { retries: 2, initialBackoff: "2 seconds" } as const
/** A plain function that mends the arguments. */
const json = Agent.deterministic("json", (raw: string) => Effect.succeed(raw.replace(/^(\w+)=(\d+)$/, '{"$1":$2}')))

/** The agent without a table. */
export const bare = () => Agent.make("desk", { tools: tools() })

/** The agent with the table of the picture. */
export const desk = () =>
  bare().pipe(
    Agent.toolDefaults({
      StaleIndex: ladder(retry(waits), tell()),
      InvalidArgs: ladder(fix(json), tell()),
      CardDeclined: tell()
    })
  )

const { call, calls, text } = ScriptedModel

/** The events of one run, in which each error with a row happens once. */
export const playStory = (): Promise<Recording.Recording> =>
  Effect.gen(function* () {
    const events = RecordedEvents.makeUnsafe()
    const model = yield* ScriptedModel.make(
      calls(call("lookUp", {})),
      calls(call("pay", "sum=10")),
      calls(call("charge", {})),
      text("Paid. The card was declined.")
    )
    const run = yield* Effect.forkChild(Effect.provide(desk()("Settle the order."), [model.layer, events.layer]))
    yield* TestClock.adjust("1 minute")
    yield* Fiber.join(run)
    return Recording.fromLines(events.all.map((event) => JSON.stringify(toJson(event))))
  }).pipe(Effect.scoped, Effect.provide(TestClock.layer()), Effect.runPromise)

const toJson = Schema.encodeSync(AgentEvent.AgentEvent)
