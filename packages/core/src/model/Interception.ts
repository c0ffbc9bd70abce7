/**
 * An interceptor runs around each step of a run: model calls, tools, approvals, policies and waits. By default there is none.
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
import { shortened } from "../data/Shortened.ts"
import type * as Approval from "../data/Approval.ts"
import type { LlmError } from "../errors/LlmError.ts"
import type * as Message from "../data/Message.ts"
import type * as Model from "./Model.ts"
import { Collector } from "./parts.ts"
import * as ModelCall from "./ModelCall.ts"

/**
 * A step that a run is about to take, as an interceptor sees it.
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
       * Continues a reply from the text that a reader saw before the process died. Returns `undefined` if the model cannot continue it.
       * Absent if the run continues no replies.
       */
      readonly goOn?: (shown: string) => Rest | undefined
      /** The settlements whose text was cut or put aside, so that it is not in a record as it is. */
      readonly shortened: Pick<WeakSet<Message.Settlement>, "add" | "has">
    }
  /** A part of a streamed reply has arrived, and no listener has got it yet. */
  | { readonly type: "stream part"; readonly model: string; readonly part: Model.Part }
  /** One run of a tool; `attempt` counts from 1. */
  | {
      readonly type: "tool attempt"
      readonly tool: string
      readonly isUnsafe: boolean
      readonly callId: string
      readonly idempotencyKey: string
      readonly attempt: number
      /** Whether the tool is an agent. The run of an agent has steps of its own. */
      readonly isAgent: boolean
      readonly stored: Stored
    }
  /** The `verify` of a tool, after an attempt that was interrupted. */
  | { readonly type: "look-up"; readonly tool: string; readonly idempotencyKey: string; readonly stored: Stored }
  /** One poll of a deferred tool. */
  | { readonly type: "poll"; readonly tool: string; readonly callId: string; readonly stored: Stored }
  /** The `cancel` of a deferred tool, after its call stopped waiting. */
  | { readonly type: "cancel"; readonly tool: string; readonly callId: string; readonly idempotencyKey: string }
  /**
   * The cancellation of a background reply that its model call no longer waits for. The result is the usage that the provider then reports.
   */
  | { readonly type: "job cancel"; readonly model: string }
  /** The compensation of a tool call, after its run failed. */
  | {
      readonly type: "compensation"
      readonly tool: string
      readonly callId: string
      /** The position of the call, as in `RunContext`. */
      readonly callKey: string | undefined
      readonly idempotencyKey: string
    }
  | { readonly type: "fixer run"; readonly tool: string; readonly callId: string; readonly repair: number }
  /** The rule of a router chooses a skill, or `Agent.onBudgetExceeded` chooses what happens at a limit. */
  | { readonly type: "choice"; readonly about: "route" | "limit" }
  /**
   * The functions of `Agent.prepareTurn` choose the model, tools and options of a turn. If the result has `hasModel`, a replay runs the
   * step again.
   */
  | { readonly type: "choice"; readonly about: "turn"; readonly schema: Schema.Codec<unknown, unknown> }
  /** All tool policies of the agent, as one step. */
  | { readonly type: "policy"; readonly tool: string; readonly callId: string }
  /**
   * The wait for a person's decision. With `endsAt`, the wait ends as expired after that instant; without it, a late decision leads to
   * another request.
   */
  | { readonly type: "approval"; readonly request: Approval.ApprovalRequest; readonly endsAt?: number }
  /** Looks for a grant that admits a call and returns its id, or stores a new grant. */
  | { readonly type: "grant"; readonly tool: string; readonly callId: string }
  /** Stores a long result outside of the transcript. */
  | { readonly type: "put aside"; readonly tool: string; readonly callId: string }
  /** `Agent.compactAt` shortens a conversation. `isAgent` is true if an agent does it, whose run has steps of its own. */
  | { readonly type: "compaction"; readonly compaction: string; readonly isAgent: boolean }
  /** The provider counts the tokens of a request for `Agent.compactAt`. The result is `null` if it reports none. */
  | { readonly type: "token count"; readonly model: string }
  /** The definitions of tools are compared with the current ones of their servers. */
  | { readonly type: "pins"; readonly schema: Schema.Codec<unknown, unknown> }
  /** A guardrail checks a text. */
  | {
      readonly type: "guardrail"
      readonly guard: string
      readonly side: "input" | "output"
      readonly schema: Schema.Codec<unknown, unknown>
    }
  /** A listener is about to get an event. */
  | { readonly type: "listener"; readonly event: AgentEvent.AgentEvent }

