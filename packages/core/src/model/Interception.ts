/**
 * An interceptor runs around each step of a run. Steps are model calls, tools, approvals, policies and waits. There is none by default.
 * Durable runs have one, and `FaultPlan` of `@kintsugi/core/testing` injects faults with one. Fixers and sub-agents have the interceptor of
 * their program too.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as AgentEvent from "../event/AgentEvent.ts"
import * as RunContext from "../event/RunContext.ts"
import type * as Approval from "../data/Approval.ts"
import type { LlmError } from "../errors/LlmError.ts"
import type * as Message from "../data/Message.ts"
import type * as Model from "./Model.ts"
import { Collector } from "./parts.ts"
import * as ModelCall from "./ModelCall.ts"

/**
 * A step that a run is about to take.
 *
 * @hidden
 */
export type InterceptedStep =
  | {
      readonly type: "model call"
      readonly model: string
      readonly request: Model.Request
      readonly isStreamed: boolean
      /**
       * Goes on from what a reader has seen of the reply before the process died; `undefined` where that is not possible. Absent if the run
       * continues no text.
       */
      readonly goOn?: (shown: string) => Rest | undefined
    }
  /** A part of a streamed reply has arrived, before any listener gets it. */
  | { readonly type: "stream part"; readonly model: string; readonly part: Model.Part }
  /** One run of a tool; `attempt` counts from 1. */
  | {
      readonly type: "tool attempt"
      readonly tool: string
      readonly isUnsafe: boolean
      readonly callId: string
      readonly idempotencyKey: string
      readonly attempt: number
      /** Whether the tool is an agent, whose run has steps of its own. */
      readonly isAgent: boolean
      readonly stored: Stored
    }
  /** The `verify` of a tool after an attempt that was cut off. */
  | { readonly type: "look-up"; readonly tool: string; readonly idempotencyKey: string; readonly stored: Stored }
  /** One poll of a deferred tool. */
  | { readonly type: "poll"; readonly tool: string; readonly callId: string; readonly stored: Stored }
  /** The `cancel` of a deferred tool whose call no longer waits. */
  | { readonly type: "cancel"; readonly tool: string; readonly callId: string; readonly idempotencyKey: string }
  /** A background reply that its model call no longer waits for is cancelled; gives the usage that the provider then reports. */
  | { readonly type: "job cancel"; readonly model: string }
  /** The compensation of a tool call whose run has failed. */
  | {
      readonly type: "compensation"
      readonly tool: string
      readonly callId: string
      /** The place of the call, as in `RunContext`. */
      readonly callKey: string | undefined
      readonly idempotencyKey: string
    }
  | { readonly type: "fixer run"; readonly tool: string; readonly callId: string; readonly repair: number }
  /** The rule of a router chooses a skill, or `Agent.onBudgetExceeded` chooses what happens at a limit. */
  | { readonly type: "choice"; readonly about: "route" | "limit" }
  /** The functions of `Agent.prepareTurn` choose what a turn is made with. A replay runs the step again if the result `hasModel`. */
  | { readonly type: "choice"; readonly about: "turn"; readonly schema: Schema.Codec<unknown, unknown> }
  /** All tool policies of the agent together. */
  | { readonly type: "policy"; readonly tool: string; readonly callId: string }
  /** Waits for a decision. With `endsAt`, the wait ends after that instant as expired; otherwise a late decision leads to another request. */
  | { readonly type: "approval"; readonly request: Approval.ApprovalRequest; readonly endsAt?: number }
  /** Looks for a grant that admits a call, and gives its id, or stores a grant. */
  | { readonly type: "grant"; readonly tool: string; readonly callId: string }
  /** A long result is put aside in a store. */
  | { readonly type: "put aside"; readonly tool: string; readonly callId: string }
  /** `Agent.compactAt` shortens a conversation. `isAgent`: by an agent, whose run has steps of its own. */
  | { readonly type: "compaction"; readonly compaction: string; readonly isAgent: boolean }
  /** The provider counts the tokens of a request for `Agent.compactAt`: gives `null` if it does not say. */
  | { readonly type: "token count"; readonly model: string }
  /** The definitions of tools are compared with what their servers have now. */
  | { readonly type: "pins"; readonly schema: Schema.Codec<unknown, unknown> }
  /** The check of a guardrail decides about a text. */
  | {
      readonly type: "guardrail"
      readonly guard: string
      readonly side: "input" | "output"
      readonly schema: Schema.Codec<unknown, unknown>
    }
  /** A listener is about to get an event. */
  | { readonly type: "listener"; readonly event: AgentEvent.AgentEvent }

