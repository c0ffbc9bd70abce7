/** Worlds for the reference, and the ways in which the library plays them: whole, streamed, over snapshots, and durable. */
import { Agent, AgentEvent, Approval, LlmError, Message, Model, Recovery, Snapshot, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Durable } from "@kintsugi/durable"
import { Cause, Deferred, Effect, Exit, Fiber, Layer, Option, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { toParts } from "../../../packages/core/src/testing/ScriptedModel.ts"
import { calm } from "../../_support/dialogue.ts"
import { argumentsOf, type Call, type End, input, type Outcome, prompt, said, usage, type World } from "./reference.ts"

class Busy extends Schema.TaggedError<Busy>()("Busy", {}) {}
class Plain extends Schema.TaggedError<Plain>()("Plain", {}) {}
class Stale extends Schema.TaggedError<Stale>()("Stale", {}) {}
class Raised extends Schema.TaggedError<Raised>()("Raised", {}) {}

const call: fc.Arbitrary<Call> = fc.record({
  tool: fc.constantFrom("look", "look", "look", "pay", "ask", "ask", "nope"),
  arguments: fc.oneof(
    { weight: 8, arbitrary: fc.constant("fit" as const) },
    { weight: 1, arbitrary: fc.constantFrom("misfit", "no JSON") }
  ),
  does: fc.array(
    fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom("works", "is busy", "is busy") },
      { weight: 2, arbitrary: fc.constantFrom("is telling", "is stale") },
      { weight: 1, arbitrary: fc.constantFrom("raises", "dies") }
    ),
    { maxLength: 4 }
  ),
  isSaid: fc.constantFrom(false, false, true),
  decision: fc.constantFrom("approve", "approve", "refuse")
})

export const world: fc.Arbitrary<World> = fc.record({
  agent: fc.record({
    maxTurns: fc.constantFrom(8, 8, 1, 2, 3),
    maxToolCalls: fc.constantFrom(20, 20, 20, 1, 3, 5),
    maxTokens: fc.constantFrom(1000, 1000, 1000, 15, 40),
    toolRetries: fc.integer({ min: 0, max: 3 }),
    modelRetries: fc.integer({ min: 0, max: 2 }),
    atLast: fc.constantFrom("tell", "raise")
  }),
  turns: fc.array(
    fc.record({
      overloads: fc.constantFrom(0, 0, 0, 0, 1, 2, 3),
      isBroken: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
      text: fc.constantFrom("", "I look."),
      calls: fc.array(call, { minLength: 1, maxLength: 3 }),
      finish: fc.oneof(
        { weight: 9, arbitrary: fc.constant("tool-calls" as const) },
        { weight: 1, arbitrary: fc.constant("length" as const) }
      )
    }),
    { maxLength: 4 }
  ),
  interruptAt: fc.oneof(
    { weight: 4, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 4 }) }
  )
})

/** A world without messages to the run: a run that was not started has no inbox. */
export const silent = (from: World): World => ({
  ...from,
  turns: from.turns.map((turn) => ({ ...turn, calls: turn.calls.map((one) => ({ ...one, isSaid: false })) }))
})

/** What the library does not owe to the reference, each with its reason. */
export const normal = (transcript: Message.Transcript): unknown =>
  transcript.map((message) => {
    if (message.role !== "assistant") return message
    const content = message.content.map((part) => {
      if (part.type !== "settled-call") return part
      const { kind, text } = part.settlement
      // the words for a failure are the library's: docs/guide/what-the-model-reads.md has them, under tests of their own
      return { ...part, settlement: { kind, text: kind === "result" || kind === "truncated" ? text : "" } }
    })
    return { ...message, content }
  })

const modelOf = ({ turns }: World): Model.Service => {
  let nth = 0
  const steps = turns.flatMap(({ calls, finish, isBroken, overloads, text }) => {
    const content = [
      ...(text === "" ? [] : [Message.text(text)]),
      ...calls.map((one) => {
        const id = nth++
        return { type: "tool-call" as const, id: `c${id}`, name: one.tool, arguments: argumentsOf(one, id) }
      })
    ]
    const reply = ScriptedModel.reply({ content, finish, usage })
    const overloaded = LlmError.ModelOverloadedError.make({ model: "m" })
    const broken = LlmError.AuthenticationError.make({ model: "m", detail: "no key" })
    return [
      ...Array.from({ length: overloads }, () => Effect.fail(overloaded)),
      isBroken ? Effect.fail(broken) : Effect.succeed(reply)
    ]
  })
  let asked = 0
  const last = ScriptedModel.reply({ content: [Message.text("done")], usage })
  const answer = Effect.suspend(
    (): Effect.Effect<Message.Reply, LlmError.LlmError> => steps[asked++] ?? Effect.succeed(last)
  )
  return {
    name: "m",
    provider: "p",
    generate: () => answer,
    stream: () => Stream.unwrap(Effect.map(answer, (reply) => Stream.fromIterable<Model.Part>(toParts(reply))))
  }
}

