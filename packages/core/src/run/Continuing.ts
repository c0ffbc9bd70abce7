/** Continues a reply that broke off: the next request ends with the text that the reader has seen, and the model writes the rest. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Message from "../data/Message.ts"
import * as RunContext from "../event/RunContext.ts"
import type * as Interception from "../model/Interception.ts"
import type * as Model from "../model/Model.ts"
import { isLlmError } from "../errors/LlmError.ts"
import { generate, leavesOf, stream, withPartial } from "../model/ModelCall.ts"
import * as Render from "../recovery/Render.ts"
import type { Calling, Continuing, Job, Prefix, Shown } from "./modelCallState.ts"
import type { Loop } from "./running.ts"

type By = Continuing["by"]

/** For `onPartial: "continue"`. */
export const continuing = (by?: By): Continuing => ({
  keepsText: true,
  by,
  admits: (call) => {
    const text = addedText(call)
    return text === undefined || isAble(by, call.options.model, call.request, text)
  },
  goOn: (call) => {
    const text = addedText(call)
    return text === undefined ? stays(call) : goesOn(call, keep(text))
  },
  afterDeath: (call, model) => (request) => {
    const job = call.jobs?.get(model)
    if (job !== undefined) return (shown) => restOfJob(call, job, model, request, shown)
    const isPossible = isAble(by, call.options.model, call.request, "some")
    return isPossible ? (shown) => restOf(call, by, model, request, shown) : undefined
  }
})

/** The filter for the rest of a reply. The attempt that broke off may itself have continued an earlier text. */
const restOf = (
  { options, prefix, request: asked }: Calling,
  by: By,
  model: Model.Service,
  request: Model.Request,
  shown: string
): ReturnType<NonNullable<ReturnType<Interception.GoesOn>>> => {
  const kept = (prefix?.text ?? "") + shown
  if (!isAble(by, options.model, asked, kept)) return undefined
  const next = keep(kept)
  const added = prefix === undefined ? 0 : behind(model, "").length
  const first = { ...request, messages: request.messages.slice(0, request.messages.length - added) }
  // the filter of `prefix` runs before this one
  const before = prefix === undefined ? shown : mayRecur(model, prefix.text).join("") + shown
  return { kept, before, model: next.around(model), request: next.request(model, first) }
}

/** The filter for the rest of a background reply, which the provider sends again from its beginning. */
const restOfJob = (
  { prefix }: Calling,
  { base }: Job,
  model: Model.Service,
  request: Model.Request,
  shown: string
): ReturnType<NonNullable<ReturnType<Interception.GoesOn>>> => {
  const kept = (prefix?.text ?? "") + shown
  const before = ofJob(model, base, kept).join("")
  return { kept, before, model: keep(kept).within(base).around(model), request }
}

/** Continues the text of an earlier run. An attempt that has added to it is repeated only with `restart`. */
const resumed = (onPartial: "fail" | "restart"): Continuing => ({
  keepsText: false,
  by: undefined,
  admits: (call) => added(call) === undefined || onPartial === "restart",
  goOn: (call) => (added(call) === undefined ? stays(call) : undefined)
})

/** Whether a model can continue this reply. It cannot continue a blank text, JSON output or a forced call. */
const isAble = (by: By, model: Model.Service, { output, toolChoice }: Model.Request, text: string): boolean =>
  text.trim() !== "" &&
  output === undefined &&
  (toolChoice === "auto" || toolChoice === "none") &&
  (by === "message" || leavesOf(model).every(({ continuation }) => continuation !== undefined))

/** The text that the reader has seen, if the last attempt has added to it. */
const added = ({ prefix, state: { shown } }: Calling): Shown | undefined =>
  shown === undefined || shown.text === (prefix?.text ?? "") ? undefined : shown

/** The text that the last attempt has added. A blank text counts as nothing: no model can continue it, and nothing is lost with it. */
const addedText = (call: Calling): string | undefined => {
  const { text } = added(call) ?? {}
  return text?.trim() === "" ? undefined : text
}

/** If the last attempt has added no text, the next attempt continues the same text as the last one. */
const stays = (call: Calling): Effect.Effect<void> | undefined =>
  call.prefix === undefined ? undefined : goesOn(call, call.prefix)

/** Starts the next attempt from the prefix. Thoughts and calls of the last attempt are dropped. */
const goesOn = (call: Calling, prefix: Prefix): Effect.Effect<void> => {
  const { attempts: attempt, shown } = call.state
  call.state = { type: "Idle", attempts: attempt, shown: undefined }
  call.prefix = prefix
  if (shown === undefined) return Effect.void
  const calls = shown.of.content.filter((part) => part.type === "tool-call")
  const dropped = calls.map(({ id: callId, name: tool }) => ({ callId, tool }))
  const also = dropped.length === 0 ? {} : { dropped }
  return RunContext.emit(call.options.run, () => ({
    type: "attempt-continued",
    attempt,
    kept: prefix.text,
    ...also
  }))
}

const keep = (text: string): Prefix => ({
  text,
  request: (model, request) => ({ ...request, messages: [...request.messages, ...behind(model, text)] }),
  around: (model) => around(model, text, () => new Rest(mayRecur(model, text))),
  joined: (reply) => joined(text, reply),
  within: (base) => ({
    ...keep(text),
    around: (model) => around(model, text, () => new Rest(ofJob(model, base, text)))
  })
})

