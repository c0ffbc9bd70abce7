/**
 * An interceptor stands between a run and all that it calls. There is none by default. Tests inject faults with one, see
 * `FaultPlan` in `@kintsugi/core/testing`. One `Context.Reference` holds it, also for fixers and sub-agents.
 */
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as AgentEvent from "../event/AgentEvent.ts"
import type * as Approval from "../data/Approval.ts"
import type { LlmError } from "../errors/LlmError.ts"
import type * as Message from "../data/Message.ts"
import type * as Model from "./Model.ts"
import { Collector } from "./parts.ts"
import * as ModelCall from "./ModelCall.ts"

/** What a run is about to do. */
export type Step =
  | {
      readonly kind: "model call"
      readonly model: string
      readonly request: Model.Request
      readonly isStreamed: boolean
    }
  /** A part has come, and no listener has seen it yet. */
  | { readonly kind: "stream part"; readonly model: string; readonly part: Model.Part }
  /** One run of a tool, `attempt` counted from 1. */
  | {
      readonly kind: "tool attempt"
      readonly tool: string
      readonly isUnsafe: boolean
      readonly callId: string
      readonly idempotencyKey: string
      readonly attempt: number
      /** Whether the tool is an agent: all that an agent does is a step of its own. */
      readonly isAgent: boolean
      readonly stored: Stored
    }
  /** `verify` of a tool that was cut off. */
  | { readonly kind: "look-up"; readonly tool: string; readonly idempotencyKey: string; readonly stored: Stored }
  /** What a tool has done is undone, for its run has failed. */
  | { readonly kind: "compensation"; readonly tool: string; readonly callId: string; readonly idempotencyKey: string }
  | { readonly kind: "fixer run"; readonly tool: string; readonly callId: string; readonly repair: number }
  /** A rule decides: that of a router about a skill, or `Agent.onBudgetExceeded` about a limit that was reached. */
  | { readonly kind: "decision"; readonly about: "route" | "limit" }
  /** All policies of the agent together. */
  | { readonly kind: "policy"; readonly tool: string; readonly callId: string }
  | { readonly kind: "approval"; readonly request: Approval.ApprovalRequest }
  /** A listener is about to hear an event. */
  | { readonly kind: "hook"; readonly event: AgentEvent.AgentEvent }

/** The schemas of a tool's results and failures. `failure` is absent if the tool has no failures of its own, or no schema for them. */
export interface Stored {
  readonly success: Schema.Codec<unknown, unknown>
  readonly failure: Schema.Codec<unknown, unknown> | undefined
}

/**
 * A step of the kind `tool attempt` may fail with this: the attempt has begun before, in another process, and its outcome is
 * unknown. Then it is looked up, as if it had been cut off.
 */
export class Lost {
  readonly _tag = "Lost"
}

/** Runs instead of the steps of a program, and of its models. */
export interface Interceptor {
  /** Runs instead of a step; it fails only as the step may fail, and its result has the type of the step's. */
  readonly intercept: (step: Step, self: Effect.Effect<unknown, unknown>) => Effect.Effect<unknown, unknown>
  /** Replaces the agents' own models, which are not built then. */
  readonly model?: Model.Service
  /** Replaces the wait before another attempt. */
  readonly wait?: (delay: Duration.Duration) => Effect.Effect<void>
  /** Runs before a call that had to wait for other calls of its reply, with its idempotency key. */
  readonly turn?: (key: string) => Effect.Effect<void>
}

/** The interceptor of the steps of this program; none by default. */
export const Current = Context.Reference<Interceptor | undefined>("@kintsugi/core/Interception/Current", {
  defaultValue: () => undefined
})

/** A step, or what the interceptor runs instead of it. */
export const step = <A, E, R>(describe: () => Step, self: () => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const interceptor = fiber.getRef(Current)
    if (interceptor === undefined) return self()
    return Effect.contextWith((context: Context.Context<R>) => {
      // with all that it needs, and with the services of the fiber in which the interceptor runs it
      const original = Effect.updateContext(Effect.suspend(self), (around: Context.Context<never>) =>
        Context.merge(context, around)
      )
      // by its contract it gives and fails with nothing else
      return interceptor.intercept(describe(), original) as Effect.Effect<A, E>
    })
  })

/**
 * Waits before another attempt, as the interceptor does that.
 *
 * @internal
 */
export const wait = (delay: Duration.Duration): Effect.Effect<void> =>
  Effect.withFiber((fiber) => fiber.getRef(Current)?.wait?.(delay) ?? Effect.sleep(delay))

/**
 * A call that had to wait for other calls of its reply is about to begin.
 *
 * @internal
 */
export const turn = (key: string): Effect.Effect<void> =>
  Effect.withFiber((fiber) => fiber.getRef(Current)?.turn?.(key) ?? Effect.void)

/**
 * The model as a run sees it: each call of it is a step, and so is each part of a streamed reply.
 *
 * @internal
 */
export const model = (self: Model.Service): Model.Service => ({
  ...self,
  generate: (request) =>
    step<Message.Reply, LlmError, never>(
      () => ({ kind: "model call", model: self.name, request, isStreamed: false }),
      () => Effect.map(ModelCall.generate(self, request), (reply) => ModelCall.sound(reply, request, reply.content))
    ),
  stream: (request) => {
    const shown = (part: Model.Part) =>
      step<Model.Part, LlmError, never>(
        () => ({ kind: "stream part", model: self.name, part }),
        () => Effect.succeed(part)
      )
    const parts = () => Effect.succeed(Stream.mapEffect(soundParts(ModelCall.stream(self, request), request), shown))
    return Stream.unwrap(step(() => ({ kind: "model call", model: self.name, request, isStreamed: true }), parts))
  }
})

/** An interceptor of a step may write down what it gives: no count in there is out of bounds. */
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
