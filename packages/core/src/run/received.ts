/** A reply as it is received: the parts of a stream are shown as they come, unless a guardrail holds them back. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as Ledger from "../budget/Ledger.ts"
import type * as Message from "../data/Message.ts"
import type { LlmError } from "../errors/LlmError.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Model from "../model/Model.ts"
import { cutOff, stream, withPartial } from "../model/ModelCall.ts"
import type { Hold } from "./guards.ts"
import type { Attempting, Calling, ModelCallOptions } from "./modelCallState.ts"

/** The reply of a streamed attempt. */
export const streamed = (
  call: Calling,
  begun: Attempting,
  model: Model.Service
): Effect.Effect<Message.Reply, LlmError> =>
  Effect.suspend(() => {
    const { hold } = call.options
    const collector = new Model.Collector()
    const before = call.prefix?.text ?? ""
    // a reply is whole with its last part: nothing that comes after can fail it
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
    // what was held back is in no failure
    return Effect.mapError(collected, (error) => withPartial(error, call.state.shown?.text ?? before))
  })

/** Shows parts to the readers of the stream. */
const show = (call: Calling, of: Model.Collector, parts: ReadonlyArray<Model.Part>): Effect.Effect<void> =>
  Effect.withFiber((fiber) => {
    const { conversation, run } = call.options
    const { shown } = call.state
    if (shown !== undefined || parts.some(isShown)) {
      const before = shown?.text ?? call.prefix?.text ?? ""
      const text = parts.reduce((text, part) => (part.type === "text-delta" ? text + part.text : text), before)
      call.state = { ...call.state, shown: { text, of } }
      conversation?.show(text)
    }
    for (const part of parts) {
      if (isShown(part)) RunContext.emitNow(run, fiber, () => ({ type: part.type, text: part.text }))
    }
    return Effect.void
  })

const isShown = (part: Model.Part) => part.type === "text-delta" || part.type === "reasoning-delta"

/** A reply, once it has passed. What it has cost is known meanwhile. */
export const passed = (
  call: Calling,
  hold: Hold,
  attempting: Attempting,
  reply: Message.Reply
): Effect.Effect<Message.Reply> =>
  Effect.suspend(() => {
    const { run } = call.options
    const of = call.state.shown?.of ?? new Model.Collector()
    call.state = { ...attempting, shown: call.state.shown }
    return hold.reply(reply, (parts, anew) => {
      const { attempts: attempt, shown = call.prefix } = call.state
      if (anew !== true || shown === undefined) return show(call, of, parts)
      // what readers have seen of it does not count
      call.prefix = undefined
      call.state = { ...call.state, shown: undefined }
      call.options.conversation?.show(undefined)
      return RunContext.emitThen(
        run,
        () => ({ type: "attempt-discarded", attempt, text: shown.text }),
        () => show(call, of, parts)
      )
    })
  })

/** What is booked for an attempt. */
export const entryOf = (
  { purpose, run }: ModelCallOptions,
  { attempts, model, spent }: Attempting,
  outcome: Ledger.Entry["outcome"]
): Ledger.Entry => {
  const { content = [], cost: reported, isEstimated, usage } = spent
  const cost = run.meter.costOf(model.name, usage, content) ?? reported
  return {
    runId: run.runId,
    agent: run.agent,
    turn: run.turn(),
    attempt: attempts,
    model: model.name,
    provider: model.provider,
    purpose: purpose ?? purposeOf(run),
    outcome,
    usage,
    ...(isEstimated === undefined ? {} : { isEstimated }),
    ...(cost === undefined ? {} : { cost })
  }
}

const purposeOf = ({ fixers, isChecking, isCompacting }: RunContext.RunContext): Ledger.Entry["purpose"] =>
  isChecking === true ? "guardrail" : isCompacting === true ? "compaction" : fixers.length > 0 ? "fixer" : "agent"
