/** The words of a streamed model call: they reach the run while its step is at work, and a replay reads them from the stored step. */
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

/** What a provider has counted of a reply so far. */
export const Counted = /* @__PURE__ */ Schema.Struct(/* @__PURE__ */ counts())

/** What a model has written of the reply that this process is waiting for. A replay in this process hears all of it. */
export class Words {
  readonly #parts: Array<Model.Part> = []
  #counted: Extract<Model.Part, { readonly type: "usage" }> | undefined
  #hear: ((part: Model.Part) => void) | undefined
  /** Whether its model is at work in this process. */
  isAtWork = false

  begin(): void {
    this.#parts.length = 0
    this.#counted = undefined
    this.isAtWork = true
  }

  push(part: Model.Part): void {
    // the end comes with the stored reply, as in a replay
    if (part.type === "finish") return
    // counts replace those before
    if (part.type === "usage") this.#counted = part
    else this.#parts.push(part)
    this.#hear?.(part)
  }

  /** What the provider has counted so far, for a step that is cut off: a replay books the same. */
  get counts(): { readonly counted?: typeof Counted.Type } {
    if (this.#counted === undefined) return {}
    const { type: _, ...counted } = this.#counted
    return { counted }
  }

  end(exit: Exit.Exit<unknown, unknown>): void {
    this.isAtWork = false
    // what is cut off is begun again
    if (Exit.isSuccess(exit) || !Cause.hasInterrupts(exit.cause)) return
    this.#parts.length = 0
    this.#counted = undefined
  }

  /** Gives the parts so far, and then each part as it comes, in the place of an earlier receiver. Returns how many words were given. */
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

/** The words of all runs of an execution in this process. */
export class Written {
  /** By run: a run has one model call at a time. */
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

/** A model call was not made, or was cut short: the run has no time left for its waits. */
const OutOfTime = Schema.Struct({ _tag: Schema.tag("OutOfTime") })

/** A model call that broke off after some words, or after its provider had counted some. */
const Broken = Schema.Struct({
  _tag: Schema.tag("Broken"),
  error: Schema.Union([LlmError.LlmError, OutOfTime]),
  /** What a reader has seen of it: a replay shows it again. */
  shown: Schema.Struct({ reasoning: Schema.String, text: Schema.String }),
  counted: Schema.optionalKey(Counted)
})

/** How a model call fails, as its step is stored. */
export type ModelFailure = typeof ModelFailure.Type

export const ModelFailure = Schema.Union([LlmError.LlmError, OutOfTime, Broken])

/** A model call that its run has no time for ends like any other step. */
export const inTime = (
  self: Effect.Effect<Message.Reply, LlmError.LlmError>
): Effect.Effect<Message.Reply, LlmError.LlmError | typeof OutOfTime.Type> =>
  Effect.catchDefect(self, (defect) =>
    RunContext.isLimit(defect) ? Effect.fail({ _tag: "OutOfTime" } as const) : Effect.die(defect)
  )

/** The failure of a step, in the run. */
export const failing = (
  run: RunContext.RunContext | undefined,
  error: ModelFailure
): Effect.Effect<never, LlmError.LlmError> => {
  if (error._tag === "Broken") return failing(run, error.error)
  if (error._tag !== "OutOfTime") return Effect.fail(error)
  return run === undefined ? Effect.die(error) : RunContext.endOfTime(run)
}

/** The whole of a reply that comes in parts, behind a text that it goes on from. */
export const collected = (
  model: string,
  words: Words,
  // a streamed model call gives its parts
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
      // thoughts are the first part of a message
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
 * The parts of a recorded reply: those that are written just now, and then the rest of what was recorded. `anew` is called before all of it
 * comes from the record.
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
          // a reply that only names a background reply has no text: what the log has is of a later step
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