/** What a background reply may repeat: its own beginning, and the text that the reader has seen. */
const ofJob = (model: Model.Service, base: Prefix | undefined, text: string): ReadonlyArray<string> =>
  base === undefined ? [text] : [...mayRecur(model, base.text), text.slice(base.text.length)]

/** The messages at the end of the request which ask the model to continue the text. */
const behind = ({ continuation }: Model.Service, text: string): ReadonlyArray<Message.Message> => {
  const message: Message.Assistant = { ...Message.assistant(text.trimEnd()), incomplete: true }
  return continuation === undefined ? [message, Message.user(Render.continued)] : [message]
}

/** What the model may repeat: the text, then the white space at its end, which the request did not have. */
const mayRecur = ({ continuation }: Model.Service, text: string): ReadonlyArray<string> => {
  const sent = text.trimEnd()
  // Mutant `"Stryker was here!"` survives: no reply begins with these words
  return [continuation === "whole" ? sent : "", text.slice(sent.length)]
}

/** The same model, with the repeated text filtered out of its replies. */
const around = (model: Model.Service, text: string, make: () => Rest): Model.Service => ({
  ...model,
  generate: (request) =>
    generate(model, request).pipe(
      Effect.map((reply) => ({ ...reply, content: make().contentOf(reply.content) })),
      Effect.mapError((error) => (isLlmError(error) ? withPartial(error, text + (error.partial ?? "")) : error))
    ),
  stream: (request) =>
    Stream.mapAccum(stream(model, request), make, (rest, part) => [rest, rest.partsOf(part)] as const)
})

/**
 * Filters repetition out of a reply: the text, if the model repeats it exactly, and the white space at its end, which the request did not
 * have. Text that only resembles it stays.
 */
class Rest {
  /** The texts that the reply may repeat, in order. */
  readonly #expected: ReadonlyArray<string>
  /** The index of the expected text, and how many of its characters have come. */
  #at = 0
  #come = 0

  constructor(expected: ReadonlyArray<string>) {
    this.#expected = expected
  }

  /** The part of `text` that is new. */
  textOf(text: string): string {
    let left = text
    while (this.#at < this.#expected.length) {
      // Mutants `this.#expected[this.#at].slice`, `"Stryker was here!"` survive: the index is below the length, which the type does not say
      const expected = this.#expected[this.#at]?.slice(this.#come) ?? ""
      const same = sameStart(expected, left)
      this.#come += same
      left = left.slice(same)
      if (same < expected.length && left === "") return ""
      if (same < expected.length) left = this.#taken() + left
      this.#at++
      this.#come = 0
    }
    return left
  }

  /** The text that was held back as a possible repetition and turned out to be new. White space at the start stays filtered. */
  #taken(): string {
    return this.#at === 0 ? (this.#expected[0]?.slice(0, this.#come) ?? "") : ""
  }

  /** The text that is still held back at the end of the reply. */
  end(): string {
    const held = this.#taken()
    this.#at = this.#expected.length
    return held
  }

  partsOf(part: Model.Part): ReadonlyArray<Model.Part> {
    if (part.type === "text-delta") {
      const text = this.textOf(part.text)
      // Mutant `["Stryker was here"]` survives: what has no type is no part
      return text === "" ? [] : [{ ...part, text }]
    }
    const held = part.type === "finish" ? this.end() : ""
    return held === "" ? [part] : [{ type: "text-delta", text: held }, part]
  }

  contentOf(content: Message.Reply["content"]): Message.Reply["content"] {
    const rest = content.map((part) => (part.type === "text" ? { ...part, text: this.textOf(part.text) } : part))
    // the collected reply has no empty texts
    return [...rest, Message.text(this.end())]
  }
}

const sameStart = (one: string, other: string): number => {
  let length = 0
  // Mutant `length <= one.length` survives: two texts that are the same have no character behind their ends
  while (length < one.length && one[length] === other[length]) length++
  return length
}

/** The reply with the earlier text in front. Thoughts stay first, as providers demand. */
const joined = (text: string, reply: Message.Reply): Message.Reply => {
  const { content } = reply
  const found = content.findIndex(({ type }) => type !== "reasoning")
  const at = found === -1 ? content.length : found
  const first = content[at]
  const whole = first?.type === "text" ? { ...first, text: text + first.text } : Message.text(text)
  return { ...reply, content: content.toSpliced(at, first?.type === "text" ? 1 : 0, whole) }
}

/**
 * Makes a loop continue the incomplete message at the end of its conversation, if its model can, instead of asking for the whole answer
 * again.
 */
export const goingOn =
  (loop: Loop): Loop =>
  (running) => {
    const { plan, run, state } = running
    const isStreamed = running.mode.isStreamed
    const { onPartial = isStreamed ? "fail" : "restart" } = plan
    const how = typeof onPartial === "object" ? onPartial : resumed(onPartial)
    return loop({
      ...running,
      plan: { ...plan, onPartial: how },
      prefix: (model, request) => {
        const [cut, word] = state.messages.slice(-2)
        if (cut?.role !== "assistant" || cut.incomplete !== true) return undefined
        // Mutant `word.role` survives: a resumed run adds a message behind an incomplete one
        if (word?.role !== "user" || Message.textOf(word) !== Render.stopped) return undefined
        const text = Message.textOf(cut)
        if (!isAble(how.by, model, request, text)) return undefined
        const take = () => {
          state.takeBack(2)
          state.show(text)
          return keep(text)
        }
        return RunContext.record(
          run,
          take,
          () => ({ type: "attempt-continued", attempt: 0, kept: text }),
          Effect.succeed
        )
      }
    })
  }
