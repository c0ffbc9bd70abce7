/** Replies that broke off are continued: the next request ends with the text that a reader has seen, and the reply goes on from it. */
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

/** The rest of an attempt, which may itself have gone on from a text. */
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
  // what leaves out the text of the prefix comes after this
  const before = prefix === undefined ? shown : mayRecur(model, prefix.text).join("") + shown
  return { kept, before, model: next.around(model), request: next.request(model, first) }
}

/** The rest of a background reply, which comes from its beginning again. */
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

/** For a run that goes on from a text of an earlier run. */
const resumed = (onPartial: "fail" | "restart"): Continuing => ({
  keepsText: false,
  by: undefined,
  admits: (call) => added(call) === undefined || onPartial === "restart",
  goOn: (call) => (added(call) === undefined ? stays(call) : undefined)
})

/** No model goes on from a blank text, and none in a reply that is JSON or a forced call. */
const isAble = (by: By, model: Model.Service, { output, toolChoice }: Model.Request, text: string): boolean =>
  text.trim() !== "" &&
  output === undefined &&
  (toolChoice === "auto" || toolChoice === "none") &&
  (by === "message" || leavesOf(model).every(({ continuation }) => continuation !== undefined))

/** What a reader has seen of the reply, where the last attempt has added to it. */
const added = ({ prefix, state: { shown } }: Calling): Shown | undefined =>
  shown === undefined || shown.text === (prefix?.text ?? "") ? undefined : shown

/** A blank text is none: no model goes on from it, and nothing is lost with it. */
const addedText = (call: Calling): string | undefined => {
  const { text } = added(call) ?? {}
  return text?.trim() === "" ? undefined : text
}

/** The last attempt has added no text: the next one goes on from what the last one has gone on from. */
const stays = (call: Calling): Effect.Effect<void> | undefined =>
  call.prefix === undefined ? undefined : goesOn(call, call.prefix)

/** Thoughts and calls of the last attempt are not continued. */
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

/** What comes again of a background reply: what it repeats itself, and what a reader has seen of it. */
const ofJob = (model: Model.Service, base: Prefix | undefined, text: string): ReadonlyArray<string> =>
  base === undefined ? [text] : [...mayRecur(model, base.text), text.slice(base.text.length)]

/** What a request ends with. */
const behind = ({ continuation }: Model.Service, text: string): ReadonlyArray<Message.Message> => {
  const message: Message.Assistant = { ...Message.assistant(text.trimEnd()), incomplete: true }
  return continuation === undefined ? [message, Message.user(Render.continued)] : [message]
}

/** What may come again: the text, and then the white space at its end, which was not sent. */
const mayRecur = ({ continuation }: Model.Service, text: string): ReadonlyArray<string> => {
  const sent = text.trimEnd()
  return [continuation === "whole" ? sent : "", text.slice(sent.length)]
}

/** The same model, whose replies have nothing of the text. */
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
 * Leaves out of a reply what comes again: the text, if the model repeats it, and the white space at its end, which was not sent. What only
 * resembles the text is not left out.
 */
class Rest {
  /** What may come again, in order. */
  readonly #expected: ReadonlyArray<string>
  /** Which of them comes next, and how much of it has come. */
  #at = 0
  #come = 0

  constructor(expected: ReadonlyArray<string>) {
    this.#expected = expected
  }

  /** The part of a text that is new. */
  textOf(text: string): string {
    let left = text
    while (this.#at < this.#expected.length) {
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

  /** What was left out of the repeated text, where it turns out to be no repetition: white space is left out all the same. */
  #taken(): string {
    return this.#at === 0 ? (this.#expected[0]?.slice(0, this.#come) ?? "") : ""
  }

  /** What is held back at the end of the reply. */
  end(): string {
    const held = this.#taken()
    this.#at = this.#expected.length
    return held
  }

  partsOf(part: Model.Part): ReadonlyArray<Model.Part> {
    if (part.type === "text-delta") {
      const text = this.textOf(part.text)
      return text === "" ? [] : [{ ...part, text }]
    }
    const held = part.type === "finish" ? this.end() : ""
    return held === "" ? [part] : [{ type: "text-delta", text: held }, part]
  }

  contentOf(content: Message.Reply["content"]): Message.Reply["content"] {
    const rest = content.flatMap((part): Message.Reply["content"] => {
      if (part.type !== "text") return [part]
      const text = this.textOf(part.text)
      return text === "" ? [] : [{ ...part, text }]
    })
    const held = this.end()
    return held === "" ? rest : [...rest, Message.text(held)]
  }
}

const sameStart = (one: string, other: string): number => {
  let length = 0
  while (length < one.length && length < other.length && one[length] === other[length]) length++
  return length
}

/** The reply with the text before its own. Its thoughts stay first: providers demand that. */
const joined = (text: string, reply: Message.Reply): Message.Reply => {
  const { content } = reply
  const found = content.findIndex(({ type }) => type !== "reasoning")
  const at = found === -1 ? content.length : found
  const first = content[at]
  const whole = first?.type === "text" ? { ...first, text: text + first.text } : Message.text(text)
  return { ...reply, content: content.toSpliced(at, first?.type === "text" ? 1 : 0, whole) }
}

/**
 * The same loop, which goes on from the incomplete message at the end of its conversation instead of asking for the whole answer, if its
 * model can.
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
