/** The agent, the model and the person of a world of the reference. */
import { Agent, type AgentEvent, Approval, LlmError, Message, type Model, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Deferred, Effect, type Exit, Schema, Stream } from "effect"
import { toParts } from "../../../packages/core/src/testing/ScriptedModel.ts"
import { argumentsOf, type Asked, given, prompt, usage, type World } from "./reference.ts"

class Busy extends Schema.TaggedError<Busy>()("Busy", {}) {}
class Locked extends Schema.TaggedError<Locked>()("Locked", {}) {}
class Plain extends Schema.TaggedError<Plain>()("Plain", {}) {}
class Stale extends Schema.TaggedError<Stale>()("Stale", {}) {}
class Escalated extends Schema.TaggedError<Escalated>()("Escalated", {}) {}
class Raised extends Schema.TaggedError<Raised>()("Raised", {}) {}

/** The model of a world, and of the sub-agent in it. `stopping` interrupts the run. */
const modelOf = ({ answers, turns }: World, stopping: Effect.Effect<never>): Model.Service => {
  const overloaded = LlmError.ModelOverloadedError.make({ model: "m" })
  const failing = {
    overloaded: Effect.fail(overloaded),
    broken: Effect.fail(LlmError.AuthenticationError.make({ model: "m", detail: "no key" })),
    stopped: stopping
  }
  const says = (text: string) => ScriptedModel.reply({ content: [Message.text(text)], usage })
  /** The attempts of a model call. */
  const attemptsOf = (
    { failures }: Asked,
    reply: Message.Reply
  ): Array<Effect.Effect<Message.Reply, LlmError.LlmError>> => [
    ...failures.map((failure) => failing[failure]),
    Effect.succeed(reply)
  ]
  const calls = turns.flatMap((turn) => turn.calls)
  const left = [...answers]
  let nth = 0
  const own = turns.flatMap((turn) => {
    const { finish, text } = turn
    const content = [
      ...(text === "" ? [] : [Message.text(text)]),
      ...turn.calls.map((one) => {
        const id = nth++
        return { type: "tool-call" as const, id: `c${id}`, name: one.tool, arguments: argumentsOf(one, id) }
      })
    ]
    return attemptsOf(turn, ScriptedModel.reply({ content, finish, usage })).map((answer) => ({
      answer,
      partial: turn.partial
    }))
  })
  const experts = new Map<string, Array<Effect.Effect<Message.Reply, LlmError.LlmError>>>()
  const next = ({ messages }: Model.Request) =>
    Effect.sync(() => {
      const last = messages.at(-1)
      const why = last?.role === "user" ? Message.textOf(last) : ""
      const found = /^why (\d+)$/.exec(why)
      const expert = found === null ? undefined : calls[Number(found[1])]?.expert
      if (expert === undefined) {
        return own.shift() ?? { answer: Effect.succeed(says(left.shift() ?? "done")), partial: "" }
      }
      const attempts = experts.get(why) ?? attemptsOf(expert, says("known"))
      experts.set(why, attempts)
      return { answer: attempts.shift() ?? Effect.die("asked too often"), partial: expert.partial }
    })
  const said = (partial: string): ReadonlyArray<Model.Part> =>
    partial === "" ? [] : [{ type: "text-delta", text: partial }]
  return {
    name: "m",
    provider: "p",
    generate: (request) => Effect.flatMap(next(request), ({ answer }) => answer),
    stream: (request) =>
      Stream.unwrap(
        Effect.map(next(request), ({ answer, partial }) =>
          Stream.unwrap(
            Effect.match(answer, {
              onSuccess: (reply) => Stream.fromIterable<Model.Part>(toParts(reply)),
              onFailure: (error) =>
                Stream.concat(Stream.fromIterable(error === overloaded ? said(partial) : []), Stream.fail(error))
            })
          )
        )
      )
  }
}

/** What becomes of deferred work. */
export interface Settlement {
  readonly token: string
  readonly exit: Exit.Exit<unknown, unknown>
}