/** The continuation of a streamed reply that broke off. */
type Rest = {
  /** The whole text from which the model continues. */
  readonly kept: string
  /** The text with which the reply begins, before `parts`. */
  readonly before: string
  readonly parts: Stream.Stream<Model.Part, LlmError>
}

/** The schemas for a tool's results and failures. `failure` is absent if the tool has no failures of its own, or no schema for them. */
type Stored = {
  readonly success: Schema.Codec<unknown, unknown>
  readonly failure: Schema.Codec<unknown, unknown> | undefined
}

/**
 * The outcome of a tool attempt that another process started without recording its result. The run then calls `verify`, as after an
 * interrupted attempt.
 */
export class Lost {
  readonly _tag = "Lost"
}

/**
 * A wrapper around the steps of a program.
 *
 * @hidden
 */
export interface Interceptor {
  /**
   * Runs in place of a step. It may run `self`, which is the step. Its result and its error must have the same types as those of `self`.
   */
  readonly intercept: (step: InterceptedStep, self: Effect.Effect<unknown, unknown>) => Effect.Effect<unknown, unknown>
  /** Replaces the models of all agents, whose own models are then not built. */
  readonly model?: Model.Service
  /** Whether all runs stream their model calls, even if their callers do not ask for it. */
  readonly isStreamed?: boolean
  /** Replaces the wait before another attempt. */
  readonly wait?: (delay: Duration.Duration) => Effect.Effect<void>
  /** Replaces the wait for the settlements of deferred calls. */
  readonly deferring?: DeferringElsewhere
  /** Returns the messages that have come to a run since its previous safe point, or since its last answer. */
  readonly said?: (run: RunContext.RunContext) => Effect.Effect<ReadonlyArray<Message.SaidMessage>>
  /** Runs work that a replay does not repeat. Its steps are not intercepted, and its clock is that of the process. */
  readonly outside?: <A, E>(self: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Returns the messages to a run that it has not read at its end. */
  readonly unread?: (run: RunContext.RunContext) => ReadonlyArray<Message.SaidMessage>
  /** Whether an interruption only moves the run to another process. The interrupted work has then not ended. */
  readonly isLeft?: () => boolean
  /**
   * Returns what becomes of the calls of a reply that an earlier version of the agent has recorded, in their order; `undefined` for a call that
   * stays. The transcript keeps the calls of the reply, and so do the idempotency keys.
   */
  readonly migrated?: (
    run: RunContext.RunContext,
    calls: ReadonlyArray<Message.ToolCall>
  ) => Effect.Effect<ReadonlyArray<MigratedCall | undefined>>
  /** Runs before a call that has waited for other calls of its reply. `key` is the idempotency key of the call. */
  readonly beforeCall?: (key: string) => Effect.Effect<void>
}

/** A call of a tool that the agent had before, as a call of a current one. */
type MigratedCall = Pick<Message.ToolCall, "name" | "arguments"> & {
  /** The numbers in the text of the recorded arguments that the earlier tool took as texts. The idempotency key has their digits. */
  readonly numbers: ReadonlyArray<string>
}

/** The wait for the settlements of deferred calls, if another process stores the settlements. */
type DeferringElsewhere = {
  /** The part of each token that names the store of the settlements. */
  readonly store: string
  /**
   * Waits for the settlement of a call; `undefined` at its deadline, `"withdrawn"` if a message withdraws the call. After that no other
   * settlement counts.
   */
  readonly wait: (call: DeferredCall) => Effect.Effect<Exit.Exit<unknown, unknown> | "withdrawn" | undefined>
  /** Registers a deferred call whose run continues without waiting. No message withdraws it. */
  readonly begun: (call: DeferredCall) => Effect.Effect<void>
  /** Reads the outcomes of such calls so far, in their order: the settlement, or `"late"` after the deadline. */
  readonly look: (
    calls: ReadonlyArray<LookedAt>
  ) => Effect.Effect<ReadonlyArray<Exit.Exit<unknown, unknown> | "late" | undefined>>
  /** Refuses all later settlements for this token, because the call has ended without one. */
  readonly close: (token: string) => Effect.Effect<void>
}

/** A deferred call whose run continued without waiting. */
type LookedAt = DeferredCall & {
  /** The `RunContext` in which the call was made. */
  readonly run: RunContext.RunContext
  /** The result of a poll, if a poll was due and found one. */
  readonly found: Exit.Exit<unknown, unknown> | undefined
}

/** A deferred call that has begun. */
type DeferredCall = {
  readonly token: string
  readonly callId: string
  readonly tool: string
  /** What `start` has returned. */
  readonly handle: Schema.Json
  /** The end of the wait, in milliseconds since the epoch. */
  readonly expiresAt: number
  readonly stored: Stored
  /** Polls until there is a settlement, or until the schedule ends. `pause` waits before the next poll. */
  readonly polls:
    | (<E>(
        pause: (delay: Duration.Duration) => Effect.Effect<void, E>
      ) => Effect.Effect<Exit.Exit<unknown, unknown> | undefined, E>)
    | undefined
  /** The instant at which the run began to wait for the call, if it had continued before; in milliseconds since the epoch. */
  readonly since?: number
}

/** The interceptor of the program; `undefined` by default. */
export const Current = Context.Reference<Interceptor | undefined>("@kintsugi/core/Interception/Current", {
  defaultValue: () => undefined
})

/**
 * Runs a step, through the interceptor if there is one.
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
      // the step gets its own services, and those of the fiber in which the interceptor runs it
      const original = Effect.updateContext(Effect.suspend(self), (around: Context.Context<never>) =>
        Context.merge(context, around)
      )
      // an interceptor has to keep the success and error types of the step
      return interceptor.intercept(describe(), original) as Effect.Effect<A, E>
    })
  })

/**
 * Waits before another attempt, through the interceptor if it replaces waits. The wait ends at once when another call ends the run. A
 * message that interrupts the run ends the wait with `interrupted`.
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
 * Waits for a person's decision, unless another call ends the run first. A durable run always waits, because its replay would wait too.
 *
 * @internal
 */
export const untilDecided = <A>(run: RunContext.RunContext, decided: Effect.Effect<A>): Effect.Effect<A> =>
  Effect.withFiber((fiber) =>
    fiber.getRef(Current)?.wait === undefined ? RunContext.untilHalted(run, decided, Effect.die) : decided
  )

/**
 * Asks the interceptor what becomes of the calls of a reply, and goes on with that.
 *
 * @internal
 */
export const migrated = <A, E>(
  run: RunContext.RunContext,
  calls: ReadonlyArray<Message.ToolCall>,
  next: (migrated: ReadonlyArray<MigratedCall | undefined>) => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.withFiber((fiber) => {
    const found = fiber.getRef(Current)?.migrated?.(run, calls)
    return found === undefined ? next(none) : Effect.flatMap(found, next)
  })

const none: ReadonlyArray<undefined> = []

/**
 * Calls `beforeCall` of the interceptor, for a call that has waited for other calls of its reply.
 *
 * @internal
 */
export const beforeCall = (key: string): Effect.Effect<void> =>
  Effect.withFiber((fiber) => fiber.getRef(Current)?.beforeCall?.(key) ?? Effect.void)

/**
 * Continues a streamed call from the text that a reader has seen. The result has the model and the request for the rest.
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
 * Makes each call of a model a step, and each part of its streamed replies as well. `goesOn` continues a call from a text.
 *
 * @internal
 */
export const model = (self: Model.Service, goesOn?: GoesOn): Model.Service => ({
  ...self,
  generate: (request) =>
    step<Message.Reply, LlmError, never>(
      () => ({ type: "model call", model: self.name, request, isStreamed: false, shortened }),
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
          shortened,
          ...(rest === undefined ? {} : { goOn })
        }),
        () => Effect.succeed(partsOf(self, request))
      )
    )
  }
})

/** Corrects invalid counts in the parts, because an interceptor may store them. */
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
