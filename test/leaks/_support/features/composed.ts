/** Agents that hand their work to others, and what an agent has besides: structured output, repairs, limits, grants, spans. */
import { Agent, Approval, Budget, Message, Model, Recovery, Telemetry, Tool } from "@kintsugi/core"
import { Conversations } from "@kintsugi/durable"
import { Context, Effect, Layer, Option, Schedule, Schema, Stream } from "effect"
import type { Around, Feature } from "../measure.ts"
import { call, calling, layerOf, look, looking, overloaded, pay, replyOf, serviceOf, using } from "./models.ts"

const answering = (...texts: ReadonlyArray<string>) => {
  let asked = 0
  return layerOf(() =>
    Effect.sync(() => ({ ...replyOf([]), content: [Message.text(texts[asked++ % texts.length] ?? "")] }))
  )
}

const echo = <const Name extends string>(name: Name) =>
  Agent.deterministic(name, (text: string) => Effect.succeed(`${name} of ${text}`))

const triage = Agent.deterministic("triage", (text: string) =>
  Effect.succeed({ _tag: text === "go" ? ("Bill" as const) : ("Talk" as const), text })
)

const taking = <const Tag extends string>(tag: Tag) =>
  Agent.deterministic(tag, ({ text }: { readonly _tag: Tag; readonly text: string }) => Effect.succeed(text))

const handing = (around: Around) =>
  triage.pipe(Agent.branch({ Bill: taking("Bill"), Talk: taking("Talk") }), Agent.andThen(looking(around)))

const two = { one: echo("one"), two: echo("two") }

const captain = Agent.deterministic(
  "captain",
  ({ answers }: { readonly input: string; readonly answers: { readonly one: string; readonly two: string } }) =>
    Effect.succeed(answers.one)
)

const failingBeside = (around: Around) => {
  const broken = Agent.deterministic("broken", (text: string) => Effect.fail(text))
  const hanging = Agent.deterministic("hanging", (text: string) =>
    Effect.andThen(around.resource, Effect.as(Effect.never, text))
  )
  const both = { broken, hanging, looking: looking(around) }
  return Agent.parallel(both)
}

/** The first copy hangs; the second one answers. */
const hedged = () => {
  let asked = 0
  const model = layerOf(() => Effect.suspend(() => (asked++ % 2 === 0 ? Effect.never : Effect.succeed(replyOf([])))))
  return Agent.speculative(Agent.make("worker", { model }), 3, { hedgeAfter: 1 })
}

/** A model that never finishes what it has begun to write. */
const hesitant = Layer.succeed(Model.Model, {
  ...serviceOf(() => Effect.never),
  stream: () => Stream.concat(Stream.succeed<Model.Part>({ type: "text-delta", text: '{"title": "a' }), Stream.never)
})

const Report = Schema.Struct({ title: Schema.String })

const fixing = ({ resource }: Around) =>
  Agent.make("worker", {
    tools: [
      Tool.make("look", {
        description: "Looks.",
        parameters: Schema.Struct({ nth: Schema.Finite }),
        success: Schema.String,
        run: () => Effect.as(resource, "seen")
      })
    ]
  }).pipe(
    Agent.toolDefaults({
      InvalidArgs: Recovery.fix(Agent.deterministic("fixer", () => Effect.succeed('{"nth": 1}')))
    })
  )

/** A tool whose work is undone, because the next model call fails. */
const undoing = ({ resource }: Around) =>
  Agent.make("worker", {
    tools: [
      Tool.make("look", {
        description: "Looks.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: () => Effect.as(resource, "seen")
      }).pipe(Tool.compensate(() => resource))
    ]
  })

const thenFailing = layerOf(({ messages }) =>
  messages.some(({ role }) => role === "assistant") ? Effect.fail(overloaded) : Effect.succeed(replyOf([call("look")]))
)

/** Calls tools for ever, while it may. */
const restless = layerOf(({ toolChoice }) => Effect.succeed(replyOf(toolChoice === "none" ? [] : [call("look")])))

const limited = (around: Around, action: Budget.LimitAction) =>
  Agent.make("worker", { tools: [look(around)], budget: { maxTurns: 2 } }).pipe(Agent.onBudgetExceeded(() => action))

const searching = calling(call("search_tools", { query: "look" }), call("call_tool", { name: "look", arguments: {} }))

/** A tool whose second poll has the result. */
const polled = ({ resource }: Around) => {
  let polls = 0
  return Tool.deferred("look", {
    description: "Looks.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    wait: "suspend",
    deadline: "1 hour",
    start: () => Effect.as(resource, { job: 1 }),
    poll: {
      every: Schedule.spaced(1),
      check: () => Effect.sync(() => (polls++ % 2 === 0 ? Option.none() : Option.some("seen")))
    }
  })
}

/** What a person has approved for a conversation, up to the bound of the process. */
const grants = Approval.approvalsOfProcess({ conversations: 100 })

const granted: Feature = {
  name: "an approval for a conversation",
  prepare: (around) =>
    Effect.sync(() => {
      let nth = 0
      const decide = () => Effect.succeed(Approval.approveFor({ conversation: "c" }))
      const use = Effect.suspend(() => {
        const asked = Agent.make("clerk", { tools: [pay(around)] })("go")
        const within = Effect.provideService(asked, Approval.Conversation, `c-${nth++}`)
        return Effect.provide(within, [Approval.layer(decide), calling(call("pay"))])
      })
      return { use: Effect.provideService(use, Approval.Approvals, grants) }
    })
}