/** The rest of a streamed reply. */
type Rest = {
  /** The whole text that the reply goes on from. */
  readonly kept: string
  /** What the parts of the reply begin with. */
  readonly before: string
  readonly parts: Stream.Stream<Model.Part, LlmError>
}

/** The schemas of a tool's results and failures. `failure` is absent if the tool has no failures of its own, or no schema for them. */
type Stored = {
  readonly success: Schema.Codec<unknown, unknown>
  readonly failure: Schema.Codec<unknown, unknown> | undefined
}

/**
 * A tool attempt of another process without a recorded outcome. The run then looks the outcome up, as after an attempt that was cut off.
 */
export class Lost {
  readonly _tag = "Lost"
}

/**
 * Runs instead of the steps of a program.
 *
 * @hidden
 */
export interface Interceptor {
  /** Runs instead of a step. It may run `self`, the step itself; its result and its failure have the types of those of `self`. */
  readonly intercept: (step: InterceptedStep, self: Effect.Effect<unknown, unknown>) => Effect.Effect<unknown, unknown>
  /** Replaces the models of all agents; they are not built then. */
  readonly model?: Model.Service
  /** Whether the words of all runs are events while they are written, also of runs whose caller has not asked for them. */
  readonly isStreamed?: boolean
  /** Replaces the wait before the next attempt. */
  readonly wait?: (delay: Duration.Duration) => Effect.Effect<void>
  /** Replaces the wait of deferred calls. */
  readonly deferring?: DeferringElsewhere
  /** Gives the messages that have come to a run since the safe point before this one, or since its last answer. */
  readonly said?: (run: RunContext.RunContext) => Effect.Effect<ReadonlyArray<Message.SaidMessage>>
  /** Runs work that no replay finds again: none of its steps is one of the program, and its time is that of the process. */
  readonly outside?: <A, E>(self: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** The messages to a run that no safe point has read, at the end of that run: they are returned. */
  readonly unread?: (run: RunContext.RunContext) => ReadonlyArray<Message.SaidMessage>
  /** Whether an interruption only takes the run to another process: what stops now has not ended. */
  readonly isLeft?: () => boolean
  /** Runs before a call that has waited for other calls of its reply; `key` is the idempotency key of the call. */
  readonly beforeCall?: (key: string) => Effect.Effect<void>
}

/** The wait of deferred calls for their settlements, where these are stored outside of the process. */
type DeferringElsewhere = {
  /** A part of the tokens of the program: where their settlements are stored. */
  readonly store: string
  /** The settlement of a call; nothing at its deadline. From then on no other settlement counts. A message may withdraw the call before. */
  readonly wait: (call: DeferredCall) => Effect.Effect<Exit.Exit<unknown, unknown> | "withdrawn" | undefined>
  /** A call has begun whose run goes on. No message withdraws it. */
  readonly begun: (call: DeferredCall) => Effect.Effect<void>
  /** What has come of such calls until now, in their order: the settlement, or that the deadline has passed. */
  readonly look: (
    calls: ReadonlyArray<LookedAt>
  ) => Effect.Effect<ReadonlyArray<Exit.Exit<unknown, unknown> | "late" | undefined>>
  /** From now on no settlement with this token counts: the call has ended without one. */
  readonly close: (token: string) => Effect.Effect<void>
}

/** A deferred call whose run has gone on. */
type LookedAt = DeferredCall & {
  /** The run, as the call finds it. */
  readonly run: RunContext.RunContext
  /** What a poll has found, if one was due. */
  readonly found: Exit.Exit<unknown, unknown> | undefined
}

/** A deferred call that has begun. */
type DeferredCall = {
  readonly token: string
  readonly callId: string
  readonly tool: string
  /** What `start` has returned. */
  readonly handle: Schema.Json
  /** When the wait ends, in milliseconds since the epoch. */
  readonly expiresAt: number
  readonly stored: Stored
  /** Polls until there is a settlement, or until the schedule ends without one; `pause` is the wait before the next poll. */
  readonly polls:
    | (<E>(
        pause: (delay: Duration.Duration) => Effect.Effect<void, E>
      ) => Effect.Effect<Exit.Exit<unknown, unknown> | undefined, E>)
    | undefined
  /** When its run has begun to wait for it, in milliseconds since the epoch, if the run had gone on before. */
  readonly since?: number
}

/** The interceptor of this program; `undefined` by default. */
export const Current = Context.Reference<Interceptor | undefined>("@kintsugi/core/Interception/Current", {
  defaultValue: () => undefined
})

/**
 * A step, or the effect that the interceptor runs instead of it.
 *
 * @internal
 */
export const step = <A, E, R>(
  describe: () => InterceptedStep,
  self: () => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const interceptor = fiber.getRef(Current)
    if (interceptor === undefined) return self()
    return Effect.contextWith((context: Context.Context<R>) => {
      // with all that it needs, and with the services of the fiber in which the interceptor runs it
      const original = Effect.updateContext(Effect.suspend(self), (around: Context.Context<never>) =>
        Context.merge(context, around)
      )
      // by its contract it succeeds and fails with nothing else
      return interceptor.intercept(describe(), original) as Effect.Effect<A, E>
    })
  })

