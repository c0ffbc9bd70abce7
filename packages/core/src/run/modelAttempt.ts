/** One attempt of a model call, whole or streamed. Its usage is booked, however it ends. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import type * as Ledger from "../budget/Ledger.ts"
import { approachable } from "../data/Foreign.ts"
import type * as Message from "../data/Message.ts"
import * as Usage from "../data/Usage.ts"
import { isLlmError, type LlmError } from "../errors/LlmError.ts"
import type * as AgentEvent from "../event/AgentEvent.ts"
import * as RunContext from "../event/RunContext.ts"
import { type Counted, sound } from "../model/Estimate.ts"
import * as Interception from "../model/Interception.ts"
import * as Model from "../model/Model.ts"
import { cutOff, generate, named, refused, stream, withPartial } from "../model/ModelCall.ts"
import { untouchable } from "../recovery/Layer.ts"
import type * as Recovery from "../recovery/Recovery.ts"
import type { OnPartial } from "./plan.ts"

/** A question to a model, and what guards it. */
export interface Asking {
  readonly model: Model.Service
  readonly request: Model.Request
  /** The table of `onLlmError`. */
  readonly rows: Recovery.Rows
  readonly onPartial: OnPartial
  readonly isStreamed: boolean
  readonly run: RunContext.RunContext
  /** What the run was asked, for those who shorten its conversation. */
  readonly input?: Message.User
  /** Hears what the model reads from here on, once the conversation was too long for it. */
  readonly compacted?: (messages: Message.Transcript) => void
  /** Which part of the run asks, where it is not its loop. */
  readonly layer?: Ledger.Layer
}

/** A model call at work. Its state is all of it that changes with its attempts. */
export interface ModelCall {
  readonly asking: Asking
  /** Whether an interceptor may stand in the place of each model that is called. */
  readonly isIntercepted: boolean
  state: Idle | Attempting
}

/** No attempt is at work. */
export interface Idle {
  readonly type: "Idle"
  /** How many attempts there were so far, of all models that the model is made of. */
  readonly attempts: number
  /** What a reader has seen of the last attempt, be it only thoughts. */
  readonly shown: { readonly text: string } | undefined
}

/** An attempt has begun and is not booked yet. */
export interface Attempting extends Omit<Idle, "type"> {
  readonly type: "Attempting"
  readonly model: Model.Service
  readonly request: Model.Request
  /** Its reply, or what the provider is known to have counted for it so far. */
  readonly spent: Counted & { readonly content?: Message.Reply["content"] }
}

/** Makes an attempt of one of the models of which that of the run is made. */
export const attempt = (
  call: ModelCall,
  model: Model.Service,
  request: Model.Request
): Effect.Effect<Message.Reply, LlmError> =>
  Effect.suspend(() => {
    const { asking, isIntercepted } = call
    const { isStreamed, run } = asking
    const { ended } = run.meter
    if (ended !== undefined) return Effect.die(ended)
    const attempts = call.state.attempts + 1
    const begun: Attempting = { type: "Attempting", attempts, shown: undefined, model, request, spent: nothingSpent }
    const within = isIntercepted ? Interception.model(model) : model
    const whole = isStreamed ? streamed(call, begun, within) : Effect.suspend(() => generate(within, request))
    const replied = Effect.flatMap(whole, (came) => {
      const put = isStreamed ? came : Model.collected(came)
      const counted = sound(put, request, put.content)
      const reply = model === asking.model ? counted : named(model, counted)
      const spent = { ...begun, shown: call.state.shown, spent: reply }
      const refusal = refused(model, reply)
      return refusal === undefined
        ? Effect.as(
            book(call, spent, "used", (asked) => ({ type: "model-end", reply, ...asked })),
            reply
          )
        : Effect.andThen(
            book(call, spent, "failed", (asked) => ({ type: "model-failed", error: refusal, ...asked })),
            Effect.fail(refusal)
          )
    })
    const { name, provider } = model
    const started = RunContext.begin(
      run,
      () => ({ type: "model-start", model: name, provider, attempt: attempts }),
      replied,
      () => {
        call.state = begun
      }
    )
    return Effect.onExitPrimitive(started, (exit) =>
      Exit.isFailure(exit) && call.state.type === "Attempting" ? broken(call, call.state, exit.cause) : undefined
    )
  })

