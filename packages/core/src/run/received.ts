/** Receives a reply. The parts of a stream are shown as they arrive, unless a guardrail holds them back. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as Message from "../data/Message.ts"
import type { LlmError } from "../errors/LlmError.ts"
import * as Room from "../event/Room.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Model from "../model/Model.ts"
import { cutOff, generate, onlyPartial, stream, withPartial } from "../model/ModelCall.ts"
import * as Jobs from "./jobs.ts"
import type { Attempting, Calling } from "./modelCallState.ts"

/** Receives the reply of an attempt. If the provider makes it in the background, the provider is asked until the reply is complete. */
export const received = (
  call: Calling,
  attempting: Attempting,
  within: Model.Service
): Effect.Effect<Message.Reply, LlmError> => {
  const { model, request } = attempting
  // such a model names no reply that is made in the background
  if (model.background === undefined) return once(call, attempting, within)
  const asked = Jobs.requestOf(call, attempting)
  const replied = once(call, asked === request ? attempting : { ...attempting, request: asked }, within)
  return Effect.flatMap(replied, (reply) => {
    const item = Jobs.itemOf(reply)
    if (item !== undefined) {
      Jobs.replied(call, attempting, item)
      return received(call, attempting, within)
    }
    // the job has ended, so that the provider is not asked for it again
    call.jobs?.delete(model)
    return Effect.succeed(reply)
  })
}

/** Calls the model once. Results of tools are adapted to what this model can read. */
const once = (call: Calling, attempting: Attempting, within: Model.Service): Effect.Effect<Message.Reply, LlmError> => {
  const { adaptsParts, run } = call.options
  if (adaptsParts === undefined) return replyOf(call, attempting, within)
  const { model, request } = attempting
  const asks = (request: Model.Request) => replyOf(call, { ...attempting, request }, within)
  return adaptsParts(run, model, request, asks) ?? asks(request)
}

const replyOf = (
  call: Calling,
  attempting: Attempting,
  within: Model.Service
): Effect.Effect<Message.Reply, LlmError> => {
  const { hold, isStreamed } = call.options
  if (isStreamed) return streamed(call, attempting, within)
  const generated = Effect.suspend(() => generate(within, attempting.request))
  return hold === undefined ? generated : Effect.mapError(generated, (error) => withShown(call, error))
}

/** Receives the reply of a streamed attempt. */
const streamed = (call: Calling, begun: Attempting, model: Model.Service): Effect.Effect<Message.Reply, LlmError> =>
  Effect.suspend(() => {
    const { hold } = call.options
    const collector = new Model.Collector()
    // the finish part completes a reply: a failure of the stream after it does not count
    const whole = Stream.takeUntil(stream(model, begun.request), (part) => part.type === "finish")
    const collecting = Stream.runForEachArray(whole, (parts) => {
      for (const part of parts) collector.push(part)
      call.state = { ...begun, shown: call.state.shown, spent: collector.spent ?? begun.spent }
      return hold === undefined
        ? show(call, collector, parts)
        : hold.parts(parts, (passed) => show(call, collector, passed))
    })
    const collected = Effect.flatMap(collecting, () => {
      const reply = collector.reply()
      return reply === undefined ? Effect.fail(cutOff(model)) : Effect.succeed(reply)
    })
    return Effect.mapError(collected, (error) => withShown(call, error))
  })

/** Adds the text that a reader has seen to the failure. Text that was held back is not added. */
const withShown = (call: Calling, error: LlmError): LlmError => {
  const text = call.state.shown?.text ?? call.prefix?.text ?? ""
  return call.options.hold === undefined ? withPartial(error, text) : onlyPartial(error, text)
}

/** Shows parts to the readers of the stream. */
export const show = (call: Calling, of: Model.Collector, parts: ReadonlyArray<Model.Part>): Effect.Effect<unknown> =>
  Effect.withFiber((fiber) => {
    const { conversation, hold, run } = call.options
    const { shown } = call.state
    if (parts.some(isShown)) {
      const base = call.prefix?.text ?? ""
      // without a guardrail, all collected text is shown
      const text = hold === undefined ? base + of.partial : parts.reduce(saying, shown?.text ?? base)
      call.state = { ...call.state, shown: { text, of } }
      conversation?.show(text)
    }
    for (const part of parts) {
      if (isShown(part)) RunContext.emitNow(run, fiber, () => ({ type: part.type, text: part.text }))
    }
    return Room.wait(fiber)
  })

const isShown = (part: Model.Part) => part.type === "text-delta" || part.type === "reasoning-delta"

const saying = (text: string, part: Model.Part): string => (part.type === "text-delta" ? text + part.text : text)
