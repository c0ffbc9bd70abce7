/** The text of a streamed model call. It reaches the run while the step of the call is at work; a replay reads it from the stored step. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { LlmError, Message, Model } from "@kintsugi/core"
import * as RunContext from "@kintsugi/core/RunContext"

const counts = () => {
  const { cost, isEstimated, resent, usage } = Message.Reply.fields
  return { usage, isEstimated, resent, cost }
}

/** The usage that a provider has counted for a reply so far. */
export const Counted = /* @__PURE__ */ Schema.Struct(/* @__PURE__ */ counts())

/** The parts so far of the streamed reply that this process is waiting for. Each replay in this process gets all of them. */
export class Words {
  readonly #parts: Array<Model.Part> = []
  #counted: Extract<Model.Part, { readonly type: "usage" }> | undefined
  #hear: ((part: Model.Part) => void) | undefined
  /** Whether the model call is at work in this process. */
  isAtWork = false

  begin(): void {
    this.#parts.length = 0
    this.#counted = undefined
    this.isAtWork = true
  }

  push(part: Model.Part): void {
    // the finish part comes with the stored reply, as in a replay
    if (part.type === "finish") return
    // each usage part has the whole usage so far, so it replaces the one before
    if (part.type === "usage") this.#counted = part
    else this.#parts.push(part)
    this.#hear?.(part)
  }