/**
 * Waits before the next attempt, by the interceptor's way to wait if it has one. The wait is over at once when another call ends the run.
 * A message that interrupts the run ends it with `interrupted`.
 *
 * @internal
 */
export const wait = (
  run: RunContext.RunContext,
  delay: Duration.Duration,
  interrupted?: Effect.Effect<void>
): Effect.Effect<void> =>
  RunContext.alive(run, () =>
    Effect.withFiber((fiber) => {
      const elsewhere = fiber.getRef(Current)?.wait?.(delay)
      if (elsewhere !== undefined) return elsewhere
      const waiting = RunContext.untilHalted(run, Effect.sleep(delay), () => Effect.void)
      const { inbox } = run.tree
      if (inbox === undefined || interrupted === undefined) return waiting
      const isOver = inbox.during(run, "model", Effect.as(waiting, true))
      return Effect.flatMap(isOver, (isOver) => (isOver === true ? Effect.void : interrupted))
    })
  )

/**
 * A decision for which a call waits. It counts no more when another call ends the run. A durable run waits for it all the same: it would
 * wait so in a replay.
 *
 * @internal
 */
export const untilDecided = <A>(run: RunContext.RunContext, decided: Effect.Effect<A>): Effect.Effect<A> =>
  Effect.withFiber((fiber) =>
    fiber.getRef(Current)?.wait === undefined ? RunContext.untilHalted(run, decided, Effect.die) : decided
  )

/**
 * Runs before a call that has waited for other calls of its reply.
 *
 * @internal
 */
export const beforeCall = (key: string): Effect.Effect<void> =>
  Effect.withFiber((fiber) => fiber.getRef(Current)?.beforeCall?.(key) ?? Effect.void)

/**
 * How a streamed call goes on from what a reader has seen: with the model and the request for the rest.
 *
 * @internal
 */
export type GoesOn = (
  request: Model.Request
) =>
  | ((
      shown: string
    ) => (Omit<Rest, "parts"> & { readonly model: Model.Service; readonly request: Model.Request }) | undefined)
  | undefined

/**
 * A model whose calls, and the parts of whose streamed replies, are steps. `goesOn` is how a call goes on from a text.
 *
 * @internal
 */
export const model = (self: Model.Service, goesOn?: GoesOn): Model.Service => ({
  ...self,
  generate: (request) =>
    step<Message.Reply, LlmError, never>(
      () => ({ type: "model call", model: self.name, request, isStreamed: false }),
      () => Effect.map(ModelCall.generate(self, request), (reply) => ModelCall.sound(reply, request, reply.content))
    ),
  stream: (request) => {
    const shown = (part: Model.Part) =>
      step<Model.Part, LlmError, never>(
        () => ({ type: "stream part", model: self.name, part }),
        () => Effect.succeed(part)
      )
    const partsOf = (model: Model.Service, request: Model.Request) =>
      Stream.mapEffect(soundParts(ModelCall.stream(model, request), request), shown)
    const rest = goesOn?.(request)
    const goOn = (text: string) => {
      const found = rest?.(text)
      return found && { kept: found.kept, before: found.before, parts: partsOf(found.model, found.request) }
    }
    return Stream.unwrap(
      step(
        () => ({
          type: "model call",
          model: self.name,
          request,
          isStreamed: true,
          ...(rest === undefined ? {} : { goOn })
        }),
        () => Effect.succeed(partsOf(self, request))
      )
    )
  }
})

/** An interceptor may store the parts, so each count in them has to be in its bounds. */
const soundParts = (
  parts: Stream.Stream<Model.Part, LlmError>,
  request: Model.Request
): Stream.Stream<Model.Part, LlmError> =>
  Stream.suspend(() => {
    const collector = new Collector()
    return Stream.map(parts, (part) => {
      if (part.type === "usage" || part.type === "finish") return ModelCall.sound(part, request, collector.content)
      collector.push(part)
      return part
    })
  })