const nothingSpent = { usage: Usage.empty }

/** Whether another attempt may be made after what a reader has seen of this one. */
export const admits = ({ asking: { onPartial }, state: { shown } }: ModelCall): boolean =>
  shown === undefined || shown.text === "" || onPartial === "restart"

/** Emits that what was shown of the last attempt does not count: something else stands in for it. */
export const discard = (call: ModelCall): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { attempts: attempt, shown } = call.state
    if (shown === undefined) return Effect.void
    call.state = { type: "Idle", attempts: attempt, shown: undefined }
    return RunContext.emit(call.asking.run, () => ({ type: "attempt-discarded", attempt, text: shown.text }))
  })

const broken = (call: ModelCall, state: Attempting, cause: Cause.Cause<LlmError>): Effect.Effect<unknown> => {
  // a wait that the run has no time for ends the attempt as the end of its time would
  if (Cause.hasInterrupts(cause) || RunContext.isLimit(Cause.squash(cause))) {
    return book(call, state, "interrupted", (asked) => ({ type: "model-interrupted", ...asked }))
  }
  const error = approachable(Cause.squash(untouchable(cause) ?? cause))
  const isDiscarded = !Cause.hasDies(cause) && state.shown !== undefined && admits(call)
  const spent = isLlmError(error) && error.usage !== undefined ? { ...state, spent: { usage: error.usage } } : state
  return book(call, spent, isDiscarded ? "discarded" : "failed", (asked) => ({ type: "model-failed", error, ...asked }))
}

/** Books an attempt and emits its end in one step: an interruption in between would leave one without the other. */
const book = (
  call: ModelCall,
  state: Attempting,
  outcome: Ledger.Outcome,
  make: (asked: AgentEvent.Asked) => AgentEvent.Happening
): Effect.Effect<unknown> => {
  const { attempts, model, shown } = state
  const record = () => {
    const entry = entryOf(call, state, outcome)
    call.state = { type: "Idle", attempts, shown }
    call.asking.run.ledger.record(entry)
    return entry
  }
  return RunContext.record(call.asking.run, record, (spent) => make({ model: model.name, attempt: attempts, spent }))
}

const entryOf = (
  { asking: { layer, run } }: ModelCall,
  { attempts, model, request, spent }: Attempting,
  outcome: Ledger.Outcome
): Ledger.Entry => {
  const { content = [] } = spent
  // what came of an attempt that broke off may be counted wrongly as well
  const { cost: told, isEstimated, usage } = sound(spent, request, content)
  const cost = run.meter.costOf(model.name, usage, content) ?? told
  return {
    runId: run.runId,
    agent: run.agent,
    turn: run.turn(),
    attempt: attempts,
    model: model.name,
    provider: model.provider,
    layer: layer ?? (run.isCompacting === true ? "compaction" : run.fixers.length > 0 ? "fixer" : "agent"),
    outcome,
    usage,
    ...(isEstimated === undefined ? {} : { isEstimated }),
    ...(cost === undefined ? {} : { cost })
  }
}

const streamed = (call: ModelCall, begun: Attempting, model: Model.Service): Effect.Effect<Message.Reply, LlmError> =>
  Effect.suspend(() => {
    const { run } = call.asking
    const collector = new Model.Collector()
    // a reply is whole with its last part: nothing that comes after can fail it
    const whole = Stream.takeUntil(stream(model, begun.request), (part) => part.type === "finish")
    const collecting = Stream.runForEachArray(whole, (parts) =>
      Effect.withFiber((fiber) => {
        for (const part of parts) collector.push(part)
        const isSeen = call.state.shown !== undefined || parts.some(isShown)
        const shown = isSeen ? { text: collector.partial } : undefined
        call.state = { ...begun, shown, spent: collector.spent ?? begun.spent }
        for (const part of parts) {
          if (isShown(part)) RunContext.tell(run, fiber, () => ({ type: part.type, text: part.text }))
        }
        return Effect.void
      })
    )
    const collected = Effect.flatMap(collecting, () => {
      const reply = collector.reply()
      return reply === undefined ? Effect.fail(cutOff(model)) : Effect.succeed(reply)
    })
    return Effect.mapError(collected, (error) => withPartial(error, collector.partial))
  })

const isShown = (part: Model.Part) => part.type === "text-delta" || part.type === "reasoning-delta"