/** The agent of a world, and what its players look at. */
export const castOf = (world: World, says: (nth: number) => Effect.Effect<unknown, unknown>) => {
  const { atLast, fixes, isStrict, modelRetries, requests, toolRetries, ...limits } = world.agent
  const calls = world.turns.flatMap((turn) => turn.calls)
  const runs: Array<string> = []
  const events: Array<AgentEvent.AgentEvent> = []
  const atWork = Deferred.makeUnsafe<void>()
  const stopping = Effect.andThen(Deferred.succeed(atWork, undefined), Effect.never)
  const begin = (nth: number, attempt: number) =>
    Effect.gen(function* () {
      const found = calls[nth]
      runs.push(`${nth} ${attempt}`)
      if (attempt === 1 && found?.isSaid === true) yield* Effect.orDie(says(nth))
      if (attempt === 1 && nth === world.interruptAt && found?.tool === "look") yield* stopping
      if (found?.does[attempt - 1] === "dies") yield* Effect.die("a bug")
    })
  const end = (nth: number, attempt: number) =>
    Effect.gen(function* () {
      switch (calls[nth]?.does[attempt - 1] ?? "works") {
        case "dies":
        case "works":
          return `did ${nth}`
        case "is busy":
          return yield* new Busy({})
        case "is locked":
          return yield* new Locked({})
        case "is telling":
          return yield* new Plain({})
        case "is stale":
          return yield* new Stale({})
        case "escalates":
          return yield* new Escalated({})
        case "raises":
          return yield* new Raised({})
      }
    })
  const failure = Schema.Union([Busy, Locked, Plain, Stale, Escalated, Raised])
  const parameters = Schema.Struct({ nth: Schema.Finite })
  const making = <const Name extends string, const S extends Recovery.SideEffects>(name: Name, sideEffects: S) =>
    Tool.make(name, {
      description: "d",
      parameters,
      success: Schema.String,
      failure,
      sideEffects,
      run: ({ nth }, { attempt }) => Effect.andThen(begin(nth, attempt), end(nth, attempt))
    })
  const rest = {
    Locked: Recovery.ladder(Recovery.ask({ times: requests, validFor: "30 days" }), Recovery.tell()),
    Plain: Recovery.tell(),
    Stale: Recovery.respondWith("stale"),
    Escalated: Recovery.escalate(),
    Raised: Recovery.raise
  } as const
  const last = atLast === "tell" ? Recovery.tell() : Recovery.raise
  const busy =
    toolRetries === 0 ? last : Recovery.ladder(Recovery.retry({ retries: toolRetries, initialBackoff: 20 }), last)
  const look = making("look", "none").pipe(Tool.onError({ ...rest, Busy: busy }))
  const ask = making("ask", "none").pipe(
    Tool.onError({ ...rest, Busy: busy }),
    Tool.requireApproval({ validFor: "30 days" })
  )
  /** Deferred work that was begun and not settled yet, in this order. */
  const waiting: Array<Settlement> = []
  const order = Tool.deferred("order", {
    description: "d",
    parameters,
    success: Schema.String,
    failure,
    sideEffects: "none",
    start: ({ nth }, { attempt, token }) =>
      Effect.gen(function* () {
        yield* begin(nth, attempt)
        waiting.push({ token, exit: yield* Effect.exit(end(nth, attempt)) })
        return {}
      }),
    wait: "suspend",
    deadline: "30 days"
  }).pipe(Tool.onError({ ...rest, Busy: busy }))
  const pay = making("pay", "unsafe").pipe(Tool.onError({ ...rest, Busy: last }))
  const overloaded =
    modelRetries === 0 ? Recovery.rethrow : Recovery.retry({ retries: modelRetries, initialBackoff: 20 })
  const patient = Agent.onLlmError({ ModelOverloadedError: overloaded }, { onPartial: "restart" })
  const consult = Agent.asTool(Agent.make("expert", {}).pipe(patient), {
    name: "consult",
    description: "d",
    parameters: Schema.Struct({ nth: Schema.Finite }),
    toInput: ({ nth }) => `why ${nth}`
  }).pipe(Tool.onError({ orElse: Recovery.tell() }))
  const fixer = Agent.deterministic("fixer", (read: string) =>
    Effect.succeed(`{"nth": ${/(\d+) or so/.exec(read)?.[1]}}`)
  )
  const output: Schema.Codec<string> = isStrict ? Schema.Literal("done") : Schema.String
  const agent = Agent.make("worker", {
    prompt,
    output,
    tools: [look, pay, ask, order, consult],
    budget: {
      ...limits,
      maxDuration: Infinity,
      toolConcurrency: 1,
      repeatedFailures: { hint: 90, withhold: 91, stop: 92 }
    }
  }).pipe(
    patient,
    Agent.toolDefaults({
      InvalidArgs: Recovery.tell(),
      DeserializationError: fixes ? Recovery.ladder(Recovery.fix(fixer), Recovery.tell()) : Recovery.tell(),
      UnknownToolError: Recovery.tell()
    }),
    Agent.onEvent((event) => Effect.sync(() => void events.push(event)))
  )
  // the same request has the same decision, however often it comes
  const decided = new Map<string, Approval.Decision>()
  const left = calls.map(({ decisions }) => [...decisions])
  const decide = ({ arguments: read, digest }: Approval.ApprovalRequest): Approval.Decision => {
    const before = decided.get(digest)
    if (before !== undefined) return before
    const { nth } = Schema.decodeUnknownSync(Schema.Struct({ nth: Schema.Finite }))(read)
    const decision = {
      approve: Approval.approve,
      refuse: Approval.refuse("no"),
      give: Approval.result(given(nth))
    }[left[nth]?.shift() ?? "approve"]
    decided.set(digest, decision)
    return decision
  }
  return { agent, atWork, decide, events, model: modelOf(world, stopping), order, runs, waiting }
}