  /** The usage that the provider has counted so far. It is stored if the step is cut off, so that a replay books the same. */
  get counts(): { readonly counted?: typeof Counted.Type } {
    if (this.#counted === undefined) return {}
    const { type: _, ...counted } = this.#counted
    return { counted }
  }

  end(exit: Exit.Exit<unknown, unknown>): void {
    this.isAtWork = false
    // a model call that was cut off begins again, with no parts
    if (Exit.isSuccess(exit) || !Cause.hasInterrupts(exit.cause)) return
    this.#parts.length = 0
    this.#counted = undefined
  }

  /**
   * Gives the parts so far, and then each part as it comes. Replaces an earlier receiver. The function that it returns tells how many parts
   * the receiver got, without usage.
   */
  hear(take: (part: Model.Part) => void): () => number {
    let given = 0
    const hear = (part: Model.Part): void => {
      if (part.type !== "usage") given++
      take(part)
    }
    this.#hear = hear
    for (const part of this.#parts) hear(part)
    if (this.#counted !== undefined) hear(this.#counted)
    return () => given
  }
}

/** The streamed model calls of all runs of an execution in this process. */
export class Written {
  /** By run id, as a run has one model call at a time. */
  readonly #all = new Map<string, { readonly step: string; readonly words: Words }>()

  of(runId: string, step: string): Words {
    const before = this.#all.get(runId)
    if (before?.step === step) return before.words
    const words = new Words()
    this.#all.set(runId, { step, words })
    return words
  }

  isAtWork(runId: string): boolean {
    return this.#all.get(runId)?.words.isAtWork === true
  }
}

/** The failure of a model call that did not run, or was cut short, because the run had no time left. */
const OutOfTime = Schema.Struct({ _tag: Schema.tag("OutOfTime") })

/** The failure of a streamed model call that broke off after some text, or after its provider had counted some usage. */
const Broken = Schema.Struct({
  _tag: Schema.tag("Broken"),
  error: Schema.Union([LlmError.LlmError, OutOfTime]),
  /** The text that a reader has seen, which a replay shows again. */
  shown: Schema.Struct({ reasoning: Schema.String, text: Schema.String }),
  counted: Schema.optionalKey(Counted)
})

/** How a model call fails, in the form in which its step is stored. */
export type ModelFailure = typeof ModelFailure.Type

export const ModelFailure = Schema.Union([LlmError.LlmError, OutOfTime, Broken])

/** Turns the end of the run's time, a defect, into a typed failure that the step of the model call can store. */
export const inTime = (
  self: Effect.Effect<Message.Reply, LlmError.LlmError>
): Effect.Effect<Message.Reply, LlmError.LlmError | typeof OutOfTime.Type> =>
  Effect.catchDefect(self, (defect) =>
    RunContext.isLimit(defect) ? Effect.fail({ _tag: "OutOfTime" } as const) : Effect.die(defect)
  )

/** Fails as the stored step of a model call did. If the run had no time left, the run ends at its limit again. */
export const failing = (
  run: RunContext.RunContext | undefined,
  error: ModelFailure
): Effect.Effect<never, LlmError.LlmError> => {
  if (error._tag === "Broken") return failing(run, error.error)
  if (error._tag !== "OutOfTime") return Effect.fail(error)
  return run === undefined ? Effect.die(error) : RunContext.endOfTime(run)
}

/** Collects a streamed reply into a whole one. If the reply continues a text that a crash cut off, it begins with that text. */
export const collected = (
  model: string,
  words: Words,
  // the effect gives a stream of `Model.Part`, as each streamed model call does
  begin: () => { readonly before: string; readonly self: Effect.Effect<unknown, unknown> }
): Effect.Effect<Message.Reply, ModelFailure> =>
  Effect.suspend(() => {
    const collector = new Model.Collector()
    const seen = { reasoning: "", text: "" }
    words.begin()
    const { before, self } = begin()
    let left = before
    const take = (part: Model.Part): void => {
      collector.push(part)
      if (part.type === "reasoning-delta") seen.reasoning += part.text
      if (part.type === "text-delta") seen.text += part.text
      words.push(part)
    }
    const takeBefore = Effect.sync(() => {
      if (left !== "") take({ type: "text-delta", text: left })
      left = ""
    })
    const hear = (part: Model.Part) => {
      const taking = Effect.sync(() => take(part))
      // thoughts come before the text in a message
      const isFirst = part.type === "reasoning-delta" || part.type === "usage"
      return isFirst || left === "" ? taking : Effect.andThen(takeBefore, taking)
    }
    const collecting = Effect.flatMap(
      self as Effect.Effect<Stream.Stream<Model.Part, LlmError.LlmError>, LlmError.LlmError>,
      (stream) =>
        Stream.runForEach(
          Stream.takeUntil(stream, (part) => part.type === "finish"),
          hear
        )
    )
    const whole = Effect.flatMap(collecting, () => {
      const reply = collector.reply()
      return reply === undefined ? Effect.fail(cutOff(model)) : Effect.succeed(reply)
    })
    return Effect.tapError(inTime(whole), () => takeBefore).pipe(
      Effect.mapError((error): ModelFailure =>
        seen.reasoning === "" && seen.text === "" && words.counts.counted === undefined
          ? error
          : { _tag: "Broken", error, shown: seen, ...words.counts }
      ),
      Effect.onExit((exit) => Effect.sync(() => words.end(exit)))
    )
  })

const cutOff = (model: string) =>
  LlmError.NetworkError.make({ host: model, what: `The stream of model '${model}' ended before its end`, model })

/**
 * The parts of a recorded model call: first the parts that stream in this process, then the rest from the stored reply. `anew` is called if
 * no part has streamed, so all come from the stored reply.
 */
export const parts = (
  words: Words,
  run: RunContext.RunContext | undefined,
  recorded: Effect.Effect<Message.Reply, ModelFailure>,
  anew: () => void
): Stream.Stream<Model.Part, LlmError.LlmError> =>
  Stream.callback<Model.Part, LlmError.LlmError>((queue) => {
    const offer = (part: Model.Part): void => void Queue.offerUnsafe(queue, part)
    const given = words.hear(offer)
    const ending = Effect.matchEffect(recorded, {
      onSuccess: (reply) =>
        Effect.sync(() => {
          // a reply that only names a background job has no text, so a text that the log has belongs to a later step
          if (given() === 0 && reply.content.some(({ type }) => type !== "provider-item")) anew()
          const all = Model.partsOf(reply)
          for (const part of given() === 0 ? all : all.slice(reply.content.length)) offer(part)
        }),
      onFailure: (error) => {
        if (given() === 0) anew()
        if (error._tag === "Broken" && given() === 0) {
          const { counted, shown } = error
          const { reasoning, text } = shown
          if (counted !== undefined) offer({ type: "usage", ...counted })
          if (reasoning !== "") offer({ type: "reasoning-delta", text: reasoning })
          if (text !== "") offer({ type: "text-delta", text })
        }
        return failing(run, error)
      }
    })
    return Queue.into(ending, queue)
  })
