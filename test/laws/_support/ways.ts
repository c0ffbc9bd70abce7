/** The ways in which the library plays the worlds of the reference: whole, streamed, over snapshots, and durable. */
import { Agent, AgentEvent, Approval, LlmError, Message, Model, Recovery, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Durable } from "@kintsugi/durable"
import { Cause, Deferred, Effect, Exit, Fiber, Layer, Option, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { toParts } from "../../../packages/core/src/testing/ScriptedModel.ts"
import { argumentsOf, type Asked, type End, input, type Outcome, prompt, said, usage, type World } from "./reference.ts"

class Busy extends Schema.TaggedError<Busy>()("Busy", {}) {}
class Plain extends Schema.TaggedError<Plain>()("Plain", {}) {}
class Stale extends Schema.TaggedError<Stale>()("Stale", {}) {}
class Escalated extends Schema.TaggedError<Escalated>()("Escalated", {}) {}
class Raised extends Schema.TaggedError<Raised>()("Raised", {}) {}

/** What the library does not owe to the reference, each with its reason. */
export const normal = (transcript: Message.Transcript): unknown =>
  transcript.flatMap<unknown>((message, index) => {
    const before = transcript[index - 1]
    const isAnswer = before?.role === "assistant" && before.content.every(({ type }) => type !== "settled-call")
    // the words about an answer that does not fit are the library's, as those for a failure
    if (message.role === "user" && isAnswer) return [Message.user("")]
    if (message.role !== "assistant") return [message]
    // the text of a last attempt that broke off stays where a reader has seen it: only in a stream
    if (message.incomplete === true) return []
    const content = message.content.map((part) => {
      if (part.type !== "settled-call") return part
      const { kind, text } = part.settlement
      // the words for a failure are the library's: docs/guide/what-the-model-reads.md has them, under tests of their own
      return { ...part, settlement: { kind, text: kind === "result" || kind === "truncated" ? text : "" } }
    })
    return [{ ...message, content }]
  })

/** The model of a world, and of the sub-agent in it. `stopping` interrupts the run. */
const modelOf = ({ answers, turns }: World, stopping: Effect.Effect<never>): Model.Service => {
  const overloaded = LlmError.ModelOverloadedError.make({ model: "m" })
  const broken = LlmError.AuthenticationError.make({ model: "m", detail: "no key" })
  const says = (text: string) => ScriptedModel.reply({ content: [Message.text(text)], usage })
  /** The attempts of a model call. */
  const attemptsOf = (
    { isBroken, isStopped, overloads }: Asked,
    reply: Message.Reply
  ): Array<Effect.Effect<Message.Reply, LlmError.LlmError>> => [
    ...(isStopped ? [stopping] : []),
    ...Array.from({ length: overloads }, () => Effect.fail(overloaded)),
    isBroken ? Effect.fail(broken) : Effect.succeed(reply)
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
      isHalf: turn.isHalf
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
        return own.shift() ?? { answer: Effect.succeed(says(left.shift() ?? "done")), isHalf: false }
      }
      const attempts = experts.get(why) ?? attemptsOf(expert, says("known"))
      experts.set(why, attempts)
      return { answer: attempts.shift() ?? Effect.die("asked too often"), isHalf: expert.isHalf }
    })
  const half: Model.Part = { type: "text-delta", text: "half" }
  return {
    name: "m",
    provider: "p",
    generate: (request) => Effect.flatMap(next(request), ({ answer }) => answer),
    stream: (request) =>
      Stream.unwrap(
        Effect.map(next(request), ({ answer, isHalf }) =>
          Stream.unwrap(
            Effect.match(answer, {
              onSuccess: (reply) => Stream.fromIterable<Model.Part>(toParts(reply)),
              onFailure: (error) =>
                Stream.concat(Stream.fromIterable(isHalf && error === overloaded ? [half] : []), Stream.fail(error))
            })
          )
        )
      )
  }
}