/** The agent of a world, and what its players look at. */
const castOf = (world: World, says: (nth: number) => Effect.Effect<unknown, unknown>) => {
  const { atLast, modelRetries, toolRetries, ...limits } = world.agent
  const calls = world.turns.flatMap((turn) => turn.calls)
  const runs: Array<string> = []
  const events: Array<AgentEvent.AgentEvent> = []
  const atWork = Deferred.makeUnsafe<void>()
  const work = (nth: number, attempt: number) =>
    Effect.gen(function* () {
      const found = calls[nth]
      runs.push(`${nth} ${attempt}`)
      if (attempt === 1 && found?.isSaid === true) yield* Effect.orDie(says(nth))
      if (attempt === 1 && nth === world.interruptAt && found?.tool === "look") {
        yield* Deferred.succeed(atWork, undefined)
        return yield* Effect.never
      }
      switch (found?.does[attempt - 1] ?? "works") {
        case "works":
          return `did ${nth}`
        case "is busy":
          return yield* new Busy({})
        case "is telling":
          return yield* new Plain({})
        case "is stale":
          return yield* new Stale({})
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
      failure: Schema.Union([Busy, Plain, Stale, Raised]),
      sideEffects,
      run: ({ nth }, { attempt }) => work(nth, attempt)
    })
  const rest = { Plain: Recovery.tell(), Stale: Recovery.respondWith("stale"), Raised: Recovery.raise } as const
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
  const agent = Agent.make("worker", {
    prompt,
    tools: [look, pay, ask],
    budget: {
      ...limits,
      maxDuration: Infinity,
      toolConcurrency: 1,
      repeatedFailures: { hint: 90, withhold: 91, stop: 92 }
    }
  }).pipe(
    Agent.onLlmError({ ModelOverloadedError: overloaded }),
    Agent.toolDefaults({
      InvalidArgs: Recovery.tell(),
      DeserializationError: Recovery.tell(),
      UnknownToolError: Recovery.tell()
    }),
    Agent.onEvent((event) => Effect.sync(() => void events.push(event)))
  )
  const decide = ({ arguments: given }: Approval.ApprovalRequest): Approval.Decision => {
    const { nth } = Schema.decodeUnknownSync(Schema.Struct({ nth: Schema.Finite }))(given)
    return calls[nth]?.decision === "refuse" ? Approval.refuse("no") : Approval.approve
  }
  return { agent, atWork, decide, events, runs }
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
    ledger: ledger.map(({ outcome, usage }) => ({ outcome, usage })),
    runs
  }
}

/** Lets minutes go by until a fiber has ended. Time stands still while a run is at work, so that waits of any length can follow. */
const overTime = <A, E>(fiber: Fiber.Fiber<A, E>) =>
  Effect.gen(function* () {
    for (let minute = 0; minute < 200; minute++) {
      const exit = fiber.pollUnsafe()
      if (exit !== undefined) return exit
      yield* calm
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
const playing = <A, E>(world: World, { decide }: Cast, self: Effect.Effect<A, E, Model.Model | Approval.Approver>) =>
  self.pipe(
    Effect.provideService(Model.Model, modelOf(world)),
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
        const exit = yield* interrupting(cast, playing(world, cast, cast.agent(input)))
        return outcomeOf(cast, exit)
      })
  },
  streamed: {
    suspends: false,
    takesMessages: false,
    play: (world) =>
      Effect.gen(function* () {
        const cast = castOf(world, () => Effect.void)
        const exit = yield* interrupting(cast, playing(world, cast, Stream.runCollect(cast.agent.stream(input))))
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
        const exit = yield* interrupting(cast, Effect.scoped(Effect.provideService(all, Model.Model, modelOf(world))))
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
          Layer.provide(Layer.succeed(Model.Model, modelOf(world))),
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
