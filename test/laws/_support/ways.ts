/** The ways in which the library plays the worlds of the reference: whole, streamed, over snapshots, and durable. */
import { setImmediate } from "node:timers/promises"
import { Agent, AgentEvent, Approval, Message, Model, Snapshot, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Cause, Deferred, Effect, Exit, Fiber, Layer, Option, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { castOf, type Settlement } from "./cast.ts"
import { type End, input, type Outcome, said, type World } from "./reference.ts"

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
      // what Node does in its own threads, such as digests, takes no virtual time
      yield* Effect.promise(() => setImmediate())
    }
    return yield* Effect.die(new Error("the run does not end"))
  })

/** Settles deferred work: one a minute, in the order in which it began. */
const settleEach = <E, R>({ waiting }: Cast, settle: (settlement: Settlement) => Effect.Effect<unknown, E, R>) =>
  Effect.forever(
    Effect.gen(function* () {
      yield* Effect.sleep("1 minute")
      const next = waiting.shift()
      if (next !== undefined) yield* Effect.orDie(settle(next))
    })
  )

/** Runs an effect to its end, settles its deferred work, and interrupts it once a tool is at work that waits for that. */
const interrupting = <A, E, R>(cast: Cast, self: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(self)
    yield* Effect.forkChild(settleEach(cast, ({ exit, token }) => Tool.settle(token, exit)))
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
            run = yield* from === undefined
              ? cast.agent.start(input)
              : resumed.start({ from, decisions, settlements: cast.waiting.splice(0) })
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
          yield* Effect.forkChild(
            settleEach(cast, ({ exit, token }) => Durable.settle(durable, cast.order, token, exit))
          )
          return yield* overTime(yield* Effect.forkChild(durable.workflow.execute({ id: "one", input })))
        }).pipe(Effect.provide(serving))
        return outcomeOf(cast, exit)
      }).pipe(Effect.scoped)
  }
}