/** The agent of a world, and what its players look at. */
const castOf = (world: World, says: (nth: number) => Effect.Effect<unknown, unknown>) => {
  const { atLast, fixes, isStrict, modelRetries, toolRetries, ...limits } = world.agent
  const calls = world.turns.flatMap((turn) => turn.calls)
  const runs: Array<string> = []
  const events: Array<AgentEvent.AgentEvent> = []
  const atWork = Deferred.makeUnsafe<void>()
  const stopping = Effect.andThen(Deferred.succeed(atWork, undefined), Effect.never)
  const work = (nth: number, attempt: number) =>
    Effect.gen(function* () {
      const found = calls[nth]
      runs.push(`${nth} ${attempt}`)
      if (attempt === 1 && found?.isSaid === true) yield* Effect.orDie(says(nth))
      if (attempt === 1 && nth === world.interruptAt && found?.tool === "look") return yield* stopping
      switch (found?.does[attempt - 1] ?? "works") {
        case "works":
          return `did ${nth}`
        case "is busy":
          return yield* new Busy({})
        case "is telling":
          return yield* new Plain({})
        case "is stale":
          return yield* new Stale({})
        case "escalates":
          return yield* new Escalated({})
        case "raises":
          return yield* new Raised({})
        case "dies":
          return yield* Effect.die("a bug")
      }
    })
  const making = <const Name extends string, const S extends Recovery.SideEffects>(name: Name, sideEffects: S) =>
    Tool.make(name, {
      description: "d",
      parameters: Schema.Struct({ nth: Schema.Finite }),
      success: Schema.String,
      failure: Schema.Union([Busy, Plain, Stale, Escalated, Raised]),
      sideEffects,
      run: ({ nth }, { attempt }) => work(nth, attempt)
    })
  const rest = {
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
    tools: [look, pay, ask, consult],
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
  const decide = ({ arguments: given }: Approval.ApprovalRequest): Approval.Decision => {
    const { nth } = Schema.decodeUnknownSync(Schema.Struct({ nth: Schema.Finite }))(given)
    return calls[nth]?.decision === "refuse" ? Approval.refuse("no") : Approval.approve
  }
  return { agent, atWork, decide, events, model: modelOf(world, stopping), runs }
}

type Cast = ReturnType<typeof castOf>

const endOf = (exit: Exit.Exit<unknown, unknown>): End => {
  if (Exit.isSuccess(exit)) return { type: "answers", output: String(exit.value) }
  if (Cause.hasDies(exit.cause)) return { type: "dies" }
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  if (error === undefined) return { type: "is interrupted" }
  const { _tag: tag, reason } = Schema.decodeUnknownSync(
    Schema.Struct({ _tag: Schema.String, reason: Schema.optionalKey(Schema.Unknown) })
  )(error)
  return { type: "fails", tag, ...(tag === "BudgetExceededError" ? { reason: String(reason) } : {}) }
}

const outcomeOf = ({ events, runs }: Cast, exit: Exit.Exit<unknown, unknown>): Outcome => {
  const last = events.findLast((event) => AgentEvent.isTerminal(event))
  const ledger = last !== undefined && "ledger" in last ? last.ledger : []
  return {
    end: endOf(exit),
    transcript: AgentEvent.transcriptOf(events),
    // only a streamed attempt can have shown a part of its text: it is discarded, and a whole one has failed
    ledger: ledger.map(({ outcome, usage }) => ({ outcome: outcome === "discarded" ? "failed" : outcome, usage })),
    runs
  }
}

/** Lets minutes go by until a fiber has ended. Time stands still while a run is at work, so that waits of any length can follow. */
const overTime = <A, E>(fiber: Fiber.Fiber<A, E>) =>
  Effect.gen(function* () {
    for (let minute = 0; minute < 2000; minute++) {
      const exit = fiber.pollUnsafe()
      if (exit !== undefined) return exit
      yield* TestClock.adjust("1 minute")
    }
    return yield* Effect.die(new Error("the run does not end"))
  })

/** Runs an effect to its end, and interrupts it once a tool is at work that waits for that. */
const interrupting = <A, E, R>(cast: Cast, self: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(self)
    yield* Effect.forkChild(Effect.andThen(Deferred.await(cast.atWork), Fiber.interrupt(fiber)))
    return yield* overTime(fiber)
  })

/** Gives a run the model of its world, and the decisions of a person. */
const playing = <A, E>({ decide, model }: Cast, self: Effect.Effect<A, E, Model.Model | Approval.Approver>) =>
  self.pipe(
    Effect.provideService(Model.Model, model),
    Effect.provide(Approval.layer((request) => Effect.succeed(decide(request))))
  )