/** A layer that all runs of an agent share, and that is closed as soon as none is at work. */
const provided: Feature = {
  name: "a layer that is provided to an agent",
  prepare: (around) =>
    Effect.sync(() => {
      const layer = Layer.effect(
        Model.Model,
        Effect.map(around.resource, () => serviceOf(() => Effect.succeed(replyOf([]))))
      )
      const agent = Agent.make("worker", { modelIdle: 0 }).pipe(Agent.provide(layer))
      return { use: agent("go") }
    })
}

/** A model whose stream breaks off in its text, and goes on there. */
const breaking = (): Layer.Layer<Model.Model> => {
  let asked = 0
  const whole = serviceOf(() => Effect.succeed(replyOf([])))
  return Layer.succeed(Model.Model, {
    ...whole,
    continuation: "rest",
    stream: (request) =>
      Stream.suspend(() =>
        asked++ % 2 === 0
          ? Stream.concat(
              Stream.fromIterable<Model.Part>([{ type: "text-delta", text: "All" }]),
              Stream.fail(overloaded)
            )
          : whole.stream(request)
      )
  })
}

const continuing = () =>
  Agent.make("worker", {}).pipe(
    Agent.onLlmError(
      { ModelOverloadedError: Recovery.retry({ retries: 1, initialBackoff: 1 }) },
      { onPartial: "continue" }
    )
  )

/** A conversation that an agent remembers: each run goes on from the messages of the one before it. */
const remembering: Feature = {
  name: "an agent that goes on from a stored conversation",
  prepare: (around) =>
    Effect.gen(function* () {
      const store = Context.get(yield* Layer.build(Conversations.layerMemory()), Conversations.Conversations)
      const agent = Agent.resume(looking(around))
      const of = { conversation: "c", subject: "ann" }
      const turn = (from: Message.Transcript) =>
        Effect.gen(function* () {
          const run = yield* agent.start({ from, input: "go" })
          yield* run.outcome
          const messages = (yield* run.transcript).slice(from.length)
          yield* store.append({ ...of, expected: from.length, messages })
        })
      const use = Effect.gen(function* () {
        yield* turn([])
        yield* turn((yield* store.load(of)).messages)
        yield* store.remove(of)
      })
      return { use: Effect.provide(use, calling(call("look"))) }
    })
}

const measured: Feature = {
  name: "spans and metrics",
  prepare: (around) =>
    Effect.sync(() => ({
      use: Effect.provide(looking(around)("go"), [calling(call("look")), Telemetry.layerWith({ content: true })])
    }))
}

export const composed: ReadonlyArray<Feature> = [
  using("agents that hand over to others", (around) => handing(around)("go")),
  using("agents at the same time", () => Agent.forum(two, captain)("go")),
  using("agents at the same time of which one fails", (around) => Effect.flip(failingBeside(around)("go"))),
  using("a loop of agents", () =>
    Agent.loopUntil(echo("one"), (_, iteration) => Effect.succeed(iteration === 3), {
      maxIterations: 5,
      feedback: (output) => output
    })("go")
  ),
  { name: "copies of an agent", prepare: () => Effect.sync(() => ({ use: hedged()("go") })) },
  using("a fallback of agents", (around) =>
    Agent.fallback(Agent.make("broken", { model: layerOf(() => Effect.fail(overloaded)) }), looking(around))("go")
  ),
  using(
    "an output that fits at the second time",
    () => Agent.make("worker", { output: Report })("go"),
    answering("no", '{"title": "a"}')
  ),
  using(
    "partial outputs that are left",
    () => Stream.runHead(Agent.partials(Agent.make("worker", { output: Report }), { interval: 0 })("go")),
    hesitant
  ),
  using("a fixer", (around) => fixing(around)("go"), calling(call("look", { nth: "one" }))),
  using("a call that is undone", (around) => Effect.flip(undoing(around)("go")), thenFailing),
  using("an answer at a limit", (around) => limited(around, Budget.answer)("go"), restless),
  using(
    "a run that is suspended at a limit",
    (around) => Effect.flatMap(limited(around, Budget.checkpoint).start("go"), ({ outcome }) => outcome),
    restless
  ),
  using("tools on demand", (around) => Agent.make("worker", { tools: Tool.onDemand([look(around)]) })("go"), searching),
  {
    ...using("a deferred call that is polled", (around) => Agent.make("worker", { tools: [polled(around)] })("go")),
    // the reasons of 10,000 closed calls are kept
    warmUp: 10_500
  },
  using("a stream that breaks off and goes on", () => Stream.runDrain(continuing().stream("go")), breaking()),
  using("an answer that is held back in pieces", () =>
    Stream.runDrain(
      Agent.make("worker", {})
        .pipe(Agent.guardOutput(() => Effect.delay(Effect.succeed(Agent.guard.pass), 1), { hold: 4 }))
        .stream("go")
    )
  ),
  granted,
  provided,
  remembering,
  measured
]
