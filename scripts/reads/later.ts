/** What a model reads of calls that wait, of prepared turns, withheld answers and pictures: each text comes out of a run. */
import { Agent, Approval, Message, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Fiber, Logger, Random, Schema } from "effect"
import { TestClock } from "effect/testing"
import type { ReadText } from "./texts.ts"

const { call, calls, make, text } = ScriptedModel

type AnyAgent = Agent.Any<string, unknown, unknown, unknown>

/** What the model of a run reads at the end: of its calls, and as messages of the user. */
const readBy = (
  agent: AnyAgent,
  ...replies: ReadonlyArray<ScriptedModel.ScriptedStep>
): Effect.Effect<ReadonlyArray<string>> =>
  Effect.gen(function* () {
    const model = yield* make(...replies, text("done"))
    const running = agent("go").pipe(
      Effect.provideService(Approval.Approver, { decide: () => Effect.never }),
      Effect.provide(model.layer),
      Effect.provide(Logger.layer([])),
      Effect.exit
    ) as Effect.Effect<unknown>
    const fiber = yield* Effect.forkChild(running, { startImmediately: true })
    yield* TestClock.adjust("1 day")
    yield* Fiber.join(fiber)
    return (model.requests.at(-1)?.messages ?? []).flatMap((message) =>
      message.role === "user" ? Message.textOf(message) : message.role === "assistant" ? resultsOf(message) : []
    )
    // ids are the same each time
  }).pipe(Effect.scoped, Random.withSeed("reads"), Effect.provide(TestClock.layer()))

const lastOf = (
  when: string,
  agent: AnyAgent,
  ...replies: ReadonlyArray<ScriptedModel.ScriptedStep>
): Effect.Effect<ReadText> => Effect.map(readBy(agent, ...replies), (read) => ({ when, text: read.at(-1) ?? "" }))

const resultsOf = ({ content }: Message.Assistant): ReadonlyArray<string> =>
  content.flatMap((part) => (part.type === "settled-call" ? [part.settlement.text] : []))

class Closed extends Schema.TaggedError<Closed>()("Closed", { message: Schema.String }) {}

const options = { description: "Looks.", parameters: Schema.Struct({}), success: Schema.String }

/** A deferred tool whose work ends so, or not at all. */
const order = (ending?: Exit.Exit<string, Closed>, sideEffects: Recovery.SideEffects = "none") =>
  Tool.deferred("order", {
    ...options,
    sideEffects,
    failure: Closed,
    start: (_, { token }) =>
      Effect.as(ending === undefined ? Effect.void : Effect.orDie(Tool.settle(token, ending)), { job: 1 }),
    wait: "continue",
    deadline: "1 hour"
  })

const look = Tool.make("look", { ...options, run: () => Effect.succeed("rain") })

const agentWith = (...tools: ReadonlyArray<Tool.AnyTool>): AnyAgent =>
  Agent.make("clerk", { budget: { maxDuration: "7 days" }, tools }).pipe(
    // the tools are computed
    Agent.toolDefaults({ orElse: Recovery.tell() } as {})
  ) as never

const ordered = calls(call("order", {}, "c1"))
const looked = calls(call("look", {}, "c1"))

const undecided = (onExpiry: "refuse" | "fail") =>
  agentWith(look.pipe(Tool.requireApproval({ validFor: "1 hour", onExpiry })))

/** Of calls that wait. */
export const ofWaiting: Effect.Effect<ReadonlyArray<ReadText>> = Effect.map(
  Effect.all([
    lastOf("Its result, as a user message", agentWith(order(Exit.succeed("It is sent."))), ordered),
    lastOf("Its failure", agentWith(order(Exit.fail(new Closed({ message: "the shop is closed" })))), ordered),
    lastOf("Its deadline", agentWith(order()), ordered, text("It is under way.")),
    lastOf("The same, of an unsafe tool", agentWith(order(undefined, "unsafe")), ordered, text("It is under way.")),
    lastOf('No decision in time (`onExpiry: "refuse"`)', undecided("refuse"), looked),
    lastOf('The same with `onExpiry: "fail"`, told by a row', undecided("fail"), looked)
  ]),
  (texts) => [
    ...texts,
    { when: "A user message supersedes the request for approval", text: Message.superseded.text },
    { when: "The same, of a call that has begun and may be repeated", text: Message.supersededAtWork.text },
    { when: "A user message came before the call", text: Message.passedOver.text }
  ]
)

/** The settlement that a call has while its run goes on. */
export const ofDeferred: Effect.Effect<ReadText> = Effect.gen(function* () {
  const model = yield* make(ordered, text("It is under way."))
  const agent = Agent.make("clerk", { tools: [order()] })
  yield* Effect.forkChild(Effect.provide(agent("go"), model.layer), { startImmediately: true })
  yield* TestClock.adjust("1 second")
  const [, message] = model.requests.at(-1)?.messages ?? []
  const said = message?.role === "assistant" ? resultsOf(message) : []
  return { when: 'A deferred call whose run goes on (`wait: "continue"`)', text: said[0] ?? "" }
}).pipe(Effect.scoped, Random.withSeed("reads"), Effect.provide(TestClock.layer()))

/** Of a tool that a turn leaves out. */
export const ofPrepared: Effect.Effect<ReadText> = lastOf(
  "A tool that `Agent.prepareTurn` leaves out",
  Agent.make("clerk", { tools: [look] }).pipe(Agent.prepareTurn(() => Effect.succeed({ tools: [] }))) as never,
  looked
)

/** Of an answer that a guardrail has blocked. */
export const ofWithheld: Effect.Effect<ReadText> = lastOf(
  "An answer that a guardrail withholds, told by a row",
  Agent.make("clerk", {}).pipe(
    Agent.guardOutput(({ text }) => (text === "done" ? Agent.guard.pass : Agent.guard.block("it names a customer"))),
    Agent.onGuardrail({ output: Recovery.tell() })
  ) as never,
  text("Ask Ada Lovelace.")
)

const image = Message.image("image/png", { data: "iVBORw0KGgo=" })
const shot = (given: Parameters<typeof Tool.parts>[2]) => agentWith(look.pipe(Tool.parts(() => [image], given)))

/** Of pictures in results, to a model that reads none there. */
export const ofPictures: Effect.Effect<ReadonlyArray<ReadText>> = Effect.all([
  lastOf("A picture in a result, for a model without pictures there", shot({}), looked),
  lastOf("A picture beyond `maxBytes`", shot({ maxBytes: 7 }), looked),
  Effect.map(readBy(shot({ unsupported: "follow" }), looked), (read) => ({
    when: 'With `unsupported: "follow"`, and the next message',
    text: read.slice(1).join("\n")
  }))
])