const overJson = (snapshot: Snapshot.Snapshot) =>
  Snapshot.fromJson(JSON.parse(JSON.stringify(Snapshot.toJson(snapshot))))

const outputOf = (end: AgentEvent.AgentEvent | undefined): unknown =>
  end?.type === "run-completed" ? end.output : `ends with ${end?.type}`

/** A way to run an agent, and whether a person can speak to the run. */
interface Way {
  readonly takesMessages: boolean
  /** Whether the run is suspended for a person, so that the other calls of the reply go first. */
  readonly suspends: boolean
  readonly play: (world: World) => Effect.Effect<Outcome, unknown>
}

/** The ways to run an agent. */
export const ways: Readonly<Record<string, Way>> = {
  whole: {
    suspends: false,
    takesMessages: false,
    play: (world) =>
      Effect.gen(function* () {
        const cast = castOf(world, () => Effect.void)
        const exit = yield* interrupting(cast, playing(cast, cast.agent(input)))
        return outcomeOf(cast, exit)
      })
  },
  streamed: {
    suspends: false,
    takesMessages: false,
    play: (world) =>
      Effect.gen(function* () {
        const cast = castOf(world, () => Effect.void)
        const exit = yield* interrupting(cast, playing(cast, Stream.runCollect(cast.agent.stream(input))))
        return outcomeOf(
          cast,
          Exit.map(exit, (events) => outputOf(events.at(-1)))
        )
      })
  },
  "suspended and resumed": {
    suspends: true,
    takesMessages: true,
    play: (world) =>
      Effect.gen(function* () {
        let run: Agent.Run<unknown, unknown> | undefined
        const cast = castOf(world, (nth) => run?.say(said(nth)) ?? Effect.void)
        const resumed = Agent.resume(cast.agent)
        const all = Effect.gen(function* () {
          let from: Snapshot.Snapshot | undefined
          while (true) {
            const decisions = (from === undefined ? [] : Snapshot.requestsOf(from)).map((request) => ({
              digest: request.digest,
              decision: cast.decide(request)
            }))
            run = yield* from === undefined ? cast.agent.start(input) : resumed.start({ from, decisions })
            const outcome = yield* run.outcome
            if (outcome._tag !== "Suspended") return outcome.output
            from = yield* overJson(outcome.snapshot)
          }
        })
        const exit = yield* interrupting(cast, Effect.scoped(Effect.provideService(all, Model.Model, cast.model)))
        return outcomeOf(cast, exit)
      })
  },
  durable: {
    suspends: false,
    takesMessages: true,
    play: (world) =>
      Effect.gen(function* () {
        const executionId = yield* Deferred.make<string>()
        const cast = castOf(world, (nth) =>
          Effect.flatMap(Deferred.await(executionId), (id) =>
            Effect.provide(Durable.say(served, { executionId: id, id: `m${nth}`, message: said(nth) }), engine)
          )
        )
        const durable = Durable.workflow(cast.agent, {
          name: "worker",
          input: Schema.String,
          output: Schema.String,
          inbox: true,
          onApproval: (asked) =>
            Effect.provide(
              Effect.asVoid(Effect.orDie(Durable.decide(served, asked, cast.decide(asked.request)))),
              engine
            )
        })
        // named with its type, because the workflow decides about its own requests
        const served: Parameters<typeof Durable.say>[0] & Parameters<typeof Durable.decide>[0] = durable
        const scope = yield* Effect.scope
        const engine = yield* Layer.buildWithScope(Durable.layerMemory, scope)
        const serving = durable.layer.pipe(
          Layer.provide(Layer.succeed(Model.Model, cast.model)),
          Layer.provideMerge(Layer.succeedContext(engine))
        )
        const exit = yield* Effect.gen(function* () {
          const id = yield* Durable.start(durable, { id: "one", input })
          yield* Deferred.succeed(executionId, id)
          yield* Effect.forkChild(
            Effect.andThen(Deferred.await(cast.atWork), Effect.orDie(Durable.interrupt(durable, id)))
          )
          return yield* overTime(yield* Effect.forkChild(durable.workflow.execute({ id: "one", input })))
        }).pipe(Effect.provide(serving))
        return outcomeOf(cast, exit)
      }).pipe(Effect.scoped)
  }
}
